// The members who have read the member's own message, and those who have only received it.

import type { ConversationKey, Member } from '@kith/client';
import { useCallback } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { RequestView } from '../../ui/request/request.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './seen_by.css?inline';
import { allMembers, seenBy } from './seen_by.ts';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  conversation: ConversationKey;
  seq: number;
  onClose(): void;
}

/** Loads the lists when the sheet opens, and does not update them. */
export function SeenBySheet({ conversation, seq, onClose }: Props) {
  useStyles(css);
  const { client } = useAppContext();
  const words = useWords('message');
  const load = useCallback(
    async () => seenBy(await allMembers(client, conversation), seq, client.me()?.user),
    [client, conversation, seq],
  );
  const request = useRequest(load);
  return (
    <Sheet title={words.seenBy} onClose={onClose}>
      <RequestView request={request}>
        {({ seen, delivered }) => (
          <>
            <People title={words.seenBy} people={seen} nobody={words.seenByNobody} />
            {delivered.length > 0 && <People title={words.deliveredTo} people={delivered} />}
            <p class="sheet-hint seen-note">{words.seenByHint}</p>
          </>
        )}
      </RequestView>
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
