// Beside a bubble under a mouse; all of it is in the menu too, which fingers and keys open.

import type { Message } from '@kith/client';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useSurroundings } from '../../app_context.tsx';
import { useSheet } from '../../ui/styles/use_styles.ts';
import css from './hover_tools.css?inline';
import type { MessageDeeds } from './message_menu.ts';

interface Props {
  message: Message;
  deeds: MessageDeeds;
  more: { current: HTMLButtonElement | null };
  showMenu(): void;
}

export function Tools({ message, deeds, more, showMenu }: Props) {
  useSheet(css);
  const { wording: words, pickEmoji } = useSurroundings();
  const usable = message.seq !== undefined && !message.deleted && !deeds.readOnly;
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
                onPick: emoji => deeds.react(message, emoji, true),
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
            onClick={() => deeds.reply(message)}
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
