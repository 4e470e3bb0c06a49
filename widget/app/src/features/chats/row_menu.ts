// The menu of a row in the list of chats. The chat's own menu has the same actions.

import { type Conversation, MUTED_FOR_GOOD, RequestError } from '@kith/client';
import '../../ui/icon/lazy_shapes.ts';
import type { AppContextValue } from '../../app_context.tsx';
import type { MenuItem } from '../../ui/menu/menu.tsx';
import { wordsOf } from '../../wording/late_words.ts';

export { lateWords as words } from '../../wording/late_words.ts';

const HOUR = 3_600_000;

export function rowActions(context: AppContextValue, one: Conversation, now: number): MenuItem[] {
  const { client, announce } = context;
  const words = wordsOf(context.wording, 'chats');
  const change = (what: Parameters<typeof client.changeConversation>[1]) =>
    void client.changeConversation(one.key, what).catch(error => {
      const full = error instanceof RequestError && error.code === 'too_many_pinned';
      announce(full ? words.tooManyPinned : words.somethingFailed);
    });
  const markRead = () => {
    if (one.last?.seq !== undefined) client.seen(one.key, one.last.seq);
    if (one.markedUnread) change({ markedUnread: false });
  };
  const muted = one.mutedUntil > now;
  return [
    one.unread > 0 || one.markedUnread
      ? { icon: 'check', text: words.markRead, run: markRead }
      : { icon: 'unread', text: words.markUnread, run: () => change({ markedUnread: true }) },
    { icon: 'pin', text: one.pinned ? words.unpin : words.pin, run: () => change({ pinned: !one.pinned }) },
    ...(muted
      ? [{ icon: 'muted', text: words.unmute, run: () => change({ mutedUntil: 0 }) } as const]
      : ([
          { icon: 'muted', text: words.muteHour, run: () => change({ mutedUntil: now + HOUR }) },
          { icon: 'muted', text: words.muteEight, run: () => change({ mutedUntil: now + 8 * HOUR }) },
          { icon: 'muted', text: words.muteForGood, run: () => change({ mutedUntil: MUTED_FOR_GOOD }) },
        ] as const)),
    {
      icon: 'archive',
      text: one.archived ? words.unarchive : words.archive,
      run: () => change({ archived: !one.archived }),
    },
  ];
}
