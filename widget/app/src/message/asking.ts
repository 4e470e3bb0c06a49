// Asks before a message is deleted; the question itself comes when it is asked first.

import { fetchLate } from '../late.tsx';
import type { Surroundings } from '../surroundings.tsx';

export function askToDelete(surroundings: Surroundings, onYes: () => void): void {
  const { wording: words, announce } = surroundings;
  fetchLate(deleteQuestion, words).then(
    one => one.askToDelete(surroundings, onYes),
    () => announce(words.loadFailed),
  );
}

export const deleteQuestion = () => import('./ask_to_delete.ts');
