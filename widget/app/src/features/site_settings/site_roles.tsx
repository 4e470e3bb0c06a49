// The form in which an admin sets the roles of the site's members.

import { type Person, RequestError, type SiteRole } from '@kith/client';
import { useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { LoadFailed } from '../../ui/request/request.tsx';
import { useWords } from '../../wording/late_words.ts';
import { useSearch } from '../contacts/use_directory.ts';

const GIVEN = ['member', 'moderator'] as const satisfies readonly SiteRole[];

export function Roles() {
  const words = useWords('siteSettings');
  const [query, setQuery] = useState('');
  const search = useSearch(query.trim());
  const people = query.trim() === '' ? [] : (search.data ?? []).slice(0, 8);
  return (
    <section class="guard-part" aria-label={words.roles}>
      <h3>{words.roles}</h3>
      <p class="sheet-hint">{words.rolesHint}</p>
      <label class="sheet-field">
        {words.findMember}
        <input
          type="search"
          dir="auto"
          value={query}
          onInput={event => setQuery(event.currentTarget.value)}
        />
      </label>
      {search.failed && <LoadFailed onRetry={search.retry} />}
      <ul class="guard-people">
        {people.map(one => (
          <RoleOf key={one.user} person={one} />
        ))}
      </ul>
    </section>
  );
}

function RoleOf({ person }: { person: Person }) {
  const { client, announce } = useAppContext();
  const words = useWords('siteSettings');
  const order = useWords('moderation');
  const known = client.person(person.user);
  const give = (role: SiteRole) =>
    client.moderate({ act: 'set_role', user: person.user, role }).then(
      () => announce(order.done),
      (error: unknown) => {
        const isMine = error instanceof RequestError && error.code === 'not_allowed';
        announce(isMine ? order.notAllowedHere : words.somethingFailed);
      },
    );
  return (
    <li class="guard-person">
      <Avatar person={known} size="small" />
      <bdi class="grow clip">{person.name}</bdi>
      {GIVEN.map(role => (
        <button
          key={role}
          type="button"
          class="button"
          aria-label={`${words.roleOf(person.name)}: ${words.roleNames[role]}`}
          onClick={() => give(role)}
        >
          {words.roleNames[role]}
        </button>
      ))}
    </li>
  );
}
