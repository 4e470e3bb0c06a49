// Options of a call: devices, hold, picture-in-picture, and figures of the network.

import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import { useWords } from '../../wording/late_words.ts';
import { chooseDevice, chosenDevice, type DeviceKind } from './call_preferences.ts';
import type { CallSession } from './call_session.ts';
import type { CallView } from './call_view.ts';
import { type Device, devices } from './local_media.ts';
import { figures } from './status_line.ts';

interface Props {
  session: CallSession;
  shown: CallView;
  video: { current: HTMLVideoElement | null };
  onSpeaker(id: string): void;
  onCheck(): void;
}

export function CallOptions({ session, shown, video, onSpeaker, onCheck }: Props) {
  const words = useWords('calls');
  const cameras = useDevices('camera');
  const choose = (kind: DeviceKind, id: string) => {
    chooseDevice(kind, id);
    if (kind === 'speaker') onSpeaker(id);
    else void session.switchDevice(kind, id);
  };
  const flip = () => {
    const at = cameras.findIndex(one => one.id === shown.own?.getSettings().deviceId);
    const next = cameras[(at + 1) % cameras.length];
    if (next) choose('camera', next.id);
  };
  const numbers = figures(shown, words);
  return (
    <div class="call-options">
      <DeviceChoice kind="mic" onChoose={choose} />
      <DeviceChoice kind="camera" onChoose={choose} />
      {'setSinkId' in HTMLMediaElement.prototype && <DeviceChoice kind="speaker" onChoose={choose} />}
      <div class="call-deeds">
        {shown.camera && cameras.length > 1 && (
          <button type="button" class="button" onClick={flip}>
            <Icon name="flip" />
            {words.flipCamera}
          </button>
        )}
        {shown.stage === 'up' && (
          <button
            type="button"
            class="button"
            aria-pressed={shown.holding === true}
            onClick={() => void session.hold(!shown.holding)}
          >
            {words.holdCall}
          </button>
        )}
        {document.pictureInPictureEnabled && shown.connected && (
          <button
            type="button"
            class="button"
            onClick={() => void video.current?.requestPictureInPicture().catch(() => undefined)}
          >
            <Icon name="apart" />
            {words.pictureApart}
          </button>
        )}
        <button type="button" class="button" onClick={onCheck}>
          {words.checkSetup}
        </button>
      </div>
      {numbers && <p class="call-hint">{numbers}</p>}
      {shown.hidden && <p class="call-hint">{words.addressHidden}</p>}
    </div>
  );
}

interface ChoiceProps {
  kind: DeviceKind;
  onChoose(kind: DeviceKind, id: string): void;
}

export function DeviceChoice({ kind, onChoose }: ChoiceProps) {
  const words = useWords('calls');
  const all = useDevices(kind);
  const [chosen, setChosen] = useState(chosenDevice(kind) ?? '');
  if (all.length === 0) return null;
  return (
    <label class="call-device">
      {words.device[kind]}
      <select
        value={all.some(one => one.id === chosen) ? chosen : ''}
        onChange={event => {
          setChosen(event.currentTarget.value);
          onChoose(kind, event.currentTarget.value);
        }}
      >
        <option value="">{words.asTheSystem}</option>
        {all.map(one => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The devices of this kind. The list updates when a device is plugged in or removed. */
function useDevices(kind: DeviceKind): readonly Device[] {
  const [all, setAll] = useState<readonly Device[]>([]);
  useEffect(() => {
    const look = () => void devices(kind).then(setAll, () => undefined);
    look();
    navigator.mediaDevices?.addEventListener?.('devicechange', look);
    return () => navigator.mediaDevices?.removeEventListener?.('devicechange', look);
  }, [kind]);
  return all;
}
