import { describe, expect, test } from 'vitest';
import type { TransportName } from './client.ts';
import { Connection, type Effect, type Input } from './connection.ts';
import type { Code, Event } from './wire.ts';

describe('sign-in', () => {
  test('asks for a token, opens the best transport, and is online with the welcome', () => {
    const it = machine();
    expect(it.says({ type: 'start' })).toEqual(['connecting', 'token']);
    expect(it.says({ type: 'token', token: 'T' })).toEqual(['connecting', 'open websocket T']);
    expect(it.says({ type: 'event', link: 1, event: welcome() })).toEqual(['deliver welcome', 'online']);
  });

  test('a token that is about to expire is not used', () => {
    const it = machine();
    it.says({ type: 'start' });
    it.says({ type: 'token', token: jwt(it.now + 60_000) });
    it.wait(60_000);
    it.says({ type: 'closed', link: 1 });
    expect(it.untilNext()).toContain('token');
  });

  test('a site that gives no token now is asked again, and nothing is opened meanwhile', () => {
    const it = machine();
    it.says({ type: 'start' });
    expect(it.says({ type: 'token_failed' })).toEqual(['waiting']);
    expect(it.untilNext()).toEqual(['connecting', 'token']);
  });

  test('a token fetch that never ends counts as failed', () => {
    const it = machine();
    it.says({ type: 'start' });
    expect(it.untilNext()).toEqual(['waiting']);
  });
});

describe('transports', () => {
  test('after two failures before a welcome the next transport is tried, and after the last the first one', () => {
    const it = machine();
    it.says({ type: 'start' });
    it.says({ type: 'token', token: undefined });
    const tried: string[] = ['websocket'];
    for (let failures = 0; failures < 8; failures++) {
      const at = it.says({ type: 'closed', link: it.link });
      tried.push(
        (
          at.find(one => one.startsWith('open')) ??
          it.untilNext().find(one => one.startsWith('open')) ??
          ''
        ).split(' ')[1] ?? '',
      );
    }
    expect(tried).toEqual([
      'websocket',
      'websocket',
      'stream',
      'stream',
      'sse',
      'sse',
      'poll',
      'poll',
      'websocket',
    ]);
  });

  test('a transport that opens and drops frames is given up after ten seconds', () => {
    const it = machine();
    it.says({ type: 'start' });
    it.says({ type: 'token', token: undefined });
    const before = it.now;
    expect(it.untilNext()).toEqual(['close', 'waiting']);
    expect(it.now - before).toBe(10_000);
  });

  test('a transport is not given up while the server says that the sign-in is queued', () => {
    const it = machine();
    it.says({ type: 'start' });
    it.says({ type: 'token', token: undefined });
    for (let times = 0; times < 3; times++) {
      it.now += 25_000;
      expect(it.says({ type: 'event', link: it.link, event: { t: 'queued', within_ms: 40_000 } })).toEqual(
        [],
      );
    }
    const before = it.now;
    expect(it.untilNext()).toEqual(['close', 'waiting']);
    expect(it.now - before).toBe(40_000);
  });

  test('a transport that has worked is not given up after two failures', () => {
    const it = online();
    it.says({ type: 'closed', link: it.link });
    for (let failures = 0; failures < 4; failures++) {
      expect(it.untilNext()).toContain('open websocket T');
      it.says({ type: 'closed', link: it.link });
    }
    expect(it.untilNext()).toContain('open websocket T');
    it.says({ type: 'closed', link: it.link });
    expect(it.untilNext()).toContain('open stream T');
  });

  test('without network no transport counts a failure', () => {
    const it = machine();
    it.says({ type: 'network', online: false });
    it.says({ type: 'start' });
    it.says({ type: 'token', token: 'T' });
    for (let failures = 0; failures < 6; failures++) {
      it.says({ type: 'closed', link: it.link });
      expect(it.untilNext()).toContain('open websocket T');
    }
  });

  test('after ten minutes a new connection begins with the best one again', () => {
    const it = online({ remembered: 'sse' });
    expect(it.machine.transport).toBe('sse');
    it.beat(11 * 60_000);
    it.says({ type: 'closed', link: it.link });
    expect(it.untilNext()).toContain('open websocket T');
  });

  test('the transport that worked last in this browser is tried first', () => {
    const it = machine({ remembered: 'poll' });
    it.says({ type: 'start' });
    expect(it.says({ type: 'token', token: 'T' })).toContain('open poll T');
  });
});

