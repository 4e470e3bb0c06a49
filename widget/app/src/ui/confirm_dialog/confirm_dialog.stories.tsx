import type { Stories } from '../../../dev/story.ts';
import { ConfirmDialog } from './confirm_dialog.tsx';

const question = {
  title: 'Delete this message?',
  text: 'It is deleted for everyone in this chat.',
  action: 'Delete',
  onYes: () => undefined,
};

export const stories: Stories = {
  'a question': () => <ConfirmDialog question={question} onClose={() => undefined} />,
};
