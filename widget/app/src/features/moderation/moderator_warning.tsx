// A moderator's notice to the member: a warning, or a mute with its end.

import type { Notice } from '@kith/client';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './moderator_warning.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

export function ModeratorWarning() {
  useStyles(css);
  const { client, announce } = useAppContext();
  const words = useWords('moderation');
  // The room's view shows the notices of that room.
  const notices = useTopic('notices', one => one.notices()).filter(one => one.conversation === undefined);
  const guarding = useWords('siteSettings');
  const site = useTopic('me', one => one.me())?.site;
  const raid = site?.raid_until !== undefined && site.raid_until > Date.now() ? site.raid_until : undefined;
  const seen = () => client.noticesSeen().catch(() => announce(words.somethingFailed));
  const title = ({ kind, until }: Notice) => {
    if (kind === 'warning') return words.warned;
    return until === undefined ? words.youAreMuted : words.mutedUntil(words.full(until));
  };
  return (
    <>
      {site && site.access !== 'open' && (
        <div class="notice" role="status">
          <Icon name="lock" />
          <div class="grow">
            <p class="notice-title">{site.access === 'closed' ? guarding.closedNow : guarding.readOnlyNow}</p>
            {site.text && <p dir="auto">{site.text}</p>}
          </div>
        </div>
      )}
      {raid !== undefined && (
        <div class="notice" role="status">
          <Icon name="shield" />
          <p class="grow notice-title">{guarding.raidUntil(words.full(raid))}</p>
        </div>
      )}
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
