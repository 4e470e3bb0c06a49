// Uploads a file in pieces with tus 1.0.0. After an interruption the upload resumes at the server's offset.

import { addressee } from './addressee.ts';
import { backoff } from './backoff.ts';
import { type Access, type ConversationKey, RequestError } from './client.ts';
import type { Fetch } from './http.ts';
import { COMES_BACK, type Code, type SentFile } from './wire.ts';

/** The environment of an upload. */
export interface UploadHost {
  server: string;
  access(fresh?: boolean): Promise<Access>;
  fetch: Fetch;
  /** Unix milliseconds. */
  now(): number;
  /** Calls once after `ms`. The returned function cancels the timer. */
  timer(ms: number, call: () => void): () => void;
  random(): number;
}

export interface UploadOf {
  to: ConversationKey;
  name: string;
  bytes: Blob;
  /** Set for a voice message. */
  voice?: VoiceOf;
}

export interface VoiceOf {
  milliseconds: number;
  /** The loudness over time: at most 64 digits of base 36. */
  peaks?: string;
}

export type UploadState =
  | { at: 'sending'; sent: number }
  /** The connection broke, or the server is busy. The upload retries by itself. */
  | { at: 'waiting'; sent: number }
  | { at: 'done'; file: SentFile }
  | { at: 'failed'; code: Code }
  | { at: 'cancelled' };

const TUS = { 'tus-resumable': '1.0.0' };
const FIRST_PIECE = 256 * 1024;
const MOST_PIECE = 8 * 1024 * 1024;
/** After a piece that takes less than `QUICK_MS` the next one is larger, after more than `SLOW_MS` smaller. */
const QUICK_MS = 1_000;
const SLOW_MS = 5_000;
/** After this time without an answer the connection counts as dead. */
const PATIENCE_MS = 60_000;

/** The upload of one file. It begins at once, and continues until it is done, failed or cancelled. */
export class Upload {
  state: UploadState = { at: 'sending', sent: 0 };

  #location: string | undefined;
  #piece = FIRST_PIECE;
  #token: Access | undefined;
  #abort: AbortController | undefined;
  #waiting: (() => void) | undefined;
  #failures = 0;

  constructor(
    private readonly host: UploadHost,
    readonly what: UploadOf,
    private readonly changed: () => void,
  ) {
    void this.#run();
  }

  /** Restarts a failed upload, and ends the wait of a waiting one. */
  retry(): void {
    if (this.state.at === 'waiting') return this.#waiting?.();
    if (this.state.at !== 'failed') return;
    this.#tell({ at: 'sending', sent: 0 });
    void this.#run();
  }

  /** Cancels the upload, and deletes the uploaded part on the server. */
  cancel(): void {
    if (this.state.at === 'cancelled') return;
    const location = this.#location;
    this.#tell({ at: 'cancelled' });
    this.#abort?.abort();
    this.#waiting?.();
    // If the request is lost, the server removes the upload a day later.
    if (location !== undefined) this.#ask('DELETE', location).catch(() => undefined);
  }

  async #run(): Promise<void> {
    let offset: number | undefined;
    while (!this.#isOver()) {
      try {
        this.#location ??= await this.#create();
        offset ??= await this.#offset(this.#location);
        while (offset < this.what.bytes.size && !this.#isOver()) {
          offset = await this.#send(this.#location, offset);
          this.#failures = 0;
          this.#tell({ at: 'sending', sent: offset });
        }
        if (!this.#isOver()) this.#tell({ at: 'done', file: await this.#result(this.#location) });
      } catch (error) {
        offset = undefined;
        await this.#failed(error);
      }
    }
  }

