import type { Presence } from '@kith/client';
import type { Stories } from '../../../dev/story.ts';
import { Avatar } from './avatar.tsx';

const ana = { user: 'ana', name: 'Ana Silva', guest: false };
const STATES: Presence[] = ['online', 'away', 'busy', 'offline', 'unknown'];

export const stories: Stories = {
  sizes: () => (
    <>
      <Avatar person={ana} size="small" />
      <Avatar person={ana} />
      <Avatar person={ana} size="large" />
    </>
  ),
  presence: () => (
    <>
      {STATES.map(presence => (
        <Avatar key={presence} person={ana} presence={presence} />
      ))}
    </>
  ),
  'a room': () => <Avatar person={{ ...ana, name: 'Gardeners' }} room />,
  'without a name': () => <Avatar person={{ ...ana, name: '' }} />,
};
