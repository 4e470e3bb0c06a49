/** A text as a reader sees it: without the marks around inserted names, which keep their direction apart. */
export function plain(text: string): string {
  return text.replace(/[\u2068\u2069]/g, '');
}
