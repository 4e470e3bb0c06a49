// One message in a timeline.

import type { KnownPerson, Message } from '@kith/client';
import { Component } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { hueOf } from '../../ui/avatar/hue.ts';
import { Icon } from '../../ui/icon/icon.tsx';
import { LabeledText } from '../../ui/labeled_text/labeled_text.tsx';
import { fetchLazy, Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import type { NameOf } from '../message_text/formatting.ts';
import { MessageText } from '../message_text/message_text.tsx';
import { longPress } from './long_press.ts';
import type { MessageActions } from './message_menu.ts';
import { StateIcon } from './state_icon.tsx';

export interface MessageProps {
  message: Message;
  /** The author, or "you". */
  name: string;
  /** The author, in a room: the message then shows a name and a picture. */
  sender: KnownPerson | undefined;
  /** The message that this one answers, if it is loaded. */
  quoted: { name: string; body: string } | undefined;
  first: boolean;
  last: boolean;
  /** Shows the delivery state as text, for the member's newest message. */
  sayState: boolean;
  linksInert: boolean;
  tabIndex: 0 | -1;
  nameOf?: NameOf | undefined;
  actions: MessageActions;
  onFocus(id: string): void;
}

/** Renders again only if one of its own props changed, because a chat holds hundreds of messages. */
export class MessageView extends Component<MessageProps> {
  override shouldComponentUpdate(next: MessageProps): boolean {
    const now: MessageProps = this.props;
    const quoted = now.quoted?.name === next.quoted?.name && now.quoted?.body === next.quoted?.body;
    const names = Object.keys(next) as (keyof MessageProps)[];
    return !quoted || names.some(one => one !== 'quoted' && now[one] !== next[one]);
  }

  override render() {
    return <Bubble {...this.props} />;
  }
}

function Bubble(props: MessageProps) {
  const { message, name, sender, first, last, sayState, tabIndex, actions } = props;
  const context = useAppContext();
  const { wording: words, openMenu } = context;
  const more = useRef<HTMLButtonElement>(null);
  const blocked = useTopic('contacts', one => sender && one.contact(sender.user) === 'blocked');
  const [opened, open] = useState(false);
  const collapsed = blocked && !opened;
  const row = useRef<HTMLElement>(null);
  // The tools are half of a row's elements, and most rows only scroll past. Render them on hover or focus.
  const [near, setNear] = useState(false);
  const comesNear = () => setNear(true);
  const showMenu = () => {
    const anchor = more.current ?? row.current;
    if (anchor === null) return;
    const menu = fetchLazy(messageActions, words);
    openMenu(menu.then(one => one.messageMenu(message, actions, context, anchor)));
  };
  const shownMenu = useRef(showMenu);
  shownMenu.current = showMenu;
  const press = useMemo(() => longPress(() => shownMenu.current()), []);
  const classes = [
    'message',
    message.mine ? 'own' : 'other',
    first && 'first',
    last && 'last',
    sender && 'has-sender',
    message.deleted && 'is-deleted',
    message.opaque && 'is-opaque',
  ];
  return (
    <article
      ref={row}
      class={classes.filter(Boolean).join(' ')}
      data-message={message.id}
      tabIndex={tabIndex}
      onPointerEnter={comesNear}
      onFocusIn={() => {
        comesNear();
        props.onFocus(message.id);
      }}
      onKeyDown={event => {
        if (event.target !== event.currentTarget) return;
        if (event.key !== 'Enter' && event.key !== 'ContextMenu') return;
        event.preventDefault();
        showMenu();
      }}
    >
      {sender && first && (
        <p
          class="sender-name clip"
          title={sender.displayName}
          aria-hidden="true"
          style={{ '--hue': String(hueOf(sender.user)) }}
        >
          <bdi>{sender.name}</bdi>
        </p>
      )}
      <div class="bubble-line" {...press}>
        {sender && (
          <span class="sender-picture" aria-hidden="true">
            {last && <Avatar person={sender} size="small" />}
          </span>
        )}
        <div class="bubble" dir="auto">
          <bdi class="hidden-text">{`${name}: `}</bdi>
          {collapsed ? (
            <Lazy part={collapsedPart} props={{ onShow: () => open(true) }} />
          ) : (
            <Content {...props} near={near} />
          )}
        </div>
        {near && !collapsed && (
          <Lazy part={toolsPart} props={{ message, actions, more, showMenu }} onFailed={() => undefined} />
        )}
      </div>
      {message.reactions && !collapsed && (
        <Lazy
          part={reactionsPart}
          props={{
            message,
            tabIndex,
            onReact: (reaction: string, on: boolean) => {
              if (!actions.readOnly) actions.react(message, reaction, on);
            },
          }}
        />
      )}
      {(message.state === 'failed' || message.state === 'held') && (
        <Lazy part={failedPart} props={{ message }} />
      )}
      {sayState && message.state !== 'failed' && message.state !== 'held' && !message.deleted && (
        <p class="message-note" aria-hidden="true">
          {words[message.state]}
        </p>
      )}
    </article>
  );
}

export const messageActions = () => import('./message_menu.ts');
export const toolsPart = lazy(() => import('./hover_tools.tsx'), 'HoverTools');
export const reactionsPart = lazy(() => import('./reactions.tsx'), 'Reactions');
export const collapsedPart = lazy(() => import('./collapsed_message.tsx'), 'CollapsedMessage');
export const failedPart = lazy(() => import('./send_failure.tsx'), 'SendFailure');
const callPart = lazy(() => import('../call_log/call_entry.tsx'), 'Entry');
const stickerPart = lazy(() => import('../stickers/sticker.tsx'), 'StickerView');
const filesPart = lazy(() => import('../files/message_files.tsx'), 'MessageFiles');
const shown = () => import('../message_extras/message_extras.tsx');
const abovePart = lazy(shown, 'Above');
const belowPart = lazy(shown, 'Below');

function Content({
  message,
  quoted,
  last,
  linksInert,
  nameOf,
  actions,
  near,
}: MessageProps & { near: boolean }) {
  const { wording: words, announce } = useAppContext();
  const rich = { props: { message, actions } };
  return (
    <>
      {(message.forwarded || message.thread) && <Lazy part={abovePart} {...rich} />}
      {message.replyTo !== undefined && (
        <button
          type="button"
          class="quote"
          dir={words.direction}
          tabIndex={-1}
          title={words.showOriginal}
          onClick={() => actions.showOriginal(message.replyTo ?? 0)}
        >
          <span class="quote-name clip">
            <bdi>{quoted?.name ?? words.quoted}</bdi>
          </span>
          {quoted && <LabeledText class="quote-body">{quoted.body.slice(0, 200)}</LabeledText>}
        </button>
      )}
      {message.files && (
        <Lazy part={filesPart} props={{ message, actions }} onFailed={() => announce(words.loadFailed)} />
      )}
      {message.deleted || message.opaque ? (
        <span class="body-text body-missing">
          {message.deleted && <Icon name="trash" />}
          {message.deleted ? words.deletedMessage : words.opaqueMessage}
        </span>
      ) : message.call || message.sticker ? (
        <Lazy
          part={message.call ? callPart : stickerPart}
          props={{ message, to: actions.conversation }}
          meanwhile={<span>{message.body}</span>}
        />
      ) : (
        message.body !== '' && <MessageText body={message.body} inert={linksInert} nameOf={nameOf} />
      )}
      {(message.poll || message.replies || message.preview) && <Lazy part={belowPart} {...rich} />}
      <span
        class={last || message.mine || message.pinned || message.edited ? 'meta' : 'hidden-text'}
        dir={words.direction}
      >
        {message.pinned && (
          <span class="meta-pin" title={words.pinned}>
            <Icon name="pin" />
            <span class="hidden-text">{words.pinned}</span>
          </span>
        )}
        {message.edited !== undefined && !message.deleted && (
          <span title={words.editedAt(words.full(message.edited))}>{words.edited}</span>
        )}
        <time
          class={last ? undefined : 'hidden-text'}
          dateTime={new Date(message.time).toISOString()}
          title={near ? words.full(message.time) : undefined}
        >
          {words.clock(message.time)}
        </time>
        {message.changing ? (
          <StateIcon state="sending" />
        ) : (
          message.mine && !message.deleted && <StateIcon state={message.state} />
        )}
      </span>
    </>
  );
}
