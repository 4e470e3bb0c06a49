// The browsers and apps in which the member is signed in, each with a button to sign it out.

import type { Client, Device, Unnumbered } from '@kith/client';
import { useCallback, useState } from 'preact/hooks';
import { useAppContext, useNow } from '../../app_context.tsx';
import { RequestView } from '../../ui/request/request.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './profile.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

async function askDevices(
  client: Client,
  request: Unnumbered & { t: 'devices' | 'sign_out' },
): Promise<readonly Device[]> {
  return (await client.ask(request)).devices;
}

export function DevicesSheet({ onClose }: { onClose: () => void }) {
  useStyles(css);
  const { client, announce } = useAppContext();
  const words = useWords('profile');
  const load = useCallback(() => askDevices(client, { t: 'devices' }), [client]);
  const request = useRequest(load);
  const [failed, setFailed] = useState(false);
  const signOut = (one: Device) =>
    askDevices(client, { t: 'sign_out', device: one.device }).then(
      left => {
        request.update(() => left);
        setFailed(false);
        announce(words.deviceIsOut);
      },
      () => setFailed(true),
    );
  return (
    <Sheet title={words.devices} onClose={onClose}>
      {failed && (
        <p class="sheet-form sheet-failed" role="alert">
          {words.profileFailed.other}
        </p>
      )}
      <RequestView request={request}>
        {devices => (
          <ul class="blocked-list">
            {devices.map(one => (
              <Row key={one.device} device={one} onSignOut={() => signOut(one)} />
            ))}
          </ul>
        )}
      </RequestView>
      <p class="sheet-form privacy-note">{words.devicesHint}</p>
    </Sheet>
  );
}

function Row({ device, onSignOut }: { device: Device; onSignOut(): void }) {
  const words = useWords('profile');
  const now = useNow();
  const { browser, system } = device;
  const name =
    browser && system ? words.deviceName({ browser, system }) : (browser ?? system ?? words.deviceUnknown);
  const when = device.this
    ? words.thisDevice
    : device.here
      ? words.online
      : words.lastSeen(words.ago(device.used, now));
  return (
    <li class="blocked-row">
      <span class="grow account-row">
        <span class="choice-name clip">{name}</span>
        <span class="choice-hint">{when}</span>
      </span>
      {!device.this && (
        <button type="button" class="button" aria-label={words.signOutOf(name)} onClick={onSignOut}>
          {words.signOut}
        </button>
      )}
    </li>
  );
}
