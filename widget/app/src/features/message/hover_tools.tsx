// Buttons beside a message under the mouse pointer. Touch and keyboard reach the same actions in the menu.

import type { Message } from '@kith/client';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import css from './hover_tools.css?inline';
import type { MessageActions } from './message_menu.ts';

interface Props {
  message: Message;
  actions: MessageActions;
  more: { current: HTMLButtonElement | null };
  showMenu(): void;
}

export function HoverTools({ message, actions, more, showMenu }: Props) {
  useStyles(css);
  const { wording: words, pickEmoji } = useAppContext();
  const usable = message.seq !== undefined && !message.deleted && !actions.readOnly;
  return (
    <div class="message-tools">
      {usable && (
        <>
          <button
            type="button"
            class="icon-button tool-react"
            tabIndex={-1}
            aria-label={words.react}
            title={words.react}
            onClick={event =>
              pickEmoji({
                anchor: event.currentTarget,
                onPick: emoji => actions.react(message, emoji, true),
              })
            }
          >
            <Icon name="smile" />
          </button>
          <button
            type="button"
            class="icon-button"
            tabIndex={-1}
            aria-label={words.reply}
            title={words.reply}
            onClick={() => actions.reply(message)}
          >
            <Icon name="reply" />
          </button>
        </>
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
  );
}
