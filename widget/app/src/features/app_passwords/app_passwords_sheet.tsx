// Apps: the address and the passwords with which the member's XMPP apps sign in.

import type { AppPassword } from '@kith/client';
import { useCallback, useRef, useState } from 'preact/hooks';
import { useAppContext, useNow, useTopic } from '../../app_context.tsx';
import { Empty } from '../../ui/empty_state/empty_state.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { RequestView } from '../../ui/request/request.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { AppAddress } from './app_address.tsx';
import { failureOf } from './app_password_errors.ts';
import css from './app_passwords.css?inline';
import { NewAppPassword, PasswordShown, type ShownPassword } from './new_app_password.tsx';

export { rareWords as words } from '../../wording/late_words.ts';

/** Names of apps, the same in all languages. No links: the widget sends nobody to other sites. */
const APPS = [
  ['Android', 'Conversations'],
  ['iPhone, iPad', 'Monal'],
  ['Linux, Windows, macOS', 'Dino, Gajim'],
] as const;

export function AppPasswordsSheet({ onClose }: { onClose: () => void }) {
  useStyles(css);
  const words = useWords('appPasswords');
  const { apps } = useWords('profile');
  const isGuest = useTopic('me', one => one.me()?.guest);
  return (
    <Sheet title={apps} onClose={onClose}>
      {isGuest ? <Empty icon="lock" title={words.guestTitle} hint={words.guestHint} /> : <Apps />}
    </Sheet>
  );
}

function Apps() {
  const { client } = useAppContext();
  const words = useWords('appPasswords');
  const load = useCallback(() => client.ask({ t: 'app_passwords' }), [client]);
  const request = useRequest(load, { refresh: true });
  const change = (passwords: (before: readonly AppPassword[]) => AppPassword[]) =>
    request.update(before => ({ ...before, passwords: passwords(before.passwords) }));
  return (
    <RequestView request={request}>
      {({ address, passwords }) => (
        <div class="apps">
          {address === undefined ? (
            <Empty icon="offline" title={words.offTitle} hint={words.offHint} />
          ) : (
            <>
              <section class="app-part">
                <p>{words.intro}</p>
                <dl class="app-list">
                  {APPS.map(([system, names]) => (
                    <div key={system}>
                      <dt>{system}</dt>
                      <dd>{names}</dd>
                    </div>
                  ))}
                </dl>
                <p class="sheet-hint">{words.otherApps}</p>
              </section>
              <AppAddress address={address} />
            </>
          )}
          <Passwords passwords={passwords} mayAdd={address !== undefined} onChange={change} />
        </div>
      )}
    </RequestView>
  );
}

interface PasswordsProps {
  passwords: readonly AppPassword[];
  mayAdd: boolean;
  onChange(change: (before: readonly AppPassword[]) => AppPassword[]): void;
}

function Passwords({ passwords, mayAdd, onChange }: PasswordsProps) {
  const { client, announce, confirm } = useAppContext();
  const words = useWords('appPasswords');
  const title = useRef<HTMLHeadingElement>(null);
  const [shown, setShown] = useState<ShownPassword>();
  const [failed, setFailed] = useState<string>();
  if (!mayAdd && passwords.length === 0) return null;

  const revoke = async ({ number }: AppPassword) => {
    try {
      const left = await client.ask({ t: 'revoke_app_password', number });
      onChange(() => left.passwords);
      setFailed(undefined);
      if (shown?.row.number === number) setShown(undefined);
      announce(words.revoked);
      // The focused element was removed.
      title.current?.focus();
    } catch (error) {
      setFailed(failureOf(error, words));
    }
  };
  const ask = (one: AppPassword) =>
    confirm({
      title: words.revokeAsk(one.name),
      text: words.revokeExplain,
      action: words.revoke,
      onYes: () => void revoke(one),
    });
  const made = (one: ShownPassword) => {
    setShown(one);
    onChange(before => [one.row, ...before]);
  };
  const done = () => {
    setShown(undefined);
    title.current?.focus();
  };
  return (
    <section class="app-part" aria-labelledby="app-passwords">
      <h3 ref={title} class="app-title" id="app-passwords" tabIndex={-1}>
        {words.passwords}
      </h3>
      <p class="sheet-hint">{words.passwordsHint}</p>
      {shown ? (
        <PasswordShown key={shown.row.number} shown={shown} onDone={done} />
      ) : (
        mayAdd && <NewAppPassword onMade={made} />
      )}
      {failed && (
        <p class="sheet-failed" role="alert">
          {failed}
        </p>
      )}
      <ul class="app-rows">
        {passwords.map(one => (
          <Row key={one.number} password={one} onRevoke={() => ask(one)} />
        ))}
      </ul>
    </section>
  );
}

const HOUR = 3_600_000;

function Row({ password, onRevoke }: { password: AppPassword; onRevoke(): void }) {
  const words = useWords('appPasswords');
  const now = useNow();
  const { name, created, used, here } = password;
  const lastUse = () => {
    if (here) return words.connected;
    if (used === undefined) return words.neverUsed;
    // The server stores a sign-in at most once an hour, so a later one may follow within it.
    return now - used < HOUR ? words.usedLately : words.usedAt(words.ago(used, now));
  };
  return (
    <li class="app-row">
      <span class="grow">
        <span class="app-name">
          <bdi>{name}</bdi>
        </span>
        <span class="sheet-hint">{`${words.createdAt(words.ago(created, now))} · ${lastUse()}`}</span>
      </span>
      <button type="button" class="button" aria-label={words.revokeOf(name)} onClick={onRevoke}>
        {words.revoke}
      </button>
    </li>
  );
}
