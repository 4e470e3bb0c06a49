// The two kinds of calls as they stand in menus.

import type { Client } from '@kith/client';
import '../icon/call_shapes.ts';
import type { MenuItem } from '../menu/menu.tsx';
import type { Surroundings } from '../surroundings.tsx';
import { callLogWords } from './words.ts';

export function callItems({ call, wording }: Surroundings, user: string): MenuItem[] {
  const words = callLogWords.of(wording);
  return [
    { icon: 'phone', text: words.callWithVoice, run: () => call({ do: 'call', user, media: 'audio' }) },
    { icon: 'camera', text: words.callWithVideo, run: () => call({ do: 'call', user, media: 'video' }) },
  ];
}

export function mayCall(client: Client, user: string): boolean {
  return user !== client.me()?.user && client.contact(user) === 'contact';
}
