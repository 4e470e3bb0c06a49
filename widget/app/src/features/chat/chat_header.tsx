// The bar above a conversation: the back button, the caller's content, and the menu of actions.

import type { ComponentChildren } from 'preact';
import { useAppContext } from '../../app_context.tsx';
import css from '../../ui/header_bar/header_bar.css?inline';
import { Icon } from '../../ui/icon/icon.tsx';
import type { MenuItem } from '../../ui/menu/menu.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';

interface Props {
  name: string;
  /** Undefined if the chat list is visible beside the chat. */
  onBack: (() => void) | undefined;
  /** Called when the menu opens. */
  items(): MenuItem[] | Promise<MenuItem[]>;
  corner: ComponentChildren;
  children: ComponentChildren;
}

export function ChatHeader({ name, onBack, items, corner, children }: Props) {
  useStyles(css);
  const { wording: words, openMenu, windowItems } = useAppContext();
  const label = words.actionsFor(name);
  return (
    <div class="bar chat-bar">
      {onBack && (
        <button type="button" class="icon-button" aria-label={words.back} title={words.back} onClick={onBack}>
          <Icon name="back" />
        </button>
      )}
      {children}
      <button
        type="button"
        class="icon-button"
        aria-haspopup="menu"
        aria-expanded="false"
        aria-label={label}
        title={words.more}
        onClick={event => {
          const anchor = event.currentTarget;
          const ofWindow = windowItems?.() ?? [];
          openMenu(Promise.resolve(items()).then(all => ({ anchor, label, items: [...all, ...ofWindow] })));
        }}
      >
        <Icon name="more" />
      </button>
      {corner}
    </div>
  );
}
