// What a moderator does with a member: warn, mute, ban, for how long, and why.

import type { ModeratorAct } from '@kith/client';
import { useState } from 'preact/hooks';
import { useSurroundings } from '../surroundings.tsx';
import { useWords } from '../wording/late_words.ts';
import { failureOf } from './failure.ts';
import { safetyWords } from './words.ts';

const ACTS = ['warn', 'mute', 'ban', 'kick', 'unmute', 'unban'] as const satisfies readonly ModeratorAct[];
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
  const [failed, setFailed] = useState<string>();
  const lasts = act === 'mute' || act === 'ban';
  const tells = lasts || act === 'warn';
  const apply = () => {
    setFailed(undefined);
    const until = lasts && hours !== '' ? { until: Date.now() + Number(hours) * HOUR } : {};
    const said = tells && reason.trim() !== '' ? { reason: reason.trim() } : {};
    client.moderate({ act, user, ...until, ...said }).then(
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
              {words.acts[one]}
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
