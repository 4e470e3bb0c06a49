// The members who have seen a message of one's own, and those to whom it was delivered.

import type { ConversationKey, Member } from '@kith/client';
import { useEffect, useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './seen_by.css?inline';
import { allMembers, type SeenBy, seenBy } from './seen_by.ts';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  conversation: ConversationKey;
  seq: number;
  onClose(): void;
}

/** As it is when it is opened. */
export function SeenBySheet({ conversation, seq, onClose }: Props) {
  useStyles(css);
  const { client } = useAppContext();
  const words = useWords('message');
  const [state, setState] = useState<SeenBy | 'failed'>();
  useEffect(() => {
    let wanted = true;
    allMembers(client, conversation).then(
      members => wanted && setState(seenBy(members, seq, client.me()?.user)),
      () => wanted && setState('failed'),
    );
    return () => {
      wanted = false;
    };
  }, [client, conversation, seq]);
  return (
    <Sheet title={words.seenBy} onClose={onClose}>
      {state === 'failed' && (
        <p class="sheet-failed seen-note" role="alert">
          {words.somethingFailed}
        </p>
      )}
      {state !== undefined && state !== 'failed' && (
        <>
          <People title={words.seenBy} people={state.seen} nobody={words.seenByNobody} />
          {state.delivered.length > 0 && <People title={words.deliveredTo} people={state.delivered} />}
          <p class="sheet-hint seen-note">{words.seenByHint}</p>
        </>
      )}
    </Sheet>
  );
}

function People({ title, people, nobody }: { title: string; people: readonly Member[]; nobody?: string }) {
  const words = useWords('message');
  const label = `${title} · ${words.number(people.length)}`;
  return (
    <section class="seen-by" aria-label={label}>
      <h3>{label}</h3>
      {people.length === 0 && <p class="sheet-hint">{nobody}</p>}
      <ul>
        {people.map(one => (
          <li key={one.user}>
            <Avatar person={{ guest: false, ...one }} size="small" />
            <bdi class="grow clip">{one.name}</bdi>
          </li>
        ))}
      </ul>
    </section>
  );
}
