// Controls that are available during the whole call.

import { useWords } from '../../wording/late_words.ts';
import type { Calling } from './call_session.ts';
import type { Shown } from './call_view.ts';
import { RoundButton } from './round_button.tsx';

interface Props {
  calling: Pick<Calling, 'setMic' | 'setCamera' | 'setScreen' | 'hangUp'>;
  shown: Pick<Shown, 'mic' | 'camera' | 'screen'>;
  options: boolean;
  onOptions(): void;
  /** Label of the button that hangs up. */
  leave?: string;
}

export function Controls({ calling, shown, options, onOptions, leave }: Props) {
  const words = useWords('calls');
  const { mic, camera, screen } = shown;
  const canShare = typeof navigator.mediaDevices?.getDisplayMedia === 'function';
  return (
    <div class="call-controls">
      <RoundButton
        icon={mic ? 'voice' : 'voiceOff'}
        label={mic ? words.micOff : words.micOn}
        off={!mic}
        onClick={() => calling.setMic(!mic)}
      />
      <RoundButton
        icon={camera ? 'camera' : 'cameraOff'}
        label={camera ? words.cameraOff : words.cameraOn}
        off={!camera}
        onClick={() => void calling.setCamera(!camera)}
      />
      {canShare && (
        <RoundButton
          icon="screen"
          label={screen ? words.screenOff : words.screenOn}
          class="call-rare"
          on={screen}
          onClick={() => void calling.setScreen(!screen)}
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
        onClick={() => calling.hangUp()}
      />
    </div>
  );
}
