// The button above a room that counts the unread replies in threads that the member follows.

import type { ConversationKey } from '@kith/client';
import { useCallback } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useClient, useTopic } from '../../app_context.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from '../message_extras/message_extras.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  conversation: ConversationKey;
  onOpen(): void;
}

/** Waits for further replies before a request, because replies come in bursts. */
const WAIT_MS = 700;

export function ThreadUpdates({ conversation: key, onOpen }: Props) {
  useStyles(css);
  const client = useClient();
  const words = useWords('threads');
  const newest = useTopic(`timeline:${key}`, one => one.timeline(key).messages.findLast(isReply)?.seq);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new reply repeats the request
  const load = useCallback(async () => {
    const threads = await (await client.rich()).threads(key);
    return threads.reduce((sum, one) => sum + one.unread, 0);
  }, [client, key, newest]);
  const { data: unread = 0 } = useRequest(load, { delay: WAIT_MS, keep: true });
  if (unread === 0) return null;
  return (
    <button type="button" class="threads-mark" onClick={onOpen}>
      <Icon name="thread" />
      <span>{words.threads}</span>
      <span class="threads-new">{words.threadNew(unread)}</span>
    </button>
  );
}

function isReply({ thread, seq }: { thread?: number; seq?: number }): boolean {
  return thread !== undefined && seq !== undefined;
}
