// The one place that screen readers listen to.

import { type ConversationKey, isRoom } from '@kith/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { gistOf } from '../body_text/plain.ts';
import { useClient, useWording } from '../surroundings.tsx';
import { Announcer } from './announcer.ts';

interface Props {
  /** Receives the way to say something. */
  announcement: { current: (text: string) => void };
  /** The chat on the screen: its messages are read out whole, muted or not. */
  chat: ConversationKey | undefined;
}

export function LiveRegion({ announcement, chat }: Props) {
  const client = useClient();
  const words = useWording();
  const [said, setSaid] = useState({ text: '', turn: 0 });
  const onScreen = useRef(chat);
  onScreen.current = chat;

  useEffect(() => {
    const announcer = new Announcer(words);
    const timers = new Set<ReturnType<typeof setTimeout>>();
    const say = (text: string) => setSaid(before => ({ text, turn: before.turn + 1 }));
    announcement.current = say;
    const leave = client.on('message', ({ key, message }) => {
      const conversation = client.conversation(key);
      if (key !== onScreen.current && conversation.mutedUntil > Date.now()) return;
      const { name } = client.person(message.from);
      const where = isRoom(key) ? words.inRoom(name, conversation.with.name) : name;
      const heard = { chat: key, name: where, text: gistOf(message) };
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
  }, [client, words, announcement]);

  return (
    <div class="hidden-text" role="status" aria-live="polite" aria-atomic="true" data-live>
      {/* Another node each time, so that the same words twice are said twice. */}
      <span key={said.turn} dir="auto">
        {said.text}
      </span>
    </div>
  );
}
