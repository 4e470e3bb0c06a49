// The two kinds of calls as they stand in menus.

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

/** As far as it is known here; the server has the last word. */
export function mayCall(client: Pick<Client, 'me' | 'contact'>, user: string): boolean {
  const me = client.me();
  const state = client.contact(user);
  if (me === undefined || user === me.user || state === 'blocked' || me.calls === 'nobody') return false;
  return state === 'contact' || me.calls === 'everyone';
}
