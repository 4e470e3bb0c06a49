// What a moderator has to say to the member: a warning, or that they are muted, and until when.

import type { Notice } from '@kith/client';
import { Icon } from '../icon/icon.tsx';
import '../icon/late_shapes.ts';
import { useSheet } from '../sheets.ts';
import { useSurroundings, useTopic } from '../surroundings.tsx';
import { useWords } from '../wording/late_words.ts';
import css from './safety.css?inline';
import { safetyWords } from './words.ts';

export { safetyWords as words } from './words.ts';

export function NoticeBar() {
  useSheet(css);
  const { client, announce } = useSurroundings();
  const words = useWords(safetyWords);
  const notices = useTopic('notices', one => one.notices());
  const seen = () => client.noticesSeen().catch(() => announce(words.somethingFailed));
  const title = ({ kind, until }: Notice) => {
    if (kind === 'warning') return words.warned;
    return until === undefined ? words.youAreMuted : words.mutedUntil(words.full(until));
  };
  return (
    <>
      {notices.map(one => (
        <div key={`${one.kind} ${one.reason}`} class="notice" role="alert">
          <Icon name={one.kind === 'warning' ? 'alert' : 'muted'} />
          <div class="grow">
            <p class="notice-title">{title(one)}</p>
            {one.reason && <p dir="auto">{one.reason}</p>}
            {one.kind === 'mute' && <p>{words.youCanRead}</p>}
          </div>
          {one.kind === 'warning' && (
            <button type="button" class="button" onClick={seen}>
              {words.understood}
            </button>
          )}
        </div>
      ))}
    </>
  );
}
