// Stands in the place of the rows of an empty list, and below those of a list that could not be loaded to its end.

import { type ListName, topicOf } from '@kith/client';
import '../../ui/icon/lazy_shapes.ts';
import { useClient, useTopic } from '../../app_context.tsx';
import { Empty } from '../../ui/empty_state/empty_state.tsx';
import { LoadFailed } from '../../ui/request/request.tsx';
import { useIsConnecting } from '../../ui/request/use_request.ts';
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
  const { keys, failed } = useTopic(topicOf(list), one => one.conversations(list));
  const isConnecting = useIsConnecting();
  if (failed) {
    if (isConnecting) return keys.length === 0 ? <Skeleton /> : null;
    return <LoadFailed onRetry={() => client.loadConversations(list)} />;
  }
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
