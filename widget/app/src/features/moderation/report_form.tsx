// The form that reports a message, a user or a room to the site's moderators.

import type { ReportReason, ReportTarget } from '@kith/client';
import { useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useWords } from '../../wording/late_words.ts';
import { changeContact } from '../contacts/contact_actions.ts';
import { failureOf } from './moderation_errors.ts';

export { lateWords as words } from '../../wording/late_words.ts';

type Told = Exclude<ReportReason, 'filter'>;

const REASONS: readonly Told[] = ['spam', 'abuse', 'sexual', 'violence', 'fraud', 'other'];

export interface ReportProps {
  target: ReportTarget;
  /** The author of the reported message, if it has one. */
  user?: string;
  onClose(): void;
}

export function Report({ target, user, onClose }: ReportProps) {
  const context = useAppContext();
  const { client, announce } = context;
  const words = useWords('moderation');
  const [reason, setReason] = useState<Told>();
  const [text, setText] = useState('');
  const [block, setBlock] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string>();
  const name = user === undefined ? '' : client.person(user).name;
  const mayBlock = user !== undefined && client.contact(user) !== 'blocked';
  const send = () => {
    if (reason === undefined || busy) return;
    setBusy(true);
    setFailed(undefined);
    client.report(target, reason, text.trim()).then(
      () => {
        if (block && user !== undefined) changeContact(context, 'block', user);
        announce(words.reported);
        onClose();
      },
      (error: unknown) => {
        setBusy(false);
        setFailed(failureOf(error, words));
      },
    );
  };
  const title =
    'seq' in target ? words.reportMessage : 'user' in target ? words.reportPerson(name) : words.reportRoom;
  return (
    <Sheet title={title} onClose={onClose}>
      <form
        class="sheet-form"
        onSubmit={event => {
          event.preventDefault();
          send();
        }}
      >
        <p class="sheet-hint">{words.reportExplain}</p>
        <fieldset class="sheet-choices">
          <legend>{words.reportWhy}</legend>
          {REASONS.map(one => (
            <label key={one} class="sheet-choice">
              <input
                type="radio"
                name="reason"
                value={one}
                checked={reason === one}
                onChange={() => setReason(one)}
              />
              {words.reasons[one]}
            </label>
          ))}
        </fieldset>
        <label class="sheet-field">
          {words.reportText}
          <textarea
            rows={3}
            maxLength={500}
            dir="auto"
            value={text}
            onInput={event => setText(event.currentTarget.value)}
          />
        </label>
        {mayBlock && (
          <label class="sheet-choice">
            <input type="checkbox" checked={block} onChange={() => setBlock(!block)} />
            {words.alsoBlock(name)}
          </label>
        )}
        {failed && (
          <p class="sheet-failed" role="alert">
            {failed}
          </p>
        )}
        <div class="sheet-buttons">
          <button type="button" class="button" onClick={onClose}>
            {words.cancel}
          </button>
          <button type="submit" class="button button-main" disabled={reason === undefined || busy}>
            {words.sendReport}
          </button>
        </div>
      </form>
    </Sheet>
  );
}
