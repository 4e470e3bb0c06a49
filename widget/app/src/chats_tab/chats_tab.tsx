// The conversation list with its filters.

import { type ConversationKey, isRoom } from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Icon, type IconName } from '../icon/icon.tsx';
import { Late, late } from '../late.tsx';
import { Segmented } from '../segmented/segmented.tsx';
import { useClient, useTopic, useWatch, useWording } from '../surroundings.tsx';
import { VirtualList } from '../virtual_list/virtual_list.tsx';
import { ChatRow } from './chat_row.tsx';

type Filter = 'all' | 'unread' | 'requests' | 'archived';

interface Props {
  chosen: ConversationKey | undefined;
  onFindPeople(): void;
}

const hereNow = late(() => import('./here_now.tsx'), 'HereNow');
export const CHAT_ROW_HEIGHT = 72;
const heightOf = () => CHAT_ROW_HEIGHT;
const keyOf = (key: ConversationKey) => key;

export function ChatsTab({ chosen, onFindPeople }: Props) {
  const client = useClient();
  const words = useWording();
  const [chosenFilter, setFilter] = useState<Filter>('all');
  const [visible, setVisible] = useState<readonly ConversationKey[]>([]);
  const totals = useTopic('totals', one => one.totals());
  // Once all are answered there is nothing to choose.
  const filter = chosenFilter === 'requests' && totals.strangers === 0 ? 'all' : chosenFilter;
  const which = filter === 'archived' || filter === 'requests' ? filter : 'main';
  const list = useTopic(which === 'main' ? 'conversations' : which, one => one.conversations(which));
  const keys = useMemo(
    () => (filter === 'unread' ? list.keys.filter(key => client.conversation(key).unread > 0) : list.keys),
    // `totals` changes when something is read, which no other topic of the list tells.
    [client, list, filter, totals],
  );
  useEffect(() => {
    if (filter === 'archived') client.loadConversations('archived');
  }, [client, filter]);
  useWatch(visible.filter(key => !isRoom(key)).map(key => client.conversation(key).with.user));

  return (
    <>
      <div class="list-tools">
        <Segmented<Filter>
          label={words.filters}
          look="chips"
          value={filter}
          choices={[
            { value: 'all', text: words.filterAll },
            { value: 'unread', text: words.filterUnread },
            ...(totals.strangers > 0 ? [{ value: 'requests', text: words.filterRequests } as const] : []),
            { value: 'archived', text: words.filterArchived },
          ]}
          onChange={setFilter}
        />
      </div>
      {keys.length === 0 && list.loading ? (
        <Skeleton />
      ) : keys.length === 0 ? (
        <Nothing filter={filter} onFindPeople={onFindPeople} />
      ) : (
        <VirtualList
          key={filter}
          label={words.chatList}
          rows={keys}
          keyOf={keyOf}
          heightOf={heightOf}
          draw={(key, tabIndex) => <ChatRow conversation={key} chosen={key === chosen} tabIndex={tabIndex} />}
          onVisible={setVisible}
          onNearEnd={() => {
            if (list.more && !list.loading) client.loadConversations(which);
          }}
        />
      )}
    </>
  );
}

function Nothing({ filter, onFindPeople }: { filter: Filter; onFindPeople: () => void }) {
  const words = useWording();
  if (filter === 'unread') return <Empty icon="check" title={words.noUnread} hint={words.noUnreadHint} />;
  if (filter === 'archived')
    return <Empty icon="archive" title={words.noArchived} hint={words.noArchivedHint} />;
  return (
    <Empty icon="chat" title={words.noChats} hint={words.noChatsHint}>
      <Late part={hereNow} props={{}} onFailed={() => undefined} />
      <button type="button" class="button button-main" onClick={onFindPeople}>
        {words.findPeople}
      </button>
    </Empty>
  );
}

interface EmptyProps {
  icon: IconName;
  title: string;
  hint: string;
  children?: ComponentChildren;
}

export function Empty({ icon, title, hint, children }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-picture">
        <Icon name={icon} />
      </span>
      <h3>{title}</h3>
      <p dir="auto">{hint}</p>
      {children}
    </div>
  );
}

/** Grey rows while the first page is on its way. */
export function Skeleton() {
  const words = useWording();
  return (
    <div class="skeleton" role="img" aria-label={words.loading}>
      {Array.from({ length: 7 }, (_, i) => (
        <div key={i} class="skeleton-row">
          <span class="skeleton-circle" />
          <span class="skeleton-lines">
            <span class="skeleton-line" />
            <span class="skeleton-line" />
          </span>
        </div>
      ))}
    </div>
  );
}
