/** Finds addresses in a message. This module creates no markup. */

/** Only addresses with one of these schemes become links, because a bare `example.com` may be a file name. */
const SCHEME = /(?:https?:\/\/|mailto:)/iy;
const REST = /[^\s<>"'`\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/uy;
const OPENERS: Record<string, string> = { ')': '(', ']': '[', '}': '{' };
const LETTER = /[\p{L}\p{N}_]/u;

/** The address that starts at position `at`, if there is one. */
export function addressAt(body: string, at: number): { text: string; href: string } | undefined {
  if (at > 0 && LETTER.test(body.charAt(at - 1))) return undefined;
  SCHEME.lastIndex = at;
  if (!SCHEME.test(body)) return undefined;
  REST.lastIndex = at;
  const text = withoutTrailing(REST.exec(body)?.[0] ?? '');
  const href = hrefOf(text);
  return href === undefined ? undefined : { text, href };
}

/** The normalized address for `href`; undefined if it must not become a link. */
export function hrefOf(address: string): string | undefined {
  try {
    const url = new URL(address);
    if (url.protocol === 'mailto:') return mailOf(url);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
    // `https://site.example@evil.example` shows one host and opens another.
    return url.username === '' && url.password === '' && url.hostname !== '' ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** Allows one recipient and drops parameters, so that `?bcc=` and `?body=` cannot fill in the reader's mail. */
function mailOf({ pathname }: URL): string | undefined {
  return /^[^\s@,;?&<>"']+@[^\s@,;?&<>"']+$/.test(pathname) ? `mailto:${pathname}` : undefined;
}

/** A full stop or a bracket after an address belongs to the sentence, unless the address opened the bracket. */
function withoutTrailing(address: string): string {
  const open = new Map<string, number>();
  for (const char of address) {
    if ('([{'.includes(char)) open.set(char, (open.get(char) ?? 0) + 1);
    const opener = OPENERS[char];
    if (opener !== undefined) open.set(opener, (open.get(opener) ?? 0) - 1);
  }
  let end = address.length;
  for (; end > 0; end--) {
    const last = address.charAt(end - 1);
    if ('.,;:!?…*~_'.includes(last)) continue;
    const opener = OPENERS[last];
    if (opener === undefined || (open.get(opener) ?? 0) >= 0) break;
    open.set(opener, (open.get(opener) ?? 0) + 1);
  }
  return address.slice(0, end);
}
