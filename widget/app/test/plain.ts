/** A text without the invisible direction marks (U+2068, U+2069) around inserted names. */
export function plain(text: string): string {
  return text.replace(/[\u2068\u2069]/g, '');
}
