// Actions after a call.

import { useWords } from '../../wording/late_words.ts';
import type { Calling } from './call_session.ts';
import { endsQuickly, type Shown } from './call_view.ts';

interface Props {
  calling: Calling;
  shown: Shown;
  onCheck(): void;
}

export function Ended({ calling, shown: { user, media, end = 'ended' }, onCheck }: Props) {
  const words = useWords('calls');
  const againMayHelp = end !== 'ended' && end !== 'elsewhere' && end !== 'contactsOnly';
  return (
    <div class="call-ended">
      {againMayHelp && (
        <button type="button" class="button" onClick={() => calling.do({ do: 'call', user, media })}>
          {words.callAgain}
        </button>
      )}
      {!endsQuickly(end) && (
        <button type="button" class="button" onClick={onCheck}>
          {words.checkSetup}
        </button>
      )}
      <button type="button" class="button button-main" onClick={() => calling.close()}>
        {words.close}
      </button>
    </div>
  );
}
