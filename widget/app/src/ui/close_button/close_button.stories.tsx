import type { Stories } from '../../../dev/story.ts';
import { CloseButton } from './close_button.tsx';

export const stories: Stories = {
  'close button': () => <CloseButton label="Close the window" onClose={() => undefined} />,
};
