// The placeholder of an empty list.

import type { ListName } from '@kith/client';
import '../../ui/icon/lazy_shapes.ts';
import { Empty } from '../../ui/empty_state/empty_state.tsx';
import { useWords } from '../../wording/late_words.ts';
import { OnlineNow } from './online_now.tsx';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  list: ListName;
  onFindPeople(): void;
}

export function NoChats({ list, onFindPeople }: Props) {
  const words = useWords('chats');
  if (list === 'main') {
    return (
      <Empty icon="chat" title={words.noChats} hint={words.noChatsHint}>
        <OnlineNow />
        <button type="button" class="button button-main" onClick={onFindPeople}>
          {words.findPeople}
        </button>
      </Empty>
    );
  }
  if (list === 'archived')
    return <Empty icon="archive" title={words.noArchived} hint={words.noArchivedHint} />;
  if (list === 'mentions') return <Empty icon="at" title={words.noMentions} hint={words.noMentionsHint} />;
  return <Empty icon="check" title={words.noUnread} hint={words.noUnreadHint} />;
}
