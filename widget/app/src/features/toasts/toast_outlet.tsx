// Shows the current toast, if there is one.

import type { ConversationKey } from '@kith/client';
import { useEffect, useReducer } from 'preact/hooks';
import type { MessageAlerts } from './message_alerts.ts';
import { DrawnToast } from './toast.tsx';

export { words } from './toast.tsx';

/** `onScreen`: whether the chat is on the screen; its toast is then dismissed. */
export function ToastPlace({
  notices,
  onScreen,
}: {
  notices: MessageAlerts;
  onScreen(key: ConversationKey): boolean;
}) {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  useEffect(() => notices.subscribe(() => redraw(undefined)), [notices]);
  const toast = notices.toast();
  const superfluous = toast !== undefined && onScreen(toast.key);
  useEffect(() => {
    if (superfluous) notices.dismiss();
  }, [notices, superfluous]);
  if (toast === undefined || superfluous) return null;
  const dismiss = () => notices.dismiss();
  return <DrawnToast key={toast.key} toast={toast} onDone={dismiss} />;
}
