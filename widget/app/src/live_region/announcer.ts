// Turns messages into as few spoken sentences as say what happened.

import type { Wording } from '../wording/wording.ts';

export interface Heard {
  chat: string;
  name: string;
  text: string;
}

/** The first message is said at once; what comes within this time after it is said together at its end. */
export const QUIET = 3_000;
const LONGEST = 160;

export class Announcer {
  private waiting: Heard[] = [];
  private quietUntil = 0;

  constructor(private readonly words: Pick<Wording, 'announceOne' | 'announceMany' | 'announceChats'>) {}

  /** What to say now, or when to call `due`. */
  hear(heard: Heard, now: number): { say: string } | { dueAt: number } {
    if (now >= this.quietUntil && this.waiting.length === 0) {
      this.quietUntil = now + QUIET;
      return { say: this.sentence([heard]) };
    }
    this.waiting.push(heard);
    return { dueAt: this.quietUntil };
  }

  due(now: number): string | undefined {
    if (this.waiting.length === 0 || now < this.quietUntil) return undefined;
    const said = this.sentence(this.waiting);
    this.waiting = [];
    this.quietUntil = now + QUIET;
    return said;
  }

  private sentence(heard: readonly Heard[]): string {
    const [first] = heard;
    if (first === undefined) return '';
    if (heard.length === 1) return this.words.announceOne(first.name, shortened(first.text));
    const oneChat = heard.every(one => one.chat === first.chat);
    return oneChat
      ? this.words.announceMany(heard.length, first.name)
      : this.words.announceChats(heard.length);
  }
}

function shortened(text: string): string {
  const chars = Array.from(text.slice(0, LONGEST * 2));
  return chars.length > LONGEST ? `${chars.slice(0, LONGEST).join('')}…` : text;
}
