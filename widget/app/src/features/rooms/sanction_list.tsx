// Muted and banned users of a room: end, reason, and the button to lift it.

import type { Conversation, Member } from '@kith/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Skeleton } from '../../ui/skeleton/skeleton.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { failureOf } from './room_errors.ts';
import css from './sanction_list.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

interface Page {
  members: readonly Member[];
  next?: string | undefined;
}

export function SanctionList({ conversation: { key } }: { conversation: Conversation }) {
  useStyles(css);
  const { client, announce } = useAppContext();
  const words = useWords('rooms');
  const general = useWords('moderation');
  const [page, setPage] = useState<Page>();
  const [failed, setFailed] = useState<string>();
  const list = useRef<HTMLDivElement>(null);
  const fail = (error: unknown) => setFailed(failureOf(error, words));
  const load = (after?: string) =>
    client.members(key, undefined, after, true).then(({ members, next }) => {
      setPage(old => ({ members: [...((after && old?.members) || []), ...members], next }));
    }, fail);
  useEffect(() => void load(), [client, key]);

  const lift = ({ user, banned }: Member) => {
    setFailed(undefined);
    const lifted = banned
      ? client.changeMember(key, user, 'unban')
      : client.changeMember(key, user, 'set_role', { role: 'member' });
    lifted.then(() => {
      setPage(old => old && { ...old, members: old.members.filter(one => one.user !== user) });
      announce(words.saved);
      // The button that had the focus is gone.
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
      {page === undefined && !failed && <Skeleton />}
      {page?.members.length === 0 && page.next === undefined && (
        <p class="sanctioned-none">{words.noRestricted}</p>
      )}
      <ul>
        {page?.members.map(one => (
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
      {page?.next !== undefined && (
        <button type="button" class="button button-plain" onClick={() => void load(page.next)}>
          {words.more}
        </button>
      )}
    </div>
  );
}