describe('liveness', () => {
  test('pings within the idle time of the server, and a pong keeps the link', () => {
    const it = online();
    const before = it.now;
    expect(it.untilNext()).toEqual(['send ping']);
    expect(it.now - before).toBe(50_000);
    it.says({ type: 'event', link: it.link, event: { t: 'pong' } });
    expect(it.untilNext()).toEqual(['send ping']);
    expect(it.now - before).toBe(100_000);
  });

  test('a link that does not answer a ping is dead after ten seconds', () => {
    const it = online();
    it.untilNext();
    const before = it.now;
    expect(it.untilNext()).toEqual(['close', 'waiting']);
    expect(it.now - before).toBe(10_000);
  });

  test('a stream without heartbeats is probed after two and a half of them', () => {
    const it = online({ remembered: 'stream' });
    const before = it.now;
    expect(it.untilNext()).toEqual(['send ping']);
    expect(it.now - before).toBe(25_000);
  });

  test('after sleep the link is probed at once, and found dead in five seconds', () => {
    const it = online();
    expect(it.says({ type: 'wake' })).toEqual(['send ping']);
    expect(it.says({ type: 'wake' })).toEqual([]);
    const before = it.now;
    expect(it.untilNext()).toEqual(['close', 'waiting']);
    expect(it.now - before).toBe(5_000);
  });

  test('a wake shortens the timeout of a ping that was sent before', () => {
    const it = online();
    it.untilNext();
    expect(it.says({ type: 'wake' })).toEqual([]);
    const before = it.now;
    it.untilNext();
    expect(it.now - before).toBe(5_000);
  });
});

describe('reconnecting', () => {
  test('the delays grow with jitter, up to half a minute', () => {
    const it = machine({ random: () => 0.999 });
    it.says({ type: 'start' });
    it.says({ type: 'token', token: 'T' });
    const waits: number[] = [];
    for (let failures = 0; failures < 9; failures++) {
      if (!it.says({ type: 'closed', link: it.link }).includes('waiting')) continue;
      const before = it.now;
      it.untilNext();
      waits.push(Math.round((it.now - before) / 1_000));
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 30]);
  });

  test('a link that lived shorter than ten seconds does not reset the delays', () => {
    const it = online({ random: () => 0.999 });
    for (const expected of [1_000, 2_000, 4_000]) {
      it.says({ type: 'closed', link: it.link });
      const before = it.now;
      it.untilNext();
      expect(it.now - before).toBeCloseTo(expected * 0.999, -1);
      it.says({ type: 'event', link: it.link, event: welcome() });
      it.wait(5_000);
    }
  });

  test('a wake ends a wait of the client, but not one that the server has set', () => {
    const own = online();
    own.says({ type: 'closed', link: own.link });
    expect(own.says({ type: 'wake' })).toContain('open websocket T');

    const named = online();
    named.says(bye(named.link, 'going_away', 7_000));
    expect(named.says({ type: 'wake' })).toEqual([]);
    const before = named.now;
    expect(named.untilNext()).toContain('open websocket T');
    expect(named.now - before).toBe(7_000);
  });

  test('events of an abandoned link are ignored', () => {
    const it = online();
    it.says({ type: 'closed', link: it.link });
    it.untilNext();
    expect(it.says({ type: 'event', link: it.link - 1, event: { t: 'behind' } })).toEqual([]);
    expect(it.says({ type: 'closed', link: it.link - 1 })).toEqual([]);
  });

  test('without network the state is offline, and the client reconnects when it is back', () => {
    const it = online();
    expect(it.says({ type: 'network', online: false })).toEqual(['offline']);
    it.says({ type: 'closed', link: it.link });
    expect(it.says({ type: 'network', online: true })).toContain('open websocket T');
  });

  test('a short loss of network probes the link and keeps it', () => {
    const it = online();
    it.says({ type: 'network', online: false });
    expect(it.says({ type: 'network', online: true })).toEqual(['online', 'send ping']);
  });
});

