// The controls of a site: raid mode and a test of the filters for moderators, and settings and roles for admins.

import { type FilterTest, RequestError, type SiteSettings } from '@kith/client';
import { useCallback, useState } from 'preact/hooks';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { RequestView } from '../../ui/request/request.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { SettingsForm } from './settings_form.tsx';
import { Roles } from './site_roles.tsx';
import css from './site_settings.css?inline';

export function SiteAdmin() {
  useStyles(css);
  const role = useTopic('me', one => one.me())?.role;
  return (
    <div class="guard">
      <RaidSwitch />
      <Tester />
      {role === 'admin' && (
        <>
          <SiteSettingsPart />
          <Roles />
        </>
      )}
    </div>
  );
}

const RAID_MINUTES = [30, 60, 240] as const;

function RaidSwitch() {
  const { client, announce } = useAppContext();
  const words = useWords('siteSettings');
  const [minutes, setMinutes] = useState<number>(RAID_MINUTES[0]);
  const until = useTopic('me', one => one.me())?.site?.raid_until;
  const isOn = until !== undefined && until > Date.now();
  const failed = () => announce(words.somethingFailed);
  const begin = () => client.moderate({ act: 'raid', until: Date.now() + minutes * 60_000 }).catch(failed);
  return (
    <section class="guard-part" aria-label={words.raidTitle}>
      <h3>{isOn ? words.raidUntil(words.full(until)) : words.raidTitle}</h3>
      <p class="sheet-hint">{words.raidHint}</p>
      {isOn ? (
        <button
          type="button"
          class="button button-main"
          onClick={() => client.moderate({ act: 'end_raid' }).catch(failed)}
        >
          {words.endRaid}
        </button>
      ) : (
        <div class="guard-line">
          <label class="sheet-field">
            <span class="hidden-text">{words.raidTitle}</span>
            <select value={minutes} onChange={event => setMinutes(Number(event.currentTarget.value))}>
              {RAID_MINUTES.map(one => (
                <option key={one} value={one}>
                  {one < 60 ? words.minutes(one) : words.hours(one / 60)}
                </option>
              ))}
            </select>
          </label>
          <button type="button" class="button" onClick={begin}>
            {words.beginRaid}
          </button>
        </div>
      )}
    </section>
  );
}

function Tester() {
  const { client, announce } = useAppContext();
  const words = useWords('siteSettings');
  const [body, setBody] = useState('');
  const [found, setFound] = useState<FilterTest>();
  const test = () =>
    client.testFilter(body).then(setFound, () => {
      announce(words.somethingFailed);
    });
  return (
    <section class="guard-part" aria-label={words.tester}>
      <h3>{words.tester}</h3>
      <p class="sheet-hint">{words.testerHint}</p>
      <form
        class="guard-form"
        onSubmit={event => {
          event.preventDefault();
          void test();
        }}
      >
        <label class="sheet-field">
          {words.testText}
          <textarea
            rows={2}
            maxLength={2_000}
            dir="auto"
            value={body}
            onInput={event => {
              setBody(event.currentTarget.value);
              setFound(undefined);
            }}
          />
        </label>
        <button type="submit" class="button" disabled={body.trim() === ''}>
          {words.test}
        </button>
      </form>
      <div role="status">
        {found && (
          <>
            <p class="guard-outcome">{words.outcome[found.act ?? 'sent']}</p>
            <ul class="guard-hits">
              {found.hits.map(hit => (
                <li key={`${hit.kind} ${hit.what}`}>
                  {words.hitKinds[hit.kind]} <bdi>{hit.what}</bdi>: {words.values[hit.act]}
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </section>
  );
}

function SiteSettingsPart() {
  const { client, announce } = useAppContext();
  const words = useWords('siteSettings');
  const [notSaved, setNotSaved] = useState<string>();
  const load = useCallback(() => client.settings(), [client]);
  const request = useRequest(load);
  const { update } = request;
  const save = useCallback(
    (patch: SiteSettings) =>
      client.settings(patch).then(
        now => {
          update(() => now);
          setNotSaved(undefined);
          announce(words.saved);
        },
        (error: unknown) => {
          const isTold = error instanceof RequestError && error.code === 'bad_value';
          setNotSaved(words.notSaved(isTold ? error.message : words.somethingFailed));
        },
      ),
    [client, announce, words, update],
  );
  return (
    <RequestView request={request}>
      {settings => <SettingsForm settings={settings} notSaved={notSaved} onSave={save} />}
    </RequestView>
  );
}
