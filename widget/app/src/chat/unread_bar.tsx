// Says how many messages are unread where the first of them is too far up to be loaded, and leads there.

import { Icon } from '../icon/icon.tsx';
import { useSheet } from '../sheets.ts';
import { useWords } from '../wording/late_words.ts';
import css from './unread_bar.css?inline';
import { pinWords } from './words.ts';

export { pinWords as words } from './words.ts';

interface Props {
  count: number;
  onJump(): void;
  onClose(): void;
}

export function UnreadBar({ count, onJump, onClose }: Props) {
  useSheet(css);
  const words = useWords(pinWords);
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
        aria-label={words.close}
        title={words.close}
        onClick={onClose}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
