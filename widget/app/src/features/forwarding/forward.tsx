// The sheet for forwarding a message: to a chat of the user, or to a person of the directory.

import { type ConversationKey, direct, isRoom, type Message } from '@kith/client';
import { useState } from 'preact/hooks';
import { useAppContext, useFace, useTopic } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { LoadFailed } from '../../ui/request/request.tsx';
import { SearchField } from '../../ui/search_field/search_field.tsx';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { Skeleton } from '../../ui/skeleton/skeleton.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { useSearch } from '../contacts/use_directory.ts';
import css from '../message_extras/message_extras.css?inline';
import { silenced } from '../rooms/may_write.ts';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  from: ConversationKey;
  message: Message;
  onClose(): void;
}

const MOST_CHATS = 30;

export function Forward({ from, message, onClose }: Props) {
  useStyles(css);
  const { client, announce } = useAppContext();
  const words = useWords('forwarding');
  const [query, setQuery] = useState('');
  const chats = useTopic('conversations', one => one.conversations('main')).keys;
  const people = useSearch(query.trim());
  const wanted = query.trim().toLocaleLowerCase();
  const mayTake = (key: ConversationKey) => {
    const { room, with: face } = client.conversation(key);
    if (room && silenced(room)) return false;
    return wanted === '' || face.name.toLocaleLowerCase().includes(wanted);
  };
  const found = chats.filter(mayTake).slice(0, MOST_CHATS);
  const listed = query.trim() === '' ? [] : (people.data ?? []);
  const others = listed.filter(one => !found.includes(direct(one.user)));
  const nothing = found.length + others.length === 0;
  const send = (to: ConversationKey, name: string) => {
    client.rich().then(
      rich => {
        rich.forward(from, message, to);
        announce(words.forwarded(name));
        onClose();
      },
      () => announce(words.loadFailed),
    );
  };
  return (
    <Sheet title={words.forwardTitle} onClose={onClose}>
      <div class="list-tools">
        <div class="grow">
          <SearchField label={words.forwardSearch} value={query} onChange={setQuery} />
        </div>
      </div>
      <ul class="forward-list">
        {found.map(key => (
          <li key={key}>
            <Chat of={key} onPick={name => send(key, name)} />
          </li>
        ))}
        {others.map(one => (
          <li key={one.user}>
            <button type="button" class="forward-row" onClick={() => send(direct(one.user), one.name)}>
              <Avatar person={{ guest: false, ...one }} size="small" />
              <bdi class="clip grow">{one.name}</bdi>
            </button>
          </li>
        ))}
      </ul>
      {people.failed && <LoadFailed onRetry={people.retry} />}
      {nothing && people.loading && <Skeleton />}
      {nothing && !people.loading && !people.failed && (
        <p class="sheet-hint forward-none">{words.forwardNothing}</p>
      )}
    </Sheet>
  );
}

function Chat({ of: key, onPick }: { of: ConversationKey; onPick(name: string): void }) {
  const conversation = useTopic(`conversation:${key}`, one => one.conversation(key));
  const face = useFace(conversation);
  return (
    <button type="button" class="forward-row" onClick={() => onPick(face.name)}>
      <Avatar person={face} size="small" {...(isRoom(key) && { room: true })} />
      <bdi class="clip grow">{face.name}</bdi>
    </button>
  );
}
