// One person in the list of contacts or of the directory.

import { direct, type Person } from '@kith/client';
import { useRef } from 'preact/hooks';
import { useAppContext, useNow, useTopic } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { useWords } from '../../wording/late_words.ts';
import { contactActions } from './contact_actions.ts';

export function PersonRow({ person: listed, tabIndex }: { person: Person; tabIndex: 0 | -1 }) {
  const context = useAppContext();
  const { openChat, openMenu } = context;
  const words = useWords('contacts');
  const more = useRef<HTMLButtonElement>(null);
  const now = useNow();
  const state = useTopic(`person:${listed.user}`, client => client.contact(listed.user));
  const view = useTopic(`presence:${listed.user}`, client => client.presence(listed.user));
  // A page of the directory has no own names.
  const person = useTopic(`person:${listed.user}`, client => client.person(listed.user));
  const hint =
    state === 'request_sent'
      ? words.requestSent
      : state === 'blocked'
        ? words.blockedPeople
        : view.presence === 'offline' && view.lastSeen !== undefined
          ? words.lastSeen(words.ago(view.lastSeen, now))
          : words[view.presence];

  const showMenu = () => {
    if (more.current === null) return;
    openMenu({
      anchor: more.current,
      label: words.actionsFor(person.name),
      items: contactActions(context, person, state),
    });
  };
  return (
    <div class="row person-row">
      <button
        type="button"
        class="row-main"
        data-stop
        tabIndex={tabIndex}
        onClick={() => openChat(direct(person.user))}
        onContextMenu={event => {
          event.preventDefault();
          showMenu();
        }}
      >
        <Avatar person={person} presence={view.presence} />
        <span class="row-text">
          <span class="row-line">
            <span class="row-name clip">
              <bdi>{person.name}</bdi>
            </span>
            {person.guest && <span class="tag">{words.guest}</span>}
          </span>
          {/* The avatar already names the presence for screen readers. */}
          <span class="row-preview clip" aria-hidden={hint === words[view.presence]}>
            {hint}
          </span>
        </span>
      </button>
      <button
        ref={more}
        type="button"
        class="icon-button row-more"
        tabIndex={tabIndex}
        aria-haspopup="menu"
        aria-expanded="false"
        aria-label={words.actionsFor(person.name)}
        onClick={showMenu}
      >
        <Icon name="more" />
      </button>
    </div>
  );
}
