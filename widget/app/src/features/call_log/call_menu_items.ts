// The menu items for audio and video calls.

import type { Client } from '@kith/client';
import '../../ui/icon/call_shapes.ts';
import type { AppContextValue } from '../../app_context.tsx';
import type { MenuItem } from '../../ui/menu/menu.tsx';
import { wordsOf } from '../../wording/late_words.ts';

export function callItems({ call, wording }: AppContextValue, user: string): MenuItem[] {
  const words = wordsOf(wording, 'callLog');
  return [
    { icon: 'phone', text: words.callWithVoice, run: () => call({ do: 'call', user, media: 'audio' }) },
    { icon: 'camera', text: words.callWithVideo, run: () => call({ do: 'call', user, media: 'video' }) },
  ];
}

/** False if the client knows a reason against the call. The server decides. */
export function mayCall(client: Pick<Client, 'me' | 'contact'>, user: string): boolean {
  const me = client.me();
  const state = client.contact(user);
  if (me === undefined || user === me.user || state === 'blocked' || me.calls === 'nobody') return false;
  return state === 'contact' || me.calls === 'everyone';
}
