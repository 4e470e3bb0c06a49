// The rich parts of a message's bubble: the origin above the text, poll and thread below it.

import type { Message } from '@kith/client';
import { Icon } from '../icon/icon.tsx';
import '../icon/late_shapes.ts';
import type { MessageDeeds } from '../message/actions.ts';
import { useSheet } from '../sheets.ts';
import { useNow, useSurroundings, useTopic } from '../surroundings.tsx';
import { useWords } from '../wording/late_words.ts';
import { isolated } from '../wording/wording.ts';
import { PollView } from './poll.tsx';
import { PreviewCard } from './preview.tsx';
import css from './rich.css?inline';
import { richWords } from './words.ts';

export { richWords as words } from './words.ts';

interface Props {
  message: Message;
  deeds: MessageDeeds;
}

export function Above({ message, deeds }: Props) {
  useSheet(css);
  const words = useWords(richWords);
  const { thread } = message;
  return (
    <>
      {message.forwarded && <Origin user={message.forwarded.from} />}
      {thread !== undefined && !deeds.inThread && (
        <button
          type="button"
          class="rich-origin rich-link"
          dir={words.direction}
          tabIndex={-1}
          title={words.openThread}
          onClick={() => deeds.openThread(thread)}
        >
          <Icon name="thread" />
          {words.inThread}
        </button>
      )}
    </>
  );
}

function Origin({ user }: { user: string | undefined }) {
  const words = useWords(richWords);
  return (
    <p class="rich-origin" dir={words.direction}>
      <Icon name="forward" />
      {user === undefined ? words.forwardedHidden : <Named user={user} />}
    </p>
  );
}

function Named({ user }: { user: string }) {
  const words = useWords(richWords);
  const person = useTopic(`person:${user}`, one => one.person(user));
  return <>{words.forwardedFrom(isolated(person.name))}</>;
}

export function Below({ message, deeds }: Props) {
  useSheet(css);
  const words = useWords(richWords);
  const { wording } = useSurroundings();
  const now = useNow();
  const { poll, replies, seq, preview } = message;
  return (
    <>
      {preview && <PreviewCard preview={preview} />}
      {poll && <PollView message={message} poll={poll} deeds={deeds} />}
      {replies && seq !== undefined && !deeds.inThread && (
        <button
          type="button"
          class="rich-replies"
          dir={words.direction}
          title={words.openThread}
          onClick={() => deeds.openThread(seq)}
        >
          <Icon name="thread" />
          <b>{words.replies(replies.count)}</b>
          <span>{words.lastReply(wording.short(replies.last, now))}</span>
        </button>
      )}
    </>
  );
}
