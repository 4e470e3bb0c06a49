// The bar for unread messages that the reader skipped: shows their number, jumps to the first one, marks all as read.

import { Icon } from '../../ui/icon/icon.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './unread_bar.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  count: number;
  onJump(): void;
  onRead(): void;
}

export function UnreadBar({ count, onJump, onRead }: Props) {
  useStyles(css);
  const words = useWords('pinnedMessages');
  return (
    <div class="unread-bar">
      <button type="button" class="unread-bar-jump clip" title={words.jumpToUnread} onClick={onJump}>
        <Icon name="down" />
        <bdi class="clip">{words.unread(count)}</bdi>
        <span class="hidden-text">{words.jumpToUnread}</span>
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={words.markAllRead}
        title={words.markAllRead}
        onClick={onRead}
      >
        <Icon name="check" />
      </button>
    </div>
  );
}
