// The call buttons of a direct chat: one menu button if space is limited, otherwise one button per kind of call.

import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/call_shapes.ts';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './call_buttons.css?inline';
import { callItems, mayCall } from './call_menu_items.ts';

export { lateWords as words } from '../../wording/late_words.ts';

export function Buttons({ user }: { user: string }) {
  useStyles(css);
  const context = useAppContext();
  const words = useWords('callLog');
  const may = useTopic(`person:${user}`, client => mayCall(client, user));
  if (!may) return null;
  const items = callItems(context, user);
  return (
    <>
      {items.map(item => (
        <button
          key={item.icon}
          type="button"
          class="icon-button call-button"
          aria-label={item.text}
          title={item.text}
          onClick={item.run}
        >
          <Icon name={item.icon} />
        </button>
      ))}
      <button
        type="button"
        class="icon-button call-either"
        aria-haspopup="menu"
        aria-expanded="false"
        aria-label={words.callOne}
        title={words.callOne}
        onClick={event => context.openMenu({ anchor: event.currentTarget, label: words.callOne, items })}
      >
        <Icon name="phone" />
      </button>
    </>
  );
}
