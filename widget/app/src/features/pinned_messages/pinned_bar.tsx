// The bar above a chat that shows its pinned messages, one at a time.

import { type ConversationKey, type Message, RequestError } from '@kith/client';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { useClient, useTopic } from '../../app_context.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { LabeledText } from '../../ui/labeled_text/labeled_text.tsx';
import { LoadFailed } from '../../ui/request/request.tsx';
import { type Request, useRequest } from '../../ui/request/use_request.ts';
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
  const { data: pins = NONE, failed, error, retry } = usePins(key);
  const [at, setAt] = useState(0);
  const index = Math.min(at, pins.length - 1);
  const pin = pins[index];
  // If the client is offline, the banner already shows that. The pins load again with the next connection.
  const isOffline = error instanceof RequestError && error.code === 'offline';
  if (failed && !isOffline && pin === undefined) return <LoadFailed onRetry={retry} />;
  if (pin === undefined) return null;
  const plain = pin.opaque ? words.opaqueMessage : plainOf(pin.body).replace(/\s+/gu, ' ').slice(0, 200);
  const text = isLeftOut(key, pin, client) ? '…' : plain;
  return (
    <button
      type="button"
      class="pin-bar"
      title={words.showPinned}
      onClick={() => {
        if (pin.seq !== undefined) onJump(pin.seq);
        // The next click shows the next older pinned message.
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

const NONE: readonly Message[] = [];

/** The pinned messages, newest first. */
function usePins(key: ConversationKey): Request<readonly Message[]> {
  const client = useClient();
  const load = useCallback(() => client.pins(key), [client, key]);
  // A response includes all earlier changes; later changes arrive as events.
  const request = useRequest(load, { refresh: true });
  const { update } = request;
  useEffect(() => {
    const stop = client.on('changed', one => {
      if (one.key === key) update(before => put(before, one.message.seq, one.message));
    });
    const stopToo = client.on('unpinned', one => {
      if (one.key === key) update(before => put(before, one.seq));
    });
    return () => {
      stop();
      stopToo();
    };
  }, [client, key, update]);
  return request;
}

/** `message`: undefined if the caller knows only that the message is no longer pinned. */
function put(pins: readonly Message[], seq: number | undefined, message?: Message): readonly Message[] {
  const others = pins.filter(one => one.seq !== seq);
  if (!message?.pinned) return others.length === pins.length ? pins : others;
  return [...others, message].sort((a, b) => (b.seq ?? 0) - (a.seq ?? 0));
}
