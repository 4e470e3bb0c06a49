// The form of a moderator's act on a member: warn, mute or ban, with its end and reason.

import type { Level, ModeratorAct } from '@kith/client';
import { useState } from 'preact/hooks';
import { guardWords } from '../guard/words.ts';
import { useSurroundings } from '../surroundings.tsx';
import { useWords } from '../wording/late_words.ts';
import { failureOf } from './failure.ts';
import { safetyWords } from './words.ts';

const ACTS = [
  'warn',
  'mute',
  'ban',
  'shadow_ban',
  'kick',
  'set_level',
  'unmute',
  'unban',
  'lift_shadow_ban',
] as const satisfies readonly ModeratorAct[];
const LEVELS = ['auto', 'new', 'basic', 'trusted'] as const;
const HOUR = 3_600_000;

interface Props {
  user: string;
  name: string;
  onDone(): void;
}

export function ActForm({ user, name, onDone }: Props) {
  const { client, announce } = useSurroundings();
  const words = useWords(safetyWords);
  const [act, setAct] = useState<(typeof ACTS)[number]>('warn');
  const [hours, setHours] = useState('24');
  const [reason, setReason] = useState('');
  const guarding = useWords(guardWords);
  const [devices, setDevices] = useState(false);
  const [level, setLevel] = useState<Level | 'auto'>('auto');
  const [failed, setFailed] = useState<string>();
  const lasts = act === 'mute' || act === 'ban' || act === 'shadow_ban';
  const tells = act === 'mute' || act === 'ban' || act === 'warn';
  const apply = () => {
    setFailed(undefined);
    const until = lasts && hours !== '' ? { until: Date.now() + Number(hours) * HOUR } : {};
    const said = tells && reason.trim() !== '' ? { reason: reason.trim() } : {};
    const more = {
      ...(act === 'ban' && devices && { devices }),
      ...(act === 'set_level' && level !== 'auto' && { level }),
    };
    client.moderate({ act, user, ...until, ...said, ...more }).then(
      () => {
        announce(words.done);
        onDone();
      },
      (error: unknown) => setFailed(failureOf(error, words)),
    );
  };
  return (
    <form
      class="report-act"
      aria-label={words.actOn(name)}
      onSubmit={event => {
        event.preventDefault();
        apply();
      }}
    >
      <label class="sheet-field">
        {words.actOn(name)}
        <select value={act} onChange={event => setAct(event.currentTarget.value as (typeof ACTS)[number])}>
          {ACTS.map(one => (
            <option key={one} value={one}>
              {guarding.moreActs[one] ?? words.acts[one as keyof typeof words.acts]}
            </option>
          ))}
        </select>
      </label>
      {lasts && (
        <label class="sheet-field">
          {words.howLong}
          <select value={hours} onChange={event => setHours(event.currentTarget.value)}>
            <option value="1">{words.hour}</option>
            <option value="24">{words.day}</option>
            <option value="168">{words.week}</option>
            <option value="">{words.noEnd}</option>
          </select>
        </label>
      )}
      {act === 'ban' && (
        <label class="sheet-choice">
          <input type="checkbox" checked={devices} onChange={() => setDevices(!devices)} />
          <span>
            {guarding.withDevices}
            <span class="guard-hint">{guarding.devicesHint}</span>
          </span>
        </label>
      )}
      {act === 'set_level' && (
        <label class="sheet-field">
          {guarding.level}
          <select value={level} onChange={event => setLevel(event.currentTarget.value as Level | 'auto')}>
            {LEVELS.map(one => (
              <option key={one} value={one}>
                {guarding.levels[one]}
              </option>
            ))}
          </select>
        </label>
      )}
      {tells && (
        <label class="sheet-field">
          {words.reason}
          <input
            maxLength={300}
            dir="auto"
            value={reason}
            onInput={event => setReason(event.currentTarget.value)}
          />
        </label>
      )}
      {failed && (
        <p class="sheet-failed" role="alert">
          {failed}
        </p>
      )}
      <button type="submit" class="button button-main">
        {words.apply}
      </button>
    </form>
  );
}
