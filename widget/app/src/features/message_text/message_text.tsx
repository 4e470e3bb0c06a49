// A message's text. A lazy part renders formatted text; it is fetched with the first formatted message.

import { Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import type { NameOf } from './formatting.ts';

export interface BodyProps {
  body: string;
  /** The author is a stranger: addresses are shown as plain text. */
  inert: boolean;
  /** The users whom `@id` can mention here. */
  nameOf?: NameOf | undefined;
}

/** A text without a match needs no formatting. */
const MARKS = /[*_~`[\\>@]|:\/\/|mailto:|^[-•\d]/im;
export const formattedPart = lazy(() => import('./formatted.tsx'), 'Formatted');

export function MessageText(props: BodyProps) {
  const { body } = props;
  const asWritten = <span>{body}</span>;
  return (
    <div class={isOnlyEmoji(body) ? 'body-text body-emoji' : 'body-text'}>
      {MARKS.test(body) ? (
        <Lazy part={formattedPart} props={props} meanwhile={asWritten} onFailed={() => undefined} />
      ) : (
        asWritten
      )}
    </div>
  );
}

/** A message of one to three emoji and no other text is shown large. */
export function isOnlyEmoji(body: string): boolean {
  return body.length < 60 && ONLY_EMOJI.test(body);
}

const ONLY_EMOJI =
  /^\s*(?:(?:\p{Extended_Pictographic}(?:\ufe0f|\u20e3|\p{Emoji_Modifier})*(?:\u200d\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})*)*|[\u{1f1e6}-\u{1f1ff}]{2})\s*){1,3}$/u;
