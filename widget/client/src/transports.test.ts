// The four transports, with fakes of the browser's APIs.

import { describe, expect, test } from 'vitest';
import { settle } from '../test/clock.ts';
import type { Link, LinkListener, OpenLink } from './environment.ts';
import type { Fetch } from './http.ts';
import { poll } from './poll.ts';
import { sse, stream } from './stream.ts';
import { type Socket, websocket } from './websocket.ts';

const HELLO = '{"t":"hello"}';
const WELCOME = '{"t":"welcome","key":"K"}';

describe('websocket', () => {
  test('sends hello first, then commands; receives events; ends once', async () => {
    const socket = new FakeSocket();
    const urls: string[] = [];
    const heard = listen(
      websocket('https://im.example/chat', (url, protocol) => {
        urls.push(`${url} ${protocol}`);
        return socket;
      }),
    );
    expect(urls).toEqual(['wss://im.example/chat/v1/websocket kith.v1']);
    socket.onopen?.();
    heard.link.send('{"t":"ping"}');
    expect(socket.sent).toEqual([HELLO, '{"t":"ping"}']);
    socket.onmessage?.({ data: WELCOME });
    socket.onmessage?.({ data: new Uint8Array(3) });
    socket.onmessage?.({ data: 'no JSON' });
    const { onclose } = socket;
    socket.onerror?.();
    onclose?.();
    expect(heard.log).toEqual(['welcome', 'closed']);
  });

  test('is silent after close', () => {
    const socket = new FakeSocket();
    const heard = listen(websocket('http://x', () => socket));
    heard.link.close();
    expect(socket.closed).toBe(true);
    expect(socket.onmessage).toBeNull();
    heard.link.send('{"t":"ping"}');
    expect(socket.sent).toEqual([]);
    expect(heard.log).toEqual([]);
  });

  test('a page policy that forbids WebSockets is reported as a failure after open has returned', async () => {
    const heard = listen(
      websocket('http://x', () => {
        throw new Error('forbidden');
      }),
    );
    expect(heard.log).toEqual([]);
    await settle();
    expect(heard.log).toEqual(['closed']);
  });
});

describe.each([
  ['stream', stream, '/v1/stream', (frames: string[]) => frames.map(one => `${one}\n`).join('')],
  ['sse', sse, '/v1/sse', (frames: string[]) => frames.map(one => `data: ${one}\r\n\r\n`).join('')],
] as const)('%s', (_, transport, path, wire) => {
  test('posts the hello without credentials and reads events in any pieces', async () => {
    const net = new Net();
    const heard = listen(transport('https://im.example', net.fetch));
    await settle();
    expect(net.requests[0]).toMatchObject({
      url: `https://im.example${path}`,
      body: HELLO,
      credentials: 'omit',
    });
    const bytes = new TextEncoder().encode(
      wire([WELCOME, '{"t":"typing","user":"Ötzi"}', '{"t":"heartbeat"}']),
    );
    const body = net.answerWithStream(0);
    for (const byte of bytes) body.enqueue(Uint8Array.of(byte));
    await settle();
    expect(heard.log).toEqual(['welcome', 'typing Ötzi', 'heartbeat']);
    body.close();
    await settle();
    expect(heard.log.at(-1)).toBe('closed');
  });

  test('keeps one POST in flight and the order of commands, and none before the welcome', async () => {
    const net = new Net();
    const heard = listen(transport('', net.fetch));
    heard.link.send('1');
    await settle();
    expect(net.requests.length).toBe(1);
    net.answerWithStream(0).enqueue(new TextEncoder().encode(wire([WELCOME])));
    await settle();
    heard.link.send('2');
    heard.link.send('3');
    await settle();
    expect(net.requests.slice(1)).toMatchObject([{ url: '/v1/send', body: '1', authorization: 'Kith K' }]);
    net.answer(1, 204);
    await settle();
    expect(net.requests.slice(2)).toMatchObject([{ body: '2\n3' }]);
    net.answer(2, 204);
    await settle();
    expect(heard.log).toEqual(['welcome']);
  });

  test('a POST that the server refuses ends the session with its code', async () => {
    const net = new Net();
    const heard = listen(transport('', net.fetch));
    await settle();
    net.answerWithStream(0).enqueue(new TextEncoder().encode(wire([WELCOME])));
    await settle();
    heard.link.send('1');
    await settle();
    net.answer(1, 404, '{"t":"error","code":"no_session","text":""}');
    await settle();
    expect(heard.log).toEqual(['welcome', 'closed no_session']);
    expect(net.requests[0]?.aborted()).toBe(true);
  });

  test('a refused hello gives the code and the time of the retry', async () => {
    const net = new Net();
    const heard = listen(transport('', net.fetch));
    await settle();
    net.answer(0, 503, '{"t":"bye","code":"full","text":"","retry_after":7000}');
    await settle();
    expect(heard.log).toEqual(['closed full 7000']);
  });

  test('an error page of a proxy is a failure without a code', async () => {
    const net = new Net();
    const heard = listen(transport('', net.fetch));
    await settle();
    net.answer(0, 502, '<html>Bad gateway</html>');
    await settle();
    expect(heard.log).toEqual(['closed']);
  });

  test('close still posts a bye that was sent just before, and nothing after a failure', async () => {
    const net = new Net();
    const heard = listen(transport('', net.fetch));
    await settle();
    net.answerWithStream(0).enqueue(new TextEncoder().encode(wire([WELCOME])));
    await settle();
    heard.link.send('1');
    heard.link.send('bye');
    heard.link.close();
    net.answer(1, 204);
    await settle();
    expect(net.requests.slice(1)).toMatchObject([{ body: '1' }, { body: 'bye' }]);
    heard.link.send('late');
    net.fail(2);
    await settle();
    expect(net.requests.length).toBe(3);
    expect(heard.log).toEqual(['welcome']);
  });

  test('close ends the request without an event', async () => {
    const net = new Net();
    const heard = listen(transport('', net.fetch));
    await settle();
    net.answerWithStream(0).enqueue(new TextEncoder().encode(wire([WELCOME])));
    await settle();
    heard.link.close();
    await settle();
    expect(net.requests[0]?.aborted()).toBe(true);
    expect(heard.log).toEqual(['welcome']);
  });
});

