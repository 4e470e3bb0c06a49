// The styles that the shell needs at once, as constructed style sheets.

import chat from '../features/chat/chat.css?inline';
import chatsTab from '../features/chats/chats_tab.css?inline';
import composer from '../features/composer/composer.css?inline';
import message from '../features/message/message.css?inline';
import avatar from '../ui/avatar/avatar.css?inline';
import icon from '../ui/icon/icon.css?inline';
import theme from '../ui/theme/theme.css?inline';
import virtualList from '../ui/virtual_list/virtual_list.css?inline';
import shell from './shell.css?inline';

export function sheets(): CSSStyleSheet[] {
  const styles = [theme, icon, avatar, virtualList, shell, chatsTab, chat, message, composer];
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles.join('\n'));
  return [sheet];
}
