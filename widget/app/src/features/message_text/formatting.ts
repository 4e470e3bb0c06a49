/** Parses a message's text into a tree: a small subset of Markdown (docs/formatting.md). It creates no markup. */

import { addressAt, hrefOf } from './links.ts';

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'bold' | 'italic' | 'strike'; inside: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'link'; href: string; inside: Inline[] }
  | { kind: 'mention'; user: string; text: string };

export type Block =
  | { kind: 'lines'; inside: Inline[] }
  | { kind: 'code_block'; text: string }
  | { kind: 'quote'; inside: Inline[] }
  | { kind: 'list'; start: number | undefined; items: Inline[][] };

/** Returns the name of the user with this id; undefined if a message here cannot mention that user. */
export type NameOf = (user: string) => string | undefined;

/** The server bounds the length of a message. These constants bound the elements that one message may produce. */
const MOST_MARKS = 400;
const MOST_LINKS = 50;
/** Maximum number of `@` mentions of one message that are looked up, and of ids that are tried for each. */
const MOST_MENTIONS = 20;
const MOST_READINGS = 3;
const DEEPEST = 6;

const FENCE = /^```[\w+#.-]{0,24}\s*$/;
const QUOTE = /^> ?/;
const BULLET = /^[-*•] +(?=\S)/;
const NUMBER = /^(\d{1,6})[.)] +(?=\S)/;

export function blocksOf(body: string, nameOf: NameOf = () => undefined): Block[] {
  const reader = new Reader(nameOf);
  const lines = body.split('\n');
  const blocks: Block[] = [];
  let plain: string[] = [];
  /** Drops blank lines next to a block, because a block has a margin of its own. */
  const flush = (beforeBlock: boolean) => {
    if (blocks.length > 0) while (plain[0]?.trim() === '') plain.shift();
    if (beforeBlock) while (plain.at(-1)?.trim() === '') plain.pop();
    if (plain.length > 0) blocks.push({ kind: 'lines', inside: reader.read(plain.join('\n')) });
    plain = [];
  };
  for (let at = 0; at < lines.length; ) {
    const { block, next } = blockAt(lines, at, reader);
    if (block !== undefined) {
      flush(true);
      blocks.push(block);
    } else plain.push(lines[at] as string);
    at = next;
  }
  flush(false);
  return blocks;
}

/** The text without formatting marks, for list rows, toasts and screen readers. */
export function plainOf(body: string, nameOf?: NameOf): string {
  return blocksOf(body, nameOf)
    .map(block => {
      if (block.kind === 'code_block') return block.text;
      if (block.kind === 'list') return block.items.map(textOf).join('\n');
      return textOf(block.inside);
    })
    .join('\n');
}

export function textOf(inside: readonly Inline[]): string {
  return inside.map(one => ('inside' in one ? textOf(one.inside) : one.text)).join('');
}

function blockAt(lines: readonly string[], at: number, reader: Reader): { block?: Block; next: number } {
  const line = lines[at] as string;
  if (FENCE.test(line)) {
    const end = lines.indexOf('```', at + 1);
    // An unclosed fence is plain text. Otherwise the rest would become code while the author still writes.
    if (end !== -1)
      return { block: { kind: 'code_block', text: lines.slice(at + 1, end).join('\n') }, next: end + 1 };
  }
  if (QUOTE.test(line)) {
    const next = endOf(lines, at, QUOTE);
    const text = lines.slice(at, next).map(one => one.replace(QUOTE, ''));
    return { block: { kind: 'quote', inside: reader.read(text.join('\n')) }, next };
  }
  for (const mark of [BULLET, NUMBER]) {
    const found = mark.exec(line);
    if (found === null) continue;
    const next = endOf(lines, at, mark);
    const items = lines.slice(at, next).map(one => reader.read(one.replace(mark, '')));
    return {
      block: { kind: 'list', start: found[1] === undefined ? undefined : Number(found[1]), items },
      next,
    };
  }
  return { next: at + 1 };
}

function endOf(lines: readonly string[], from: number, mark: RegExp): number {
  let end = from + 1;
  while (end < lines.length && mark.test(lines[end] as string)) end += 1;
  return end;
}

const PAIRS = [
  { mark: '**', kind: 'bold' },
  { mark: '~~', kind: 'strike' },
  { mark: '*', kind: 'italic' },
  { mark: '_', kind: 'italic' },
] as const;
const ESCAPABLE = '\\`*_~[]()>#-.!@:';
const WORD = /[\p{L}\p{N}_]/u;
/** A link's text that looks like an address must be the link's own address, so that it cannot mislead. */
const LOOKS_LIKE_ADDRESS = /:\/\/|^\s*www\.|^\s*[\w-]+(\.[\w-]+)+(\/|\s*$)/i;

/** Parses the text of one message. Its counters apply to the whole message. */
class Reader {
  #marks = 0;
  #links = 0;
  #mentions = 0;

  constructor(private readonly nameOf: NameOf) {}

  /** Formatting does not extend over an empty line. */
  read(text: string): Inline[] {
    const paragraphs = text.split('\n\n').map(one => this.#paragraph(one, 0, false));
    return paragraphs.flatMap((one, i) =>
      i === 0 ? one : [{ kind: 'text', text: '\n\n' } as const, ...one],
    );
  }

  #paragraph(text: string, depth: number, inLink: boolean): Inline[] {
    const found: Inline[] = [];
    /** Marks without an end in the rest of the text. The search runs once, so a flood of marks costs one pass. */
    const endless = new Set<string>();
    let plain = '';
    let at = 0;
    const put = (one: Inline, next: number) => {
      if (plain !== '') found.push({ kind: 'text', text: plain });
      plain = '';
      found.push(one);
      at = next;
    };
    while (at < text.length) {
      const char = text[at] as string;
      if (char === '\\' && at + 1 < text.length && ESCAPABLE.includes(text[at + 1] as string)) {
        plain += text[at + 1];
        at += 2;
        continue;
      }
      const one = this.#markAt(text, at, depth, inLink, endless);
      if (one !== undefined) put(one.found, one.next);
      else {
        plain += char;
        at += 1;
      }
    }
    if (plain !== '') found.push({ kind: 'text', text: plain });
    return found;
  }

