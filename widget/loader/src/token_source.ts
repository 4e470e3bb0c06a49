// Where tokens come from: the site's endpoint, or the page that pushes them. They are kept in memory only.

import { fieldsOf } from './fields_of.ts';

const FETCH_MS = 15_000;
const PUSH_MS = 20_000;
/** Far above any token; an endpoint that answers with a whole page is not one. */
const MAX_CHARS = 16_384;

export interface TokenSource {
  /** Can it have any? Without, only a guest may come. */
  exists(): boolean;
  push(token: string): void;
  /** For the client: a fresh token; undefined: nobody is signed in on the site. Rejects where it cannot be known now. */
  next(): Promise<string | undefined>;
}

/** `wanted` asks the page for a token, where it has pushed one before. */
export function createTokenSource(url: string | undefined, wanted: () => void): TokenSource {
  const waiting: ((token: string) => void)[] = [];
  let pushes = false;
  const pushed = () =>
    new Promise<string>((resolve, reject) => {
      setTimeout(() => reject(new Error('kith: the page brought no new token')), PUSH_MS);
      waiting.push(resolve);
      wanted();
    });
  return {
    exists: () => url !== undefined || pushes,
    push(token) {
      pushes = true;
      for (const take of waiting.splice(0)) take(token);
    },
    async next() {
      if (url !== undefined) return fetchToken(url);
      return pushes ? pushed() : undefined;
    },
  };
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
  const { token } = fieldsOf(JSON.parse(trimmed));
  return typeof token === 'string' && token !== '' ? token : undefined;
}
