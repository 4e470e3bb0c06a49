// The privacy settings for new conversations, presence and last visit. A choice applies at once.

import type { Audience, OwnProfile, Profile } from '@kith/client';
import { useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './profile.css?inline';
import { changeProfile } from './profile_requests.ts';

export { lateWords as words } from '../../wording/late_words.ts';

type What = 'may_write' | 'see_presence' | 'see_last_seen';
const AUDIENCES: readonly Audience[] = ['everybody', 'contacts', 'nobody'];

interface Props {
  profile: Profile;
  onChanged(now: Profile): void;
  onClose(): void;
}

export function PrivacySheet({ profile, onChanged, onClose }: Props) {
  useStyles(css);
  const { client, announce } = useAppContext();
  const words = useWords('profile');
  const [own, setOwn] = useState(profile.own);
  const [failed, setFailed] = useState(false);
  if (own === undefined) return null;
  const choose = (what: What) => (audience: Audience) => {
    const before = own;
    setFailed(false);
    setOwn({ ...own, [what]: audience });
    changeProfile(client, { [what]: audience }).then(
      now => {
        setOwn(now.own);
        onChanged(now);
        announce(words.saved);
      },
      () => {
        setOwn(before);
        setFailed(true);
      },
    );
  };
  return (
    <Sheet title={words.privacy} onClose={onClose}>
      <div class="sheet-form">
        <Choice
          what="may_write"
          own={own}
          name={words.mayWrite}
          hint={words.mayWriteHint}
          nobody={words.nobodyNew}
          onChoose={choose('may_write')}
        />
        <Choice
          what="see_presence"
          own={own}
          name={words.seePresence}
          hint={words.invisibleToo}
          nobody={words.audiences.nobody}
          onChoose={choose('see_presence')}
        />
        <Choice
          what="see_last_seen"
          own={own}
          name={words.seeLastSeen}
          hint={words.seeLastSeenHint}
          nobody={words.audiences.nobody}
          onChoose={choose('see_last_seen')}
        />
        {failed && (
          <p class="sheet-failed" role="alert">
            {words.profileFailed.other}
          </p>
        )}
      </div>
    </Sheet>
  );
}

interface ChoiceProps {
  what: What;
  own: OwnProfile;
  name: string;
  hint: string;
  nobody: string;
  onChoose(audience: Audience): void;
}

function Choice({ what, own, name, hint, nobody, onChoose }: ChoiceProps) {
  const words = useWords('profile');
  return (
    <fieldset class="sheet-choices" aria-describedby={`privacy-${what}`}>
      <legend>{name}</legend>
      {AUDIENCES.map(audience => (
        <label key={audience} class="sheet-choice">
          <input
            type="radio"
            name={what}
            value={audience}
            checked={own[what] === audience}
            onChange={() => onChoose(audience)}
          />
          {audience === 'nobody' ? nobody : words.audiences[audience]}
        </label>
      ))}
      <p class="privacy-note" id={`privacy-${what}`}>
        {hint}
      </p>
    </fieldset>
  );
}
