// The form for a new app password, and the password itself, which the server sends only once.

import type { AppPassword } from '@kith/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { useWords } from '../../wording/late_words.ts';
import { failureOf } from './app_password_errors.ts';
import { CopyText } from './copy_text.tsx';

/** The server's limit is in bytes, so it may refuse a shorter name. */
const NAME_CHARS = 64;

export interface ShownPassword {
  row: AppPassword;
  password: string;
}

export function NewAppPassword({ onMade }: { onMade(made: ShownPassword): void }) {
  const { client, announce } = useAppContext();
  const words = useWords('appPasswords');
  const [name, setName] = useState('');
  const [failed, setFailed] = useState<string>();
  const [busy, setBusy] = useState(false);
  const make = async () => {
    if (busy || name.trim() === '') return;
    setBusy(true);
    setFailed(undefined);
    try {
      const { created, password } = await client.ask({ t: 'create_app_password', name: name.trim() });
      announce(words.made);
      onMade({ row: created, password });
    } catch (error) {
      setBusy(false);
      setFailed(failureOf(error, words));
    }
  };
  return (
    <form
      class="app-form"
      onSubmit={event => {
        event.preventDefault();
        void make();
      }}
    >
      <label class="sheet-field">
        {words.name}
        <input
          value={name}
          maxLength={NAME_CHARS}
          placeholder={words.namePlaceholder}
          autocomplete="off"
          dir="auto"
          onInput={event => setName(event.currentTarget.value)}
        />
      </label>
      {failed && (
        <p class="sheet-failed" role="alert">
          {failed}
        </p>
      )}
      <button type="submit" class="button button-main app-button" aria-disabled={busy || name.trim() === ''}>
        {words.make}
      </button>
    </form>
  );
}

/** The password stays in memory only until `onDone`, or until the sheet closes. */
export function PasswordShown({ shown, onDone }: { shown: ShownPassword; onDone(): void }) {
  const words = useWords('appPasswords');
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  return (
    <div class="app-shown">
      <h4 ref={title} tabIndex={-1}>
        {words.shownTitle(shown.row.name)}
      </h4>
      <p class="sheet-hint">{words.shownHint}</p>
      <CopyText large text={shown.password} copy={words.passwordCopy} copied={words.passwordCopied} />
      <button type="button" class="button app-button" onClick={onDone}>
        {words.done}
      </button>
    </div>
  );
}
