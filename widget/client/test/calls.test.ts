// The call of a tab, against a server that the test simulates step by step.

import { describe, expect, test } from 'vitest';
import { type Call, Calls, type Signal } from '../src/calls.ts';
import { type CallEvent, RequestError } from '../src/client.ts';
import type { CallAction, CallNews } from '../src/wire.ts';

const ID = '5f2c9d0a11e84b77';
const ICE = [{ urls: ['stun:im.example:3478'] }];

class Memory {
  kept = new Map<string, string>();
  getItem(key: string) {
    return this.kept.get(key) ?? null;
  }
  setItem(key: string, text: string) {
    this.kept.set(key, text);
  }
  removeItem(key: string) {
    this.kept.delete(key);
  }
}

function scene(storage = new Memory()) {
  const said: CallAction[] = [];
  const shown: Call[] = [];
  const signals: Signal[] = [];
  const listeners = new Set<(event: CallEvent) => void>();
  let answer: CallNews | RequestError = { news: 'done' };
  const tell = (news: CallNews, re?: number) => {
    const event = { t: 'call', call: ID, ice: ICE, ...(re !== undefined && { re }), ...news } as CallEvent;
    for (const listener of listeners) listener(event);
    return event;
  };
  const client = {
    call: async (action: CallAction) => {
      said.push(action);
      if (answer instanceof RequestError) throw answer;
      // Every tab gets the answer as an event before the request's promise resolves.
      return tell(answer, 1);
    },
    on: (_: string, listener: (event: never) => void) => {
      listeners.add(listener as (event: CallEvent) => void);
      return () => listeners.delete(listener as (event: CallEvent) => void);
    },
  };
  const host = {
    client,
    storage,
    changed: (call: Call) => shown.push(call),
    signal: (one: Signal) => signals.push(one),
  };
  const calls = new Calls(host as ConstructorParameters<typeof Calls>[0]);
  const next = (news: CallNews | RequestError) => {
    answer = news;
  };
  return { calls, said, shown, signals, storage, tell, next, listeners };
}

const calling: CallNews = { news: 'calling', user: 'ben', media: 'video', ticket: 't1' };
const ring: CallNews = { news: 'ring', user: 'anna', media: 'audio', sdp: 'offer' };

