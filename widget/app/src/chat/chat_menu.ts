// The menu of a chat: actions on its person and on the chat.

import type { Conversation } from '@kith/client';
import { rowActions } from '../chats_tab/row_menu.ts';
import { chatWords } from '../chats_tab/words.ts';
import { contactActions, words as contactWords } from '../contacts_tab/contact_actions.ts';
import '../icon/late_shapes.ts';
import type { MenuItem } from '../menu/menu.tsx';
import type { Surroundings } from '../surroundings.tsx';
import { together } from '../wording/late_words.ts';

export const words = together(chatWords, contactWords);

export function chatActions(
  surroundings: Surroundings,
  one: Conversation,
  now: number,
  { onSearch, onDate }: { onSearch(): void; onDate(): void },
): MenuItem[] {
  const { client, wording } = surroundings;
  const { user } = one.with;
  // The first of a person's is to write to them.
  const [, ...withPerson] = contactActions(surroundings, client.person(user), client.contact(user));
  if (!one.exists) return withPerson;
  const words = chatWords.of(wording);
  const search: MenuItem = { icon: 'search', text: words.searchHere, run: onSearch };
  const date: MenuItem = { icon: 'calendar', text: words.jumpToDate, run: onDate };
  return [search, date, ...rowActions(surroundings, one, now), ...withPerson];
}
