import { useState } from 'preact/hooks';
import type { Stories } from '../../../dev/story.ts';
import { Icon } from '../icon/icon.tsx';
import { useStyles } from '../styles/use_styles.ts';
import css from './choice_list.css?inline';

function Switch() {
  useStyles(css);
  const [on, setOn] = useState(true);
  return (
    <div class="choices">
      <h3 class="section-title">Calls</h3>
      <button type="button" role="switch" class="choice" aria-checked={on} onClick={() => setOn(!on)}>
        <span class="choice-mark" aria-hidden="true">
          <Icon name="lock" />
        </span>
        <span class="grow">
          <span class="choice-name">Hide my IP address</span>
          <span class="choice-hint">Calls always use the relay of the server</span>
        </span>
        <span class="switch" aria-hidden="true" />
      </button>
    </div>
  );
}

export const stories: Stories = { 'a switch': () => <Switch /> };
