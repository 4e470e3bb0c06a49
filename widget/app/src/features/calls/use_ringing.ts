// Ringing before a call: on the side of the called member and of the caller.

import { isQuiet } from '@kith/client/do_not_disturb';
import { useEffect, useState } from 'preact/hooks';
import { useClient } from '../../app_context.tsx';
import { useWords } from '../../wording/late_words.ts';
import { soundIsOn } from '../toasts/sound_preference.ts';
import type { CallView } from './call_view.ts';
import { ringOutside } from './ring_notification.ts';
import { ring } from './ringtone.ts';

/** The returned function ends the sound of the one that rings now. */
export function useRinging(shown: CallView | undefined): () => void {
  const client = useClient();
  const words = useWords('calls');
  const stage = shown?.stage;
  const [silent, setSilent] = useState(false);
  useEffect(() => setSilent(false), [stage]);
  useEffect(() => {
    if (stage === 'calling') return ring('waits', soundIsOn);
    if (shown?.stage !== 'ringing' || silent) return;
    const stops: (() => void)[] = [];
    let over = false;
    void isQuiet(client).then(quiet => {
      if (over || quiet) return;
      // The member may go to another tab while it rings, and the sound goes with them.
      stops.push(ring('rings', () => client.inFront() && soundIsOn()));
      const title = words.isCalling[shown.media](client.person(shown.user).name);
      if (client.inFront()) stops.push(ringOutside(title, location.host));
    });
    return () => {
      over = true;
      for (const stop of stops) stop();
    };
  }, [stage, silent]);
  return () => setSilent(true);
}
