// All styles as constructed sheets: no style element, so that `style-src 'self'` is enough.

import avatar from './avatar/avatar.css?inline';
import chat from './chat/chat.css?inline';
import chatsTab from './chats_tab/chats_tab.css?inline';
import composer from './composer/composer.css?inline';
import icon from './icon/icon.css?inline';
import message from './message/message.css?inline';
import shell from './shell/shell.css?inline';
import { useSurroundings } from './surroundings.tsx';
import theme from './theme/theme.css?inline';
import virtualList from './virtual_list/virtual_list.css?inline';

export function sheets(): CSSStyleSheet[] {
  const styles = [theme, icon, avatar, virtualList, shell, chatsTab, chat, message, composer];
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles.join('\n'));
  return [sheet];
}

const adopted = new WeakMap<ShadowRoot, Set<string>>();

/** Adds the styles of a part that comes late, once. Before the part is drawn, because it may measure itself then. */
export function useSheet(css: string): void {
  const { root } = useSurroundings();
  if (root === undefined) return;
  const there = adopted.get(root) ?? new Set();
  adopted.set(root, there);
  if (there.has(css)) return;
  there.add(css);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}
