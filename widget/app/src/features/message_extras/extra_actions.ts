// Further actions on a message: forward it, copy its link, end its poll.

import type { ConversationKey, Message } from '@kith/client';
import type { AppContextValue } from '../../app_context.tsx';
import { lazy } from '../../ui/lazy/lazy.tsx';
import { wordsOf } from '../../wording/late_words.ts';
import { linkTo } from '../message_links/message_link.tsx';

const forwardPart = lazy(() => import('../forwarding/forward.tsx'), 'Forward');
const pollForm = lazy(() => import('../polls/poll_form.tsx'), 'PollForm');

export function forward(message: Message, from: ConversationKey, { show }: AppContextValue): void {
  show(forwardPart, { from, message });
}

export function askPoll(conversation: ConversationKey, { show }: AppContextValue): void {
  show(pollForm, { conversation });
}

export function copyLink(message: Message, key: ConversationKey, context: AppContextValue): void {
  const { client, announce, wording } = context;
  const words = wordsOf(wording, 'messageLinks');
  client
    .rich()
    .then(rich => navigator.clipboard.writeText(linkTo(location.href, rich.idOf(key), message.seq ?? 0)))
    .then(
      () => announce(words.linkCopied),
      () => announce(words.somethingFailed),
    );
}

export function dropPreview(message: Message, key: ConversationKey, context: AppContextValue): void {
  const { client, announce, wording } = context;
  client
    .rich()
    .then(rich => rich.dropPreview(key, message.seq ?? 0))
    .catch(() => announce(wording.somethingFailed));
}

export function askToClose(message: Message, key: ConversationKey, context: AppContextValue): void {
  const { client, announce, confirm, wording } = context;
  const words = wordsOf(wording, 'polls');
  const close = () => {
    client
      .rich()
      .then(rich => rich.closePoll(key, message.seq ?? 0))
      .catch(() => announce(words.somethingFailed));
  };
  confirm({ title: words.pollCloseAsk, text: words.pollCloseExplain, action: words.pollClose, onYes: close });
}
