// Replaces a message in a room if the member has blocked its author.

import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './collapsed_message.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

export function CollapsedMessage({ onShow }: { onShow: () => void }) {
  useStyles(css);
  const words = useWords('contacts');
  return (
    <span class="collapsed">
      <span class="collapsed-text">{words.blockedMessage}</span>
      <button type="button" class="button button-plain" onClick={onShow}>
        {words.showBlocked}
      </button>
    </span>
  );
}
