// Requests to the server about polls, forwarded messages and threads. The code is fetched when it is needed first.

import {
  type Client,
  type ConversationKey,
  type Message,
  type NewPoll,
  RequestError,
  type Rich,
  room,
  type ThreadView,
} from './client.ts';
import { drawn } from './message_view.ts';
import type { Replica } from './replica.ts';
import type { Ask } from './request.ts';
import type { Thread, Message as WireMessage } from './wire.ts';

interface Host {
  replica: Replica;
  ask: Ask;
  send: Client['send'];
}

const PAGE = 50;

export function richOf({ replica, ask, send }: Host): Rich {
  const me = () => replica.me?.user;
  const idOf = (key: ConversationKey): string => {
    const id = replica.known(key).id ?? (key[0] === '#' ? key.slice(1) : undefined);
    if (id === undefined) throw new RequestError('no_such_conversation');
    return id;
  };
  const view = (key: ConversationKey, { root, follows, unread }: Thread): ThreadView => ({
    key,
    root: drawn(root, me()),
    follows: follows ?? false,
    unread,
  });
  return {
    idOf,
    poll: (key, question, poll) => send(key, question, undefined, undefined, asPoll(poll)),
    forward(from, message, to) {
      return send(to, message.body, undefined, message.files, asForwarded(idOf(from), message));
    },
    async stickers() {
      const event = await ask({ t: 'stickers' });
      return event.stickers;
    },
    sticker(key, sticker, { replyTo, thread } = {}) {
      const below = thread !== undefined && { thread };
      const bears: MessageExtras = {
        say: { t: 'sticker', sticker: sticker.id, ...below },
        shows: { sticker, ...below },
      };
      return send(key, sticker.words, replyTo, undefined, bears);
    },
    reply(key, root, body) {
      return send(key, body, undefined, undefined, inThread(root));
    },
    async vote(key, seq, choices) {
      await ask({ t: 'vote', conversation: idOf(key), seq, choices: [...choices] });
    },
    async closePoll(key, seq) {
      await ask({ t: 'close_poll', conversation: idOf(key), seq });
    },
    async dropPreview(key, seq) {
      await ask({ t: 'drop_preview', conversation: idOf(key), seq });
    },
    async thread(key, seq, change = {}) {
      const event = await ask({ t: 'thread', conversation: idOf(key), seq, ...change });
      return view(key, event.thread);
    },
    async threads(key) {
      const event = await ask({ t: 'threads', conversation: idOf(key) });
      return event.threads.map(one => view(key, one));
    },
    async replies(key, seq, before) {
      const to = { conversation: idOf(key) };
      const more = {
        ...(before !== undefined && { before }),
        limit: Math.min(PAGE, replica.limits?.page ?? PAGE),
      };
      const event = await ask({ t: 'history', to, thread: seq, ...more });
      return { messages: event.messages.map(one => drawn(one, me())), more: event.more };
    },
    async keyOf(id) {
      const known = replica.conversations.keysById.get(id);
      if (known !== undefined) return known;
      // A member gets the conversation's record, which has the other user or the room.
      await ask({ t: 'conversation', conversation: id });
      return replica.conversations.keysById.get(id) ?? room(id);
    },
  };
}

/** Parts of a message beside its text: fields of its command (`say`), and of its view while it is queued (`shows`). */
export interface MessageExtras {
  say: Record<string, unknown>;
  shows: Partial<WireMessage>;
}

/** The extras with which `send` posts a reply in the thread below this seq. */
export function inThread(root: number): MessageExtras {
  return { say: { thread: root }, shows: { thread: root } };
}

/** The key of a thread's draft. The server knows no conversation of this key, so the draft stays in this browser. */
export function threadDraft(key: ConversationKey, root: number): ConversationKey {
  return `${key}\n${root}` as ConversationKey;
}

function asPoll({ choices, multiple, anonymous, ends }: NewPoll): MessageExtras {
  const rules = {
    ...(multiple && { multiple }),
    ...(anonymous && { anonymous }),
    ...(ends !== undefined && { ends }),
  };
  const poll = { choices: choices.map(text => ({ text, votes: 0 })), voters: 0, ...rules };
  return { say: { t: 'poll', choices: [...choices], ...rules }, shows: { poll } };
}

/** `conversation`: the id of the message's conversation. */
function asForwarded(conversation: string, { seq, from, forwarded, files }: Message): MessageExtras {
  return {
    say: { t: 'forward', conversation, seq },
    shows: { forwarded: forwarded ?? { from }, ...(files && { files: [...files] }) },
  };
}
