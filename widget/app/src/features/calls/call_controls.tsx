// Controls that are available during the whole call.

import { useWords } from '../../wording/late_words.ts';
import type { CallSession } from './call_session.ts';
import type { CallView } from './call_view.ts';
import { RoundButton } from './round_button.tsx';

interface Props {
  session: Pick<CallSession, 'setMic' | 'setCamera' | 'setScreen' | 'hangUp'>;
  shown: Pick<CallView, 'mic' | 'camera' | 'screen'>;
  options: boolean;
  onOptions(): void;
  /** Label of the button that hangs up. */
  leave?: string;
}

export function CallControls({ session, shown, options, onOptions, leave }: Props) {
  const words = useWords('calls');
  const { mic, camera, screen } = shown;
  const canShare = typeof navigator.mediaDevices?.getDisplayMedia === 'function';
  return (
    <div class="call-controls">
      <RoundButton
        icon={mic ? 'voice' : 'voiceOff'}
        label={mic ? words.micOff : words.micOn}
        off={!mic}
        onClick={() => session.setMic(!mic)}
      />
      <RoundButton
        icon={camera ? 'camera' : 'cameraOff'}
        label={camera ? words.cameraOff : words.cameraOn}
        off={!camera}
        onClick={() => void session.setCamera(!camera)}
      />
      {canShare && (
        <RoundButton
          icon="screen"
          label={screen ? words.screenOff : words.screenOn}
          class="call-rare"
          on={screen}
          onClick={() => void session.setScreen(!screen)}
        />
      )}
      <RoundButton
        icon="dials"
        label={words.callOptions}
        class="call-rare"
        expanded={options}
        onClick={onOptions}
      />
      <RoundButton
        icon="hangUp"
        label={leave ?? words.hangUp}
        class="call-no"
        onClick={() => session.hangUp()}
      />
    </div>
  );
}
