// The server counts bytes of UTF-8; this says early when a text comes near to too many.

/** Bytes above the limit (negative: below); undefined while the text is far from it, which is told without encoding. */
export function bytesOver(text: string, limit: number | undefined): number | undefined {
  if (limit === undefined) return undefined;
  // A UTF-16 unit is at most three bytes.
  if (text.length * 3 < limit - 600) return undefined;
  return new TextEncoder().encode(text).length - limit;
}
