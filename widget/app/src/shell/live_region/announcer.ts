// Combines new messages into few announcements for screen readers. Fetched with the first panel.

import { type Client, type ConversationKey, isRoom } from '@kith/client';
import { gistOf } from '../../features/message_text/plain_text.ts';
import type { Wording } from '../../wording/wording.ts';

export interface Heard {
  chat: string;
  name: string;
  text: string;
}

/** The first message is announced at once. Messages within this time after it are announced together at its end. */
export const QUIET = 3_000;
const LONGEST = 160;

/** Announces new messages of the chat on the screen, and those of other chats that are not muted. */
export function announceMessages(
  client: Client,
  words: Wording,
  onScreen: { current: ConversationKey | undefined },
  say: (text: string) => void,
): () => void {
  const announcer = new Announcer(words);
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const leave = client.on('message', ({ key, message }) => {
    const conversation = client.conversation(key);
    if (key !== onScreen.current && conversation.mutedUntil > Date.now()) return;
    const { name } = client.person(message.from);
    const where = isRoom(key) ? words.inRoom({ name, room: conversation.with.name }) : name;
    const heard = { chat: key, name: where, text: gistOf(message, words) };
    const now = Date.now();
    const answer = announcer.hear(heard, now);
    if ('say' in answer) return say(answer.say);
    const timer = setTimeout(() => {
      timers.delete(timer);
      const text = announcer.due(Date.now());
      if (text !== undefined) say(text);
    }, answer.dueAt - now);
    timers.add(timer);
  });
  return () => {
    leave();
    for (const timer of timers) clearTimeout(timer);
  };
}

export class Announcer {
  private waiting: Heard[] = [];
  private quietUntil = 0;

  constructor(private readonly words: Pick<Wording, 'said' | 'announceMany' | 'announceChats'>) {}

  /** The text to announce now, or the time at which to call `due`. */
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
    if (heard.length === 1) return this.words.said(first.name) + shortened(first.text);
    const oneChat = heard.every(one => one.chat === first.chat);
    return oneChat
      ? this.words.announceMany({ count: heard.length, name: first.name })
      : this.words.announceChats(heard.length);
  }
}

function shortened(text: string): string {
  const chars = Array.from(text.slice(0, LONGEST * 2));
  return chars.length > LONGEST ? `${chars.slice(0, LONGEST).join('')}…` : text;
}
