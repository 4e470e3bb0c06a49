// The end and the reason of a mute or ban, as fields of a form.

import { useWords } from '../../wording/late_words.ts';

const HOUR = 3_600_000;

/** The duration in hours, as text. An empty string means no end. */
export const INITIAL_HOURS = '24';

/** The fields of a command for a chosen end and a written reason. */
export function termsOf(hours: string, reason: string): { until?: number; reason?: string } {
  return {
    ...(hours !== '' && { until: Date.now() + Number(hours) * HOUR }),
    ...(reason.trim() !== '' && { reason: reason.trim() }),
  };
}

interface FieldProps {
  value: string;
  onChange(value: string): void;
}

export function HowLong({ value, onChange }: FieldProps) {
  const words = useWords('moderation');
  return (
    <label class="sheet-field">
      {words.howLong}
      <select value={value} onChange={event => onChange(event.currentTarget.value)}>
        <option value="1">{words.hour}</option>
        <option value="24">{words.day}</option>
        <option value="168">{words.week}</option>
        <option value="">{words.noEnd}</option>
      </select>
    </label>
  );
}

export function Reason({ value, onChange }: FieldProps) {
  const words = useWords('moderation');
  return (
    <label class="sheet-field">
      {words.reason}
      <input
        maxLength={300}
        dir="auto"
        value={value}
        onInput={event => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
