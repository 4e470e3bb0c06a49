// The menu of a chat: actions on its person and on the chat.

import type { Conversation } from '@kith/client';
import { rowActions } from '../chats/row_menu.ts';
import { contactActions } from '../contacts/contact_actions.ts';
import '../../ui/icon/lazy_shapes.ts';
import type { AppContextValue } from '../../app_context.tsx';
import type { MenuItem } from '../../ui/menu/menu.tsx';
import { wordsOf } from '../../wording/late_words.ts';

export { lateWords as words } from '../../wording/late_words.ts';

export function chatActions(
  context: AppContextValue,
  one: Conversation,
  now: number,
  { onSearch, onDate }: { onSearch(): void; onDate(): void },
): MenuItem[] {
  const { client, wording } = context;
  const { user } = one.with;
  // The first contact action writes to the person. It is left out, because their chat is open.
  const [, ...withPerson] = contactActions(context, client.person(user), client.contact(user));
  if (!one.exists) return withPerson;
  const words = wordsOf(wording, 'chats');
  const search: MenuItem = { icon: 'search', text: words.searchHere, run: onSearch };
  const date: MenuItem = { icon: 'calendar', text: words.jumpToDate, run: onDate };
  return [search, date, ...rowActions(context, one, now), ...withPerson];
}
