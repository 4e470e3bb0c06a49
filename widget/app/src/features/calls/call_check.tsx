// The check before a call: tests the microphone, the camera, and whether the network allows calls.

import type { Messages } from 'virtual:messages';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { CloseButton } from '../../ui/close_button/close_button.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useClient } from '../../app_context.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useEffectEvent } from '../../ui/use_effect_event/use_effect_event.ts';
import { useWords } from '../../wording/late_words.ts';
import { listen } from './audio_level.ts';
import css from './call_check.css?inline';
import { DeviceChoice } from './call_options.tsx';
import { chooseDevice, type DeviceKind } from './call_preferences.ts';
import { DeviceError } from './device_error.tsx';
import { LocalMedia, type Problem } from './local_media.ts';
import { Sight } from './media_elements.tsx';
import { type Reach, reach, verdict } from './relay_check.ts';
import { keepInside } from './ring_card.tsx';

export function CallCheck({ onClose }: { onClose: () => void }) {
  useStyles(css);
  const { root } = useAppContext();
  const words = useWords('calls');
  const sheet = useRef<HTMLDivElement>(null);
  const own = useMemo(() => new LocalMedia(() => undefined), []);
  const [tracks, setTracks] = useState<{ mic?: MediaStreamTrack; camera?: MediaStreamTrack }>({});
  const [problem, setProblem] = useState<Problem>();
  const look = () =>
    setTracks({ ...(own.mic && { mic: own.mic }), ...(own.camera && { camera: own.camera }) });
  const open = useEffectEvent(async (what: 'mic' | 'camera', id?: string) => {
    setProblem(await own.open(what, id));
    // The dialog may have been closed while the browser asked for permission.
    if (sheet.current === null) own.closeAll();
    else look();
  });
  useEffect(() => {
    void open('mic');
    return () => own.closeAll();
  }, [own]);
  useLayoutEffect(() => {
    const from = root?.activeElement as HTMLElement | null | undefined;
    sheet.current?.focus();
    return () => from?.focus();
  }, [root]);
  const choose = (kind: DeviceKind, id: string) => {
    chooseDevice(kind, id);
    if (kind === 'mic' || (kind === 'camera' && own.camera)) void open(kind, id);
  };
  const picture = useMemo(() => tracks.camera && new MediaStream([tracks.camera]), [tracks.camera]);
  const turnCamera = () => {
    if (!own.camera) return void open('camera');
    own.close('camera');
    look();
  };
  return (
    <div class="check-veil">
      <div
        ref={sheet}
        class="check"
        role="dialog"
        aria-modal="true"
        aria-labelledby="check-title"
        tabIndex={-1}
        onKeyDown={event => {
          if (event.key === 'Tab' && sheet.current) keepInside(event, sheet.current, root);
          if (event.key !== 'Escape') return;
          event.preventDefault();
          event.stopPropagation();
          onClose();
        }}
      >
        <div class="check-head">
          <h2 class="bar-title grow" id="check-title">
            {words.checkTitle}
          </h2>
          <CloseButton label={words.close} onClose={onClose} />
        </div>
        {problem && (
          <DeviceError
            problem={problem}
            onAgain={() => void open(problem.of === 'camera' ? 'camera' : 'mic')}
            onClose={() => setProblem(undefined)}
          />
        )}
        <DeviceChoice key={`mic ${tracks.mic?.id}`} kind="mic" onChoose={choose} />
        <Level track={tracks.mic} />
        <DeviceChoice key={`camera ${tracks.camera?.id}`} kind="camera" onChoose={choose} />
        {picture && <Sight stream={picture} label={words.ownVideo} class="check-picture" />}
        <button type="button" class="button" aria-pressed={picture !== undefined} onClick={turnCamera}>
          <Icon name="camera" />
          {words.checkCamera}
        </button>
        <Reached />
        <button type="button" class="button button-main" onClick={onClose}>
          {words.done}
        </button>
      </div>
    </div>
  );
}

function Level({ track }: { track: MediaStreamTrack | undefined }) {
  const words = useWords('calls');
  const [level, setLevel] = useState(0);
  useEffect(() => {
    if (track) return listen(track, setLevel);
  }, [track]);
  return (
    <div class="check-level">
      <p class="call-hint">{words.checkMic}</p>
      <meter min={0} max={1} value={level} aria-label={words.micLevel} />
    </div>
  );
}

function Reached() {
  const client = useClient();
  const words = useWords('calls');
  const load = useCallback(() => reach(client), [client]);
  const { data, loading, failed: hasFailed, retry } = useRequest(load);
  const failed = hasFailed ? words.reachSays.unknown : undefined;
  const at = loading || hasFailed ? undefined : data;
  return (
    <div class="check-reach">
      <h3 class="check-title">{words.checkReach}</h3>
      <div role="status">
        {loading && <p class="call-hint">{words.checking}</p>}
        {at && (
          <ul>
            {at.asked && (
              <Answer good={at.direct} text={at.direct ? words.reach.direct : words.reach.noDirect} />
            )}
            <Answer good={at.relays.length > 0} text={relayText(at, words.reach)} />
          </ul>
        )}
        {(failed ?? at) && <p class="check-verdict">{failed ?? (at && words.reachSays[verdict(at)])}</p>}
      </div>
      {!loading && (
        <button type="button" class="button" onClick={retry}>
          <Icon name="retry" />
          {words.tryAgain}
        </button>
      )}
    </div>
  );
}

function relayText({ hasRelay, relays }: Reach, says: Messages['calls']['reach']): string {
  if (!hasRelay) return says.noServers;
  return relays.length > 0 ? says.relayed(relays.join(', ')) : says.noRelayed;
}

function Answer({ good, text }: { good: boolean; text: string }) {
  return (
    <li class={good ? 'check-answer is-good' : 'check-answer'}>
      <Icon name={good ? 'check' : 'close'} />
      {text}
    </li>
  );
}
