// @vitest-environment happy-dom

import { RequestError } from '@kith/client';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Drawing } from '../../../test/draw.ts';
import { Empty } from '../empty_state/empty_state.tsx';
import { RequestView } from './request.tsx';
import { type LoadPage, type Pages, usePages } from './use_pages.ts';
import { type Load, type Request, type RequestOptions, useRequest } from './use_request.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A request that responds after `ms` milliseconds, or fails then if `fails` is set. */
function answering<T>(value: T, { ms = 100, fails = false } = {}) {
  const state = { fails, asked: 0, signals: [] as AbortSignal[] };
  const load: Load<T> = async signal => {
    state.asked += 1;
    state.signals.push(signal);
    const { fails: failing } = state;
    await new Promise(done => setTimeout(done, ms));
    if (failing) throw new RequestError('offline');
    return value;
  };
  return { load, state };
}

function requesting<T>(first: Load<T> | undefined, options?: RequestOptions) {
  const drawing = new Drawing();
  let now!: Request<T>;
  function Part({ load }: { load: Load<T> | undefined }) {
    now = useRequest(load, options);
    return null;
  }
  const draw = (load: Load<T> | undefined) => drawing.draw(<Part load={load} />);
  draw(first);
  const pass = (ms: number) => act(async () => void (await vi.advanceTimersByTimeAsync(ms)));
  return {
    drawing,
    draw,
    pass,
    now: () => now,
    states: () => [now.data, now.loading, now.failed] as const,
  };
}

test('a request is loading until the response arrives', async () => {
  const { load } = answering('a list');
  const { pass, states } = requesting(load);
  expect(states()).toEqual([undefined, true, false]);
  await pass(99);
  expect(states()).toEqual([undefined, true, false]);
  await pass(1);
  expect(states()).toEqual(['a list', false, false]);
});

test('a failed load returns its error until a retry', async () => {
  const { load, state } = answering('a list', { fails: true });
  const { pass, states, now, drawing } = requesting(load);
  await pass(100);
  expect(states()).toEqual([undefined, false, true]);
  expect(now().error).toBeInstanceOf(RequestError);
  state.fails = false;
  drawing.do(() => now().retry());
  expect(states()).toEqual([undefined, true, false]);
  await pass(100);
  expect(states()).toEqual(['a list', false, false]);
});

test('loaded data stays during a reload, and after a failed one', async () => {
  const { load, state } = answering('a list');
  const { pass, states, now, drawing } = requesting(load);
  await pass(100);
  state.fails = true;
  drawing.do(() => now().retry());
  expect(states()).toEqual(['a list', true, false]);
  await pass(100);
  expect(states()).toEqual(['a list', false, true]);
});

test('a late response to an older request is dropped', async () => {
  const slow = answering('old', { ms: 500 });
  const quick = answering('new', { ms: 100 });
  const { draw, pass, states } = requesting(slow.load);
  await pass(50);
  draw(quick.load);
  expect(slow.state.signals[0]?.aborted).toBe(true);
  await pass(100);
  expect(states()).toEqual(['new', false, false]);
  await pass(1_000);
  expect(states()).toEqual(['new', false, false]);
});

test('a late failure of an older request is dropped, too', async () => {
  const slow = answering('old', { ms: 500, fails: true });
  const quick = answering('new', { ms: 100 });
  const { draw, pass, states } = requesting(slow.load);
  draw(quick.load);
  await pass(1_000);
  expect(states()).toEqual(['new', false, false]);
});

test('data of the previous request is shown only with keep', async () => {
  for (const keep of [false, true]) {
    const { draw, pass, states } = requesting(answering('one').load, { keep });
    await pass(100);
    draw(answering('two').load);
    expect(states()).toEqual([keep ? 'one' : undefined, true, false]);
    await pass(100);
    expect(states()).toEqual(['two', false, false]);
  }
});

