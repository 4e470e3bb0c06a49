// The form that mutes a member in a room or bans them from it, with an end and a reason.

import type { ConversationKey, Member } from '@kith/client';
import { useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useWords } from '../../wording/late_words.ts';
import { HowLong, INITIAL_HOURS, Reason, termsOf } from '../moderation/sanction_terms.tsx';
import { failureOf } from './room_errors.ts';

export { lateWords as words } from '../../wording/late_words.ts';

export interface SanctionProps {
  room: ConversationKey;
  member: Member;
  kind: 'mute' | 'ban';
  onDone(member: Member): void;
  onClose(): void;
}

export function SanctionForm({ room, member, kind, onDone, onClose }: SanctionProps) {
  const { client, announce } = useAppContext();
  const words = useWords('rooms');
  const general = useWords('moderation');
  const [hours, setHours] = useState(INITIAL_HOURS);
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string>();
  const apply = () => {
    if (busy) return;
    setBusy(true);
    setFailed(undefined);
    const terms = {
      ...(kind === 'mute' && { role: 'muted' as const }),
      ...termsOf(hours, reason),
    };
    client.changeMember(room, member.user, kind === 'mute' ? 'set_role' : 'ban', terms).then(
      now => {
        announce(general.done);
        onDone(now);
        onClose();
      },
      (error: unknown) => {
        setBusy(false);
        setFailed(failureOf(error, words));
      },
    );
  };
  return (
    <Sheet title={kind === 'mute' ? words.muteAsk(member.name) : words.banAsk(member.name)} onClose={onClose}>
      <form
        class="sheet-form"
        onSubmit={event => {
          event.preventDefault();
          apply();
        }}
      >
        <HowLong value={hours} onChange={setHours} />
        <Reason value={reason} onChange={setReason} />
        {failed && (
          <p class="sheet-failed" role="alert">
            {failed}
          </p>
        )}
        <button type="submit" class="button button-main" aria-disabled={busy}>
          {kind === 'mute' ? words.muteMember : words.banMember}
        </button>
      </form>
    </Sheet>
  );
}
