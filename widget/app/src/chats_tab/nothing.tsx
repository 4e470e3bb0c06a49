// What stands in the place of a list in which nothing is.

import type { ListName } from '@kith/client';
import '../icon/late_shapes.ts';
import { useWords } from '../wording/late_words.ts';
import { Empty } from './empty.tsx';
import { chatWords } from './words.ts';

export { chatWords as words } from './words.ts';

export function Nothing({ list }: { list: ListName }) {
  const words = useWords(chatWords);
  if (list === 'archived')
    return <Empty icon="archive" title={words.noArchived} hint={words.noArchivedHint} />;
  if (list === 'mentions') return <Empty icon="at" title={words.noMentions} hint={words.noMentionsHint} />;
  return <Empty icon="check" title={words.noUnread} hint={words.noUnreadHint} />;
}