  async #create(): Promise<string> {
    const { site } = await this.#access();
    const { to, name, bytes, voice } = this.what;
    const told = {
      site,
      ...addressee(to),
      filename: name,
      ...(voice && { voice: '', duration: String(Math.round(voice.milliseconds)) }),
      ...(voice?.peaks && { peaks: voice.peaks }),
    };
    const pairs = Object.entries(told).map(([key, value]) => `${key} ${base64(value)}`.trim());
    const response = await this.#ask('POST', '/v1/files', {
      'upload-length': String(bytes.size),
      'upload-metadata': pairs.join(','),
    });
    const location = response.headers.get('location');
    if (location === null) throw new RequestError('internal');
    return location;
  }

  async #offset(location: string): Promise<number> {
    const response = await this.#ask('HEAD', location);
    // The server may have changed a complete file. Then its offset equals its own length, not the length of `bytes`.
    const [offset, length] = [at(response, 'upload-offset'), at(response, 'upload-length')];
    return offset === length ? this.what.bytes.size : offset;
  }

  async #send(location: string, offset: number): Promise<number> {
    const began = this.host.now();
    const piece = this.what.bytes.slice(offset, offset + this.#piece);
    const more = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) };
    const response = await this.#ask('PATCH', location, more, piece);
    const took = this.host.now() - began;
    if (took < QUICK_MS) this.#piece = Math.min(this.#piece * 2, MOST_PIECE);
    if (took > SLOW_MS) this.#piece = Math.max(Math.floor(this.#piece / 2), FIRST_PIECE / 4);
    return at(response, 'upload-offset');
  }

  async #result(location: string): Promise<SentFile> {
    const file: unknown = await (await this.#ask('GET', location)).json();
    if (!isFile(file)) throw new RequestError('internal');
    return file;
  }

  async #access(fresh = false): Promise<Access> {
    if (fresh) this.#token = undefined;
    this.#token ??= await this.host.access(fresh);
    return this.#token;
  }

  async #ask(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: Blob,
    again = false,
  ): Promise<Response> {
    const { token } = await this.#access(again);
    const abort = new AbortController();
    this.#abort = abort;
    const late = this.host.timer(PATIENCE_MS, () => abort.abort());
    try {
      const response = await this.host.fetch(this.host.server + path, {
        method,
        headers: { ...TUS, authorization: `Bearer ${token}`, ...headers },
        ...(body && { body }),
        credentials: 'omit',
        cache: 'no-store',
        signal: abort.signal,
      });
      if (response.ok) return response;
      const code = await codeOf(response);
      // The token has expired, or it was a one-time token.
      if (COMES_BACK[code] === 'with_new_token' && !again)
        return await this.#ask(method, path, headers, body, true);
      throw new RequestError(code);
    } finally {
      late();
    }
  }

  /** Waits before a retry, or ends the upload if the refusal is final. */
  async #failed(error: unknown): Promise<void> {
    if (this.#isOver()) return;
    const code = error instanceof RequestError ? error.code : 'offline';
    const back = code === 'offline' ? 'later' : (COMES_BACK[code] ?? 'later');
    if (code !== 'offline' && (back === 'never' || back === 'with_new_token')) {
      // The server's sweep removes the uploaded part. A refused picture is deleted already.
      this.#location = undefined;
      return this.#tell({ at: 'failed', code });
    }
    this.#failures += 1;
    const sent = this.state.at === 'sending' || this.state.at === 'waiting' ? this.state.sent : 0;
    if (back === 'later') this.#tell({ at: 'waiting', sent });
    await new Promise<void>(resolve => {
      const cancel = this.host.timer(250 + backoff(this.#failures, this.host.random()), resolve);
      this.#waiting = () => {
        cancel();
        resolve();
      };
    });
    this.#waiting = undefined;
  }

  #isOver(): boolean {
    return this.state.at !== 'sending' && this.state.at !== 'waiting';
  }

  #tell(state: UploadState): void {
    if (this.state.at === 'cancelled') return;
    this.state = state;
    this.changed();
  }
}

/** The server sends a valid file, but a proxy may answer with anything. */
function isFile(value: unknown): value is SentFile {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string';
}

function at(response: Response, name: string): number {
  const number = Number.parseInt(response.headers.get(name) ?? '', 10);
  if (!Number.isFinite(number)) throw new RequestError('internal');
  return number;
}

/** The code of a refusal. An answer to `HEAD` has no body, so the status decides. */
async function codeOf(response: Response): Promise<Code> {
  const body: unknown = await response.json().catch(() => undefined);
  const { code }: { code?: unknown } = typeof body === 'object' && body !== null ? body : {};
  // A newer server may know more codes.
  if (typeof code === 'string') return code as Code;
  if (response.status === 401) return 'token_expired';
  if (response.status === 404) return 'no_such_file';
  return response.status === 422 ? 'bad_picture' : 'unavailable';
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
