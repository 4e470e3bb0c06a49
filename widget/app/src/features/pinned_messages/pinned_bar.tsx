// The messages that somebody has pinned, one at a time, above those of the chat.

import type { ConversationKey, Message } from '@kith/client';
import { useEffect, useState } from 'preact/hooks';
import { useClient, useTopic } from '../../app_context.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { LabeledText } from '../../ui/labeled_text/labeled_text.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { isLeftOut } from '../message/blocked_author.ts';
import { plainOf } from '../message_text/formatting.ts';
import css from './pinned_bar.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  conversation: ConversationKey;
  onJump(seq: number): void;
}

export function PinnedBar({ conversation: key, onJump }: Props) {
  useStyles(css);
  const words = useWords('pinnedMessages');
  const client = useClient();
  useTopic('contacts', one => one.contacts());
  const pins = usePins(key);
  const [at, setAt] = useState(0);
  const index = Math.min(at, pins.length - 1);
  const pin = pins[index];
  if (pin === undefined) return null;
  const text = isLeftOut(key, pin, client) ? '…' : plainOf(pin.body).replace(/\s+/gu, ' ').slice(0, 200);
  return (
    <button
      type="button"
      class="pin-bar"
      title={words.showPinned}
      onClick={() => {
        if (pin.seq !== undefined) onJump(pin.seq);
        // The next time leads to the one before.
        setAt((index + 1) % pins.length);
      }}
    >
      <Icon name="pin" />
      <span class="pin-words grow">
        <span class="pin-title">{words.pinnedOf({ position: index + 1, count: pins.length })}</span>
        <LabeledText class="pin-text">{text}</LabeledText>
      </span>
    </button>
  );
}

/** Newest first. */
function usePins(key: ConversationKey): readonly Message[] {
  const client = useClient();
  const [pins, setPins] = useState<readonly Message[]>([]);
  const online = useTopic('status', one => one.status()).state === 'online';
  useEffect(() => {
    if (!online) return;
    let wanted = true;
    // The answer includes changes that happened while this part did not listen.
    client.pins(key).then(
      all => wanted && setPins(all),
      () => undefined,
    );
    const stop = client.on('changed', one => {
      if (one.key === key) setPins(before => put(before, one.message.seq, one.message));
    });
    const stopToo = client.on('unpinned', one => {
      if (one.key === key) setPins(before => put(before, one.seq));
    });
    return () => {
      wanted = false;
      stop();
      stopToo();
    };
  }, [client, key, online]);
  return pins;
}

/** `message`: absent where it is known only that it is not pinned. */
function put(pins: readonly Message[], seq: number | undefined, message?: Message): readonly Message[] {
  const others = pins.filter(one => one.seq !== seq);
  if (!message?.pinned) return others.length === pins.length ? pins : others;
  return [...others, message].sort((a, b) => (b.seq ?? 0) - (a.seq ?? 0));
}
