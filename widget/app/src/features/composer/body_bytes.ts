// The server limits the UTF-8 bytes of a message. The composer warns when a text comes near the limit.

/**
 * Bytes above the limit (negative: below). Undefined while the text is far below the limit, which needs no
 * encoding.
 */
export function bytesOver(text: string, limit: number | undefined): number | undefined {
  if (limit === undefined) return undefined;
  // A UTF-16 code unit has at most three bytes in UTF-8.
  if (text.length * 3 < limit - 600) return undefined;
  return new TextEncoder().encode(text).length - limit;
}
