// Online members, shown to a member without chats.

import { direct, type Person } from '@kith/client';
import { useAppContext, useClient, useTopic } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { LoadFailed } from '../../ui/request/request.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { useDirectory } from '../contacts/use_directory.ts';
import { usePresences } from '../contacts/use_presences.ts';
import css from './online_now.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

const MOST = 6;

export function OnlineNow() {
  useStyles(css);
  const client = useClient();
  const { openChat } = useAppContext();
  const words = useWords('contacts');
  const me = useTopic('me', one => one.me());
  const contacts = useTopic('contacts', one => one.contacts());
  const open = me?.open === true;
  const directory = useDirectory(open);
  usePresences();

  const known = [
    ...contacts.contacts.filter(contact => contact.state === 'contact'),
    ...(directory.data ?? []),
  ];
  const here = new Map<string, Person>();
  for (const person of known) {
    const isHere = (person.presence ?? client.presence(person.user).presence) === 'online';
    if (isHere && person.user !== me?.user && here.size < MOST) here.set(person.user, person);
  }
  if (here.size === 0) return directory.failed ? <LoadFailed onRetry={directory.retry} /> : null;
  return (
    <ul class="here-now" aria-label={words.hereNow}>
      {Array.from(here.values(), person => (
        <li key={person.user}>
          <button type="button" class="here-now-person" onClick={() => openChat(direct(person.user))}>
            <Avatar person={{ guest: false, ...person }} presence="online" />
            <span class="clip">
              <bdi>{person.name}</bdi>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
