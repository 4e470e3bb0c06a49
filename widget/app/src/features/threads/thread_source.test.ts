import { type Message, RequestError, type Rich, room, type ThreadView } from '@kith/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeClient } from '../../../dev/fake_client.ts';
import { merged, ThreadSource } from './thread_source.ts';

const NOW = Date.UTC(2026, 2, 12, 12);
const KEY = room('r1');
const ROOT = 3;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const message = (id: string, seq: number | undefined, body = 'x') =>
  ({ id, from: 'u1', body, ...(seq !== undefined && { seq }) }) as Message;
const reply = (seq: number): Message => ({ ...message(`reply-${seq}`, seq), thread: ROOT });

/** A thread with the seqs 101 to 100 + `count`, in pages of `size` replies. `state.fails` makes requests fail. */
function thread({ count = 0, size = 50, unread = 0, follows = true } = {}) {
  const client = new FakeClient({ people: 12, chats: 2, rooms: 2, now: NOW });
  const asked: string[] = [];
  const state = { count, fails: false };
  const view = (): ThreadView => ({
    key: KEY,
    root: { ...message('root', ROOT), replies: { count: state.count, last: NOW } },
    follows,
    unread,
  });
  const answer = async <T>(call: string, value: () => T): Promise<T> => {
    asked.push(call);
    const { fails } = state;
    await new Promise(done => setTimeout(done, 10));
    if (fails) throw new RequestError('offline');
    return value();
  };
  const rich = {
    thread: (_key, _seq, { read, follow } = {}) => answer(`thread ${read ?? follow ?? ''}`.trim(), view),
    replies: (_key, _seq, before = Number.POSITIVE_INFINITY) =>
      answer(`replies ${before}`, () => {
        const older = Array.from({ length: state.count }, (_, at) => reply(101 + at)).filter(
          one => (one.seq ?? 0) < before,
        );
        return { messages: older.slice(-size), more: older.length > size };
      }),
  } as Partial<Rich> as Rich;
  client.rich = () => Promise.resolve(rich);
  const source = new ThreadSource(client, KEY, ROOT);
  const changes = vi.fn();
  source.subscribe(`timeline:${KEY}`, changes);
  const seqs = () => source.timeline().messages.map(one => one.seq);
  const pass = () => vi.advanceTimersByTimeAsync(1_000);
  return { client, source, asked, state, changes, seqs, pass };
}

test('a thread has each reply once in its newest version, with queued replies at the end', () => {
  const pages = [message('a', 3), message('b', 5)];
  const live = [message('b', 5, 'edited'), message('d', undefined), message('c', 9)];
  const all = merged(pages, live);
  expect(all.map(one => one.id)).toEqual(['a', 'b', 'c', 'd']);
  expect(all[1]?.body).toBe('edited');
});

test('a thread loads its newest page and starts with the root', async () => {
  const { source, changes, seqs, pass } = thread({ count: 2 });
  source.open();
  expect(source.timeline().loading).toBe('newest');
  await pass();
  expect(source.timeline()).toMatchObject({ loading: 'no', more: false });
  expect(seqs()).toEqual([ROOT, 101, 102]);
  expect(source.count()).toBe(2);
  expect(source.timeline()).toBe(source.timeline());
  expect(changes).toHaveBeenCalled();
});

test('the root is in the list only if no reply after it is missing', async () => {
  const { source, seqs, pass } = thread({ count: 5, size: 2 });
  source.open();
  await pass();
  expect(seqs()).toEqual([104, 105]);
  source.loadOlder();
  source.loadOlder();
  await pass();
  expect(seqs()).toEqual([102, 103, 104, 105]);
  source.loadOlder();
  await pass();
  expect(seqs()).toEqual([ROOT, 101, 102, 103, 104, 105]);
});

