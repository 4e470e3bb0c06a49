// A room's members; for owners and moderators also its settings.

import {
  type Conversation,
  direct,
  type Member,
  type MemberAction,
  type Person,
  type Role,
  type RoomView,
} from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import choicesCss from '../../ui/choice_list/choice_list.css?inline';
import { Empty } from '../../ui/empty_state/empty_state.tsx';
import barCss from '../../ui/header_bar/header_bar.css?inline';
import { Icon } from '../../ui/icon/icon.tsx';
import { Skeleton } from '../../ui/skeleton/skeleton.tsx';
import { useSearch } from '../contacts/use_directory.ts';
import '../../ui/icon/lazy_shapes.ts';
import { AppContext, type AppContextValue, useAppContext, useTopic, useWatch } from '../../app_context.tsx';
import { Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import type { MenuItem } from '../../ui/menu/menu.tsx';
import { LoadFailed, RequestView } from '../../ui/request/request.tsx';
import { usePages } from '../../ui/request/use_pages.ts';
import { SearchField } from '../../ui/search_field/search_field.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { VirtualList } from '../../ui/virtual_list/virtual_list.tsx';
import { useWords, wordsOf } from '../../wording/late_words.ts';
import { askToReport } from '../moderation/open_report.ts';
import { openProfile } from '../profile/open_profile.ts';
import { keepsOrder } from './may_write.ts';
import css from './room.css?inline';
import { failureOf } from './room_errors.ts';
import { useRoomNames } from './room_names.ts';
import { RoomSettings } from './room_settings.tsx';

export { lateWords as words } from '../../wording/late_words.ts';

const sanctionPart = lazy(() => import('./sanction_form.tsx'), 'SanctionForm');
const sanctionedPart = lazy(() => import('./sanction_list.tsx'), 'SanctionList');
const nicknamePart = lazy(() => import('./nickname_sheet.tsx'), 'NicknameSheet');
const linksPart = lazy(() => import('../invite_links/invite_link_list.tsx'), 'InviteLinkList');

/** Milliseconds. Members type faster than the server answers. */
const SEARCH_DELAY = 200;
const ROW = 60;
const heightOf = () => ROW;
const keyOf = (one: Member) => one.user;

interface Props {
  conversation: Conversation;
  onBack(): void;
  corner: ComponentChildren;
}

export function RoomInfo({ conversation, onBack, corner }: Props) {
  useStyles(barCss);
  useStyles(choicesCss);
  useStyles(css);
  const context = useAppContext();
  const words = useWords('rooms');
  const [part, setPart] = useState<'members' | 'settings' | 'invite' | 'links' | 'sanctioned'>('members');
  const back = useRef<HTMLButtonElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each part focuses its Back button
  useEffect(() => back.current?.focus({ preventScroll: true }), [part]);
  const { room, with: face } = conversation;
  const named = useRoomNames(conversation) ?? context;
  if (room === undefined) return null;
  const title = {
    members: words.aboutRoom,
    settings: words.settings,
    invite: words.invite,
    links: words.inviteByLink,
    sanctioned: words.restricted,
  }[part];
  const mayInvite = keepsOrder(room) || (room.kind === 'public' && room.role === 'member');
  const leave = part === 'members' ? onBack : () => setPart('members');
  return (
    <div
      class="room-about"
      onKeyDown={event => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        leave();
      }}
    >
      <div class="bar chat-bar">
        <button
          ref={back}
          type="button"
          class="icon-button"
          aria-label={words.backToChat}
          title={words.backToChat}
          onClick={leave}
        >
          <Icon name="back" />
        </button>
        <h2 class="chat-name grow">{title}</h2>
        {corner}
      </div>
      {part === 'settings' && <RoomSettings conversation={conversation} room={room} onClose={onBack} />}
      {part === 'invite' && <Invite conversation={conversation} />}
      {part === 'links' && (
        <Lazy
          part={linksPart}
          props={{ conversation }}
          meanwhile={<Skeleton />}
          onFailed={() => {
            context.announce(words.loadFailed);
            setPart('members');
          }}
        />
      )}
      {part === 'sanctioned' && (
        <Lazy
          part={sanctionedPart}
          props={{ conversation }}
          meanwhile={<Skeleton />}
          onFailed={() => {
            context.announce(words.loadFailed);
            setPart('members');
          }}
        />
      )}
      {part === 'members' && (
        <>
          <div class="room-card">
            <Avatar person={face} size="large" room />
            <h3>
              <bdi>{room.name}</bdi>
            </h3>
            <p>{`${words.roomKinds[room.kind]} · ${words.roomCount({ count: room.members, number: words.number(room.members) })}`}</p>
            {room.topic && <p dir="auto">{room.topic}</p>}
          </div>
          {mayInvite && (
            <div class="room-buttons">
              <button type="button" class="button" onClick={() => setPart('invite')}>
                <Icon name="add" />
                {words.invite}
              </button>
              {/* The room of a page needs no link, because the page leads to it. */}
              {room.page === undefined && (
                <button type="button" class="button" onClick={() => setPart('links')}>
                  <Icon name="link" />
                  {words.inviteByLink}
                </button>
              )}
              {keepsOrder(room) && (
                <button type="button" class="button" onClick={() => setPart('settings')}>
                  <Icon name="gear" />
                  {words.settings}
                </button>
              )}
              {keepsOrder(room) && (
                <button type="button" class="button" onClick={() => setPart('sanctioned')}>
                  <Icon name="block" />
                  {words.restricted}
                </button>
              )}
            </div>
          )}
          {room.role !== undefined && (
            <AppContext.Provider value={named}>
              <OwnName conversation={conversation} />
              <Members conversation={conversation} room={room} />
            </AppContext.Provider>
          )}
          <button
            type="button"
            class="button button-plain"
            onClick={() => askToReport(context, { room: conversation.key })}
          >
            <Icon name="flag" />
            {words.reportRoom}
          </button>
        </>
      )}
    </div>
  );
}

