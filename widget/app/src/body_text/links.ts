/** Finds addresses in a message. The text stays text: nothing here makes markup. */

export type Piece = { kind: 'text'; text: string } | { kind: 'link'; text: string; href: string };

/** Only these two schemes become links, and only written out: a bare `example.com` may be a file name. */
const ADDRESS = /\bhttps?:\/\/[^\s<>"'`\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/giu;
/** A message is bounded by the server; this bounds the nodes that one message may become. */
const MOST_LINKS = 50;
const OPENERS: Record<string, string> = { ')': '(', ']': '[', '}': '{' };

export function piecesOf(body: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  let links = 0;
  for (const match of body.matchAll(ADDRESS)) {
    if (links === MOST_LINKS) break;
    const text = withoutTrailing(match[0]);
    const href = hrefOf(text);
    if (href === undefined) continue;
    if (match.index > from) pieces.push({ kind: 'text', text: body.slice(from, match.index) });
    pieces.push({ kind: 'link', text, href });
    from = match.index + text.length;
    links += 1;
  }
  if (from < body.length) pieces.push({ kind: 'text', text: body.slice(from) });
  return pieces;
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
    if ('.,;:!?…'.includes(last)) continue;
    const opener = OPENERS[last];
    if (opener === undefined || (open.get(opener) ?? 0) >= 0) break;
    open.set(opener, (open.get(opener) ?? 0) + 1);
  }
  return address.slice(0, end);
}

function hrefOf(address: string): string | undefined {
  try {
    const url = new URL(address);
    // `https://site.example@evil.example` shows one host and opens another.
    return url.username === '' && url.password === '' && url.hostname !== '' ? url.href : undefined;
  } catch {
    return undefined;
  }
}
