import { useState } from 'preact/hooks';
import type { Stories } from '../../../dev/story.ts';
import { Menu, type MenuItem } from './menu.tsx';

const run = () => undefined;
const ITEMS: readonly MenuItem[] = [
  { icon: 'search', text: 'Search in this chat', run },
  { icon: 'muted', text: 'Mute', run },
  { icon: 'trash', text: 'Delete', danger: true, run },
];
const QUICK = ['👍', '❤️', '😂'].map((text, i) => ({ text, label: `React with ${text}`, on: i === 0, run }));

function Opened({ quick }: { quick?: boolean }) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null);
  const request = anchor && {
    anchor,
    label: 'Actions',
    items: ITEMS,
    ...(quick && { quick: { label: 'Reactions', items: QUICK } }),
  };
  return (
    <>
      <button type="button" class="button" ref={setAnchor} aria-haspopup="menu">
        Actions
      </button>
      {request && <Menu request={request} onClose={run} />}
    </>
  );
}

export const stories: Stories = {
  'a menu': () => <Opened />,
  'with a row of reactions': () => <Opened quick />,
};
