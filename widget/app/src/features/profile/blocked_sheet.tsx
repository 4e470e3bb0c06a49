// The users whom the member has blocked, each with a button to unblock.

import { useEffect } from 'preact/hooks';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Empty } from '../../ui/empty_state/empty_state.tsx';
import { LoadFailed } from '../../ui/request/request.tsx';
import { useListState } from '../../ui/request/use_request.ts';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { Skeleton } from '../../ui/skeleton/skeleton.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { changeContact } from '../contacts/contact_actions.ts';
import css from './profile.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

export function BlockedSheet({ onClose }: { onClose: () => void }) {
  useStyles(css);
  const context = useAppContext();
  const { client } = context;
  const words = useWords('profile');
  const people = useWords('contacts');
  const list = useTopic('contacts', one => one.contacts());
  // The contact list is sorted by name, so blocked users may be on any page. Load all pages.
  useEffect(() => {
    if (list.more && !list.loading && !list.failed) client.loadContacts();
  }, [client, list]);
  const { failed } = useListState(list);
  const blocked = list.contacts.filter(one => one.state === 'blocked');
  return (
    <Sheet title={words.blocked} onClose={onClose}>
      {failed && <LoadFailed onRetry={() => client.loadContacts()} />}
      {blocked.length === 0 && list.more ? (
        !failed && <Skeleton />
      ) : blocked.length === 0 ? (
        <Empty icon="block" title={words.blockedNobody} hint={words.blockedHint} />
      ) : (
        <>
          <ul class="blocked-list">
            {blocked.map(one => (
              <li key={one.user} class="blocked-row">
                <Avatar person={{ guest: false, ...one }} />
                <bdi class="grow clip">{one.name}</bdi>
                <button
                  type="button"
                  class="button"
                  aria-label={words.unblockOne(one.name)}
                  onClick={() => changeContact(context, 'unblock', one.user)}
                >
                  {people.unblock}
                </button>
              </li>
            ))}
          </ul>
          <p class="sheet-form privacy-note">{words.blockedHint}</p>
        </>
      )}
    </Sheet>
  );
}
