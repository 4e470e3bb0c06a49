import type { Stories } from '../../../dev/story.ts';
import { Avatar } from '../avatar/avatar.tsx';
import { Icon } from '../icon/icon.tsx';
import { useStyles } from '../styles/use_styles.ts';
import css from './header_bar.css?inline';

function Header() {
  useStyles(css);
  return (
    <div class="bar chat-bar">
      <button type="button" class="icon-button" aria-label="Back">
        <Icon name="back" />
      </button>
      <Avatar person={{ user: 'ana', name: 'Ana Silva', guest: false }} size="small" presence="online" />
      <div class="chat-who grow">
        <h2 class="chat-name clip">Ana Silva</h2>
        <p class="chat-presence clip">Online</p>
      </div>
    </div>
  );
}

export const stories: Stories = { 'of a chat': () => <Header /> };
