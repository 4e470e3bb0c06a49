import type { Stories } from '../../../dev/story.ts';
import { Late, late } from './lazy.tsx';

const arrives = late(async () => ({ Part: () => <p>The part has arrived.</p> }), 'Part');
const never = late<{ Part(): null }, 'Part'>(() => new Promise(() => undefined), 'Part');

export const stories: Stories = {
  arrived: () => <Late part={arrives} props={{}} />,
  'on its way': () => <Late part={never} props={{}} meanwhile={<p>Drawn meanwhile.</p>} />,
};
