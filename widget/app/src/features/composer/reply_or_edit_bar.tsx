// The bar above the text field with the message that the user replies to or edits.

import type { Message } from '@kith/client';
import { Icon } from '../../ui/icon/icon.tsx';
import { gistOf } from '../message_text/plain_text.ts';
import '../../ui/icon/lazy_shapes.ts';
import { useClient, useWording } from '../../app_context.tsx';
import { LabeledText } from '../../ui/labeled_text/labeled_text.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import css from './reply_or_edit_bar.css?inline';

interface Props {
  message: Message;
  editing: boolean;
  onCancel(): void;
}

export function ReplyOrEditBar({ message, editing, onCancel }: Props) {
  useStyles(css);
  const client = useClient();
  const words = useWording();
  const name = message.mine ? words.you : client.person(message.from).name;
  return (
    <div class="composer-reply">
      <Icon name={editing ? 'edit' : 'reply'} />
      <span class="grow">
        <span class="composer-reply-name clip">{editing ? words.editing : words.replyingTo(name)}</span>
        <LabeledText class="composer-reply-body">{gistOf(message, words).slice(0, 200)}</LabeledText>
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
