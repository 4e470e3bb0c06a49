// The confirmation before a message is deleted for everyone.

import type { AppContextValue } from '../../app_context.tsx';
import { wordsOf } from '../../wording/late_words.ts';

export { lateWords as words } from '../../wording/late_words.ts';

export function askToDelete({ wording, confirm }: AppContextValue, onYes: () => void): void {
  const words = wordsOf(wording, 'message');
  confirm({ title: words.deleteAsk, text: words.deleteExplain, action: words.delete, onYes });
}
