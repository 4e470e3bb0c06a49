// Reactions to a message, one chip each. A click on a chip adds or removes the member's own reaction.

import type { Message, Reaction } from '@kith/client';
import { useAppContext } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import css from './reactions.css?inline';

interface Props {
  message: Message;
  tabIndex: 0 | -1;
  onReact(reaction: string, on: boolean): void;
}

/** Maximum number of users with their names; the others are only counted. */
const NAMED = 8;

export function Reactions({ message, tabIndex, onReact }: Props) {
  useStyles(css);
  const { wording: words } = useAppContext();
  if (message.reactions === undefined || message.reactions.length === 0) return null;
  return (
    <ul class="reactions" aria-label={words.reactions}>
      {message.reactions.map(one => (
        <li key={one.reaction}>
          <Chip one={one} tabIndex={tabIndex} onReact={onReact} />
        </li>
      ))}
    </ul>
  );
}

function Chip({ one, tabIndex, onReact }: { one: Reaction } & Pick<Props, 'tabIndex' | 'onReact'>) {
  const { wording: words, client } = useAppContext();
  const me = client.me()?.user;
  const who = () => {
    const named = one.users.slice(0, NAMED).map(user => (user === me ? words.you : client.person(user).name));
    const more = one.count - named.length;
    return words.list(more > 0 ? [...named, words.andMore(more)] : named);
  };
  return (
    <button
      type="button"
      class="reaction"
      tabIndex={tabIndex}
      aria-pressed={one.mine}
      aria-label={words.reactedBy({ reaction: one.reaction, count: one.count })}
      title={who()}
      onClick={() => onReact(one.reaction, !one.mine)}
    >
      <span class="reaction-emoji">{one.reaction}</span>
      <bdi>{words.number(one.count)}</bdi>
    </button>
  );
}