test('after a failed request, data of the previous one stays only with keep', async () => {
  for (const keep of [false, true]) {
    const { draw, pass, states } = requesting(answering('one').load, { keep });
    await pass(100);
    draw(answering('two', { fails: true }).load);
    await pass(100);
    expect(states()).toEqual([keep ? 'one' : undefined, false, true]);
  }
});

test('an unmount cancels the request', async () => {
  const { load, state } = answering('a list');
  const { drawing, pass, now } = requesting(load);
  drawing.draw(<p />);
  expect(state.signals[0]?.aborted).toBe(true);
  await pass(1_000);
  expect(now().data).toBeUndefined();
});

test('with a delay only the last of several requests is sent', async () => {
  const [one, two] = [answering('one'), answering('two')];
  const { draw, pass, states } = requesting(one.load, { delay: 200 });
  await pass(150);
  draw(two.load);
  await pass(150);
  expect([one.state.asked, two.state.asked]).toEqual([0, 0]);
  await pass(150);
  expect(states()).toEqual(['two', false, false]);
  expect([one.state.asked, two.state.asked]).toEqual([0, 1]);
});

test('a request without load is not loading', async () => {
  const { states, pass } = requesting(undefined);
  await pass(100);
  expect(states()).toEqual([undefined, false, false]);
});

test('an update applies only to loaded data', async () => {
  const { load } = answering('a');
  const { now, drawing, pass, states } = requesting(load);
  drawing.do(() => now().update(before => `${before}!`));
  expect(states()).toEqual([undefined, true, false]);
  await pass(100);
  drawing.do(() => now().update(before => `${before}!`));
  expect(states()).toEqual(['a!', false, false]);
});

test('a request waits for the first connection, and fails if there is none', async () => {
  const { load, state } = answering('a list');
  const { drawing, draw, pass, states } = requesting<string>(undefined);
  const become = (now: 'connecting' | 'online' | 'offline') =>
    drawing.do(() => {
      drawing.client.state = { state: now, shared: false };
      drawing.client.change('status');
    });
  become('connecting');
  draw(load);
  await pass(1_000);
  expect(states()).toEqual([undefined, true, false]);
  expect(state.asked).toBe(0);
  state.fails = true;
  become('offline');
  await pass(100);
  expect(states()).toEqual([undefined, false, true]);
  state.fails = false;
  become('online');
  await pass(100);
  expect(states()).toEqual(['a list', false, false]);
});

test('a request that failed with its connection is loading until the next one', async () => {
  const { load, state } = answering('a list', { fails: true });
  const { drawing, pass, states } = requesting(load);
  const become = (now: 'waiting' | 'online') =>
    drawing.do(() => {
      drawing.client.state = { state: now, shared: false };
      drawing.client.change('status');
    });
  await pass(100);
  become('waiting');
  await pass(1_000);
  expect(states()).toEqual([undefined, true, false]);
  state.fails = false;
  become('online');
  await pass(100);
  expect(states()).toEqual(['a list', false, false]);
});

test('after a reconnect a failed request is repeated, and a loaded one only with refresh', async () => {
  for (const [fails, refresh, asked] of [
    [true, false, 2],
    [false, false, 1],
    [false, true, 2],
  ] as const) {
    const { load, state } = answering('a list', { fails });
    const { drawing, pass } = requesting(load, { refresh });
    await pass(100);
    for (const now of ['offline', 'online'] as const)
      drawing.do(() => {
        drawing.client.state = { state: now, shared: false };
        drawing.client.change('status');
      });
    await pass(100);
    expect(state.asked).toBe(asked);
  }
});

function paging(load: LoadPage<number>) {
  const drawing = new Drawing();
  let now!: Pages<number>;
  function Part({ load: one }: { load: LoadPage<number> }) {
    now = usePages(one);
    return null;
  }
  const draw = (one: LoadPage<number>) => drawing.draw(<Part load={one} />);
  draw(load);
  const pass = (ms = 100) => act(async () => void (await vi.advanceTimersByTimeAsync(ms)));
  const more = () => drawing.do(() => now.loadMore());
  return { drawing, draw, pass, more, now: () => now };
}

