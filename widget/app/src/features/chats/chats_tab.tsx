// The conversation list with its filters.

import { type ConversationKey, isRoom, type ListName, topicOf } from '@kith/client';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useClient, useTopic, useWatch, useWording } from '../../app_context.tsx';
import { badgeText } from '../../shell/tab_bar.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import { Skeleton } from '../../ui/skeleton/skeleton.tsx';
import { VirtualList } from '../../ui/virtual_list/virtual_list.tsx';
import { ChatRow } from './chat_row.tsx';
import { FILTERS } from './filters.ts';

interface Props {
  chosen: ConversationKey | undefined;
  onFindPeople(): void;
}

export const searchPart = lazy(() => import('../search/search_pane.tsx'), 'Search');
export const filterChips = lazy(() => import('../../ui/segmented/segmented.tsx'), 'Segmented');
const swipe = lazy(() => import('./swipe.tsx'), 'Swipe');
const nothing = lazy(() => import('./no_chats.tsx'), 'NoChats');
const ignored = () => undefined;

export function ChatsTab({ chosen, onFindPeople }: Props) {
  const words = useWording();
  const [searching, setSearching] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const searched = useRef(false);
  const [wanted, setFilter] = useState('main');
  const totals = useTopic('totals', one => one.totals());
  const filters = FILTERS.filter(one => one.shown?.(totals) ?? true);
  const filter = filters.find(one => one.value === wanted) ?? filters[0];
  // Closing the search returns the focus to the button that opened it, without scrolling.
  useLayoutEffect(() => {
    if (searched.current && !searching) opener.current?.focus({ preventScroll: true });
    searched.current = searching;
  }, [searching]);
  if (searching) {
    const close = () => setSearching(false);
    return <Lazy part={searchPart} props={{ onClose: close }} onFailed={close} />;
  }
  return (
    <>
      <div class="list-tools">
        <button ref={opener} type="button" class="search-open" onClick={() => setSearching(true)}>
          <Icon name="search" />
          {words.searchAll}
        </button>
        <div class="filters">
          <Lazy
            part={filterChips}
            canWait
            props={{
              label: words.filters,
              look: 'chips' as const,
              value: filter?.value ?? '',
              choices: filters.map(one => ({ value: one.value, text: one.text(words) })),
              onChange: setFilter,
            }}
            onFailed={ignored}
          />
        </div>
      </div>
      {totals.strangers > 0 && filter?.value === 'main' && (
        <button type="button" class="requests-row" onClick={() => setFilter('requests')}>
          <Icon name="people" />
          <span class="grow">{words.requestsWaiting(totals.strangers)}</span>
          <bdi class="badge" aria-hidden="true">
            {badgeText(totals.strangers)}
          </bdi>
        </button>
      )}
      {filter?.part ? (
        <Lazy part={filter.part} props={{}} onFailed={ignored} />
      ) : (
        <List
          key={filter?.value}
          list={filter?.value as ListName}
          chosen={chosen}
          onFindPeople={onFindPeople}
        />
      )}
    </>
  );
}

export const CHAT_ROW_HEIGHT = 72;
const heightOf = () => CHAT_ROW_HEIGHT;
const keyOf = (key: ConversationKey) => key;

function List({ list: name, chosen, onFindPeople }: Props & { list: ListName }) {
  const client = useClient();
  const words = useWording();
  const [visible, setVisible] = useState<readonly ConversationKey[]>([]);
  const rows = useRef<HTMLDivElement>(null);
  const list = useTopic(topicOf(name), one => one.conversations(name));
  useEffect(() => {
    if (name !== 'main') client.loadConversations(name);
  }, [client, name]);
  useWatch(visible.filter(key => !isRoom(key)).map(key => client.conversation(key).with.user));
  const none = <Lazy part={nothing} props={{ list: name, onFindPeople }} onFailed={ignored} />;
  if (list.keys.length === 0) return list.loading ? <Skeleton /> : none;
  return (
    <div class="swiped" ref={rows}>
      <VirtualList
        label={words.chatList}
        rows={list.keys}
        keyOf={keyOf}
        heightOf={heightOf}
        draw={(key, tabIndex) => <ChatRow conversation={key} chosen={key === chosen} tabIndex={tabIndex} />}
        onVisible={setVisible}
        onNearEnd={() => {
          if (list.more && !list.loading && !list.failed) client.loadConversations(name);
        }}
      />
      {list.failed && none}
      {matchMedia('(hover: none)').matches && (
        <Lazy part={swipe} props={{ list: rows }} canWait onFailed={ignored} />
      )}
    </div>
  );
}
