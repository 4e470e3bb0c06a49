// The source of tokens: the site's endpoint, or the page that pushes them. Tokens are kept in memory only.

import { fieldsOf } from './fields_of.ts';

const FETCH_MS = 15_000;
const PUSH_MS = 20_000;
/** Longer answers are no tokens, but for example whole pages. */
const MAX_CHARS = 16_384;

export interface TokenSource {
  /** Whether the page has any source of tokens. Otherwise the visitor is a guest. */
  exists(): boolean;
  push(token: string): void;
  /** A fresh token for the client. Undefined: no member is signed in on the site. Rejects if that is not known now. */
  next(): Promise<string | undefined>;
}

/** `wanted` requests a token from a page that has pushed one before. */
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
 * Fetches a token with the site's own cookies. It uses POST, so that no link or image can trigger the request and no
 * cache stores the answer. 2xx: the token, as JSON `{"token": "…"}` or as plain text. 204, 401, 403, 404 or a
 * redirect: no member is signed in.
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
  // Many sites redirect visitors who are not signed in to a sign-in page.
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
