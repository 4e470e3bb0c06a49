// The delivery state of the member's own message: an icon, with a tooltip and a text for screen readers.

import type { Message } from '@kith/client';
import { useTopic, useWording } from '../../app_context.tsx';
import { Icon, type IconName } from '../../ui/icon/icon.tsx';

const ICONS: Record<Message['state'], IconName> = {
  sending: 'clock',
  held: 'clock',
  sent: 'tick',
  received: 'ticks',
  read: 'ticks',
  failed: 'alert',
};

export function StateIcon({ state }: { state: Message['state'] }) {
  const words = useWording();
  const online = useTopic('status', client => client.status()).state === 'online';
  // `SendFailure` shows the reason for `held` below the message.
  const text = state === 'sending' && !online ? words.queued : words[state === 'held' ? 'sending' : state];
  return (
    <span class={`state state-${state}`} title={text} data-state={state}>
      <Icon name={ICONS[state]} />
      <span class="hidden-text">{text}</span>
    </span>
  );
}
