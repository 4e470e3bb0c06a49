// The note below a failed or held message: the reason, and buttons to retry, copy or discard it.

import type { Messages } from 'virtual:messages';
import type { Code, Message } from '@kith/client';
import { useAppContext } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import type { Wording } from '../../wording/wording.ts';
import { copyText } from './copy_text.ts';
import { mayRetry } from './refusal.ts';
import css from './send_failure.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

export function SendFailure({ message }: { message: Message }) {
  useStyles(css);
  const context = useAppContext();
  const { client } = context;
  const words = { ...useWords('message'), ...useWords('rooms') };
  const guarding = useWords('siteSettings');
  if (message.state === 'held') return <p class="message-note">{guarding.waitsForModerator}</p>;
  return (
    <p class="message-note message-failed">
      <span>{reason(message.code, words, guarding)}</span>
      {message.why && <q dir="auto">{message.why}</q>}
      {mayRetry(message.code) ? (
        <button type="button" class="button button-plain" onClick={() => client.retry(message.id)}>
          {words.retry}
        </button>
      ) : (
        message.body !== '' && (
          <button type="button" class="button button-plain" onClick={() => copyText(message, context)}>
            {words.copy}
          </button>
        )
      )}
      <button type="button" class="button button-plain" onClick={() => client.discard(message.id)}>
        {words.discard}
      </button>
    </p>
  );
}

function reason(
  code: Code | undefined,
  words: Wording & Messages['message'] & Messages['rooms'],
  guarding: Messages['siteSettings'],
): string {
  switch (code) {
    case 'not_allowed':
    case 'no_such_user':
      return words.notAllowed;
    case 'rate_limited':
      return words.slowDown;
    case 'not_a_member':
      return words.notAMember;
    case 'room_banned':
      return words.roomBanned;
    case 'muted':
      return words.mutedHere;
    case 'first_contact':
      return words.firstContact;
    case 'request_pending':
      return words.requestPending;
    case 'too_many_requests':
      return words.tooManyRequests;
    case 'filtered':
      return words.filtered;
    case 'site_read_only':
      return words.siteReadOnly;
    case 'too_new':
      return guarding.tooNew;
    case 'raid':
      return guarding.raid;
    case 'read_only':
      return words.onlyModeratorsWrite;
    case 'frozen':
      return words.frozenHere;
    case 'room_full':
      return words.roomFull;
    case 'bad_body':
    case 'too_large':
      return words.tooLong;
    case 'unavailable':
      return words.serverBusy;
    default:
      return words.failed;
  }
}
