// A message's text. What has marks in it is drawn by another part, which comes with the first such message.

import { Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import type { NameOf } from './formatting.ts';

export interface BodyProps {
  body: string;
  /** From a stranger; addresses are shown but lead nowhere. */
  inert: boolean;
  /** Whom `@id` may name here. */
  nameOf?: NameOf | undefined;
}

/** Where none of these stands, the text is what it says. */
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

/** Up to three emoji and nothing else are drawn large. */
export function isOnlyEmoji(body: string): boolean {
  return body.length < 60 && ONLY_EMOJI.test(body);
}

const ONLY_EMOJI =
  /^\s*(?:(?:\p{Extended_Pictographic}(?:\ufe0f|\u20e3|\p{Emoji_Modifier})*(?:\u200d\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})*)*|[\u{1f1e6}-\u{1f1ff}]{2})\s*){1,3}$/u;
