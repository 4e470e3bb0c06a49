// The end of a chat list: the reason why it has no rows, or an error if its next page could not be loaded.

import { type ListName, topicOf } from '@kith/client';
import '../../ui/icon/lazy_shapes.ts';
import { useClient, useTopic } from '../../app_context.tsx';
import { Empty } from '../../ui/empty_state/empty_state.tsx';
import { LoadFailed } from '../../ui/request/request.tsx';
import { useListState } from '../../ui/request/use_request.ts';
import { Skeleton } from '../../ui/skeleton/skeleton.tsx';
import { useWords } from '../../wording/late_words.ts';
import { OnlineNow } from './online_now.tsx';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  list: ListName;
  onFindPeople(): void;
}

export function NoChats({ list, onFindPeople }: Props) {
  const client = useClient();
  const words = useWords('chats');
  const state = useTopic(topicOf(list), one => one.conversations(list));
  const { loading, failed } = useListState(state);
  if (failed) return <LoadFailed onRetry={() => client.loadConversations(list)} />;
  if (loading) return state.keys.length === 0 ? <Skeleton /> : null;
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
