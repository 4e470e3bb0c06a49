// The settings for notifications while the site is closed: this browser, message text, quiet hours and mail.

import type { Messages } from 'virtual:messages';
import type { NotificationSettings, NotificationsChange, QuietHours } from '@kith/client';
import type { Push, PushError, PushState } from '@kith/loader/stage';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext } from '../../app_context.tsx';
import { LoadFailed } from '../../ui/request/request.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { minutesOf, offsetNow, timeOf } from './clock_time.ts';
import css from './push_settings.css?inline';

/** The initial quiet hours. */
const NIGHT = { from: 22 * 60, to: 7 * 60 };

/** The result if no page surrounds the widget. */
const NO_PUSH: Promise<Push | undefined> = Promise.resolve(undefined);

type Failure = keyof Messages['pushSettings']['notifyFailed'];

export function PushSettings() {
  useStyles(css);
  const { client, push: fetchPush } = useAppContext();
  const words = useWords('pushSettings');
  const load = useCallback(() => client.notifications(), [client]);
  const request = useRequest(load);
  const { data: settings, update } = request;
  const loadPush = useCallback(() => fetchPush?.() ?? NO_PUSH, [fetchPush]);
  const pushRequest = useRequest(loadPush);
  const { data: push } = pushRequest;
  /** The state after the member used the switch; undefined before. */
  const [switched, setSwitched] = useState<PushState>();
  const state = switched ?? push?.state();
  const [failed, setFailed] = useState<Failure>();
  const [busy, setBusy] = useState(false);
  const change = useCallback(
    async (what?: NotificationsChange) => {
      try {
        const now = await client.notifications(what);
        setFailed(undefined);
        update(() => now);
      } catch {
        setFailed('offline');
      }
    },
    [client, update],
  );
  useEffect(() => {
    const { quiet } = settings ?? {};
    // Quiet hours use the member's local time. Update the offset after travel and after a change of summer time.
    if (quiet && quiet.offset !== offsetNow()) void change({ quiet: { ...quiet, offset: offsetNow() } });
  }, [settings, change]);
  const turn = () => {
    if (busy || push === undefined) return;
    setBusy(true);
    (state === 'on' ? push.turnOff() : push.turnOn())
      .then(
        () => change(),
        (error: Partial<PushError>) => setFailed(error.why ?? 'offline'),
      )
      .finally(() => {
        setBusy(false);
        setSwitched(push.state());
      });
  };
  const canPush = settings === undefined || settings.key !== undefined;

  // The switch needs both requests. The Retry button repeats only a failed one.
  const failedToLoad = [request, pushRequest].find(one => one.failed && one.data === undefined);
  return (
    <>
      {failedToLoad && <LoadFailed text={words.notifyFailed.offline} onRetry={failedToLoad.retry} />}
      {canPush && (
        <div class="choices">
          <Switch
            icon="bell"
            on={state === 'on'}
            name={words.notifyHere}
            hint={words.notifyHint}
            disabled={busy || (state !== 'on' && state !== 'off')}
            onTurn={turn}
          />
        </div>
      )}
      {canPush && state === 'blocked' && <p class="notify-said">{words.notifyBlocked}</p>}
      {canPush && state === 'unsupported' && <p class="notify-said">{words.notifyUnsupported}</p>}
      {failed && state !== 'blocked' && (
        <p class="notify-said" role="alert">
          {words.notifyFailed[failed]}
        </p>
      )}
      {settings && (state === 'on' || settings.devices > 0) && (
        <Details words={words} settings={settings} onChange={change} />
      )}
      {settings?.mail && (
        <Mail words={words} mail={settings.mail} onChange={after => change({ mail: after })} />
      )}
    </>
  );
}

interface DetailsProps {
  words: Messages['pushSettings'];
  settings: NotificationSettings;
  onChange(what: NotificationsChange): void;
}

/** Settings that apply to all browsers of the member. */
function Details({ words, settings: { bodies, quiet }, onChange }: DetailsProps) {
  const turnQuiet = () => {
    const none: QuietHours = { from: 0, to: 0, offset: 0 };
    onChange({ quiet: quiet ? none : { ...NIGHT, offset: offsetNow() } });
  };
  const setTime = (which: 'from' | 'to', time: string) => {
    const minutes = minutesOf(time);
    // Equal times would turn off the quiet hours.
    if (quiet === undefined || minutes === undefined || minutes === quiet[which === 'from' ? 'to' : 'from'])
      return;
    onChange({ quiet: { ...quiet, [which]: minutes, offset: offsetNow() } });
  };
  return (
    <>
      <div class="choices">
        <Switch
          icon="chat"
          on={bodies}
          name={words.notifyBodies}
          hint={words.notifyBodiesHint}
          onTurn={() => onChange({ bodies: !bodies })}
        />
        <Switch
          icon="moon"
          on={quiet !== undefined}
          name={words.quietHours}
          hint={words.quietHint}
          onTurn={turnQuiet}
        />
      </div>
      {quiet && (
        <div class="quiet-times" role="group" aria-label={words.quietHours}>
          <label>
            {words.quietFrom}
            <input
              type="time"
              required
              value={timeOf(quiet.from)}
              onChange={event => setTime('from', event.currentTarget.value)}
            />
          </label>
          <label>
            {words.quietTo}
            <input
              type="time"
              required
              value={timeOf(quiet.to)}
              onChange={event => setTime('to', event.currentTarget.value)}
            />
          </label>
        </div>
      )}
    </>
  );
}

/** The delays to choose from, in minutes. `Mail` adds the current value if it is another one. */
const AFTER = [0, 30, 60, 240, 1_440];

interface MailProps {
  words: Messages['pushSettings'];
  mail: NonNullable<NotificationSettings['mail']>;
  onChange(after: number): void;
}

function Mail({ words, mail: { address, after }, onChange }: MailProps) {
  const text = (minutes: number) => {
    if (minutes === 0) return words.mailNever;
    return minutes % 60 === 0 ? words.mailHours(minutes / 60) : words.mailMinutes(minutes);
  };
  const choices = AFTER.includes(after) ? AFTER : [...AFTER, after].sort((a, b) => a - b);
  return (
    <label class="notify-mail">
      <span class="choice-name">{words.mail}</span>
      <span class="choice-hint">{words.mailHint(address)}</span>
      <select value={String(after)} onChange={event => onChange(Number(event.currentTarget.value))}>
        {choices.map(minutes => (
          <option key={minutes} value={String(minutes)}>
            {text(minutes)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface SwitchProps {
  icon: Parameters<typeof Icon>[0]['name'];
  on: boolean;
  name: string;
  hint: string;
  disabled?: boolean;
  onTurn(): void;
}

function Switch({ icon, on, name, hint, disabled = false, onTurn }: SwitchProps) {
  return (
    <button
      type="button"
      role="switch"
      class="choice"
      aria-checked={on}
      aria-label={name}
      aria-description={hint}
      aria-disabled={disabled}
      onClick={disabled ? undefined : onTurn}
    >
      <span class="choice-mark" aria-hidden="true">
        <Icon name={icon} />
      </span>
      <span class="grow">
        <span class="choice-name">{name}</span>
        <span class="choice-hint">{hint}</span>
      </span>
      <span class="switch" aria-hidden="true" />
    </button>
  );
}
