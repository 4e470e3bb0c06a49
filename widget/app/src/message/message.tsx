// One message as a bubble.

import type { Code, Message } from '@kith/client';
import { Component } from 'preact';
import { useRef } from 'preact/hooks';
import { BodyText } from '../body_text/body_text.tsx';
import { Icon } from '../icon/icon.tsx';
import type { MenuItem } from '../menu/menu.tsx';
import { useSurroundings } from '../surroundings.tsx';
import type { Wording } from '../wording/wording.ts';
import { StateIcon } from './state_icon.tsx';

export interface MessageProps {
  message: Message;
  name: string;
  /** The message that this one answers, where it is loaded. */
  quoted: { name: string; body: string } | undefined;
  first: boolean;
  last: boolean;
  /** The newest own one says its state in words. */
  sayState: boolean;
  linksInert: boolean;
  tabIndex: 0 | -1;
  onReply(message: Message): void;
  onFocus(id: string): void;
  onQuote(seq: number): void;
}

/** Draws again only when something of its own changed: a chat holds hundreds. */
export class MessageView extends Component<MessageProps> {
  override shouldComponentUpdate(next: MessageProps): boolean {
    const now: MessageProps = this.props;
    return (
      now.message !== next.message ||
      now.name !== next.name ||
      now.first !== next.first ||
      now.last !== next.last ||
      now.sayState !== next.sayState ||
      now.linksInert !== next.linksInert ||
      now.tabIndex !== next.tabIndex ||
      now.quoted?.name !== next.quoted?.name ||
      now.quoted?.body !== next.quoted?.body ||
      now.onQuote !== next.onQuote
    );
  }

  override render() {
    return <Bubble {...this.props} />;
  }
}

function Bubble(props: MessageProps) {
  const { message, name, quoted, first, last, sayState, linksInert, tabIndex } = props;
  const { client, wording: words, announce, openMenu } = useSurroundings();
  const more = useRef<HTMLButtonElement>(null);

  const copy = () => {
    navigator.clipboard?.writeText(message.body).then(
      () => announce(words.copied),
      () => announce(words.somethingFailed),
    );
  };
  const menuItems = (): MenuItem[] => [
    ...(message.seq === undefined
      ? []
      : [{ icon: 'reply', text: words.reply, run: () => props.onReply(message) } as const]),
    { icon: 'copy', text: words.copy, run: copy },
    ...(message.state === 'failed'
      ? ([
          { icon: 'retry', text: words.retry, run: () => client.retry(message.id) },
          { icon: 'close', text: words.discard, danger: true, run: () => client.discard(message.id) },
        ] as const)
      : []),
  ];
  const showMenu = () => {
    if (more.current) openMenu({ anchor: more.current, label: words.messageActions, items: menuItems() });
  };
  const classes = ['message', message.mine ? 'own' : 'other', first ? 'first' : '', last ? 'last' : ''];
  return (
    <article
      class={classes.join(' ')}
      data-message={message.id}
      tabIndex={tabIndex}
      onFocusIn={() => props.onFocus(message.id)}
      onContextMenu={event => {
        if (matchMedia('(hover: hover)').matches) return;
        event.preventDefault();
        showMenu();
      }}
      onKeyDown={event => {
        if (event.target !== event.currentTarget) return;
        if (event.key !== 'Enter' && event.key !== 'ContextMenu') return;
        event.preventDefault();
        showMenu();
      }}
    >
      <div class="bubble-line">
        <div class="bubble" dir="auto">
          <bdi class="hidden-text">{`${message.mine ? words.you : name}: `}</bdi>
          {message.replyTo !== undefined && (
            <button
              type="button"
              class="quote"
              dir="auto"
              tabIndex={-1}
              onClick={() => props.onQuote(message.replyTo ?? 0)}
            >
              <span class="quote-name clip">{quoted?.name ?? words.quoted}</span>
              {quoted && <span class="quote-body clip">{quoted.body.slice(0, 200)}</span>}
            </button>
          )}
          <BodyText body={message.body} inert={linksInert} />
          <span class="meta">
            <time
              dir={words.direction}
              dateTime={new Date(message.time).toISOString()}
              title={words.full(message.time)}
            >
              {words.clock(message.time)}
            </time>
            {message.mine && <StateIcon state={message.state} />}
          </span>
        </div>
        <div class="message-tools">
          {message.seq !== undefined && (
            <button
              type="button"
              class="icon-button"
              tabIndex={-1}
              aria-label={words.reply}
              title={words.reply}
              onClick={() => props.onReply(message)}
            >
              <Icon name="reply" mirrored />
            </button>
          )}
          <button
            ref={more}
            type="button"
            class="icon-button"
            tabIndex={-1}
            aria-haspopup="menu"
            aria-expanded="false"
            aria-label={words.messageActions}
            title={words.messageActions}
            onClick={showMenu}
          >
            <Icon name="more" />
          </button>
        </div>
      </div>
      {message.state === 'failed' && (
        <p class="message-note message-failed">
          <span>{reason(message.code, words)}</span>
          <button type="button" class="button button-plain" onClick={() => client.retry(message.id)}>
            {words.retry}
          </button>
          <button type="button" class="button button-plain" onClick={() => client.discard(message.id)}>
            {words.discard}
          </button>
        </p>
      )}
      {sayState && message.state !== 'failed' && (
        <p class="message-note" aria-hidden="true">
          {words[message.state]}
        </p>
      )}
    </article>
  );
}

function reason(code: Code | undefined, words: Wording): string {
  switch (code) {
    case 'not_allowed':
    case 'no_such_user':
      return words.notAllowed;
    case 'rate_limited':
      return words.slowDown;
    case 'bad_body':
    case 'too_large':
      return words.tooLong;
    case 'unavailable':
      return words.serverBusy;
    default:
      return words.failed;
  }
}
