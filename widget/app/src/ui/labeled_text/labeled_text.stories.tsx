import type { Stories } from '../../../dev/story.ts';
import { Said } from './labeled_text.tsx';

export const stories: Stories = {
  'with a label': () => (
    <Said class="row-text" label="You: ">
      See you at ten
    </Said>
  ),
  'another direction': () => (
    <Said class="row-text" label="You: ">
      أراك في العاشرة
    </Said>
  ),
};
