// The form for the member's own name of a contact, which nobody else sees.

import { RequestError } from '@kith/client';
import { useState } from 'preact/hooks';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useWords } from '../../wording/late_words.ts';

export { lateWords as words } from '../../wording/late_words.ts';

/** In UTF-16 units, so a name of this length is never too long for the server. */
const MOST_UNITS = 64;

export function OwnNameSheet({ user, onClose }: { user: string; onClose(): void }) {
  const { client, announce } = useAppContext();
  const words = useWords('profile');
  const person = useTopic(`person:${user}`, one => one.person(user));
  const { displayName = person.name } = person;
  const [name, setName] = useState(person.displayName === undefined ? '' : person.name);
  const [failed, setFailed] = useState<string>();
  const save = (wanted: string) =>
    client.ask({ t: 'contact_name', user, ...(wanted && { name: wanted }) }).then(
      () => {
        announce(words.saved);
        onClose();
      },
      (error: unknown) => {
        const code = error instanceof RequestError ? error.code : 'other';
        const { profileFailed, nameNeedsContact } = words;
        setFailed(
          code === 'not_allowed'
            ? nameNeedsContact
            : code === 'bad_value'
              ? profileFailed.bad_value
              : profileFailed.other,
        );
      },
    );
  return (
    <Sheet title={words.contactName} onClose={onClose}>
      <form
        class="sheet-form"
        onSubmit={event => {
          event.preventDefault();
          void save(name.trim());
        }}
      >
        <label class="sheet-field">
          {words.contactNameFor(displayName)}
          <input
            type="text"
            dir="auto"
            autocomplete="off"
            maxLength={MOST_UNITS}
            placeholder={displayName}
            value={name}
            onInput={event => setName(event.currentTarget.value)}
          />
          <span class="sheet-hint">{words.contactNameHint}</span>
        </label>
        {failed && (
          <p class="sheet-failed" role="alert">
            {failed}
          </p>
        )}
        <div class="sheet-buttons">
          {person.displayName !== undefined && (
            <button type="button" class="button" onClick={() => void save('')}>
              {words.removeName}
            </button>
          )}
          <button type="submit" class="button button-main">
            {words.save}
          </button>
        </div>
      </form>
    </Sheet>
  );
}
