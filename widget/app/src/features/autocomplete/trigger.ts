// The typed text that can be completed: `:sho`, `:shortcode:`, `@na`.

export interface Trigger {
  kind: 'emoji' | 'finished_emoji' | 'mention';
  query: string;
  /** Number of characters before the cursor that the chosen suggestion replaces. */
  length: number;
}

export function triggerAt(text: string, caret: number): Trigger | undefined {
  const before = text.slice(Math.max(0, caret - 80), caret);
  // Inline code is not completed: the line has an odd number of backticks before the cursor.
  if (((before.split('\n').at(-1) ?? '').match(/`/g)?.length ?? 0) % 2 === 1) return undefined;
  const finished = /(?:^|[\s(])(:([a-z0-9_+-]{2,40}):)$/i.exec(before);
  if (finished) return triggered('finished_emoji', finished);
  const emoji = /(?:^|[\s(])(:([a-z0-9_+-]{2,40}))$/i.exec(before);
  if (emoji) return triggered('emoji', emoji);
  const mention = /(?:^|[\s(])(@([\p{L}\p{N}_.' -]{0,40}))$/u.exec(before);
  // A name has at most two words. More words belong to the sentence after the mention.
  if (mention && (mention[2] ?? '').split(/\s+/).length <= 2 && !/\s$/.test(mention[2] ?? ''))
    return triggered('mention', mention);
  return undefined;
}

function triggered(kind: Trigger['kind'], [, whole = '', query = '']: RegExpExecArray): Trigger {
  return { kind, query: query.toLowerCase(), length: whole.length };
}
