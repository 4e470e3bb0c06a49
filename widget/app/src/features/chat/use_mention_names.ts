// Resolves `@id` in a conversation to the names of known users. Re-renders when a name arrives.

import type { Message } from '@kith/client';
import { useEffect, useMemo, useReducer } from 'preact/hooks';
import { useClient, useWording } from '../../app_context.tsx';
import type { NameOf } from '../message_text/formatting.ts';

export function useMentionNames(messages: readonly Message[], room: boolean): NameOf {
  const client = useClient();
  const words = useWording();
  const [turn, redraw] = useReducer((before: number) => before + 1, 0);
  const senders = useMemo(() => Array.from(new Set(messages.map(one => one.from))), [messages]).join('\n');
  useEffect(() => {
    const leave = senders
      .split('\n')
      .map(user => client.subscribe(`person:${user}`, () => redraw(undefined)));
    return () => {
      for (const one of leave) one();
    };
  }, [client, senders]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `turn` changes whenever a name arrives
  return useMemo(() => {
    const known = new Map(senders.split('\n').map(user => [user, client.person(user).name]));
    const me = client.me();
    if (me) known.set(me.user, me.name);
    return user => {
      if (room && user === 'room') return words.everybody;
      const name = known.get(user) ?? client.person(user).name;
      // A mention of an unknown user keeps the written text.
      return name === user ? undefined : name;
    };
  }, [client, senders, room, words, turn]);
}
