// Where tokens come from: the site's endpoint, or the page that pushes them. They are kept in memory only.

const FETCH_MS = 15_000;
const PUSH_MS = 20_000;
/** Far above any token; an endpoint that answers with a whole page is not one. */
const MAX_CHARS = 16_384;

/** For the client: a fresh token; undefined: nobody is signed in on the site. Rejects where it cannot be known now. */
export class TokenSource {
  #waiting: ((token: string) => void)[] = [];
  #pushes = false;

  constructor(
    private readonly url: string | undefined,
    /** Asks the page for a token, where it has pushed one before. */
    private readonly wanted: () => void,
  ) {}

  /** Can it have any? Without, only a guest may come. */
  get exists(): boolean {
    return this.url !== undefined || this.#pushes;
  }

  push(token: string): void {
    this.#pushes = true;
    for (const waiting of this.#waiting.splice(0)) waiting(token);
  }

  async next(): Promise<string | undefined> {
    if (this.url !== undefined) return fetchToken(this.url);
    return this.#pushes ? this.#pushed() : undefined;
  }

  #pushed(): Promise<string> {
    return new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error('kith: the page brought no new token')), PUSH_MS);
      this.#waiting.push(resolve);
      this.wanted();
    });
  }
}

/**
 * With the site's own cookies, by POST, so that no link or image can trigger it and no cache keeps it. 2xx: the
 * token, as JSON `{"token": "…"}` or as plain text. 204, 401, 403, 404, a redirect: nobody is signed in.
 */
async function fetchToken(url: string): Promise<string | undefined> {
  const response = await fetch(url, {
    method: 'POST',
    credentials: 'same-origin',
    cache: 'no-store',
    redirect: 'manual',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(FETCH_MS),
  });
  // Many sites send whoever is not signed in to a page where they can.
  if (response.type === 'opaqueredirect' || [204, 401, 403, 404].includes(response.status)) return undefined;
  if (!response.ok) throw new Error(`kith: the token endpoint answers ${response.status}`);
  const token = tokenIn(await response.text());
  if (token !== undefined && !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) {
    throw new Error('kith: the token endpoint answers something that is no JWT');
  }
  return token;
}

function tokenIn(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  if (trimmed.length > MAX_CHARS) throw new Error('kith: the token endpoint answers too much');
  if (!trimmed.startsWith('{')) return trimmed;
  const { token } = JSON.parse(trimmed) as { token?: unknown };
  return typeof token === 'string' && token !== '' ? token : undefined;
}
