// The member's rooms, the site's directory of rooms, and the form for a new room.

import { type ConversationKey, isRoom, type KnownPerson, type ListedRoom, type RoomView } from '@kith/client';
import { useCallback, useMemo, useState } from 'preact/hooks';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import choicesCss from '../../ui/choice_list/choice_list.css?inline';
import { Empty } from '../../ui/empty_state/empty_state.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { Skeleton } from '../../ui/skeleton/skeleton.tsx';
import { RoomMark } from '../chats/chat_row.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useClient, useTopic } from '../../app_context.tsx';
import { LoadFailed } from '../../ui/request/request.tsx';
import { type Pages, usePages } from '../../ui/request/use_pages.ts';
import { SearchField } from '../../ui/search_field/search_field.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { VirtualList } from '../../ui/virtual_list/virtual_list.tsx';
import { useWords } from '../../wording/late_words.ts';
import { CreateRoom } from './create_room.tsx';
import css from './room.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

type Row =
  | { kind: 'heading'; id: string; text: string }
  | { kind: 'room'; id: string; key: ConversationKey; face: KnownPerson; room: RoomView; own: boolean };

const heightOf = (row: Row) => (row.kind === 'heading' ? 38 : 68);
const keyOf = (row: Row) => row.id;
const stopsAt = (row: Row) => row.kind === 'room';
/** Milliseconds. Members type faster than the server answers. */
const SEARCH_DELAY = 200;

export function RoomsTab() {
  useStyles(choicesCss);
  useStyles(css);
  const { client, openChat } = useAppContext();
  const words = useWords('rooms');
  const [query, setQuery] = useState('');
  const [creating, setCreating] = useState(false);
  const list = useTopic('conversations', one => one.conversations());
  const directory = useRooms(query.trim());

  const rows = useMemo(() => {
    const wanted = query.trim().toLowerCase();
    const own = list.keys.filter(isRoom).flatMap((key): Row[] => {
      const { room, with: face } = client.conversation(key);
      if (room === undefined || !room.name.toLowerCase().includes(wanted)) return [];
      return [{ kind: 'room', id: key, key, face, room, own: true }];
    });
    const known = new Set(own.map(row => row.id));
    const others = (directory.data ?? [])
      .filter(one => !known.has(one.key))
      .map((one): Row => ({ kind: 'room', id: one.key, ...one, own: false }));
    return [
      ...(own.length > 0 ? [{ kind: 'heading', id: 'own', text: words.yourRooms } as const] : []),
      ...own,
      ...(others.length > 0 ? [{ kind: 'heading', id: 'all', text: words.allRooms } as const] : []),
      ...others,
    ];
  }, [client, list, directory.data, query, words]);

  if (creating) {
    return (
      <CreateRoom
        onCancel={() => setCreating(false)}
        onMade={key => {
          setCreating(false);
          openChat(key);
        }}
      />
    );
  }
  return (
    <>
      <div class="list-tools">
        <SearchField label={words.searchRooms} value={query} onChange={setQuery} />
      </div>
      {directory.failed && <LoadFailed onRetry={directory.retry} />}
      {rows.length === 0 && directory.failed ? null : rows.length === 0 && directory.loading ? (
        <Skeleton />
      ) : rows.length === 0 && query.trim() !== '' ? (
        <Empty icon="search" title={words.noRoomFound(query.trim())} hint={words.noRoomFoundHint} />
      ) : rows.length === 0 ? (
        <Empty icon="rooms" title={words.noRooms} hint={words.noRoomsHint} />
      ) : (
        <VirtualList
          key={query.trim()}
          label={words.rooms}
          rows={rows}
          keyOf={keyOf}
          heightOf={heightOf}
          stopsAt={stopsAt}
          draw={(row, tabIndex) => <DrawnRow row={row} tabIndex={tabIndex} />}
          onNearEnd={directory.more === 'failed' ? undefined : directory.loadMore}
        />
      )}
      {directory.more === 'failed' && <LoadFailed onRetry={directory.loadMore} />}
      <div class="room-buttons">
        <button type="button" class="button button-main" onClick={() => setCreating(true)}>
          <Icon name="plus" />
          {words.createRoom}
        </button>
      </div>
    </>
  );
}

function DrawnRow({ row, tabIndex }: { row: Row; tabIndex: 0 | -1 }) {
  const { openChat } = useAppContext();
  const words = useWords('rooms');
  if (row.kind === 'heading') return <h3 class="section-title">{row.text}</h3>;
  const { room, face } = row;
  return (
    <div class="row room-row">
      <button type="button" class="row-main" data-stop tabIndex={tabIndex} onClick={() => openChat(row.key)}>
        <Avatar person={face} room />
        <span class="row-text">
          <span class="row-line">
            <RoomMark room={room} />
            <span class="row-name clip">
              <bdi>{room.name}</bdi>
            </span>
          </span>
          <span class="row-preview clip" dir="auto">
            {[words.roomCount({ count: room.members, number: words.number(room.members) }), room.topic]
              .filter(Boolean)
              .join(' · ')}
          </span>
        </span>
        {!row.own && <Icon name="back" />}
      </button>
    </div>
  );
}

/** Loads the directory page by page. Each new query and each reconnect starts with the first page. */
function useRooms(query: string): Pages<ListedRoom> {
  const client = useClient();
  const load = useCallback(
    async (after?: string) => {
      const { rooms, next } = await client.rooms(query, after);
      return { items: rooms, next };
    },
    [client, query],
  );
  return usePages(load, { delay: query === '' ? 0 : SEARCH_DELAY, keep: true, refresh: true });
}