/** The name under which the other members see this one. */
function OwnName({ conversation }: { conversation: Conversation }) {
  const { client, show } = useAppContext();
  const words = useWords('rooms');
  const user = client.me()?.user ?? '';
  const { name, displayName } = useTopic(`person:${user}`, one => one.person(user));
  return (
    <button
      type="button"
      class="button button-plain"
      aria-haspopup="dialog"
      onClick={() =>
        show(nicknamePart, { client, conversation, nickname: displayName === undefined ? '' : name })
      }
    >
      <Icon name="edit" />
      {words.shownAs(name)}
    </button>
  );
}

/** Loads the list page by page as the member scrolls. A new query starts with the first page. */
function useMembers({ key }: Conversation, query: string) {
  const { client } = useAppContext();
  const load = useCallback(
    async (after?: string) => {
      const { members, next } = await client.members(key, query, after);
      return { items: members, next };
    },
    [client, key, query],
  );
  const pages = usePages(load, { delay: query === '' ? 0 : SEARCH_DELAY, keep: true });
  const { update } = pages;
  const changed = useCallback(
    (member: Member) =>
      update(before => {
        const rest = before.filter(one => one.user !== member.user);
        const at = before.findIndex(one => one.user === member.user);
        return member.role ? rest.toSpliced(at === -1 ? 0 : at, 0, member) : rest;
      }),
    [update],
  );
  return { pages, changed };
}

function Members({ conversation, room }: { conversation: Conversation; room: RoomView }) {
  const words = useWords('rooms');
  const aboutPeople = useWords('contacts');
  const [query, setQuery] = useState('');
  const [visible, setVisible] = useState<readonly Member[]>([]);
  const wanted = query.trim();
  const { pages, changed } = useMembers(conversation, wanted);
  // A room can have ten thousand members, so watch only the visible ones.
  useWatch(visible.map(one => one.user));
  return (
    <>
      <div class="list-tools">
        <SearchField label={words.searchMembers} value={query} onChange={setQuery} />
      </div>
      <RequestView
        request={pages}
        empty={
          <Empty icon="search" title={aboutPeople.nobodyFound(wanted)} hint={aboutPeople.nobodyFoundHint} />
        }
      >
        {members => (
          <VirtualList
            key={query}
            label={words.members}
            rows={members}
            keyOf={keyOf}
            heightOf={heightOf}
            draw={(one, tabIndex) => (
              <MemberRow
                member={one}
                conversation={conversation}
                room={room}
                tabIndex={tabIndex}
                onChanged={changed}
              />
            )}
            onVisible={setVisible}
            onNearEnd={pages.more === 'failed' ? undefined : pages.loadMore}
          />
        )}
      </RequestView>
      {pages.more === 'failed' && <LoadFailed onRetry={pages.loadMore} />}
    </>
  );
}

interface RowProps {
  member: Member;
  conversation: Conversation;
  room: RoomView;
  tabIndex: 0 | -1;
  onChanged(member: Member): void;
}

function MemberRow({ member, conversation, room, tabIndex, onChanged }: RowProps) {
  const context = useAppContext();
  const { openMenu, client } = context;
  const words = useWords('rooms');
  const main = useRef<HTMLButtonElement>(null);
  const view = useTopic(`presence:${member.user}`, one => one.presence(member.user));
  const person = useTopic(`person:${member.user}`, one => one.person(member.user));
  const me = client.me()?.user === member.user;
  const showMenu = () => {
    if (main.current === null) return;
    const items = memberActions(context, conversation, room, member, onChanged);
    if (items.length > 0) openMenu({ anchor: main.current, label: words.actionsFor(person.name), items });
  };
  const role = member.role && member.role !== 'member' ? words.roles[member.role] : undefined;
  return (
    <div class="row room-row">
      <button
        ref={main}
        type="button"
        class="row-main"
        data-stop
        tabIndex={tabIndex}
        {...(!me && { 'aria-haspopup': 'menu' as const, 'aria-expanded': false })}
        onClick={showMenu}
      >
        <Avatar person={person} {...(!me && { presence: view.presence })} />
        <span class="row-text">
          <span class="row-line">
            <span class="row-name clip">
              <bdi>{person.name}</bdi>
            </span>
            {me && <span class="row-preview">{`(${words.you})`}</span>}
          </span>
          {(role || person.displayName) && (
            <span class="row-preview clip">
              {person.displayName && <bdi>{person.displayName}</bdi>}
              {role && person.displayName && ' · '}
              {role}
            </span>
          )}
        </span>
      </button>
    </div>
  );
}

