// Asks for confirmation before a message is deleted. The dialog's code and texts are fetched on first use.

import type { AppContextValue } from '../../app_context.tsx';
import { fetchLazy } from '../../ui/lazy/lazy.tsx';

export function askToDelete(context: AppContextValue, onYes: () => void): void {
  const { wording: words, announce } = context;
  fetchLazy(deleteQuestion, words).then(
    one => one.askToDelete(context, onYes),
    () => announce(words.loadFailed),
  );
}

export const deleteQuestion = () => import('./delete_question.ts');
