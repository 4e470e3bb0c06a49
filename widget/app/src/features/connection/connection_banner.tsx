// The banner that shows a connection problem and what the user can do about it.

import { useEffect } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useClient, useTopic } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './connection_banner.css?inline';
import type { Trouble } from './connection_problem.ts';

export { lateWords as words } from '../../wording/late_words.ts';

export function ConnectionBanner({ trouble: shown }: { trouble: Trouble }) {
  useStyles(css);
  const client = useClient();
  const words = useWords('connection');
  const { announce } = useAppContext();
  const { until, reason } = useTopic('status', one => one.status());
  useEffect(() => {
    if (shown === 'new_version') announce(words.newVersion);
  }, [shown, announce, words]);
  const texts: Record<Trouble, string> = {
    lost: words.offlineBanner,
    connecting: words.connecting,
    signed_out: `${words.signedOut} ${words.signedOutHint}`,
    replaced: words.replaced,
    banned: until ? words.bannedUntil(words.full(until)) : words.banned,
    site_closed: words.siteClosed,
    refused: words.refused,
    new_version: words.newVersion,
  };
  return (
    <div class={`banner banner-${shown}`}>
      <Icon name={shown === 'connecting' ? 'retry' : 'offline'} />
      <span class="grow">{reason ? `${texts[shown]} ${reason}` : texts[shown]}</span>
      {shown === 'lost' && (
        <button type="button" class="button button-plain" onClick={() => client.connect()}>
          {words.tryAgain}
        </button>
      )}
      {shown === 'new_version' && (
        <button type="button" class="button button-plain" onClick={() => location.reload()}>
          {words.reload}
        </button>
      )}
      {shown === 'replaced' && (
        <button type="button" class="button button-plain" onClick={() => client.connect()}>
          {words.useHere}
        </button>
      )}
    </div>
  );
}
