import { expect, test } from 'vitest';
import { direct } from './client.ts';
import { Upload, type UploadHost } from './upload.ts';

/** A server that implements the same part of tus as the real one, and a network that can be cut. */
class Fake implements UploadHost {
  server = 'https://im.example';
  bytes = new Uint8Array(0);
  announced = 0;
  metadata = '';
  asked: string[] = [];
  tokens: (boolean | undefined)[] = [];
  /** The failure of the next request of this method, instead of an answer. */
  trouble: [method: string, what: 'cut' | 'half' | Response][] = [];
  waits: (() => void)[] = [];
  removed = false;

  async access(fresh?: boolean) {
    this.tokens.push(fresh);
    return { site: 'garden', token: `t${this.tokens.length}` };
  }

  now = () => 0;
  random = () => 0;

  timer(ms: number, call: () => void): () => void {
    // Deadlines never pass here. Waits end when the test ends them.
    if (ms < 60_000) this.waits.push(call);
    return () => {
      this.waits = this.waits.filter(one => one !== call);
    };
  }

  fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const headers = init.headers as Record<string, string>;
    const { method = '' } = init;
    this.asked.push(`${method} ${new URL(url).pathname} ${headers.authorization}`);
    expect([headers['tus-resumable'], init.credentials]).toEqual(['1.0.0', 'omit']);
    if (init.signal?.aborted) throw new Error('aborted');
    const body =
      init.body === undefined ? undefined : new Uint8Array(await (init.body as Blob).arrayBuffer());
    if (this.trouble[0]?.[0] === method) {
      const [, what] = this.trouble.shift() as (typeof this.trouble)[number];
      if (what === 'half' && body) this.#take(body.subarray(0, body.length / 2));
      if (!(what instanceof Response)) throw new TypeError('Failed to fetch');
      return what;
    }
    const offset = { 'upload-offset': String(this.bytes.length), 'upload-length': String(this.announced) };
    switch (method) {
      case 'POST':
        this.announced = Number(headers['upload-length']);
        this.metadata = headers['upload-metadata'] ?? '';
        return new Response(null, { status: 201, headers: { location: '/v1/files/1/00ff' } });
      case 'HEAD':
        return new Response(null, { status: 200, headers: offset });
      case 'PATCH':
        if (headers['upload-offset'] !== String(this.bytes.length)) return refused(409, 'wrong_offset');
        this.#take(body ?? new Uint8Array(0));
        return new Response(null, { status: 204, headers: { 'upload-offset': String(this.bytes.length) } });
      case 'DELETE':
        this.removed = true;
        return new Response(null, { status: 204 });
      default:
        return Response.json({
          id: '00ff',
          name: 'x',
          type: 'text/plain',
          size: this.bytes.length,
          url: '/x',
        });
    }
  };

  #take(piece: Uint8Array): void {
    const all = new Uint8Array(this.bytes.length + piece.length);
    all.set(this.bytes);
    all.set(piece, this.bytes.length);
    this.bytes = all;
  }
}

function refused(status: number, code: string): Response {
  return Response.json({ t: 'error', code, text: code }, { status });
}

const CONTENT = Uint8Array.from({ length: 300_000 }, (_, at) => (at * 31) % 251);

function upload(fake: Fake, name = 'Fön.txt') {
  const states: string[] = [];
  const of = { to: direct('ben'), name, bytes: new Blob([CONTENT]) };
  const made: Upload = new Upload(fake, of, () => states.push(made.state.at));
  return { made, states };
}

async function until(what: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !what(); turn++) await new Promise(resolve => setTimeout(resolve));
  expect(what()).toBe(true);
}

test('a file is uploaded in pieces, with its conversation and its name', async () => {
  const fake = new Fake();
  const { made } = upload(fake);
  await until(() => made.state.at === 'done');
  expect(made.state).toMatchObject({ at: 'done', file: { id: '00ff' } });
  expect(Buffer.from(CONTENT).equals(fake.bytes)).toBe(true);
  const told = Object.fromEntries(fake.metadata.split(',').map(pair => pair.split(' ')));
  const text = (of: string) => new TextDecoder().decode(Uint8Array.from(atob(of), c => c.charCodeAt(0)));
  expect([text(told.site), text(told.user), text(told.filename)]).toEqual(['garden', 'ben', 'Fön.txt']);
  expect(fake.asked.filter(one => one.startsWith('PATCH')).length).toBeGreaterThan(1);
  expect(fake.tokens).toEqual([false]);
});

test('the upload resumes after a lost request, half a piece or a lost answer', async () => {
  const fake = new Fake();
  fake.trouble = [
    ['POST', 'cut'],
    ['HEAD', 'cut'],
    ['PATCH', 'half'],
    ['PATCH', refused(503, 'unavailable')],
    ['GET', 'cut'],
  ];
  const { made, states } = upload(fake);
  for (let turn = 0; turn < 5; turn++) {
    await until(() => fake.waits.length > 0);
    expect(made.state.at).toBe('waiting');
    for (const wait of fake.waits.splice(0)) wait();
  }
  await until(() => made.state.at === 'done');
  expect(Buffer.from(CONTENT).equals(fake.bytes)).toBe(true);
  expect(states).toContain('sending');
});

test('an old token is replaced by a fresh one, once', async () => {
  const fake = new Fake();
  fake.trouble = [['PATCH', refused(401, 'token_expired')]];
  const { made } = upload(fake);
  await until(() => made.state.at === 'done');
  expect(fake.tokens).toEqual([false, true]);
  fake.trouble = [
    ['POST', refused(401, 'bad_token')],
    ['POST', refused(401, 'bad_token')],
  ];
  const again = upload(fake).made;
  await until(() => again.state.at === 'failed');
  expect(again.state).toEqual({ at: 'failed', code: 'bad_token' });
});

test('an upload that is refused for good fails with the reason, and can be retried', async () => {
  const fake = new Fake();
  fake.trouble = [['POST', refused(403, 'first_contact')]];
  const { made } = upload(fake);
  await until(() => made.state.at === 'failed');
  expect([made.state, fake.waits]).toEqual([{ at: 'failed', code: 'first_contact' }, []]);
  made.retry();
  await until(() => made.state.at === 'done');
});

test('a cancelled upload stops, and is deleted on the server', async () => {
  const fake = new Fake();
  fake.trouble = [['PATCH', 'cut']];
  const { made } = upload(fake);
  await until(() => made.state.at === 'waiting');
  made.cancel();
  await until(() => fake.removed);
  expect([made.state.at, fake.waits]).toEqual(['cancelled', []]);
  const asked = fake.asked.length;
  await new Promise(resolve => setTimeout(resolve, 20));
  expect(fake.asked.length).toBe(asked);
});
