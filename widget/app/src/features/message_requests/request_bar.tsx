// The bar of a pending message request or room invitation: accept, decline or block.

import { type Conversation, direct } from '@kith/client';
import { Icon } from '../../ui/icon/icon.tsx';
import { askToBlock } from '../contacts/contact_actions.ts';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { askToReport } from '../moderation/open_report.ts';
import css from './stranger_banner.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

export function RequestBar({
  conversation,
  onGone,
}: {
  conversation: Conversation;
  onGone: (() => void) | undefined;
}) {
  useStyles(css);
  const context = useAppContext();
  const { client, announce } = context;
  const words = useWords('moderation');
  const blocking = useWords('contacts');
  const { key } = conversation;
  const { requestedBy } = conversation;
  const user = requestedBy ?? conversation.with.user;
  const person = useTopic(`person:${user}`, one => one.person(user));
  const answer = (what: 'accept' | 'dismiss') => () =>
    client.answerRequest(key, what).then(
      () => {
        if (what === 'accept') return;
        announce(words.requestDismissed);
        onGone?.();
      },
      () => announce(words.somethingFailed),
    );
  if (conversation.request === 'sent') {
    return (
      <div class="stranger stranger-low">
        <p class="grow">{words.requestSent(person.name)}</p>
      </div>
    );
  }
  const last = conversation.last?.seq;
  const report = () =>
    askToReport(
      context,
      requestedBy !== undefined || last === undefined ? { user } : { key: direct(user), seq: last },
      user,
    );
  const [title, hint, no] =
    requestedBy === undefined
      ? [words.requestTitle(person.name), words.requestHint, words.dismissRequest]
      : [
          words.roomRequestTitle({ name: person.name, room: conversation.with.name }),
          words.roomRequestHint,
          blocking.decline,
        ];
  return (
    <div class="stranger">
      <p class="stranger-title">{title}</p>
      <p class="stranger-hint">{hint}</p>
      <div class="stranger-buttons">
        <button type="button" class="button button-main" onClick={answer('accept')}>
          {words.acceptRequest}
        </button>
        <button type="button" class="button" onClick={answer('dismiss')}>
          {no}
        </button>
        <button type="button" class="button button-plain" onClick={() => askToBlock(context, person)}>
          <Icon name="block" />
          {blocking.block}
        </button>
        <button type="button" class="button button-plain" onClick={report}>
          <Icon name="flag" />
          {words.report}
        </button>
      </div>
    </div>
  );
}