function memberActions(
  context: AppContextValue,
  { key }: Conversation,
  room: RoomView,
  member: Member,
  onChanged: (member: Member) => void,
): MenuItem[] {
  const { client, openChat, show, announce } = context;
  const words = wordsOf(context.wording, 'rooms');
  const aboutPeople = wordsOf(context.wording, 'contacts');
  if (member.user === client.me()?.user) return [];
  const change = (action: MemberAction, role?: Role) => () =>
    client.changeMember(key, member.user, action, role && { role }).then(
      now => onChanged(now),
      (error: unknown) => announce(failureOf(error, words)),
    );
  const sanction = (kind: 'mute' | 'ban') => () =>
    show(sanctionPart, { room: key, member, kind, onDone: onChanged });
  const items: MenuItem[] = [
    { icon: 'chat', text: words.message, run: () => openChat(direct(member.user)) },
    { icon: 'person', text: aboutPeople.profile, run: () => openProfile(context, member.user) },
  ];
  // A moderator may act on plain and muted members, an owner on everyone.
  const owner = room.role === 'owner';
  const below = owner || (room.role === 'moderator' && (member.role === 'member' || member.role === 'muted'));
  if (!below) return items;
  if (owner && member.role !== 'moderator')
    items.push({ icon: 'check', text: words.makeModerator, run: change('set_role', 'moderator') });
  if (owner && member.role !== 'owner')
    items.push({ icon: 'check', text: words.makeOwner, run: change('set_role', 'owner') });
  if (owner && (member.role === 'moderator' || member.role === 'owner'))
    items.push({ icon: 'person', text: words.makeMember, run: change('set_role', 'member') });
  if (member.role === 'muted')
    items.push({ icon: 'bell', text: words.unmuteMember, run: change('set_role', 'member') });
  else if (member.role === 'member')
    items.push({ icon: 'muted', text: words.muteMember, run: sanction('mute') });
  return [
    ...items,
    { icon: 'remove', text: words.removeMember, danger: true, run: change('remove') },
    { icon: 'block', text: words.banMember, danger: true, run: sanction('ban') },
  ];
}

const NOBODY: readonly Person[] = [];

function Invite({ conversation: { key } }: { conversation: Conversation }) {
  const { client, announce } = useAppContext();
  const words = useWords('rooms');
  const aboutPeople = useWords('contacts');
  const [query, setQuery] = useState('');
  const [invited, setInvited] = useState<ReadonlySet<string>>(new Set());
  const [failed, setFailed] = useState<string>();
  const found = useSearch(query.trim());
  const contacts = useTopic('contacts', one => one.contacts()).contacts;
  const wanted = query.trim();
  const people = wanted === '' ? contacts.filter(one => one.state === 'contact') : (found.data ?? NOBODY);
  const isEmpty = wanted !== '' && people.length === 0;
  const invite = (user: string, name: string) =>
    client.changeMember(key, user, 'invite').then(
      ({ requested }) => {
        setInvited(before => new Set(before).add(user));
        announce(requested ? words.wasAsked(name) : words.invited(name));
      },
      (error: unknown) => setFailed(failureOf(error, words)),
    );
  return (
    <>
      <div class="list-tools">
        <SearchField label={aboutPeople.search} value={query} onChange={setQuery} />
        {failed && (
          <p class="room-failed" role="alert">
            {failed}
          </p>
        )}
      </div>
      {found.failed && <LoadFailed onRetry={found.retry} />}
      {isEmpty && found.loading && <Skeleton />}
      {isEmpty && !found.loading && !found.failed && (
        <Empty icon="search" title={aboutPeople.nobodyFound(wanted)} hint={aboutPeople.nobodyFoundHint} />
      )}
      <VirtualList
        key={query}
        label={aboutPeople.people}
        rows={people}
        keyOf={one => one.user}
        heightOf={heightOf}
        draw={(one, tabIndex) => (
          <div class="row room-row">
            <button
              type="button"
              class="row-main"
              data-stop
              tabIndex={tabIndex}
              aria-disabled={invited.has(one.user)}
              onClick={() => !invited.has(one.user) && invite(one.user, one.name)}
            >
              <Avatar person={{ guest: false, ...one }} />
              <span class="row-text">
                <span class="row-name clip">
                  <bdi>{one.name}</bdi>
                </span>
              </span>
              <Icon name={invited.has(one.user) ? 'check' : 'plus'} />
            </button>
          </div>
        )}
      />
    </>
  );
}