describe('codes', () => {
  test.each<Code>(['banned', 'replaced', 'no_such_site', 'bad_origin', 'bad_version', 'done'])(
    '%s: stays away',
    code => {
      const it = online();
      expect(it.says(bye(it.link, code))).toEqual(['close', `stopped ${code}`]);
      expect(it.machine.deadline()).toBeUndefined();
      expect(it.says({ type: 'wake' })).toEqual([]);
      expect(it.says({ type: 'start' })).toContain('open websocket T');
    },
  );

  test.each<Code>(['bad_token', 'token_expired', 'token_used'])(
    '%s: with a new token, at once, then ever later',
    code => {
      const it = online();
      it.wait(20_000);
      expect(it.says(bye(it.link, code))).toEqual(['close', 'connecting', 'token']);
      it.says({ type: 'token', token: 'U' });
      expect(it.says(bye(it.link, code))).toEqual(['close', `waiting ${code}`]);
      expect(it.untilNext()).toEqual(['connecting', 'token']);
    },
  );

  test('no_guests stops a guest until the page brings a token', () => {
    const it = machine();
    it.says({ type: 'start' });
    it.says({ type: 'token', token: undefined });
    expect(it.says(bye(it.link, 'no_guests'))).toEqual(['close', 'stopped no_guests']);
    expect(it.says({ type: 'token', token: 'T' })).toContain('open websocket T');
  });

  test('a code with `now` reconnects at once after a stable session, and after a delay otherwise', () => {
    const stable = online();
    stable.wait(10_000);
    expect(stable.says(bye(stable.link, 'idle'))).toContain('open websocket T');
    const young = online();
    expect(young.says(bye(young.link, 'no_session'))).toEqual(['close', 'waiting no_session']);
  });

  test('an unknown code of a newer server is retried later', () => {
    const it = online();
    expect(it.says(bye(it.link, 'on_a_walk' as Code))).toEqual(['close', 'waiting on_a_walk']);
  });

  test('a refusal over HTTP comes as a closed link with a code', () => {
    const it = machine();
    it.says({ type: 'start' });
    it.says({ type: 'token', token: 'T' });
    expect(it.says({ type: 'closed', link: it.link, code: 'full', retryAfter: 30_000 })).toEqual([
      'waiting full',
    ]);
    const before = it.now;
    it.untilNext();
    expect(it.now - before).toBe(30_000);
  });
});

describe('a member who writes while the server is away', () => {
  test('reconnects at once, but not more often than every two seconds', () => {
    const it = online({ random: () => 0.999 });
    for (let failures = 0; failures < 6; failures++) {
      it.says({ type: 'closed', link: it.link });
      it.untilNext();
    }
    expect(it.says({ type: 'closed', link: it.link })).toEqual(['waiting']);
    expect(it.says({ type: 'wanted' })).toEqual([]);
    it.wait(2_000);
    expect(it.says({ type: 'wanted' })).toContainEqual(expect.stringMatching(/^open /));
    expect(it.says({ type: 'closed', link: it.link })).toEqual(['waiting']);
    it.wait(1_999);
    expect(it.says({ type: 'wanted' })).toEqual([]);
  });

  test('waits until the time that the server has set', () => {
    const it = online();
    it.says({
      type: 'event',
      link: it.link,
      event: { t: 'bye', code: 'going_away', text: '', retry_after: 9_000 },
    });
    it.wait(8_000);
    expect(it.says({ type: 'wanted' })).toEqual([]);
  });

  test('changes nothing while there is a session', () => {
    const it = online();
    expect(it.says({ type: 'wanted' })).toEqual([]);
  });
});