describe('a call', () => {
  test('from the invitation to its end', async () => {
    const { calls, said, signals, storage, tell, next } = scene();
    next(calling);
    await calls.invite('ben', 'video', 'offer');
    expect(said).toEqual([{ action: 'invite', user: 'ben', media: 'video', sdp: 'offer' }]);
    expect(calls.call).toMatchObject({ id: ID, user: 'ben', media: 'video', phase: 'calling', ice: ICE });
    tell({ news: 'accepted', sdp: 'answer' });
    tell({ news: 'candidate', candidate: 'c' });
    tell({ news: 'hold', on: true });
    tell({ news: 'away' });
    expect(calls.call).toMatchObject({ phase: 'up', held: true, away: true });
    tell({ news: 'back', sdp: 'again' });
    expect(calls.call).toMatchObject({ phase: 'up', held: false, away: false });
    expect(signals).toEqual([
      { what: 'answer', sdp: 'answer' },
      { what: 'candidate', candidate: 'c' },
      { what: 'back', sdp: 'again' },
    ]);
    tell({ news: 'over', outcome: 'ended', ms: 5 });
    expect(calls.call).toMatchObject({ phase: 'over', outcome: 'ended', ms: 5 });
    expect(storage.kept.size).toBe(0);
    tell({ news: 'candidate', candidate: 'late' });
    expect(signals).toHaveLength(3);
  });

  test('that rings in two tabs is accepted in one and ends in the other', async () => {
    const one = scene();
    const other = scene();
    for (const tab of [one, other]) tab.tell(ring);
    expect(one.calls.offer).toEqual({ sdp: 'offer', glare: false });
    one.next({ news: 'joined', ticket: 't2' });
    await one.calls.accept('answer');
    other.tell({ news: 'joined', ticket: 't2' }, 1);
    expect([one.calls.call?.phase, other.calls.call?.phase]).toEqual(['up', 'over']);
    expect(other.calls.offer).toBeUndefined();
    expect([one.storage.kept.size, other.storage.kept.size]).toEqual([1, 0]);
    one.tell({ news: 'elsewhere' });
    expect(one.calls.call?.phase).toBe('over');
  });

  test('that another device has accepted is over here', async () => {
    const { calls, tell, next } = scene();
    tell(ring);
    next(new RequestError('no_such_call'));
    await expect(calls.accept('answer')).rejects.toThrow('no_such_call');
    expect(calls.call?.phase).toBe('over');
  });

  test('is declined, or the other user is busy', async () => {
    const { calls, said, tell, next } = scene();
    tell(ring);
    next({ news: 'over', outcome: 'declined', ms: 0 });
    await calls.decline();
    expect(said).toEqual([{ action: 'decline', call: ID }]);
    expect(calls.call).toMatchObject({ phase: 'over', outcome: 'declined' });
    next({ news: 'over', outcome: 'busy', ms: 0, call: 'another' } as unknown as CallNews);
    await calls.invite('ben', 'audio', 'offer');
    expect(calls.call).toMatchObject({ user: 'ben', phase: 'over', outcome: 'busy' });
  });

  test('of both users at once becomes the call of the first one', async () => {
    const { calls, next } = scene();
    next({ ...ring, glare: true } as CallNews);
    await calls.invite('anna', 'audio', 'mine');
    expect(calls.call).toMatchObject({ user: 'anna', phase: 'ringing' });
    expect(calls.offer).toEqual({ sdp: 'offer', glare: true });
  });

  test('survives a reload by its ticket', async () => {
    const before = scene();
    before.next(calling);
    await before.calls.invite('ben', 'video', 'offer');
    before.tell({ news: 'accepted', sdp: 'answer' });
    const { calls, said, next } = scene(before.storage);
    expect(calls.call).toMatchObject({ id: ID, user: 'ben', media: 'video', phase: 'lost' });
    next({ news: 'rejoined', media: 'video', hold: true, ms: 61_000 });
    await calls.rejoin('again');
    expect(said).toEqual([{ action: 'rejoin', call: ID, ticket: 't1', sdp: 'again' }]);
    expect(calls.call).toMatchObject({
      phase: 'up',
      held: true,
      away: false,
      ice: ICE,
      acceptedMs: 61_000,
    });
  });

  test('that has ended meanwhile is not rejoined', async () => {
    const storage = new Memory();
    storage.setItem('kith:call', JSON.stringify({ id: ID, user: 'ben', media: 'audio', ticket: 't' }));
    const { calls, next } = scene(storage);
    next(new RequestError('no_such_call'));
    await expect(calls.rejoin('again')).rejects.toThrow('no_such_call');
    expect([calls.call?.phase, storage.kept.size]).toEqual(['over', 0]);
  });

  test('is not restored from a wrong format', () => {
    for (const text of ['{', '1', 'null', '{"id":1}', '{"id":"a","user":"b","media":"smell","ticket":"c"}']) {
      const storage = new Memory();
      storage.setItem('kith:call', text);
      expect(scene(storage).calls.call).toBeUndefined();
    }
  });

  test('ends here also when the server does not answer', async () => {
    const { calls, next, listeners } = scene();
    next(calling);
    await calls.invite('ben', 'audio', 'offer');
    next(new RequestError('offline'));
    await calls.hangUp();
    expect(calls.call?.phase).toBe('over');
    calls.destroy();
    expect(listeners.size).toBe(0);
  });

  test('does not change when another call rings meanwhile', async () => {
    const { calls, next, tell } = scene();
    next(calling);
    await calls.invite('ben', 'audio', 'offer');
    tell({ ...ring, call: 'other' } as unknown as CallNews);
    expect(calls.call).toMatchObject({ id: ID, phase: 'calling' });
  });
});
