// The messages of a timeline or of a thread, with the composer below them.

import { isRoom } from '@kith/client';
import { useAppContext } from '../../app_context.tsx';
import { Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import { Composer } from '../composer/composer.tsx';
import { MessageList, type MessageListProps } from './message_list.tsx';
import type { Writing } from './use_writing.ts';

interface Props extends MessageListProps {
  writing: Writing;
  /** False while the view has nothing to show. */
  hasList: boolean;
}

export function ConversationView(props: Props) {
  const { conversation, source, labels, writing, mayWrite } = props;
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
      {props.hasList && <MessageList {...props} />}
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
