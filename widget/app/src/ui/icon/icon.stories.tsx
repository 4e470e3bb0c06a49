import type { Stories } from '../../../dev/story.ts';
import './call_shapes.ts';
import { Icon, type IconName } from './icon.tsx';
import './lazy_shapes.ts';

const SHELL: IconName[] = [
  'chat',
  'people',
  'rooms',
  'person',
  'close',
  'back',
  'more',
  'search',
  'send',
  'pin',
];
const LAZY: IconName[] = [
  'edit',
  'reply',
  'forward',
  'archive',
  'bell',
  'block',
  'flag',
  'poll',
  'thread',
  'gear',
];
const row = (names: readonly IconName[]) => (
  <>
    {names.map(name => (
      <Icon key={name} name={name} />
    ))}
  </>
);

export const stories: Stories = {
  'in the shell': () => row(SHELL),
  'fetched later': () => row(LAZY),
};