/** A list of the numbers from `base` + 1 to `base` + `last`, in pages of two. */
function numbers(last: number, base = 0) {
  const state = { fails: false, asked: [] as (string | undefined)[] };
  const load: LoadPage<number> = async after => {
    state.asked.push(after);
    const { fails } = state;
    await new Promise(done => setTimeout(done, 100));
    if (fails) throw new RequestError('unavailable');
    const from = Number(after ?? base);
    const items = [from + 1, from + 2].filter(one => one <= base + last);
    return { items, ...(from + 2 < base + last && { next: String(from + 2) }) };
  };
  return { load, state };
}

test('pages are joined, and each is requested once', async () => {
  const { load, state } = numbers(5);
  const { pass, more, now } = paging(load);
  await pass();
  expect([now().data, now().hasMore]).toEqual([[1, 2], true]);
  more();
  more();
  expect(now().more).toBe('loading');
  await pass();
  more();
  await pass();
  expect([now().data, now().hasMore, now().more]).toEqual([[1, 2, 3, 4, 5], false, 'idle']);
  more();
  await pass();
  expect(state.asked).toEqual([undefined, '2', '4']);
});

test('a failed page does not end the list', async () => {
  const { load, state } = numbers(3);
  const { pass, more, now } = paging(load);
  await pass();
  state.fails = true;
  more();
  await pass();
  expect([now().data, now().hasMore, now().more, now().failed]).toEqual([[1, 2], true, 'failed', false]);
  state.fails = false;
  more();
  await pass();
  expect([now().data, now().hasMore, now().more]).toEqual([[1, 2, 3], false, 'idle']);
});

test('the next page of the previous list is dropped', async () => {
  const { draw, pass, more, now } = paging(numbers(5).load);
  await pass();
  more();
  await pass(50);
  draw(numbers(5, 10).load);
  await pass(1_000);
  expect([now().data, now().more]).toEqual([[11, 12], 'idle']);
  more();
  await pass();
  expect(now().data).toEqual([11, 12, 13, 14]);
});

test('an update of the list keeps its next page', async () => {
  const { drawing, pass, more, now } = paging(numbers(4).load);
  await pass();
  drawing.do(() => now().update(items => items.filter(one => one !== 1)));
  more();
  await pass();
  expect(now().data).toEqual([2, 3, 4]);
});

test.each([
  ['loading', { loading: true }, ['.skeleton']],
  ['failed', { failed: true }, ['.load-failed button']],
  ['empty', { data: [] }, ['.empty']],
  ['loaded', { data: ['Ana'] }, ['li']],
  ['loaded and failed', { data: ['Ana'], failed: true }, ['.load-failed button', 'li']],
  ['empty and failed', { data: [], failed: true }, ['.load-failed button']],
  ['loaded and loading', { data: ['Ana'], loading: true }, ['li']],
] as const)('%s has its own view', (_, state, shown) => {
  const retry = vi.fn();
  const request: Request<readonly string[]> = {
    data: undefined,
    loading: false,
    failed: false,
    error: undefined,
    retry,
    update: () => undefined,
    ...state,
  };
  const drawing = new Drawing().draw(
    <RequestView request={request} empty={<Empty icon="people" title="Nobody" hint="" />}>
      {names => names.map(name => <li key={name}>{name}</li>)}
    </RequestView>,
  );
  const all = ['.skeleton', '.load-failed button', '.empty', 'li'];
  expect(all.filter(one => drawing.has(one))).toEqual(shown);
  if (drawing.has('.load-failed')) {
    drawing.do(() => drawing.button('Try again').click());
    expect(retry).toHaveBeenCalledOnce();
  }
});
