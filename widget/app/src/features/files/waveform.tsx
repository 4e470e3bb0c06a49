// The loudness of a voice message as bars. The played part has the full colour.

import { useStyles } from '../../ui/styles/use_styles.ts';
import { heights } from './peaks.ts';
import css from './waveform.css?inline';

/** `share`: the played part, from 0 to 1. */
export function Waveform({ peaks, share }: { peaks: string; share: number }) {
  useStyles(css);
  const bars = heights(peaks);
  return (
    <span class="waveform" aria-hidden="true">
      {bars.map((height, at) => (
        <span
          key={at}
          class={at < share * bars.length ? 'waveform-bar is-played' : 'waveform-bar'}
          style={{ '--height': `${Math.round(height * 100)}%` }}
        />
      ))}
    </span>
  );
}
