// Above the field: the message that is answered, or changed.

import type { Message } from '@kith/client';
import { gistOf } from '../body_text/plain.ts';
import { Icon } from '../icon/icon.tsx';
import '../icon/late_shapes.ts';
import { Said } from '../said/said.tsx';
import { useSheet } from '../sheets.ts';
import { useClient, useWording } from '../surroundings.tsx';
import { isolated } from '../wording/wording.ts';
import css from './concerns.css?inline';

interface Props {
  message: Message;
  editing: boolean;
  onCancel(): void;
}

export function Concerns({ message, editing, onCancel }: Props) {
  useSheet(css);
  const client = useClient();
  const words = useWording();
  const name = message.mine ? words.you : client.person(message.from).name;
  return (
    <div class="composer-reply">
      <Icon name={editing ? 'edit' : 'reply'} />
      <span class="grow">
        <span class="composer-reply-name clip">
          {editing ? words.editing : words.replyingTo(isolated(name))}
        </span>
        <Said class="composer-reply-body">{gistOf(message).slice(0, 200)}</Said>
      </span>
      <button
        type="button"
        class="icon-button"
        aria-label={editing ? words.cancelEdit : words.cancelReply}
        onClick={onCancel}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
