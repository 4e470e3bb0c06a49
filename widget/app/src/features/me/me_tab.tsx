// The "Me" tab: the member's presence and account, and the theme, layout and sounds of the widget.

import type { SetPresence } from '@kith/client';
import { useMemo, useState } from 'preact/hooks';
import { Avatar, PresenceMark } from '../../ui/avatar/avatar.tsx';
import choicesCss from '../../ui/choice_list/choice_list.css?inline';
import { Icon } from '../../ui/icon/icon.tsx';
import { CallSettings } from '../call_log/call_settings.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { BAR, type OpenShell } from '../../shell/open_shell.ts';
import { Empty } from '../../ui/empty_state/empty_state.tsx';
import { lazy } from '../../ui/lazy/lazy.tsx';
import { Segmented } from '../../ui/segmented/segmented.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import type { ThemeChoice } from '../../ui/theme/theme.ts';
import { useMedia } from '../../ui/use_media/use_media.ts';
import { useWords } from '../../wording/late_words.ts';
import { Account } from '../profile/account_section.tsx';
import { PushSettings } from '../push_settings/push_settings.tsx';
import { createChime } from '../toasts/chime.ts';
import { chooseSound, soundIsOn } from '../toasts/sound_preference.ts';
import css from './me_tab.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

const moderationPart = lazy(() => import('../moderation/report_queue.tsx'), 'ModerationSheet');

const CHOICES: readonly SetPresence[] = ['online', 'away', 'busy', 'invisible'];

/** `shell`: undefined if the member cannot choose a layout. */
export function MeTab({ theme, shell }: { theme: ThemeChoice; shell?: OpenShell }) {
  useStyles(choicesCss);
  useStyles(css);
  const { client, show } = useAppContext();
  const words = useWords('me');
  const calls = useWords('callLog');
  const me = useTopic('me', one => one.me());
  const roomy = useMedia(BAR);
  if (me === undefined) return <Empty hint={words.connecting} />;

  const onKeyDown = (event: KeyboardEvent) => {
    const at = CHOICES.indexOf(me.presence);
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (at + step + CHOICES.length) % CHOICES.length;
    client.setPresence(CHOICES[next] ?? 'online');
    (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=radio]')[next]?.focus();
  };
  return (
    <div class="me">
      <div class="me-card">
        <Avatar person={me} size="large" presence={me.presence === 'invisible' ? 'offline' : me.presence} />
        <p class="me-name">
          <bdi>{me.name}</bdi>
        </p>
        <p class="me-hint" dir="auto">
          {me.guest ? words.guest : words.nameFromSite}
        </p>
      </div>
      {me.role && (
        <div class="choices">
          <button type="button" class="choice" onClick={() => show(moderationPart, {})}>
            <span class="choice-mark" aria-hidden="true">
              <Icon name="shield" />
            </span>
            <span class="grow">
              <span class="choice-name">{words.moderation}</span>
              <span class="choice-hint">{words.moderationHint}</span>
            </span>
          </button>
        </div>
      )}
      <h3 class="section-title" id="me-presence">
        {words.presence}
      </h3>
      <div class="choices" role="radiogroup" aria-labelledby="me-presence" onKeyDown={onKeyDown}>
        {CHOICES.map(choice => (
          <button
            key={choice}
            type="button"
            role="radio"
            class="choice"
            aria-checked={choice === me.presence}
            tabIndex={choice === me.presence ? 0 : -1}
            onClick={() => client.setPresence(choice)}
          >
            <span class="choice-mark" aria-hidden="true">
              <PresenceMark presence={choice === 'invisible' ? 'offline' : choice} />
            </span>
            <span class="grow">
              <span class="choice-name">{words[choice]}</span>
              <span class="choice-hint">{words.presenceHint[choice]}</span>
            </span>
            {choice === me.presence && <Icon name="check" />}
          </button>
        ))}
      </div>
      <Account />
      <h3 class="section-title">{words.notifications}</h3>
      <SoundSwitch />
      <PushSettings />
      <h3 class="section-title">{calls.callsTitle}</h3>
      <CallSettings />
      <h3 class="section-title">{words.appearance}</h3>
      <div class="me-theme">
        <Segmented
          label={words.appearance}
          look="switch"
          value={theme.choice}
          choices={[
            { value: 'auto', text: words.themeAuto, icon: 'auto' },
            { value: 'light', text: words.themeLight, icon: 'sun' },
            { value: 'dark', text: words.themeDark, icon: 'moon' },
          ]}
          onChange={theme.choose}
        />
      </div>
      {shell?.corner && roomy && (
        <>
          <h3 class="section-title">{words.layout}</h3>
          <div class="me-theme">
            <Segmented
              label={words.layout}
              look="switch"
              value={shell.state().bar ? 'bar' : 'bubble'}
              choices={[
                { value: 'bubble', text: words.layoutBubble },
                { value: 'bar', text: words.layoutBar },
              ]}
              onChange={to => shell.chooseBar(to === 'bar')}
            />
          </div>
        </>
      )}
    </div>
  );
}

function SoundSwitch() {
  const words = useWords('me');
  const [on, setOn] = useState(soundIsOn);
  const chime = useMemo(createChime, []);
  const turn = () => {
    chooseSound(!on);
    setOn(!on);
    // Play the sound once as a preview.
    if (!on) chime();
  };
  return (
    <div class="choices">
      <button
        type="button"
        role="switch"
        class="choice"
        aria-checked={on}
        aria-label={words.sound}
        aria-describedby="me-sound-hint"
        onClick={turn}
      >
        <span class="choice-mark" aria-hidden="true">
          <Icon name={on ? 'bell' : 'muted'} />
        </span>
        <span class="grow">
          <span class="choice-name">{words.sound}</span>
          <span class="choice-hint" id="me-sound-hint">
            <bdi>{words.soundHint}</bdi>
          </span>
        </span>
        <span class="switch" aria-hidden="true" />
      </button>
    </div>
  );
}
