import type { Stories } from '../../../dev/story.ts';
import { Empty } from './empty_state.tsx';

export const stories: Stories = {
  'a hint': () => <Empty icon="chat" title="No chats yet" hint="Find somebody and say hello." />,
  'with a button': () => (
    <Empty icon="people" title="No chats yet" hint="Find somebody and say hello.">
      <button type="button" class="button button-main">
        Find people
      </button>
    </Empty>
  ),
};
