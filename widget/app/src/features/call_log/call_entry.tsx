// The entry of a finished call in the timeline: its outcome and a button to call again.

import { type ConversationKey, isRoom, type Message } from '@kith/client';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/call_shapes.ts';
import { useAppContext } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './call_entry.css?inline';
import { callText, isMissed } from './call_text.ts';

export { words } from './call_text.ts';

/** `to`: the conversation that contains the entry, a direct chat or a room. */
export function Entry({ message, to }: { message: Message; to: ConversationKey }) {
  useStyles(css);
  const { call } = useAppContext();
  const words = useWords('callLog');
  const { mine, call: entry } = message;
  if (entry === undefined) return null;
  const { media } = entry;
  const missed = isMissed(message);
  const inRoom = isRoom(to);
  const again = () =>
    call(inRoom ? { do: 'join', room: to, media } : { do: 'call', user: to.slice(1), media });
  return (
    <span class={missed ? 'call-entry call-missed' : 'call-entry'}>
      <Icon name={missed ? 'missed' : media === 'video' ? 'camera' : 'phone'} />
      <span class="call-entry-text" dir={words.direction}>
        {callText(words, entry, mine)}
      </span>
      <button type="button" class="call-entry-again" onClick={again}>
        {mine || inRoom ? words.callOnceMore : words.callBack}
      </button>
    </span>
  );
}

/** The call as the preview of a row in the chat list. */
export function Gist({ message }: { message: Message }) {
  const words = useWords('callLog');
  return <>{message.call && callText(words, message.call, message.mine)}</>;
}
