// @vitest-environment happy-dom

import { type CallAction, type CallEvent, RequestError, type Status } from '@kith/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { hideAddress } from './call_preferences.ts';
import { CallSession } from './call_session.ts';
import type { TabStorage } from './call_storage.ts';

const RELAY = [{ urls: ['turn:im.example'], username: 'u', credential: 'p' }];
const connections: Connection[] = [];
let given: Track[] = [];
let refuse: string | undefined;

/** The parts of `RTCPeerConnection` that a call uses. No media flows. */
class Connection {
  connectionState = 'new';
  signalingState = 'stable';
  remoteDescription: RTCSessionDescriptionInit | null = null;
  localDescription: RTCSessionDescriptionInit | null = null;
  onconnectionstatechange: (() => void) | null = null;
  closed = false;
  senders: { kind: string; track: Track | null }[] = [];
  candidates: unknown[] = [];

  constructor(public configuration: RTCConfiguration) {
    connections.push(this);
  }

  createDataChannel() {
    return { readyState: 'connecting', send: () => undefined };
  }

  addTransceiver(what: string | Track) {
    const kind = typeof what === 'string' ? what : what.kind;
    this.senders.push({ kind, track: typeof what === 'string' ? null : what });
  }

  getTransceivers() {
    return this.senders.map(one => ({
      direction: 'sendrecv',
      receiver: { track: { kind: one.kind } },
      sender: {
        replaceTrack: async (track: Track | null) => {
          one.track = track;
        },
        getParameters: () => ({ encodings: [] }),
        setParameters: async () => undefined,
      },
    }));
  }

  createOffer = async (options?: RTCOfferOptions) => ({
    type: 'offer' as const,
    sdp: options?.iceRestart ? 'another offer' : 'offer',
  });

  async setLocalDescription(description?: RTCSessionDescriptionInit) {
    this.localDescription = description ?? { type: 'answer', sdp: 'answer' };
    this.signalingState = description ? 'have-local-offer' : 'stable';
  }

  async setRemoteDescription(description: RTCSessionDescriptionInit) {
    this.remoteDescription = description;
    this.signalingState = 'stable';
  }

  async addIceCandidate(candidate: unknown) {
    this.candidates.push(candidate);
  }

  setConfiguration(configuration: RTCConfiguration) {
    this.configuration = configuration;
  }

  getStats = async () => new Map();

  close() {
    this.closed = true;
  }

  is(state: string) {
    this.connectionState = state;
    this.onconnectionstatechange?.();
  }
}

class Track {
  enabled = true;
  stopped = false;
  onended: (() => void) | null = null;
  constructor(readonly kind: string) {
    given.push(this);
  }
  stop() {
    this.stopped = true;
  }
}

class Stream {
  addTrack() {}
}

class Memory implements TabStorage {
  kept = new Map<string, string>();
  getItem = (key: string) => this.kept.get(key) ?? null;
  setItem = (key: string, value: string) => void this.kept.set(key, value);
  removeItem = (key: string) => void this.kept.delete(key);
}