describe('tokens', () => {
  test('a new token is fetched at four fifths of the lifetime and sent in the session', () => {
    const it = online();
    const before = it.now;
    while (!it.until(['token'])) it.says({ type: 'event', link: it.link, event: { t: 'pong' } });
    expect(it.now - before).toBe(2_880_000);
    expect(it.says({ type: 'token', token: 'U' })).toEqual(['send token']);
  });

  test('a failed refresh is retried, and the session continues', () => {
    const it = online();
    while (!it.until(['token'])) it.says({ type: 'event', link: it.link, event: { t: 'pong' } });
    const before = it.now;
    it.says({ type: 'token_failed' });
    while (!it.until(['token'])) it.says({ type: 'event', link: it.link, event: { t: 'pong' } });
    expect(it.now - before).toBeGreaterThanOrEqual(5_000);
    expect(it.now - before).toBeLessThan(60_000);
  });
});

describe('leaving', () => {
  test('`stop` sends a bye, and `release` does not', () => {
    const it = online();
    expect(it.says({ type: 'stop' })).toEqual(['send bye', 'close', 'stopped']);
    const other = online();
    expect(other.says({ type: 'release' })).toEqual(['close', 'idle']);
    expect(other.says({ type: 'start' })).toContain('open websocket T');
  });
});

interface Options {
  random?: () => number;
  remembered?: TransportName;
}

function machine({ random = () => 0.5, remembered }: Options = {}) {
  const all: TransportName[] = ['websocket', 'stream', 'sse', 'poll'];
  const it = {
    now: 1_000_000,
    link: 0,
    machine: new Connection(all, random, remembered, 1_000_000),
    says(input: Input): string[] {
      const effects = it.machine.step(input, it.now);
      for (const effect of effects) if (effect.type === 'open') it.link = effect.link;
      return effects.map(word);
    },
    wait(ms: number) {
      it.now += ms;
    },
    untilNext(): string[] {
      it.now = it.machine.deadline() ?? it.now;
      return it.says({ type: 'tick' });
    },
    until(words: string[]): boolean {
      return it.untilNext().join() === words.join();
    },
    /** The server sends a heartbeat every ten seconds. */
    beat(ms: number) {
      for (const end = it.now + ms; it.now < end; it.now += 10_000) {
        it.says({ type: 'event', link: it.link, event: { t: 'heartbeat' } });
        it.says({ type: 'tick' });
      }
    },
  };
  return it;
}

function online(options: Options = {}) {
  const it = machine(options);
  it.says({ type: 'start' });
  it.says({ type: 'token', token: 'T' });
  it.says({ type: 'event', link: it.link, event: welcome() });
  return it;
}

function word(effect: Effect): string {
  switch (effect.type) {
    case 'open':
      return `open ${effect.transport} ${effect.token ?? '-'}`;
    case 'send':
      return `send ${effect.command.t}`;
    case 'deliver':
      return `deliver ${effect.event.t}`;
    case 'status':
      return [effect.status.state, effect.status.code].filter(Boolean).join(' ');
    default:
      return effect.type;
  }
}

function welcome(): Event {
  const limits = { body_bytes: 1, frame_bytes: 1, page: 1, watch: 1, idle_ms: 75_000, heartbeat_ms: 10_000 };
  return {
    t: 'welcome',
    session: 's',
    me: { user: 'ana', name: 'Ana' },
    presence: 'online',
    open: true,
    limits,
    time: 0,
    expires: 3_600_000,
    resumed: false,
    conversations: [],
    messages: [],
    gaps: [],
    contacts: [],
    position: 'p',
  };
}

function bye(link: number, code: Code, retry_after?: number): Input {
  return {
    type: 'event',
    link,
    event: { t: 'bye', code, text: '', ...(retry_after !== undefined && { retry_after }) },
  };
}

function jwt(exp: number): string {
  return `x.${btoa(JSON.stringify({ exp: exp / 1000 }))}.x`;
}
