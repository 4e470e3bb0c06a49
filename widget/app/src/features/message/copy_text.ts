// Copies the text of a message to the clipboard.

import type { Message } from '@kith/client';
import type { AppContextValue } from '../../app_context.tsx';
import { wordsOf } from '../../wording/late_words.ts';

export function copyText(message: Message, { announce, wording }: AppContextValue): void {
  const words = wordsOf(wording, 'message');
  navigator.clipboard?.writeText(message.body).then(
    () => announce(words.copied),
    () => announce(words.somethingFailed),
  );
}
