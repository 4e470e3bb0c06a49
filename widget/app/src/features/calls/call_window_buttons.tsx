// The buttons in the corner of a call window: move, smaller and larger. A finished call has none.

import { useWords } from '../../wording/late_words.ts';
import { RoundButton } from './round_button.tsx';
import type { CallWindowState } from './use_call_window.ts';

export function CallWindowButtons({ pane }: { pane: CallWindowState }) {
  const words = useWords('calls');
  const { drag, phone, large, over, setLarge } = pane;
  if (over) return null;
  return (
    <>
      {!large && !phone && (
        <RoundButton
          icon="move"
          label={words.moveCall}
          onKeyDown={drag.onKeyDown}
          onClick={() => undefined}
        />
      )}
      <RoundButton
        icon={large ? 'collapse' : 'expand'}
        label={large ? words.smaller : words.larger}
        onClick={() => setLarge(!large)}
      />
    </>
  );
}