describe('poll', () => {
  test('polls again with the key after each answer, and an empty answer counts as a heartbeat', async () => {
    const net = new Net();
    const heard = listen(poll('', net.fetch));
    await settle();
    expect(net.requests[0]).toMatchObject({ url: '/v1/poll', body: HELLO, authorization: undefined });
    net.answer(0, 200, `[${WELCOME},{"t":"typing","user":"ben"}]`);
    await settle();
    expect(net.requests[1]).toMatchObject({ url: '/v1/poll', body: '', authorization: 'Kith K' });
    net.answer(1, 200, '[]');
    await settle();
    expect(net.requests.length).toBe(3);
    expect(heard.log).toEqual(['welcome', 'typing ben', 'heartbeat']);
  });

  test('ends when the session is over, after an invalid answer, and after a network error', async () => {
    for (const [status, body, last] of [
      [404, '{"t":"error","code":"no_session","text":""}', 'closed no_session'],
      [200, '<html>', 'closed'],
      [0, '', 'closed'],
    ] as const) {
      const net = new Net();
      const heard = listen(poll('', net.fetch));
      await settle();
      net.answer(0, 200, `[${WELCOME}]`);
      await settle();
      if (status === 0) net.fail(1);
      else net.answer(1, status, body);
      await settle();
      expect(heard.log).toEqual(['welcome', last]);
      expect(net.requests.length).toBe(2);
    }
  });

  test('a first answer without a key is no session', async () => {
    const net = new Net();
    const heard = listen(poll('', net.fetch));
    await settle();
    net.answer(0, 200, '[]');
    await settle();
    expect(heard.log.at(-1)).toBe('closed');
    expect(net.requests.length).toBe(1);
  });
});

function listen(open: OpenLink): { link: Link; log: string[] } {
  const log: string[] = [];
  const listener: LinkListener = {
    event: event =>
      log.push(['typing'].includes(event.t) ? `typing ${(event as { user: string }).user}` : event.t),
    closed: ({ code, retryAfter }) => log.push(['closed', code, retryAfter].filter(Boolean).join(' ')),
  };
  return { link: open(HELLO, listener), log };
}

class FakeSocket implements Socket {
  onopen: Socket['onopen'] = null;
  onmessage: Socket['onmessage'] = null;
  onclose: Socket['onclose'] = null;
  onerror: Socket['onerror'] = null;
  sent: string[] = [];
  closed = false;
  send(text: string) {
    this.sent.push(text);
  }
  close() {
    this.closed = true;
  }
}

/** Requests wait until the test answers them. */
class Net {
  requests: {
    url: string;
    body: string;
    credentials?: string;
    authorization: string | undefined;
    aborted(): boolean;
    resolve(response: Response): void;
    reject(error: Error): void;
  }[] = [];

  fetch: Fetch = (url, init) =>
    new Promise((resolve, reject) => {
      const headers = init.headers as { authorization?: string } | undefined;
      init.signal?.addEventListener('abort', () => reject(new Error('aborted')));
      this.requests.push({
        url,
        body: String(init.body),
        ...(init.credentials && { credentials: init.credentials }),
        authorization: headers?.authorization,
        aborted: () => init.signal?.aborted ?? false,
        resolve,
        reject,
      });
    });

  answer(at: number, status: number, body = ''): void {
    this.requests[at]?.resolve(new Response(status === 204 ? null : body, { status }));
  }

  answerWithStream(at: number): ReadableStreamDefaultController<Uint8Array> {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(one) {
        controller = one;
      },
    });
    this.requests[at]?.resolve(new Response(body));
    return controller!;
  }

  fail(at: number): void {
    this.requests[at]?.reject(new Error('network'));
  }
}
