// The buttons after the end of a call.

import { useWords } from '../../wording/late_words.ts';
import type { CallSession } from './call_session.ts';
import { type CallView, endsQuickly } from './call_view.ts';

interface Props {
  session: CallSession;
  shown: CallView;
  onCheck(): void;
}

export function CallEnded({ session, shown: { user, media, end = 'ended' }, onCheck }: Props) {
  const words = useWords('calls');
  const againMayHelp = end !== 'ended' && end !== 'elsewhere' && end !== 'contactsOnly';
  return (
    <div class="call-ended">
      {againMayHelp && (
        <button type="button" class="button" onClick={() => session.do({ do: 'call', user, media })}>
          {words.callAgain}
        </button>
      )}
      {!endsQuickly(end) && (
        <button type="button" class="button" onClick={onCheck}>
          {words.checkSetup}
        </button>
      )}
      <button type="button" class="button button-main" onClick={() => session.close()}>
        {words.close}
      </button>
    </div>
  );
}
