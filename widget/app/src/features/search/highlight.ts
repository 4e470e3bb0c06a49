// Finds the words of a query in a text by the server's rules: it ignores case and accents.

export interface Piece {
  text: string;
  hit: boolean;
}

/** Splits the text into pieces. A prefix match marks the whole word: split letters (Arabic) would not join. */
export function marked(text: string, query: string): Piece[] {
  const hits = hitsIn(text, query);
  const pieces: Piece[] = [];
  let at = 0;
  for (const { from, to } of hits) {
    if (from > at) pieces.push({ text: text.slice(at, from), hit: false });
    pieces.push({ text: text.slice(from, to), hit: true });
    at = to;
  }
  if (at < text.length || pieces.length === 0) pieces.push({ text: text.slice(at), hit: false });
  return pieces;
}

/** One line of the text, with the first hit near its beginning. */
export function excerpt(text: string, query: string): Piece[] {
  const line = text.replace(/\s+/gu, ' ').trim();
  const first = hitsIn(line, query)[0]?.from ?? 0;
  if (first <= LEAD) return marked(line.slice(0, LONGEST), query);
  const from = line.indexOf(' ', first - LEAD) + 1;
  const begin = from > 0 && from <= first ? from : first;
  return marked(`…${line.slice(begin, begin + LONGEST)}`, query);
}

const LEAD = 24;
const LONGEST = 200;
const WORD = /[\p{L}\p{N}]+/gu;
/** Minimum length of the query's last word for a prefix match. */
const START = 3;

function hitsIn(text: string, query: string): { from: number; to: number }[] {
  const words: string[] = fold(query).text.match(WORD) ?? [];
  const last = words.at(-1) ?? '';
  const isOpen = /[\p{L}\p{N}]$/u.test(query) && Array.from(last).length >= START;
  const { text: folded, at } = fold(text);
  return Array.from(folded.matchAll(WORD))
    .filter(([word]) => words.includes(word) || (isOpen && word.startsWith(last)))
    .map(({ 0: word, index }) => ({ from: at[index] ?? 0, to: at[index + word.length] ?? text.length }));
}

/** The text in lower case without accents, and the original index of each code unit. */
function fold(text: string): { text: string; at: number[] } {
  let folded = '';
  const at: number[] = [];
  let index = 0;
  for (const char of text) {
    const bare = char.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
    for (let unit = 0; unit < bare.length; unit++) at.push(index);
    folded += bare;
    index += char.length;
  }
  at.push(index);
  return { text: folded, at };
}
