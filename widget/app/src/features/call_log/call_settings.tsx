// The settings for calls, and the button that starts the call check.

import { useState } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import { hideAddress, hidesAddress } from '../calls/call_preferences.ts';
import '../../ui/icon/call_shapes.ts';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext } from '../../app_context.tsx';
import { useWords } from '../../wording/late_words.ts';

export function CallSettings() {
  const { call } = useAppContext();
  const words = useWords('callLog');
  const [hidden, setHidden] = useState(hidesAddress);
  const turn = () => {
    hideAddress(!hidden);
    setHidden(!hidden);
  };
  return (
    <div class="choices">
      <button
        type="button"
        role="switch"
        class="choice"
        aria-checked={hidden}
        aria-label={words.hideAddress}
        aria-description={words.hideAddressHint}
        onClick={turn}
      >
        <span class="choice-mark" aria-hidden="true">
          <Icon name="shield" />
        </span>
        <span class="grow">
          <span class="choice-name">{words.hideAddress}</span>
          <span class="choice-hint">{words.hideAddressHint}</span>
        </span>
        <span class="switch" aria-hidden="true" />
      </button>
      <button type="button" class="choice" onClick={() => call({ do: 'check' })}>
        <span class="choice-mark" aria-hidden="true">
          <Icon name="dials" />
        </span>
        <span class="grow">
          <span class="choice-name">{words.checkCalls}</span>
          <span class="choice-hint">{words.checkCallsHint}</span>
        </span>
      </button>
    </div>
  );
}