beforeEach(() => {
  vi.useFakeTimers();
  connections.length = 0;
  given = [];
  refuse = undefined;
  localStorage.clear();
  vi.stubGlobal('RTCPeerConnection', Connection);
  vi.stubGlobal('MediaStream', Stream);
  vi.stubGlobal('navigator', {
    mediaDevices: {
      getUserMedia: async (wanted: MediaStreamConstraints) => {
        const kind = wanted.audio ? 'audio' : 'video';
        if (refuse === kind) throw Object.assign(new Error(), { name: 'NotAllowedError' });
        const track = new Track(kind);
        return { getTracks: () => [track] };
      },
    },
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function scene({ storage = new Memory(), contact = 'contact' as 'contact' | 'none' } = {}) {
  const said: CallAction[] = [];
  let answers: (action: CallAction) => CallEvent | RequestError = () => new RequestError('offline');
  let status: Status = { state: 'online', shared: false };
  let changed = () => {};
  let slow: Promise<void> | undefined;
  const session = new CallSession({
    client: {
      call: async action => {
        said.push(action);
        await slow;
        const answer = answers(action);
        if (answer instanceof RequestError) throw answer;
        return answer;
      },
      contact: () => contact,
      status: () => status,
      subscribe: (_, listener) => {
        changed = listener;
        return () => undefined;
      },
    },
    storage,
    now: () => 1_000,
  });
  const event = (more: object) => ({ t: 'call', call: 'c1', ...more }) as unknown as CallEvent;
  return {
    session,
    said,
    storage,
    event,
    answer: (next: typeof answers) => {
      answers = next;
    },
    slow: (until: Promise<void>) => {
      slow = until;
    },
    hear: async (more: object) => {
      session.do({ do: 'hear', event: event(more) });
      await vi.advanceTimersByTimeAsync(0);
    },
    say: async (request: Parameters<CallSession['do']>[0]) => {
      session.do(request);
      await vi.advanceTimersByTimeAsync(0);
    },
    is: async (state: Status['state']) => {
      status = { state, shared: false };
      changed();
      await vi.advanceTimersByTimeAsync(0);
    },
    shown: () => session.shown(),
    actions: () => said.map(one => one.action),
  };
}

const session = { news: 'calling', user: 'tom', media: 'video', ticket: 't' };

type Scene = ReturnType<typeof scene>;

async function callTom(one: Scene, ice: object[] = []) {
  one.answer(({ action }) =>
    one.event(
      action === 'invite'
        ? { ...session, ice }
        : { news: action === 'hang_up' ? 'over' : 'done', outcome: 'cancelled', ms: 0 },
    ),
  );
  await one.say({ do: 'call', user: 'tom', media: 'video' });
}

const ring = { news: 'ring', user: 'tom', media: 'video', sdp: 'their offer', ice: RELAY };

describe('a caller', () => {
  test('offers the tracks of the devices, and is connected by the answer', async () => {
    const one = scene();
    await callTom(one);
    expect(one.shown()).toMatchObject({ user: 'tom', stage: 'calling', mic: true, camera: true });
    expect(connections[0]?.senders.map(sender => sender.track?.kind)).toEqual(['audio', 'video']);
    await one.hear({ news: 'accepted', sdp: 'their answer' });
    expect(connections[0]?.remoteDescription).toEqual({ type: 'answer', sdp: 'their answer' });
    connections[0]?.is('connected');
    expect(one.shown()).toMatchObject({ stage: 'up', connected: true, since: 1_000 });
    await one.hear({ news: 'over', outcome: 'ended', ms: 9_000 });
    expect(one.shown()).toMatchObject({ stage: 'over', end: 'ended', ms: 9_000 });
    expect([connections[0]?.closed, given.every(track => track.stopped)]).toEqual([true, true]);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(one.shown()).toBeUndefined();
  });

  test('hangs up before the response of the server, and the call is cancelled after it', async () => {
    const one = scene();
    let answered = () => {};
    const answers = new Promise<void>(resolve => {
      answered = resolve;
    });
    one.answer(({ action }) =>
      one.event(action === 'invite' ? session : { news: 'over', outcome: 'cancelled', ms: 0 }),
    );
    one.slow(answers);
    await one.say({ do: 'call', user: 'tom', media: 'audio' });
    one.session.hangUp();
    expect([one.shown(), one.actions()]).toEqual([undefined, ['invite']]);
    answered();
    await vi.advanceTimersByTimeAsync(0);
    expect([one.shown(), one.actions()]).toEqual([undefined, ['invite', 'hang_up']]);
  });

  test('holds the call: nothing is sent until it is resumed', async () => {
    const one = scene();
    await callTom(one);
    await one.hear({ news: 'accepted', sdp: 'answer' });
    await one.session.hold(true);
    expect([one.shown()?.holding, given[0]?.enabled]).toEqual([true, false]);
    expect(connections.at(-1)?.senders.find(sender => sender.kind === 'video')?.track).toBe(null);
    expect(one.said.at(-1)).toEqual({ action: 'hold', call: 'c1', on: true });
    // Unmuting during the hold does not enable the microphone. The end of the hold does.
    one.session.setMic(false);
    one.session.setMic(true);
    expect(given[0]?.enabled).toBe(false);
    await one.session.hold(false);
    expect([one.shown()?.holding, given[0]?.enabled]).toEqual([false, true]);
    expect(connections.at(-1)?.senders.find(sender => sender.kind === 'video')?.track).toBe(given[1]);
    expect(one.said.at(-1)).toEqual({ action: 'hold', call: 'c1', on: false });
  });

  test('without a microphone sees the reason, and the server gets no request', async () => {
    const one = scene();
    refuse = 'audio';
    await callTom(one);
    expect([one.said, one.shown()]).toMatchObject([
      [],
      { stage: 'asking', problem: { of: 'mic', why: 'denied' } },
    ]);
    one.session.hangUp();
    expect(one.shown()).toBeUndefined();
  });

  test('without a camera makes an audio call', async () => {
    const one = scene();
    refuse = 'video';
    await callTom(one);
    expect(one.shown()).toMatchObject({
      stage: 'calling',
      mic: true,
      camera: false,
      problem: { of: 'camera' },
    });
  });

  test.each([
    ['not_allowed', 'contactsOnly'],
    ['in_call', 'inCall'],
    ['rate_limited', 'tooMany'],
    ['offline', 'offline'],
    ['unavailable', 'failed'],
  ] as const)('is refused with %s and sees the reason', async (code, end) => {
    const one = scene();
    one.answer(() => new RequestError(code));
    await one.say({ do: 'call', user: 'tom', media: 'audio' });
    expect(one.shown()).toMatchObject({ stage: 'over', end });
    expect(given.every(track => track.stopped)).toBe(true);
  });

  test('accepts the call of a user who calls them at the same time', async () => {
    const one = scene();
    one.answer(({ action }) =>
      one.event(action === 'invite' ? { ...ring, glare: true } : { news: 'joined', ticket: 't' }),
    );
    await one.say({ do: 'call', user: 'tom', media: 'video' });
    expect(one.actions()).toEqual(['invite', 'accept']);
    expect(one.shown()).toMatchObject({ stage: 'up', user: 'tom' });
    expect(connections.at(-1)?.remoteDescription?.sdp).toBe('their offer');
  });

  test('hides the IP address if the user wants that, and does not call without a relay', async () => {
    hideAddress(true);
    const one = scene();
    await callTom(one, RELAY);
    expect([one.shown()?.hidden, connections[0]?.configuration.iceTransportPolicy]).toEqual([true, 'relay']);
    const two = scene();
    await callTom(two);
    expect(two.shown()).toMatchObject({ stage: 'over', end: 'noRelay' });
    expect(two.actions()).toEqual(['invite', 'hang_up']);
  });
});

describe('a called user', () => {
  test('accepts with the chosen media, and is in the call', async () => {
    const one = scene();
    await one.hear(ring);
    expect(one.shown()).toMatchObject({ stage: 'ringing', user: 'tom', media: 'video' });
    one.answer(() => one.event({ news: 'joined', ticket: 't' }));
    await one.session.accept('audio');
    expect(one.said).toEqual([{ action: 'accept', call: 'c1', sdp: 'answer' }]);
    expect(one.shown()).toMatchObject({ stage: 'up', mic: true, camera: false });
    await one.hear({ news: 'candidate', candidate: '{"candidate":"x"}' });
    expect(connections[0]?.candidates).toEqual([{ candidate: 'x' }]);
  });

  test('accepts the call of an app, whose offer follows', async () => {
    const one = scene();
    await one.hear({ ...ring, sdp: '' });
    one.answer(({ action }) =>
      one.event(action === 'accept' ? { news: 'joined', ticket: 't' } : { news: 'done' }),
    );
    await one.session.accept('audio');
    expect(one.said).toEqual([{ action: 'accept', call: 'c1', sdp: '' }]);
    expect([one.shown()?.stage, connections[0]?.remoteDescription]).toEqual(['up', null]);
    // A browser with one transport for all media refuses the offers of some apps.
    expect(connections[0]?.configuration.bundlePolicy).toBe('balanced');
    await one.hear({ news: 'offer', sdp: 'their offer' });
    expect(connections[0]?.remoteDescription).toEqual({ type: 'offer', sdp: 'their offer' });
    expect(one.said.at(-1)).toEqual({ action: 'answer', call: 'c1', sdp: 'answer' });
  });

  test('keeps the connection to an app that has been away', async () => {
    const one = scene();
    await one.hear(ring);
    one.answer(() => one.event({ news: 'joined', ticket: 't' }));
    await one.session.accept('audio');
    await one.hear({ news: 'away' });
    expect(one.shown()?.away).toBe(true);
    await one.hear({ news: 'back', sdp: '' });
    expect([one.shown()?.away, connections.length, connections[0]?.closed]).toEqual([false, 1, false]);
  });

  test('connects to a stranger through the relay, and sees a warning without a relay', async () => {
    const one = scene({ contact: 'none' });
    await one.hear(ring);
    expect(one.shown()?.exposed).toBe(false);
    one.answer(() => one.event({ news: 'joined', ticket: 't' }));
    await one.session.accept('audio');
    expect(connections[0]?.configuration.iceTransportPolicy).toBe('relay');
    const two = scene({ contact: 'none' });
    await two.hear({ ...ring, ice: [] });
    expect(two.shown()?.exposed).toBe(true);
  });

  test('declines, and sees nothing more of the call', async () => {
    const one = scene();
    await one.hear(ring);
    one.session.decline();
    expect([one.actions(), one.shown()]).toEqual([['decline'], undefined]);
  });

  test('sees the call no more when it is cancelled, accepted elsewhere, or rings for too long', async () => {
    for (const news of [{ news: 'over', outcome: 'cancelled', ms: 0 }, { news: 'elsewhere' }]) {
      const one = scene();
      await one.hear(ring);
      await one.hear(news);
      expect(one.shown()).toBeUndefined();
    }
    const one = scene();
    await one.hear(ring);
    await vi.advanceTimersByTimeAsync(50_000);
    expect(one.shown()).toBeUndefined();
    await one.hear({ ...ring, call: 'c2' });
    expect(one.shown()).toMatchObject({ stage: 'ringing' });
  });

  test('may try again while it rings, after the microphone was refused', async () => {
    const one = scene();
    await one.hear(ring);
    refuse = 'audio';
    await one.session.accept('audio');
    expect(one.shown()).toMatchObject({ stage: 'ringing', problem: { of: 'mic' } });
    expect(one.said).toEqual([]);
  });
});

describe('an established call', () => {
  async function up(one = scene()) {
    await one.hear(ring);
    one.answer(() => one.event({ news: 'joined', ticket: 't' }));
    await one.session.accept('video');
    connections.at(-1)?.is('connected');
    one.said.length = 0;
    return one;
  }

  test('continues with a new connection when the other user returns', async () => {
    const one = await up();
    await one.hear({ news: 'away' });
    expect(one.shown()?.away).toBe(true);
    one.answer(() => one.event({ news: 'done' }));
    await one.hear({ news: 'back', sdp: 'new offer' });
    expect([connections.length, connections[0]?.closed, one.shown()?.away]).toEqual([2, true, false]);
    expect(one.said).toEqual([{ action: 'answer', call: 'c1', sdp: 'answer' }]);
  });

  test('is rejoined after the connection to the server was lost', async () => {
    const one = await up();
    await one.is('waiting');
    one.answer(() => one.event({ news: 'rejoined', media: 'video', ice: RELAY, ms: 5_000 }));
    await one.is('online');
    expect(one.shown()?.since).toBe(1_000);
    expect(one.said[0]).toEqual({ action: 'rejoin', call: 'c1', ticket: 't', sdp: 'offer' });
    expect(connections.at(-1)?.configuration.iceServers).toEqual(RELAY);
    await one.hear({ news: 'answer', sdp: 'their answer' });
    expect(connections.at(-1)?.remoteDescription?.sdp).toBe('their answer');
  });

  test('is rejoined after a reload, muted as before, and is lost if it has ended meanwhile', async () => {
    const before = await up();
    before.session.setMic(false);
    const kept = new Memory();
    for (const [key, value] of before.storage.kept) kept.setItem(key, value);
    const one = scene({ storage: kept });
    one.answer(() => one.event({ news: 'rejoined', media: 'video', ice: [], ms: 61_000 }));
    await one.say({ do: 'rejoin' });
    expect(one.shown()).toMatchObject({ stage: 'up', user: 'tom', mic: false, camera: true, since: -60_000 });
    const late = scene({ storage: (await up()).storage });
    late.answer(() => new RequestError('no_such_call'));
    await late.say({ do: 'rejoin' });
    expect(late.shown()).toMatchObject({ stage: 'over', end: 'lost' });
  });

  test('still rings after a reload of the caller', async () => {
    const before = scene();
    await callTom(before);
    const one = scene({ storage: before.storage });
    one.answer(() => one.event({ news: 'rejoined', media: 'video', ice: [] }));
    await one.say({ do: 'rejoin' });
    expect(one.shown()).toMatchObject({ stage: 'calling', user: 'tom' });
    expect(one.shown()?.since).toBeUndefined();
  });

  test('ends if its connection is lost for too long or is never established', async () => {
    const one = await up();
    connections[0]?.is('failed');
    one.answer(() => one.event({ news: 'over', outcome: 'ended', ms: 1 }));
    await vi.advanceTimersByTimeAsync(25_000);
    expect(one.shown()).toMatchObject({ stage: 'over', end: 'lost' });
    const two = scene();
    await two.hear(ring);
    two.answer(() => two.event({ news: 'joined', ticket: 't' }));
    await two.session.accept('audio');
    two.answer(() => two.event({ news: 'over', outcome: 'ended', ms: 1 }));
    await vi.advanceTimersByTimeAsync(25_000);
    expect(two.shown()).toMatchObject({ stage: 'over', end: 'unreachable' });
    expect(two.actions().at(-1)).toBe('hang_up');
  });

  test('restarts ICE first if this side has made the offer', async () => {
    const one = scene();
    await callTom(one);
    await one.hear({ news: 'accepted', sdp: 'their answer' });
    connections[0]?.is('connected');
    connections[0]?.is('disconnected');
    await vi.advanceTimersByTimeAsync(4_000);
    expect(one.said.at(-1)).toEqual({ action: 'offer', call: 'c1', sdp: 'another offer' });
  });

  test('sends no video while the camera is off, and another track when a device is chosen', async () => {
    const one = scene();
    await callTom(one);
    await one.session.setCamera(false);
    expect(connections[0]?.senders[1]?.track).toBeNull();
    await one.session.setCamera(true);
    expect(connections[0]?.senders[1]?.track?.kind).toBe('video');
    await one.session.switchDevice('mic', 'm2');
    expect(given.filter(track => track.kind === 'audio').map(track => track.stopped)).toEqual([true, false]);
  });
});
