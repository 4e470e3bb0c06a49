// Links to messages: creates a link, and opens its message when the address of a page contains one.

import { type Client, type ConversationKey, RequestError } from '@kith/client';
import { useCallback, useEffect } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useEffectEvent } from '../../ui/use_effect_event/use_effect_event.ts';
import { useWords } from '../../wording/late_words.ts';
import { online } from '../connection/wait_until_online.ts';

export { lateWords as words } from '../../wording/late_words.ts';

const MARK = '#kith=';

/** `conversation`: the conversation's id in the wire protocol. */
export function linkTo(page: string, conversation: string, seq: number): string {
  return `${page.split('#', 1)[0]}${MARK}${conversation}.${seq}`;
}

/** The message that a link's fragment names; undefined if the link is not one of ours. */
export function readLink(hash: string): { conversation: string; seq: number } | undefined {
  const [, conversation, seq] = /^#kith=([\w-]{1,64})\.([1-9]\d{0,15})$/.exec(hash) ?? [];
  return conversation === undefined ? undefined : { conversation, seq: Number(seq) };
}

interface Props {
  hash: string;
  onDone(): void;
}

/** Opens the message after the client has connected, or shows the error. */
export function Follow({ hash, onDone }: Props) {
  const { client, openChat } = useAppContext();
  const words = useWords('messageLinks');
  const load = useCallback(() => follow(client, hash), [client, hash]);
  const { data: found, failed, error, loading, retry } = useRequest(load);
  const open = useEffectEvent((to: { key: ConversationKey; seq: number }) => {
    onDone();
    openChat(to.key, to.seq);
  });
  useEffect(() => {
    if (found) open(found);
  }, [found]);
  if (!failed || loading) return null;
  const isOffline = error instanceof RequestError && error.code === 'offline';
  return (
    <Sheet title={words.linkTitle} onClose={onDone}>
      <div class="sheet-form">
        <p class="sheet-hint">{isOffline ? words.linkOffline : words.linkRefused}</p>
        <div class="sheet-buttons">
          {isOffline && (
            <button type="button" class="button" onClick={retry}>
              {words.tryAgain}
            </button>
          )}
          <button type="button" class="button button-main" onClick={onDone}>
            {words.linkOk}
          </button>
        </div>
      </div>
    </Sheet>
  );
}

async function follow(client: Client, hash: string): Promise<{ key: ConversationKey; seq: number }> {
  const link = readLink(hash);
  if (link === undefined) throw new RequestError('bad_value');
  await online(client);
  const rich = await client.rich();
  try {
    return { key: await rich.keyOf(link.conversation), seq: link.seq };
  } catch (error) {
    // Visitors who are not members may still read a public room.
    const { rooms } = await client.rooms();
    const room = rooms.find(one => one.key === `#${link.conversation}`);
    if (room === undefined) throw error;
    return { key: room.key, seq: link.seq };
  }
}
