// The messages of a timeline or of a thread, and the place to write below them.

import { type Conversation, isRoom } from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useAppContext } from '../../app_context.tsx';
import { Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import { Composer } from '../composer/composer.tsx';
import { keepsOrder } from '../rooms/may_write.ts';
import type { ConversationSource } from './conversation_source.ts';
import { MessageList } from './message_list.tsx';
import type { Writing } from './use_writing.ts';

interface Props {
  conversation: Conversation;
  source: ConversationSource;
  writing: Writing;
  /** The message that is wanted on the screen. */
  at: { seq: number } | undefined;
  /** False while there is nothing to show yet. */
  hasList: boolean;
  /** The member may write here now. */
  mayWrite: boolean;
  linksInert: boolean;
  /** Pictures of the other one are shown when they are asked for. */
  veiled: boolean;
  /** Of the list and of the field, in a thread. */
  labels?: { list: string; field: string };
  /** In a thread: stands between its root and the replies. */
  count?: ComponentChildren;
  onThread(root: number): void;
}

export function ConversationView({
  conversation,
  source,
  writing,
  at,
  hasList,
  mayWrite,
  linksInert,
  veiled,
  labels,
  count,
  onThread,
}: Props) {
  const { announce, wording: words } = useAppContext();
  const { editing } = writing;
  const composer = mayWrite && (
    <Composer
      key={editing ? `edit ${editing.id}` : 'write'}
      conversation={conversation}
      source={source}
      label={labels?.field}
      writing={writing}
    />
  );
  return (
    <>
      {hasList && (
        <MessageList
          conversation={conversation}
          source={source}
          label={labels?.list}
          count={count}
          at={at}
          veiled={veiled}
          linksInert={linksInert}
          sends={writing.sends}
          onReply={writing.reply}
          onEdit={writing.edit}
          readOnly={!mayWrite}
          keepsOrder={keepsOrder(conversation.room)}
          onThread={onThread}
        />
      )}
      {isRoom(conversation.key) ? (
        <Lazy
          part={footPart}
          props={{ conversation, composer }}
          onFailed={() => announce(words.loadFailed)}
        />
      ) : (
        composer
      )}
    </>
  );
}

export const footPart = lazy(() => import('../rooms/room.tsx'), 'RoomFooter');
