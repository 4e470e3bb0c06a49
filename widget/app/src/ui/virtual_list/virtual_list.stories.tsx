import type { Stories } from '../../../dev/story.ts';
import { VirtualList } from './virtual_list.tsx';

const ROWS = Array.from({ length: 1_000 }, (_, i) => `Row ${i + 1}`);
const keyOf = (row: string) => row;
const heightOf = () => 40;

export const stories: Stories = {
  'a thousand rows': () => (
    <VirtualList
      label="Rows"
      rows={ROWS}
      keyOf={keyOf}
      heightOf={heightOf}
      draw={(row, tabIndex) => (
        <button type="button" class="button button-plain" data-stop tabIndex={tabIndex}>
          {row}
        </button>
      )}
    />
  ),
};
