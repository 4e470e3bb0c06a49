// In the place of a message in a room whose author the member has blocked.

import { peopleWords } from '../contacts_tab/words.ts';
import { useSheet } from '../sheets.ts';
import { useWords } from '../wording/late_words.ts';
import css from './collapsed.css?inline';

export const words = peopleWords;

export function Collapsed({ onShow }: { onShow: () => void }) {
  useSheet(css);
  const words = useWords(peopleWords);
  return (
    <span class="collapsed">
      <span class="collapsed-text">{words.blockedMessage}</span>
      <button type="button" class="button button-plain" onClick={onShow}>
        {words.showBlocked}
      </button>
    </span>
  );
}
