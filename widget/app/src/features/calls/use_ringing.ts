// Plays the ringing sounds of a call, for the called user and for the caller.

import { isQuiet } from '@kith/client/do_not_disturb';
import { useEffect, useState } from 'preact/hooks';
import { useClient } from '../../app_context.tsx';
import { useEffectEvent } from '../../ui/use_effect_event/use_effect_event.ts';
import { useWords } from '../../wording/late_words.ts';
import { soundIsOn } from '../toasts/sound_preference.ts';
import type { CallView } from './call_view.ts';
import { ringOutside } from './ring_notification.ts';
import { ring } from './ringtone.ts';

/** Returns a function that silences the current ring. */
export function useRinging(shown: CallView | undefined): () => void {
  const client = useClient();
  const words = useWords('calls');
  const stage = shown?.stage;
  const [silent, setSilent] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each stage may sound again
  useEffect(() => setSilent(false), [stage]);
  const title = useEffectEvent(() => shown && words.isCalling[shown.media](client.person(shown.user).name));
  useEffect(() => {
    if (stage === 'calling') return ring('waits', soundIsOn);
    if (stage !== 'ringing' || silent) return;
    const stops: (() => void)[] = [];
    let over = false;
    void isQuiet(client).then(quiet => {
      if (over || quiet) return;
      // The user may switch to another tab while it rings, and the sound moves with them.
      stops.push(ring('rings', () => client.inFront() && soundIsOn()));
      if (client.inFront()) stops.push(ringOutside(title() ?? '', location.host));
    });
    return () => {
      over = true;
      for (const stop of stops) stop();
    };
  }, [client, stage, silent]);
  return () => setSilent(true);
}
