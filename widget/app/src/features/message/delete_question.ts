// The question before a message is deleted for all.

import type { Surroundings } from '../../app_context.tsx';
import { messageWords } from './words.ts';

export { messageWords as words } from './words.ts';

export function askToDelete({ wording, confirm }: Surroundings, onYes: () => void): void {
  const words = messageWords.of(wording);
  confirm({ title: words.deleteAsk, text: words.deleteExplain, action: words.delete, onYes });
}
