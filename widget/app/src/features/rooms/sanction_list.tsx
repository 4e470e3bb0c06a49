// Muted and banned users of a room: end, reason, and the button to lift it.

import type { Conversation, Member } from '@kith/client';
import { useCallback, useRef, useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { NextPage, RequestView } from '../../ui/request/request.tsx';
import { usePages } from '../../ui/request/use_pages.ts';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { failureOf } from './room_errors.ts';
import css from './sanction_list.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

export function SanctionList({ conversation: { key } }: { conversation: Conversation }) {
  useStyles(css);
  const { client, announce } = useAppContext();
  const words = useWords('rooms');
  const general = useWords('moderation');
  const load = useCallback(
    async (after?: string) => {
      const { members, next } = await client.members(key, undefined, after, true);
      return { items: members, next };
    },
    [client, key],
  );
  const pages = usePages(load);
  const [failed, setFailed] = useState<string>();
  const list = useRef<HTMLDivElement>(null);
  const fail = (error: unknown) => setFailed(failureOf(error, words));

  const lift = ({ user, banned }: Member) => {
    setFailed(undefined);
    const lifted = banned
      ? client.changeMember(key, user, 'unban')
      : client.changeMember(key, user, 'set_role', { role: 'member' });
    lifted.then(() => {
      pages.update(members => members.filter(one => one.user !== user));
      announce(words.saved);
      // The focused button was removed with its row.
      list.current?.focus();
    }, fail);
  };

  return (
    <div ref={list} class="room-scroll sanctioned" tabIndex={-1}>
      {failed && (
        <p class="room-failed" role="alert">
          {failed}
        </p>
      )}
      <RequestView
        request={pages}
        empty={!pages.hasMore && <p class="sanctioned-none">{words.noRestricted}</p>}
        failure={error => failureOf(error, words)}
      >
        {members => (
          <ul>
            {members.map(one => (
              <li key={one.user} class="sanctioned-row">
                <Avatar person={{ guest: false, ...one }} />
                <span class="grow">
                  <bdi class="row-name clip">{one.name}</bdi>
                  <span class="choice-hint">{`${one.banned ? words.bannedRole : words.roles.muted} · ${
                    one.until === undefined ? general.noEnd : words.restrictedUntil(words.full(one.until))
                  }`}</span>
                  {one.reason && (
                    <span class="choice-hint" dir="auto">
                      {words.restrictedFor(one.reason)}
                    </span>
                  )}
                </span>
                <button
                  type="button"
                  class="button"
                  aria-label={`${one.banned ? general.acts.unban : words.unmuteMember}: ${one.name}`}
                  onClick={() => lift(one)}
                >
                  {one.banned ? general.acts.unban : words.unmuteMember}
                </button>
              </li>
            ))}
          </ul>
        )}
      </RequestView>
      <NextPage pages={pages} text={words.more} />
    </div>
  );
}
