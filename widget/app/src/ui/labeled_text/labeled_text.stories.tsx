import type { Stories } from '../../../dev/story.ts';
import { LabeledText } from './labeled_text.tsx';

export const stories: Stories = {
  'with a label': () => (
    <LabeledText class="row-text" label="You: ">
      See you at ten
    </LabeledText>
  ),
  'another direction': () => (
    <LabeledText class="row-text" label="You: ">
      أراك في العاشرة
    </LabeledText>
  ),
};
