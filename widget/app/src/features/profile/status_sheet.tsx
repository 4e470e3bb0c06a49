// The form for the member's status, the end of the status, and the member's name.

import { type Profile, RequestError } from '@kith/client';
import { useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './profile.css?inline';
import { changeProfile, type ProfileChange } from './profile_requests.ts';

export { lateWords as words } from '../../wording/late_words.ts';

const MOST_CHARS = 140;
const HOUR = 3_600_000;

type End = 'as_now' | 'never' | 'hour' | 'fourHours' | 'today' | 'week';
const ENDS: readonly Exclude<End, 'as_now'>[] = ['never', 'hour', 'fourHours', 'today', 'week'];

interface Props {
  profile: Profile;
  onChanged(now: Profile): void;
  onClose(): void;
}

export function StatusSheet({ profile, onChanged, onClose }: Props) {
  useStyles(css);
  const { client, announce } = useAppContext();
  const words = useWords('profile');
  const [text, setText] = useState(profile.status ?? '');
  const [end, setEnd] = useState<End>(profile.status_until === undefined ? 'never' : 'as_now');
  const [name, setName] = useState(profile.name);
  const [failed, setFailed] = useState<string>();
  const left = MOST_CHARS - Array.from(text.trim()).length;
  const save = (change: ProfileChange) =>
    changeProfile(client, change).then(
      now => {
        onChanged(now);
        announce(words.saved);
        onClose();
      },
      (error: unknown) => {
        const code = error instanceof RequestError ? error.code : 'other';
        const texts: Record<string, string> = words.profileFailed;
        setFailed(texts[code] ?? words.profileFailed.other);
      },
    );
  const submit = () => {
    const until = end === 'as_now' ? profile.status_until : endOf(end, Date.now());
    void save({
      status: text.trim(),
      ...(until !== undefined && { status_until: until }),
      ...(profile.own?.may_rename && name.trim() !== profile.name && { name: name.trim() }),
    });
  };
  return (
    <Sheet title={words.yourProfile} onClose={onClose}>
      <form
        class="sheet-form"
        onSubmit={event => {
          event.preventDefault();
          if (left >= 0) submit();
        }}
      >
        <div class="sheet-field">
          <label for="profile-status">{words.status}</label>
          <input
            id="profile-status"
            type="text"
            dir="auto"
            autocomplete="off"
            placeholder={words.statusPlaceholder}
            aria-describedby="profile-status-hint"
            aria-invalid={left < 0}
            value={text}
            onInput={event => setText(event.currentTarget.value)}
          />
          <span class="sheet-hint" id="profile-status-hint">
            {left < 0 ? words.bytesOver(-left) : left < 20 ? words.bytesLeft(left) : words.statusHint}
          </span>
        </div>
        <label class="sheet-field">
          {words.statusEnds}
          <select value={end} onChange={event => setEnd(event.currentTarget.value as End)}>
            {profile.status_until !== undefined && (
              <option value="as_now">{words.endsAsNow(words.full(profile.status_until))}</option>
            )}
            {ENDS.map(one => (
              <option key={one} value={one}>
                {words.ends[one]}
              </option>
            ))}
          </select>
        </label>
        {profile.own?.may_rename && (
          <label class="sheet-field">
            {words.yourName}
            <input
              type="text"
              dir="auto"
              autocomplete="nickname"
              maxLength={200}
              value={name}
              onInput={event => setName(event.currentTarget.value)}
            />
            <span class="sheet-hint">{words.yourNameHint}</span>
          </label>
        )}
        {failed && (
          <p class="sheet-failed" role="alert">
            {failed}
          </p>
        )}
        <div class="sheet-buttons">
          {profile.status !== undefined && (
            <button type="button" class="button" onClick={() => void save({ status: '' })}>
              {words.clearStatus}
            </button>
          )}
          <button type="submit" class="button button-main" disabled={left < 0}>
            {words.save}
          </button>
        </div>
      </form>
    </Sheet>
  );
}

/** The end of the status in the browser's time zone; undefined: it has no end. */
export function endOf(end: Exclude<End, 'as_now'>, now: number): number | undefined {
  const midnight = new Date(now);
  midnight.setHours(24, 0, 0, 0);
  const ends = { never: undefined, hour: now + HOUR, fourHours: now + 4 * HOUR, week: now + 7 * 24 * HOUR };
  return end === 'today' ? midnight.getTime() : ends[end];
}
