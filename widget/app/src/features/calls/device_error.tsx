// An error of a device: the browser's reason, and what the user can do about it.

import { CloseButton } from '../../ui/close_button/close_button.tsx';
import { useWords } from '../../wording/late_words.ts';
import type { Problem } from './local_media.ts';
import { mend } from './status_line.ts';

interface Props {
  problem: Problem;
  onAgain(): void;
  onClose(): void;
  /** Undefined in the call check itself. */
  onCheck?(): void;
}

export function DeviceError({ problem: { of, why }, onAgain, onClose, onCheck }: Props) {
  const words = useWords('calls');
  return (
    <div class="call-trouble" role="alert">
      <p class="call-trouble-what">{words.problems[of][why]}</p>
      <p>{mend(why, navigator.userAgent, words)}</p>
      <div class="call-trouble-deeds">
        <button type="button" class="button button-main" onClick={onAgain}>
          {words.tryAgain}
        </button>
        {onCheck && (
          <button type="button" class="button" onClick={onCheck}>
            {words.checkSetup}
          </button>
        )}
        <CloseButton label={words.close} onClose={onClose} />
      </div>
    </div>
  );
}
