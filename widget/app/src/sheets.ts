// All styles as constructed sheets: no style element, so that `style-src 'self'` is enough.

import avatar from './avatar/avatar.css?inline';
import banner from './banner/banner.css?inline';
import chat from './chat/chat.css?inline';
import chatsTab from './chats_tab/chats_tab.css?inline';
import composer from './composer/composer.css?inline';
import confirm from './confirm/confirm.css?inline';
import contactsTab from './contacts_tab/contacts_tab.css?inline';
import icon from './icon/icon.css?inline';
import meTab from './me_tab/me_tab.css?inline';
import menu from './menu/menu.css?inline';
import message from './message/message.css?inline';
import toast from './notices/toast.css?inline';
import segmented from './segmented/segmented.css?inline';
import shell from './shell/shell.css?inline';
import theme from './theme/theme.css?inline';
import virtualList from './virtual_list/virtual_list.css?inline';

export function sheets(): CSSStyleSheet[] {
  const styles = [
    theme,
    icon,
    avatar,
    virtualList,
    segmented,
    shell,
    banner,
    chatsTab,
    contactsTab,
    meTab,
    chat,
    message,
    composer,
    menu,
    toast,
    confirm,
  ];
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles.join('\n'));
  return [sheet];
}
