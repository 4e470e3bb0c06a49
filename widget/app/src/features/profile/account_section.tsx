// The account section of the "Me" tab: status, privacy, blocked users, devices and the member's data.

import type { Profile } from '@kith/client';
import { useCallback } from 'preact/hooks';
import { Icon, type IconName } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { lazy } from '../../ui/lazy/lazy.tsx';
import { LoadFailed } from '../../ui/request/request.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './profile.css?inline';
import { askProfile } from './profile_requests.ts';

const statusPart = lazy(() => import('./status_sheet.tsx'), 'StatusSheet');
const privacyPart = lazy(() => import('./privacy_sheet.tsx'), 'PrivacySheet');
const devicesPart = lazy(() => import('./devices_sheet.tsx'), 'DevicesSheet');
const appsPart = lazy(() => import('../app_passwords/app_passwords_sheet.tsx'), 'AppPasswordsSheet');
const dataPart = lazy(() => import('./data_sheet.tsx'), 'DataSheet');
const blockedPart = lazy(() => import('./blocked_sheet.tsx'), 'BlockedSheet');

export function Account() {
  useStyles(css);
  const { client, show } = useAppContext();
  const words = useWords('profile');
  const load = useCallback(() => askProfile(client), [client]);
  const { data: profile, failed, retry, update } = useRequest(load, { refresh: true });
  const blocked = useTopic('contacts', one => one.contacts()).contacts.filter(one => one.state === 'blocked');
  const mayRemove = profile?.own?.may_remove === true;
  const open = profile && { profile, onChanged: (now: Profile) => update(() => now) };
  return (
    <>
      <h3 class="section-title">{words.account}</h3>
      {failed && profile === undefined && <LoadFailed onRetry={retry} />}
      <div class="choices">
        <Row
          icon="smile"
          name={profile?.status ?? words.statusNone}
          hint={words.statusHint}
          onOpen={() => open && show(statusPart, open)}
        />
        <Row
          icon="lock"
          name={words.privacy}
          hint={words.privacyHint}
          onOpen={() => open && show(privacyPart, open)}
        />
        <Row
          icon="block"
          name={words.blocked}
          hint={blocked.length === 0 ? words.blockedNobody : words.blockedCount(blocked.length)}
          onOpen={() => show(blockedPart, {})}
        />
        {profile?.own?.devices && (
          <Row
            icon="shield"
            name={words.devices}
            hint={words.devicesRow}
            onOpen={() => show(devicesPart, {})}
          />
        )}
        {profile?.own?.apps && (
          <Row icon="app" name={words.apps} hint={words.appsRow} onOpen={() => show(appsPart, {})} />
        )}
        <Row
          icon="save"
          name={words.yourData}
          hint={mayRemove ? words.yourDataHint : words.yourDataCopy}
          onOpen={() => show(dataPart, { mayRemove })}
        />
      </div>
    </>
  );
}

interface RowProps {
  icon: IconName;
  name: string;
  hint: string;
  onOpen(): void;
}

function Row({ icon, name, hint, onOpen }: RowProps) {
  return (
    <button type="button" class="choice" aria-haspopup="dialog" onClick={onOpen}>
      <span class="choice-mark" aria-hidden="true">
        <Icon name={icon} />
      </span>
      <span class="grow account-row">
        <span class="choice-name clip" dir="auto">
          {name}
        </span>
        <span class="choice-hint">{hint}</span>
      </span>
    </button>
  );
}
