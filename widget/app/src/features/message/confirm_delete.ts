// Asks before a message is deleted; the question itself comes when it is asked first.

import type { Surroundings } from '../../app_context.tsx';
import { fetchLate } from '../../ui/lazy/lazy.tsx';

export function askToDelete(surroundings: Surroundings, onYes: () => void): void {
  const { wording: words, announce } = surroundings;
  fetchLate(deleteQuestion, words).then(
    one => one.askToDelete(surroundings, onYes),
    () => announce(words.loadFailed),
  );
}

export const deleteQuestion = () => import('./delete_question.ts');
