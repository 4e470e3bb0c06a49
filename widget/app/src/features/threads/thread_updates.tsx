// Above a room: that there is something new in threads that one follows.

import type { ConversationKey } from '@kith/client';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useClient, useTopic } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from '../message_extras/message_extras.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  conversation: ConversationKey;
  onOpen(): void;
}

/** Replies come in bursts. */
const WAIT_MS = 700;

export function ThreadUpdates({ conversation: key, onOpen }: Props) {
  useStyles(css);
  const client = useClient();
  const words = useWords('threads');
  const [unread, setUnread] = useState(0);
  const newest = useTopic(`timeline:${key}`, one => one.timeline(key).messages.findLast(isReply)?.seq);
  useEffect(() => {
    let wants = true;
    const timer = setTimeout(() => {
      client
        .rich()
        .then(rich => rich.threads(key))
        .then(
          all => wants && setUnread(all.reduce((sum, one) => sum + one.unread, 0)),
          () => undefined,
        );
    }, WAIT_MS);
    return () => {
      wants = false;
      clearTimeout(timer);
    };
  }, [client, key, newest]);
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
