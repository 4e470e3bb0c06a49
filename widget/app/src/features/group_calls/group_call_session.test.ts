// @vitest-environment happy-dom

import type { Event, GroupCallEvent, Participant, Status, Unnumbered } from '@kith/client';
import { RequestError, room } from '@kith/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hideAddress } from '../calls/call_preferences.ts';
import { GroupCallSession } from './group_call_session.ts';

const RELAY = [{ urls: ['turn:im.example'], username: 'u', credential: 'p' }];
const connections: Connection[] = [];

/** The parts of `RTCPeerConnection` that a call uses. No media flows. */
class Connection {
  connectionState = 'new';
  signalingState = 'stable';
  remoteDescription: RTCSessionDescriptionInit | null = null;
  localDescription: RTCSessionDescriptionInit | null = null;
  onconnectionstatechange: (() => void) | null = null;
  closed = false;
  tracks: (Track | null)[] = [];

  constructor(public configuration: RTCConfiguration) {
    connections.push(this);
  }

  createDataChannel = () => ({ readyState: 'connecting', send: () => undefined });
  addTransceiver = (what: string | Track) => void this.tracks.push(typeof what === 'string' ? null : what);
  getTransceivers = () =>
    this.tracks.map((track, at) => ({
      direction: 'sendrecv',
      receiver: { track: { kind: at === 0 ? 'audio' : 'video' } },
      sender: {
        track,
        replaceTrack: async (next: Track | null) => {
          this.tracks[at] = next;
        },
        getParameters: () => ({ encodings: [] }),
        setParameters: async () => undefined,
      },
    }));
  getReceivers = () => [];
  getStats = async () => new Map();
  createOffer = async () => ({ type: 'offer' as const, sdp: 'offer' });
  setConfiguration = () => undefined;
  addIceCandidate = async () => undefined;

  async setLocalDescription(description?: RTCSessionDescriptionInit) {
    this.localDescription = description ?? { type: 'answer', sdp: 'answer' };
    this.signalingState = description ? 'have-local-offer' : 'stable';
  }

  async setRemoteDescription(description: RTCSessionDescriptionInit) {
    this.remoteDescription = description;
    if (description.type === 'answer') this.signalingState = 'stable';
  }

  close() {
    this.closed = true;
  }

  becomes(state: string) {
    this.connectionState = state;
    this.onconnectionstatechange?.();
  }
}

interface Track {
  kind: string;
  enabled: boolean;
  onended: null;
  stop(): void;
  getSettings(): object;
}

const track = (kind: string): Track => ({
  kind,
  enabled: true,
  onended: null,
  stop: () => undefined,
  getSettings: () => ({}),
});

const ben: Participant = { user: 'ben', place: 7 };
const carla: Participant = { user: 'carla', place: 8 };

function scene(here: Participant[], refused?: RequestError) {
  const said: Unnumbered[] = [];
  const listeners = new Set<(event: never) => void>();
  const tell = (news: object) => {
    const event = { t: 'group_call', conversation: 'r1', ...news } as GroupCallEvent;
    for (const listener of listeners) listener(event as never);
    return event as Event;
  };
  const status: Status = { state: 'online', shared: false };
  const client = {
    ask: async (request: Unnumbered) => {
      said.push(request);
      const { action } = request as { action?: string };
      if (action !== 'join') return tell({ re: 1, news: action === 'leave' ? 'left' : 'done' });
      if (refused) throw refused;
      const joined = { news: 'joined', place: 9, media: 'audio', since: 5, most: 6, here, ice: RELAY };
      return tell({ re: 1, ...joined });
    },
    on: (_: string, listener: (event: never) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    contact: () => 'contact' as const,
    status: () => status,
    subscribe: () => () => undefined,
  };
  const storage = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
  const session = new GroupCallSession({ client: client as never, storage, now: () => Date.now() });
  const actions = () =>
    said.map(one => {
      const { action, to } = one as { action?: string; to?: number };
      return to === undefined ? action : `${action} ${to}`;
    });
  const states = () => session.shown()?.tiles.map(one => `${one.user} ${one.state}`);
  return { session, tell, actions, states };
}

const settled = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers();
  connections.length = 0;
  vi.stubGlobal('RTCPeerConnection', Connection);
  vi.stubGlobal('MediaStream', class {});
  vi.stubGlobal('navigator', {
    userAgent: 'test',
    mediaDevices: {
      getUserMedia: async (wanted: object) => ({
        getTracks: () => [track('audio' in wanted ? 'audio' : 'video')],
      }),
    },
  });
});
afterEach(() => {
  hideAddress(false);
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('a joining client sends offers to present participants, but not if they are away or apart', async () => {
  const away = { user: 'dan', place: 10, away: true };
  const apart = { user: 'eve', place: 11, apart: true };
  const { session, actions, states } = scene([ben, carla, away, apart]);
  await session.join(room('r1'), 'audio');
  await settled();
  expect(actions()).toEqual(['join', 'offer 7', 'offer 8']);
  expect(states()).toEqual(['ben connecting', 'carla connecting', 'dan away', 'eve apart']);
  connections[0]?.becomes('connected');
  expect(states()?.[0]).toBe('ben connected');
  await vi.advanceTimersByTimeAsync(25_000);
  expect(states()?.[1]).toBe('carla unreachable');
  session.destroy();
});

test('a present client answers the first offer with a connection, and later offers on the same one', async () => {
  const { session, tell, actions, states } = scene([]);
  await session.join(room('r1'), 'audio');
  tell({ news: 'came', ...ben });
  expect(states()).toEqual(['ben connecting']);
  tell({ news: 'offer', from: 7, sdp: 'o1' });
  await settled();
  tell({ news: 'offer', from: 7, sdp: 'o2' });
  await settled();
  expect([connections.length, actions()]).toEqual([1, ['join', 'answer 7', 'answer 7']]);
  // An offer from an unknown place is ignored.
  tell({ news: 'offer', from: 99, sdp: 'o' });
  await settled();
  expect(connections.length).toBe(1);
  // The participant rejoins at a new place, and the previous connection is closed.
  tell({ news: 'came', user: 'ben', place: 12 });
  tell({ news: 'offer', from: 12, sdp: 'o3' });
  await settled();
  expect([connections.length, connections[0]?.closed, actions().at(-1)]).toEqual([2, true, 'answer 12']);
  tell({ news: 'apart', place: 12 });
  expect([connections[1]?.closed, states()]).toEqual([true, ['ben apart']]);
  session.destroy();
});

test('leaving closes all connections and notifies the server once', async () => {
  const { session, actions } = scene([ben, carla]);
  await session.join(room('r1'), 'video');
  await settled();
  session.hangUp();
  await settled();
  expect(connections.every(one => one.closed)).toBe(true);
  expect([session.shown(), actions().filter(one => one === 'leave').length]).toEqual([undefined, 1]);
});

test('a refusal or a removal by the server ends the call with a reason', async () => {
  const full = scene([], new RequestError('call_full'));
  await full.session.join(room('r1'), 'audio');
  expect([full.session.shown()?.stage, full.session.shown()?.end]).toEqual(['over', 'full']);
  const out = scene([ben]);
  await out.session.join(room('r1'), 'audio');
  out.tell({ news: 'left' });
  expect([out.session.shown()?.stage, out.session.shown()?.end]).toEqual(['over', 'taken_out']);
});

test('a user who hides the IP address makes only relayed connections', async () => {
  hideAddress(true);
  const { session } = scene([ben]);
  await session.join(room('r1'), 'audio');
  await settled();
  expect(connections[0]?.configuration.iceTransportPolicy).toBe('relay');
  session.destroy();
});