  #markAt(
    text: string,
    at: number,
    depth: number,
    inLink: boolean,
    endless: Set<string>,
  ): { found: Inline; next: number } | undefined {
    if (this.#marks >= MOST_MARKS) return undefined;
    const one =
      this.#codeAt(text, at, endless) ??
      this.#pairAt(text, at, depth, inLink, endless) ??
      (inLink ? undefined : (this.#linkAt(text, at, depth) ?? this.#addressAt(text, at))) ??
      this.#mentionAt(text, at);
    if (one !== undefined) this.#marks += 1;
    return one;
  }

  #codeAt(text: string, at: number, endless: Set<string>) {
    if (text[at] !== '`' || endless.has('`')) return undefined;
    const end = text.indexOf('`', at + 1);
    const line = text.indexOf('\n', at + 1);
    if (end === -1) endless.add('`');
    if (end <= at + 1 || (line !== -1 && line < end)) return undefined;
    return { found: { kind: 'code', text: text.slice(at + 1, end) } as const, next: end + 1 };
  }

  #pairAt(text: string, at: number, depth: number, inLink: boolean, endless: Set<string>) {
    if (depth >= DEEPEST) return undefined;
    for (const { mark, kind } of PAIRS) {
      if (!text.startsWith(mark, at)) continue;
      if (endless.has(mark) || !opens(text, at, mark)) return undefined;
      const end = closing(text, at + mark.length, mark);
      if (end === -1) {
        endless.add(mark);
        return undefined;
      }
      const inside = this.#paragraph(text.slice(at + mark.length, end), depth + 1, inLink);
      return { found: { kind, inside }, next: end + mark.length };
    }
    return undefined;
  }

  /** Parses a link: `[text](address)`. */
  #linkAt(text: string, at: number, depth: number) {
    if (text[at] !== '[' || this.#links >= MOST_LINKS || depth >= DEEPEST) return undefined;
    const match = LINK.exec(text.slice(at, at + LONGEST_LINK));
    const [whole, shown, address] = match ?? [];
    if (whole === undefined || shown === undefined || address === undefined) return undefined;
    const href = hrefOf(address);
    if (href === undefined) return undefined;
    if (LOOKS_LIKE_ADDRESS.test(shown) && hrefOf(shown.trim()) !== href) return undefined;
    this.#links += 1;
    const inside = this.#paragraph(shown, depth + 1, true);
    return { found: { kind: 'link', href, inside } as const, next: at + whole.length };
  }

  #addressAt(text: string, at: number) {
    if (this.#links >= MOST_LINKS) return undefined;
    const found = addressAt(text, at);
    if (found === undefined) return undefined;
    this.#links += 1;
    const inside: Inline[] = [{ kind: 'text', text: found.text }];
    return { found: { kind: 'link', href: found.href, inside } as const, next: at + found.text.length };
  }

  /** Parses `@id` by the server's rule: no letter, digit, `_` or `-` follows, and the longest known id counts. */
  #mentionAt(text: string, at: number) {
    if (text[at] !== '@' || this.#mentions >= MOST_MENTIONS || (at > 0 && WORD.test(text[at - 1] as string)))
      return undefined;
    const run = /^[\p{L}\p{N}_.:@|+-]{1,128}/u.exec(text.slice(at + 1, at + 129))?.[0] ?? '';
    this.#mentions += run === '' ? 0 : 1;
    for (let length = run.length, readings = 0; length > 0 && readings < MOST_READINGS; length--) {
      if (/[\p{L}\p{N}_-]/u.test(run[length] ?? '')) continue;
      readings += 1;
      const user = run.slice(0, length);
      const name = this.nameOf(user);
      if (name !== undefined)
        return { found: { kind: 'mention', user, text: `@${name}` } as const, next: at + 1 + length };
    }
    return undefined;
  }
}

const LONGEST_LINK = 2_200;
const LINK =
  /^\[([^[\]\n]{1,200})\]\(((?:https?:\/\/|mailto:)[^\s()<>"]{1,1900}(?:\([^\s()<>"]{0,100}\)[^\s()<>"]{0,100})?)\)/i;

/** An opening mark must be at the start of a word, so `2*3*4` and `snake_case_name` are no emphasis. */
function opens(text: string, at: number, mark: string): boolean {
  const before = text[at - 1] ?? ' ';
  const after = text[at + mark.length] ?? ' ';
  return !/\s/.test(after) && !WORD.test(before) && after !== mark[0];
}

/** The position of the closing mark, or -1. */
function closing(text: string, from: number, mark: string): number {
  for (let at = text.indexOf(mark, from); at !== -1; at = text.indexOf(mark, at + 1)) {
    if (at === from || text[at - 1] === '\\' || /\s/.test(text[at - 1] as string)) continue;
    const single = mark.length === 1;
    // A double mark does not close a single one.
    if (single && text[at + 1] === mark) {
      at += 1;
      continue;
    }
    if (WORD.test(text[at + mark.length] ?? ' ')) continue;
    return at;
  }
  return -1;
}
