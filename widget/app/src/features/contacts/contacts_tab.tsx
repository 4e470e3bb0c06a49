// The Contacts tab: requests, online users, contacts and all members, with a search.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAppContext, useClient, useTopic, useWatch, useWording } from '../../app_context.tsx';
import choicesCss from '../../ui/choice_list/choice_list.css?inline';
import { Empty } from '../../ui/empty_state/empty_state.tsx';
import { LoadFailed } from '../../ui/request/request.tsx';
import { useListState } from '../../ui/request/use_request.ts';
import { SearchField } from '../../ui/search_field/search_field.tsx';
import { Skeleton } from '../../ui/skeleton/skeleton.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { VirtualList } from '../../ui/virtual_list/virtual_list.tsx';
import { useWords } from '../../wording/late_words.ts';
import css from './contacts_tab.css?inline';
import { PersonRow } from './person_row.tsx';
import { RequestRow } from './request_row.tsx';
import { found, type Row, sections } from './sections.ts';
import { useDirectory, useSearch } from './use_directory.ts';
import { usePresences } from './use_presences.ts';

export { words } from './contact_actions.ts';

const HEIGHTS: Record<Row['kind'], number> = { heading: 38, request: 104, person: 60 };
const heightOf = (row: Row) => HEIGHTS[row.kind];
const keyOf = (row: Row) => row.id;
const stopsAt = (row: Row) => row.kind !== 'heading';

export function ContactsTab() {
  useStyles(choicesCss);
  useStyles(css);
  const client = useClient();
  const { announce } = useAppContext();
  const words = useWords('contacts');
  const [query, setQuery] = useState('');
  const [visible, setVisible] = useState<readonly Row[]>([]);
  const me = useTopic('me', one => one.me());
  const list = useTopic('contacts', one => one.contacts());
  const directory = useDirectory(me?.open === true);
  const search = useSearch(query.trim());
  const isSearch = query.trim() !== '';
  const users = useMemo(() => watched(visible), [visible]);
  useWatch(users, 'last_seen');
  const presences = usePresences();

  useEffect(() => client.loadContacts(), [client]);
  // The server of a site where only contacts see each other does not search. Then the search needs all contacts here.
  const needsAll = isSearch && me?.open === false && list.more && !list.loading;
  const askedAt = useRef(-1);
  useEffect(() => {
    // Load once per page: a refused request adds no contacts, and must not be repeated.
    if (!needsAll || askedAt.current === list.contacts.length) return;
    askedAt.current = list.contacts.length;
    client.loadContacts();
  }, [client, needsAll, list.contacts.length]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `presences` counts changes of `client.presence`
  const rows = useMemo(() => {
    const known = {
      contacts: list.contacts,
      more: list.more,
      directory: directory.data ?? [],
      me: me?.user,
      presenceOf: (user: string) => client.presence(user).presence,
    };
    return isSearch ? found(query, known, search.data ?? []) : sections(known, words);
  }, [client, list, directory.data, me, query, isSearch, search.data, words, presences]);
  const isSettled = isSearch && !search.loading && !search.failed;
  useEffect(() => {
    if (isSettled) announce(words.results(rows.length));
  }, [announce, words, isSettled, rows.length]);

  const nothing = rows.length === 0;
  const contacts = useListState(list);
  const failed = isSearch ? search.failed : contacts.failed || directory.failed;
  const retry = () => {
    if (isSearch) return search.retry();
    if (list.failed) client.loadContacts();
    if (directory.failed) directory.retry();
  };
  const loading = isSearch ? search.loading : contacts.loading || directory.loading;
  return (
    <>
      <div class="list-tools">
        <SearchField label={words.search} value={query} onChange={setQuery} />
      </div>
      {failed && <LoadFailed onRetry={retry} />}
      {nothing && loading ? (
        <Skeleton />
      ) : nothing && failed ? null : nothing && isSearch ? (
        <Empty icon="search" title={words.nobodyFound(query.trim())} hint={words.nobodyFoundHint} />
      ) : nothing ? (
        <Empty icon="people" title={words.noContacts} hint={words.noContactsHint} />
      ) : (
        <VirtualList
          key={isSearch ? 'found' : 'all'}
          label={words.people}
          rows={rows}
          keyOf={keyOf}
          heightOf={heightOf}
          stopsAt={stopsAt}
          draw={(row, tabIndex) => <DrawnRow row={row} tabIndex={tabIndex} />}
          onVisible={setVisible}
          onNearEnd={() => {
            if (isSearch) return;
            if (list.more && !list.loading && !list.failed) client.loadContacts();
            else if (directory.more !== 'failed') directory.loadMore();
          }}
        />
      )}
      {!isSearch && directory.more === 'failed' && <LoadFailed onRetry={directory.loadMore} />}
    </>
  );
}

function DrawnRow({ row, tabIndex }: { row: Row; tabIndex: 0 | -1 }) {
  const words = useWording();
  if (row.kind === 'request') return <RequestRow person={row.person} tabIndex={tabIndex} />;
  if (row.kind === 'person') return <PersonRow person={row.person} tabIndex={tabIndex} />;
  return (
    <h3 class="section-title">
      {row.text}
      {row.count !== undefined && (
        <span class="section-count">{`${words.number(row.count)}${row.more ? '+' : ''}`}</span>
      )}
    </h3>
  );
}

function watched(rows: readonly Row[]): string[] {
  const users = new Set<string>();
  for (const row of rows) if (row.kind !== 'heading') users.add(row.person.user);
  return Array.from(users);
}
