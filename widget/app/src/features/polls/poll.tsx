// A poll in its message. A click on a choice votes for it; a second click takes the vote back.

import { type Message, type Poll, RequestError } from '@kith/client';
import { useState } from 'preact/hooks';
import { useAppContext, useNow } from '../../app_context.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { useWords } from '../../wording/late_words.ts';
import type { MessageActions } from '../message/message_menu.ts';
import { isOpen, percentOf } from './poll_result.ts';

interface Props {
  message: Message;
  poll: Poll;
  actions: MessageActions;
}

/** Maximum number of voters with their names; the others are only counted. */
const NAMED = 8;

export function PollView({ message, poll, actions }: Props) {
  const { client, announce } = useAppContext();
  const words = useWords('polls');
  const now = useNow();
  const [busy, setBusy] = useState(false);
  const mine = poll.choices.flatMap((one, at) => (one.mine ? [at] : []));
  const mayVote = message.seq !== undefined && isOpen(poll, now) && !actions.readOnly;
  const vote = (at: number) => {
    if (!mayVote || busy || message.seq === undefined) return;
    const others = poll.multiple ? mine.filter(one => one !== at) : [];
    const choices = mine.includes(at) ? others : [...others, at];
    setBusy(true);
    client
      .rich()
      .then(rich => rich.vote(actions.conversation, message.seq ?? 0, choices))
      .catch((error: unknown) => {
        const over = error instanceof RequestError && error.code === 'poll_closed';
        announce(over ? words.pollClosedCode : words.somethingFailed);
      })
      .finally(() => setBusy(false));
  };
  const who = (users: readonly string[] = [], votes: number) => {
    const me = client.me()?.user;
    const named = users.slice(0, NAMED).map(user => (user === me ? words.you : client.person(user).name));
    return words.list(votes > named.length ? [...named, words.andMore(votes - named.length)] : named);
  };
  return (
    <div class="poll" role="group" aria-label={words.poll}>
      {poll.choices.map(({ text, votes, users, mine: chosen }, at) => {
        const percent = percentOf(votes, poll.voters);
        return (
          <button
            key={text}
            type="button"
            class="poll-choice"
            aria-pressed={chosen ?? false}
            aria-disabled={!mayVote || busy}
            title={users && votes > 0 && !poll.anonymous ? who(users, votes) : undefined}
            style={{ '--share': `${percent}%` }}
            onClick={() => vote(at)}
          >
            <span class="poll-mark">{chosen && <Icon name="check" />}</span>
            <span class="poll-text" dir="auto">
              {text}
            </span>{' '}
            <span class="poll-percent">{words.number(percent)} %</span>
            <span class="hidden-text"> {words.pollVotesFor(votes)}</span>
          </button>
        );
      })}
      <p class="poll-note">{notesOf(poll, now, words).join(' · ')}</p>
    </div>
  );
}

function notesOf(poll: Poll, now: number, words: ReturnType<typeof useWords<'polls'>>): string[] {
  const total = poll.multiple ? words.pollVoters(poll.voters) : words.pollVotes(poll.voters);
  const open = isOpen(poll, now);
  return [
    total,
    ...(poll.multiple && open ? [words.pollMultipleNote] : []),
    ...(poll.anonymous ? [words.pollAnonymousNote] : []),
    ...(open ? [] : [words.pollClosed]),
    ...(open && poll.ends !== undefined ? [words.pollEndsAt(words.full(poll.ends))] : []),
  ];
}
