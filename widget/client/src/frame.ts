// Text from the server to events. What is no event is dropped, not thrown: a newer server may say more.

import type { Event } from './wire.ts';

/** Longest line that is collected before a transport gives up; far above any server's frame limit. */
export const MAX_FRAME_CHARS = 8_000_000;

/** One frame. Undefined where it is not a JSON object with a `t`. */
export function readEvent(text: string): Event | undefined {
  const value = parse(text);
  return isEvent(value) ? value : undefined;
}

/** The body of a poll answer, or of a refused hello: an array of frames, or one. */
export function readEvents(text: string): Event[] | undefined {
  const value = parse(text);
  if (Array.isArray(value)) return value.filter(isEvent);
  return isEvent(value) ? [value] : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isEvent(value: unknown): value is Event {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    't' in value &&
    typeof value.t === 'string'
  );
}
