// Optional parts of a message: the origin of a forwarded message above the text, poll and thread below it.

import type { Message } from '@kith/client';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useNow, useTopic } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { PreviewCard } from '../link_previews/link_preview.tsx';
import type { MessageActions } from '../message/message_menu.ts';
import { PollView } from '../polls/poll.tsx';
import css from './message_extras.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  message: Message;
  actions: MessageActions;
}

export function Above({ message, actions }: Props) {
  useStyles(css);
  const words = useWords('threads');
  const { thread } = message;
  return (
    <>
      {message.forwarded && <Origin user={message.forwarded.from} />}
      {thread !== undefined && !actions.inThread && (
        <button
          type="button"
          class="rich-origin rich-link"
          dir={words.direction}
          tabIndex={-1}
          title={words.openThread}
          onClick={() => actions.openThread(thread)}
        >
          <Icon name="thread" />
          {words.inThread}
        </button>
      )}
    </>
  );
}

function Origin({ user }: { user: string | undefined }) {
  const words = useWords('forwarding');
  return (
    <p class="rich-origin" dir={words.direction}>
      <Icon name="forward" />
      {user === undefined ? words.forwardedHidden : <Named user={user} />}
    </p>
  );
}

function Named({ user }: { user: string }) {
  const words = useWords('forwarding');
  const person = useTopic(`person:${user}`, one => one.person(user));
  return <>{words.forwardedFrom(person.name)}</>;
}

export function Below({ message, actions }: Props) {
  useStyles(css);
  const words = useWords('threads');
  const { wording } = useAppContext();
  const now = useNow();
  const { poll, replies, seq, preview } = message;
  return (
    <>
      {preview && <PreviewCard preview={preview} />}
      {poll && <PollView message={message} poll={poll} actions={actions} />}
      {replies && seq !== undefined && !actions.inThread && (
        <button
          type="button"
          class="rich-replies"
          dir={words.direction}
          title={words.openThread}
          onClick={() => actions.openThread(seq)}
        >
          <Icon name="thread" />
          <b>{words.replies(replies.count)}</b>
          <span>{words.lastReply(wording.short(replies.last, now))}</span>
        </button>
      )}
    </>
  );
}
