// The menu of actions on a person.

import { type ContactAction, type ContactState, direct, type KnownPerson } from '@kith/client';
import type { MenuItem } from '../../ui/menu/menu.tsx';
import { callItems, mayCall } from '../call_log/call_menu_items.ts';
import '../../ui/icon/lazy_shapes.ts';
import type { AppContextValue } from '../../app_context.tsx';
import { wordsOf } from '../../wording/late_words.ts';
import { askToReport } from '../moderation/open_report.ts';
import { openProfile } from '../profile/open_profile.ts';

export { lateWords as words } from '../../wording/late_words.ts';

export function contactActions(
  context: AppContextValue,
  person: KnownPerson,
  state: ContactState,
): MenuItem[] {
  const { openChat, client } = context;
  const words = wordsOf(context.wording, 'contacts');
  const run = (action: ContactAction) => () => changeContact(context, action, person.user);
  const items: MenuItem[] = [{ icon: 'chat', text: words.message, run: () => openChat(direct(person.user)) }];
  items.push({ icon: 'person', text: words.profile, run: () => openProfile(context, person.user) });
  if (person.user === client.me()?.user) return items;
  if (mayCall(client, person.user)) items.push(...callItems(context, person.user));
  if (state === 'blocked') return [...items, { icon: 'check', text: words.unblock, run: run('unblock') }];
  if (state === 'none') items.push({ icon: 'add', text: words.addContact, run: run('request') });
  if (state === 'request_sent') items.push({ icon: 'remove', text: words.takeBack, run: run('remove') });
  if (state === 'request_received') items.push({ icon: 'check', text: words.accept, run: run('accept') });
  if (state === 'contact') items.push({ icon: 'remove', text: words.removeContact, run: run('remove') });
  items.push({ icon: 'block', text: words.block, danger: true, run: () => askToBlock(context, person) });
  items.push({
    icon: 'flag',
    text: words.report,
    run: () => askToReport(context, { user: person.user }, person.user),
  });
  return items;
}

export function askToBlock(context: AppContextValue, person: KnownPerson): void {
  const words = wordsOf(context.wording, 'contacts');
  context.confirm({
    title: words.blockAsk(person.name),
    text: words.blockExplain,
    action: words.block,
    onYes: () => changeContact(context, 'block', person.user),
  });
}

export function changeContact(
  { client, announce, wording }: AppContextValue,
  action: ContactAction,
  user: string,
): void {
  client.changeContact(action, user).catch(() => announce(wording.somethingFailed));
}
