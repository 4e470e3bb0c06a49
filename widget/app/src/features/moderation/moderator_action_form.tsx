// The form of a moderator's act on a member: warn, mute or ban, with its end and reason.

import type { Level, ModeratorAct } from '@kith/client';
import { useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { useWords } from '../../wording/late_words.ts';
import { failureOf } from './moderation_errors.ts';
import { HowLong, INITIAL_HOURS, Reason, termsOf } from './sanction_terms.tsx';

const ACTS = [
  'warn',
  'mute',
  'ban',
  'shadow_ban',
  'kick',
  'remove_picture',
  'set_level',
  'unmute',
  'unban',
  'lift_shadow_ban',
] as const satisfies readonly ModeratorAct[];
const LEVELS = ['auto', 'new', 'basic', 'trusted'] as const;

interface Props {
  user: string;
  name: string;
  onDone(): void;
}

export function ModeratorActionForm({ user, name, onDone }: Props) {
  const { client, announce } = useAppContext();
  const words = useWords('moderation');
  const [act, setAct] = useState<(typeof ACTS)[number]>('warn');
  const [hours, setHours] = useState(INITIAL_HOURS);
  const [reason, setReason] = useState('');
  const guarding = useWords('siteSettings');
  const [devices, setDevices] = useState(false);
  const [level, setLevel] = useState<Level | 'auto'>('auto');
  const [failed, setFailed] = useState<string>();
  const lasts = act === 'mute' || act === 'ban' || act === 'shadow_ban';
  const tells = act === 'mute' || act === 'ban' || act === 'warn';
  const apply = () => {
    setFailed(undefined);
    const terms = termsOf(lasts ? hours : '', tells ? reason : '');
    const more = {
      ...(act === 'ban' && devices && { devices }),
      ...(act === 'set_level' && level !== 'auto' && { level }),
    };
    client.moderate({ act, user, ...terms, ...more }).then(
      () => {
        announce(words.done);
        onDone();
      },
      (error: unknown) => setFailed(failureOf(error, words)),
    );
  };
  const names: Record<string, string> = { ...words.acts, ...guarding.moreActs };
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
              {names[one]}
            </option>
          ))}
        </select>
      </label>
      {lasts && <HowLong value={hours} onChange={setHours} />}
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
      {tells && <Reason value={reason} onChange={setReason} />}
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
