import type { Stories } from '../../../dev/story.ts';
import { Lazy, lazy } from './lazy.tsx';

const arrives = lazy(async () => ({ Part: () => <p>The part has arrived.</p> }), 'Part');
const never = lazy<{ Part(): null }, 'Part'>(() => new Promise(() => undefined), 'Part');

export const stories: Stories = {
  arrived: () => <Lazy part={arrives} props={{}} />,
  'on its way': () => <Lazy part={never} props={{}} meanwhile={<p>Drawn meanwhile.</p>} />,
};
