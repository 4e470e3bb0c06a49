import { useState } from 'preact/hooks';
import type { Stories } from '../../../dev/story.ts';
import { Segmented } from './segmented.tsx';

const CHOICES = [
  { value: 'all', text: 'All' },
  { value: 'unread', text: 'Unread' },
  { value: 'mentions', text: 'Mentions' },
] as const;

function Choice({ look }: { look: 'chips' | 'switch' }) {
  const [value, setValue] = useState<string>('all');
  return (
    <Segmented label={`Filter as ${look}`} look={look} value={value} choices={CHOICES} onChange={setValue} />
  );
}

export const stories: Stories = {
  chips: () => <Choice look="chips" />,
  'a switch': () => <Choice look="switch" />,
};
