import type { Stories } from '../../../dev/story.ts';
import { Sheet } from './sheet.tsx';

export const stories: Stories = {
  'a form': () => (
    <Sheet title="Report" onClose={() => undefined}>
      <form class="sheet-form">
        <p class="sheet-hint">Moderators of this site see the report.</p>
        <label class="sheet-field">
          Reason
          <textarea rows={3} />
        </label>
        <div class="sheet-buttons">
          <button type="button" class="button button-main">
            Send
          </button>
        </div>
      </form>
    </Sheet>
  ),
};