test('a failed load is reported until a retry', async () => {
  const { source, state, seqs, pass } = thread({ count: 2 });
  state.fails = true;
  source.open();
  await pass();
  expect(source.timeline()).toMatchObject({ loading: 'no', failed: 'unavailable' });
  state.fails = false;
  source.loadOlder();
  expect(source.timeline().failed).toBeUndefined();
  await pass();
  expect(seqs()).toEqual([ROOT, 101, 102]);
});

test('a response after the close changes nothing', async () => {
  const { source, seqs, pass } = thread({ count: 2 });
  source.open()();
  await pass();
  expect(seqs()).toEqual([]);
});

test('live replies and queued ones come from the timeline of the room', async () => {
  const { client, source, seqs, pass } = thread({ count: 1 });
  source.open();
  await pass();
  const before = client.timeline(KEY);
  client.timelines.set(KEY, { ...before, messages: [...before.messages, reply(102), message('other', 103)] });
  client.change(`timeline:${KEY}`);
  expect(seqs()).toEqual([ROOT, 101, 102]);
  source.send(KEY, 'on its way');
  expect(client.calls).toContain(`send ${KEY} on its way in ${ROOT}`);
  expect(seqs()).toEqual([ROOT, 101, 102, undefined]);
});

test('an edit of a reply that only its page has is shown', async () => {
  const { client, source, pass } = thread({ count: 1 });
  source.open();
  await pass();
  client.happen('changed', { key: KEY, message: { ...reply(101), body: 'edited' } });
  expect(source.timeline().messages.at(-1)?.body).toBe('edited');
});

test('after a reconnect a thread loads missed replies and shows no gap', async () => {
  const { client, source, state, seqs, pass } = thread({ count: 2, size: 2 });
  source.open();
  await pass();
  client.state = { state: 'offline', shared: false };
  client.change('status');
  state.count = 6;
  client.state = { state: 'online', shared: false };
  client.change('status');
  await pass();
  expect(seqs()).toEqual([105, 106]);
  expect(source.timeline().more).toBe(true);
});

test('the unread line is above the first unread reply', async () => {
  const { source, pass } = thread({ count: 5, unread: 2 });
  source.open();
  await pass();
  expect(source.timeline()).toMatchObject({ unreadFrom: 104, unreadCount: 2 });
  source.send(KEY, 'mine');
  expect(source.timeline().unreadFrom).toBeUndefined();
});

test('a scroll sends the number of read replies once, and only forward', async () => {
  const { source, asked, pass } = thread({ count: 5, size: 3 });
  source.open();
  await pass();
  source.seen(KEY, 103);
  source.seen(KEY, 104);
  source.seen(KEY, 102);
  await pass();
  expect(asked.filter(one => one.startsWith('thread '))).toEqual(['thread 4']);
  source.seen(KEY, Number.MAX_SAFE_INTEGER);
  await pass();
  expect(asked.at(-1)).toBe('thread 5');
});

test('a thread that the member does not follow sends no read position', async () => {
  const { source, asked, pass } = thread({ count: 5, follows: false });
  source.open();
  await pass();
  source.seen(KEY, 105);
  await pass();
  expect(asked.filter(one => one.startsWith('thread '))).toEqual([]);
});

test('show loads older pages until it finds the message, but not beyond the root', async () => {
  const { source, asked, pass } = thread({ count: 9, size: 2 });
  source.open();
  await pass();
  const found = source.show(KEY, 103);
  await pass();
  expect([await found, asked.filter(one => one.startsWith('replies')).length]).toEqual([true, 4]);
  expect(await source.show(KEY, 1)).toBe(false);
  expect(asked.filter(one => one.startsWith('replies')).length).toBe(4);
});

test('a thread and its room have separate drafts', () => {
  const { client, source } = thread();
  const changes = vi.fn();
  source.subscribe(`draft:${KEY}`, changes);
  source.setDraft(KEY, 'half a reply');
  client.change(`draft:${KEY}\n${ROOT}` as `draft:${typeof KEY}`);
  expect([source.draft(), client.draft(KEY)]).toEqual(['half a reply', '']);
  expect(changes).toHaveBeenCalled();
});
