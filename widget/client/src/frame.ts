// Parses text from the server into events. Other values are dropped without an error: a newer server may send more.

import type { Event } from './wire.ts';

/** The longest line that a transport collects before it gives up. It is far above any server's frame limit. */
export const MAX_FRAME_CHARS = 8_000_000;

/** Parses one frame. Undefined if it is not a JSON object with a `t`. */
export function readEvent(text: string): Event | undefined {
  const value = parse(text);
  return isEvent(value) ? value : undefined;
}

/** Parses the body of a poll answer or of a refused hello: an array of frames, or one frame. */
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
