// The profile of a user: name, status, presence and the possible actions.

import { type KnownPerson, type Presence, RequestError } from '@kith/client';
import { useCallback, useEffect } from 'preact/hooks';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import choicesCss from '../../ui/choice_list/choice_list.css?inline';
import { Icon } from '../../ui/icon/icon.tsx';
import { contactActions } from '../contacts/contact_actions.ts';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useNow, useTopic } from '../../app_context.tsx';
import { lazy } from '../../ui/lazy/lazy.tsx';
import { LoadFailed } from '../../ui/request/request.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './profile.css?inline';
import { askProfile } from './profile_requests.ts';

export { lateWords as words } from '../../wording/late_words.ts';

const ownNamePart = lazy(() => import('./own_name_sheet.tsx'), 'OwnNameSheet');

interface Props {
  user: string;
  onClose(): void;
}

export function ProfileCard({ user, onClose }: Props) {
  useStyles(choicesCss);
  useStyles(css);
  const { client } = useAppContext();
  const words = useWords('profile');
  const person = useTopic(`person:${user}`, one => one.person(user));
  const view = useTopic(`presence:${user}`, one => one.presence(user));
  const me = client.me()?.user === user;
  useEffect(() => client.watch([user], 'last_seen'), [client, user]);
  const load = useCallback(() => askProfile(client, user), [client, user]);
  const { data: known, failed, error, retry } = useRequest(load);
  const isGone = error instanceof RequestError && error.code === 'no_such_user';
  const presence = me ? known?.presence : view.presence;
  return (
    <Sheet title={me ? words.yourProfile : words.profile} onClose={onClose}>
      <div class="profile">
        <Avatar person={person} size="large" {...(presence && { presence })} />
        <h3 class="profile-name">
          <bdi>{person.name}</bdi>
        </h3>
        {person.displayName !== undefined && (
          <p class="profile-hint">
            <bdi>{person.displayName}</bdi>
          </p>
        )}
        <Tags person={person} role={known?.role} />
        {presence && <Here presence={presence} lastSeen={view.lastSeen ?? known?.last_seen} />}
        {known?.status && <LabeledText status={known.status} until={known.status_until} />}
        {failed &&
          (isGone ? <p class="profile-hint">{words.profileGone}</p> : <LoadFailed onRetry={retry} />)}
      </div>
      {!me && <Actions person={person} onClose={onClose} />}
    </Sheet>
  );
}

function Tags({ person, role }: { person: KnownPerson; role: string | undefined }) {
  const words = useWords('profile');
  const roles: Record<string, string> = words.siteRoles;
  const roleName = role && roles[role];
  if (!person.guest && !roleName) return null;
  return (
    <p class="profile-tags">
      {person.guest && <span class="tag">{words.guest}</span>}
      {roleName && <span class="tag">{roleName}</span>}
    </p>
  );
}

function Here({ presence, lastSeen }: { presence: Presence; lastSeen: number | undefined }) {
  const words = useWords('profile');
  const now = useNow();
  const wasHere = presence === 'offline' && lastSeen !== undefined;
  return <p class="profile-hint">{wasHere ? words.lastSeen(words.ago(lastSeen, now)) : words[presence]}</p>;
}

function LabeledText({ status, until }: { status: string; until: number | undefined }) {
  const words = useWords('profile');
  return (
    <div class="profile-status">
      <p dir="auto">{status}</p>
      {until !== undefined && <p class="profile-hint">{words.statusUntil(words.full(until))}</p>}
    </div>
  );
}

/** Icons of the actions that change only the contact relation. The card stays open after them. */
const STAYS: ReadonlySet<string> = new Set(['add', 'remove', 'check']);

/** The actions of the contact list's menu, without the one that opens this card. */
function Actions({ person, onClose }: { person: KnownPerson; onClose(): void }) {
  const context = useAppContext();
  const words = useWords('profile');
  const state = useTopic(`person:${person.user}`, one => one.contact(person.user));
  const items = contactActions(context, person, state).filter(item => item.icon !== 'person');
  // Only an entry of the contact list can have an own name.
  if (state === 'contact' || state === 'request_sent')
    items.splice(1, 0, {
      icon: 'edit',
      text: person.displayName === undefined ? words.giveName : words.changeName,
      run: () => context.show(ownNamePart, { user: person.user }),
    });
  return (
    <div class="choices" role="group" aria-label={words.actionsFor(person.name)}>
      {items.map(item => (
        <button
          key={item.text}
          type="button"
          class={item.danger ? 'choice profile-danger' : 'choice'}
          onClick={() => {
            // The open card would cover the part that this action opens.
            if (!STAYS.has(item.icon)) onClose();
            item.run();
          }}
        >
          <span class="choice-mark" aria-hidden="true">
            <Icon name={item.icon} />
          </span>
          <span class="grow choice-name">{item.text}</span>
        </button>
      ))}
    </div>
  );
}
