// The menu of a message. Its code is fetched on first use.

import type { Client, ConversationKey, Message } from '@kith/client';
import '../../ui/icon/lazy_shapes.ts';
import type { AppContextValue } from '../../app_context.tsx';
import { lazy } from '../../ui/lazy/lazy.tsx';
import type { MenuItem, MenuRequest, QuickItem } from '../../ui/menu/menu.tsx';
import { wordsOf } from '../../wording/late_words.ts';
import { askToClose, copyLink, dropPreview, forward } from '../message_extras/extra_actions.ts';
import { askToReport } from '../moderation/open_report.ts';
import { isOpen } from '../polls/poll_result.ts';
import { hasSeenBy } from '../read_receipts/seen_by.ts';
import { copyText } from './copy_text.ts';
import { mayEdit } from './may_edit.ts';
import { mayRetry } from './refusal.ts';

export { lateWords as words } from '../../wording/late_words.ts';

const seenBySheet = lazy(() => import('../read_receipts/seen_by_sheet.tsx'), 'SeenBySheet');

/** Actions that a message needs from its chat. */
export interface MessageActions {
  conversation: ConversationKey;
  reply(message: Message): void;
  edit(message: Message): void;
  remove(message: Message): void;
  react(message: Message, reaction: string, on: boolean): void;
  /** Scrolls to the message that this one answers. */
  showOriginal(seq: number): void;
  /** All loaded messages of the conversation. */
  messages?(): readonly Message[];
  /** Whether the member may delete another user's message, as a moderator or owner. */
  mayRemove(message: Message): boolean;
  pin(message: Message, on: boolean): void;
  mayPin: boolean;
  /** The member may not write here, and therefore not react. */
  readOnly: boolean;
  /** Shows the thread whose root message has this seq. */
  openThread(root: number): void;
  /** The conversation is a room, so its messages may have threads. */
  hasThreads: boolean;
  /** The message is shown in the view of its thread. */
  inThread?: boolean;
  /** The other user is a stranger, so their pictures are shown only on request. */
  veiled: boolean;
}

const QUICK = ['👍', '❤️', '😂', '😮', '😢', '🎉'] as const;

export function messageMenu(
  message: Message,
  actions: MessageActions,
  context: AppContextValue,
  anchor: HTMLElement,
): MenuRequest {
  const words = wordsOf(context.wording, 'message');
  const quick = mayReact(message, actions) ? quickItems(message, actions, context, anchor) : undefined;
  return {
    anchor,
    label: words.messageActions,
    items: items(message, actions, context),
    ...(quick && { quick: { label: words.quickReactions, items: quick } }),
  };
}

function mayReact(message: Message, actions: MessageActions): boolean {
  return message.seq !== undefined && !message.deleted && !actions.readOnly;
}

function quickItems(
  message: Message,
  actions: MessageActions,
  { wording: words, pickEmoji }: AppContextValue,
  anchor: HTMLElement,
): QuickItem[] {
  const has = (reaction: string) =>
    message.reactions?.some(one => one.reaction === reaction && one.mine) ?? false;
  const quick = QUICK.map(text => ({
    text,
    label: text,
    on: has(text),
    run: () => actions.react(message, text, !has(text)),
  }));
  const more: QuickItem = {
    text: '+',
    icon: 'smile',
    label: words.react,
    run: () => pickEmoji({ anchor, onPick: emoji => actions.react(message, emoji, true) }),
  };
  return [...quick, more];
}

function items(message: Message, actions: MessageActions, context: AppContextValue): MenuItem[] {
  const { client } = context;
  const words = wordsOf(context.wording, 'message');
  const stored = message.seq !== undefined;
  const all: (MenuItem | false)[] = [
    stored &&
      !message.deleted &&
      !actions.readOnly && { icon: 'reply', text: words.reply, run: () => actions.reply(message) },
    message.replyTo !== undefined && {
      icon: 'jump',
      text: words.showOriginal,
      run: () => actions.showOriginal(message.replyTo ?? 0),
    },
    ...threadItems(message, actions, context),
    !message.deleted &&
      !message.opaque && { icon: 'copy', text: words.copy, run: () => copyText(message, context) },
    ...richItems(message, actions, context),
    stored &&
      !message.deleted &&
      actions.mayPin && {
        icon: 'pin',
        text: message.pinned ? words.unpinMessage : words.pinMessage,
        run: () => actions.pin(message, !message.pinned),
      },
    message.mine &&
      stored &&
      !message.deleted &&
      hasSeenBy(client, actions.conversation) && {
        icon: 'check',
        text: words.seenBy,
        run: () => context.show(seenBySheet, { conversation: actions.conversation, seq: message.seq ?? 0 }),
      },
    mayEdit(message) &&
      !actions.readOnly && { icon: 'edit', text: words.edit, run: () => actions.edit(message) },
    stored &&
      !message.deleted &&
      (message.mine || actions.mayRemove(message)) && {
        icon: 'trash',
        text: words.delete,
        danger: true,
        run: () => actions.remove(message),
      },
    stored &&
      !message.deleted &&
      !message.mine && {
        icon: 'flag',
        text: words.report,
        run: () => askToReport(context, { key: actions.conversation, seq: message.seq ?? 0 }, message.from),
      },
    ...failedItems(message, client, words),
  ];
  return all.filter(one => one !== false);
}

function threadItems(message: Message, actions: MessageActions, { wording }: AppContextValue): MenuItem[] {
  const { seq, thread } = message;
  if (!actions.hasThreads || actions.inThread || seq === undefined || message.deleted) return [];
  const words = wordsOf(wording, 'threads');
  const is = thread !== undefined || message.replies !== undefined;
  if (!is && actions.readOnly) return [];
  const text = is ? words.openThread : words.replyInThread;
  return [{ icon: 'thread', text, run: () => actions.openThread(thread ?? seq) }];
}

function richItems(message: Message, actions: MessageActions, context: AppContextValue): MenuItem[] {
  const { seq, poll, preview } = message;
  if (seq === undefined || message.deleted) return [];
  const { wording } = context;
  const mayClose = poll && isOpen(poll, Date.now()) && (message.mine || actions.mayRemove(message));
  const all: (MenuItem | false | undefined)[] = [
    {
      icon: 'link',
      text: wordsOf(wording, 'messageLinks').copyLink,
      run: () => copyLink(message, actions.conversation, context),
    },
    !poll &&
      !message.opaque &&
      !message.id.startsWith('call:') && {
        icon: 'forward',
        text: wordsOf(wording, 'forwarding').forward,
        run: () => forward(message, actions.conversation, context),
      },
    preview &&
      (message.mine || actions.mayRemove(message)) && {
        icon: 'close',
        text: wordsOf(wording, 'linkPreviews').dropPreview,
        run: () => dropPreview(message, actions.conversation, context),
      },
    mayClose && {
      icon: 'check',
      text: wordsOf(wording, 'polls').pollClose,
      run: () => askToClose(message, actions.conversation, context),
    },
  ];
  return all.filter(one => typeof one === 'object');
}

function failedItems(message: Message, client: Client, words: AppContextValue['wording']): MenuItem[] {
  if (message.state !== 'failed') return [];
  return [
    ...(mayRetry(message.code)
      ? [{ icon: 'retry', text: words.retry, run: () => client.retry(message.id) } as const]
      : []),
    { icon: 'close', text: words.discard, danger: true, run: () => client.discard(message.id) },
  ];
}
