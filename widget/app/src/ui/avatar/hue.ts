/** Computes a person's colour from the id, so that every device shows the same one without a request. */

/** Adjacent hues are easy to distinguish. Each has a contrast of 4.5:1 with the lightness of `avatar.css`. */
const HUES = [12, 34, 78, 128, 158, 188, 212, 238, 268, 302, 334];

export function hueOf(user: string): number {
  // FNV-1a is short and spreads similar ids such as `u1` and `u2`.
  let hash = 0x811c9dc5;
  for (let i = 0; i < user.length; i++) hash = Math.imul(hash ^ user.charCodeAt(i), 0x01000193);
  return HUES[(hash >>> 0) % HUES.length] ?? 0;
}

/** The first graphemes of the first and last word. Graphemes keep emoji and accented letters whole. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/u).filter(word => /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(word));
  const picked = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  return picked
    .map(word => firstGrapheme(word ?? ''))
    .join('')
    .toLocaleUpperCase();
}

function firstGrapheme(word: string): string {
  const start = word.search(/[\p{L}\p{N}\p{Extended_Pictographic}]/u);
  const rest = word.slice(Math.max(0, start));
  if ('Segmenter' in Intl) {
    for (const part of new Intl.Segmenter().segment(rest)) return part.segment;
  }
  return String.fromCodePoint(rest.codePointAt(0) ?? 0x3f);
}
