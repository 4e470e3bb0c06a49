// The log of moderators' acts, newest first.

import type { AuditEntry } from '@kith/client';
import { useCallback } from 'preact/hooks';
import { useAppContext, useNow, useTopic } from '../../app_context.tsx';
import { NextPage, RequestView } from '../../ui/request/request.tsx';
import { usePages } from '../../ui/request/use_pages.ts';
import { useWords } from '../../wording/late_words.ts';

export function ModerationLog() {
  const { client } = useAppContext();
  const words = useWords('moderation');
  const load = useCallback(
    async (after?: string) => {
      const { entries, next } = await client.audit(after);
      return { items: entries, next };
    },
    [client],
  );
  const pages = usePages(load);
  return (
    <RequestView request={pages} empty={<p class="sheet-hint audit-none">{words.recordNone}</p>}>
      {entries => (
        <>
          <ol class="audit" aria-label={words.record}>
            {entries.map(one => (
              <Entry key={one.number} entry={one} />
            ))}
          </ol>
          <NextPage pages={pages} text={words.more} />
        </>
      )}
    </RequestView>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const guarding = useWords('siteSettings');
  const words = useWords('moderation');
  const now = useNow();
  const by = entry.by ?? '';
  const user = entry.user ?? '';
  const moderator = useTopic(`person:${by}`, one => (by === '' ? undefined : one.person(by).name));
  const name = useTopic(`person:${user}`, one => (user === '' ? undefined : one.person(user).name));
  const acts: Record<string, string> = { ...guarding.recorded, ...words.recordActs };
  return (
    <li class="audit-entry">
      <p>
        <bdi>{moderator ?? words.bySite}</bdi> {acts[entry.act] ?? entry.act} {name && <bdi>{name}</bdi>}
      </p>
      <p class="report-by">
        {words.ago(entry.time, now)}
        {entry.detail && (
          <>
            {' · '}
            <bdi>{detailOf(entry.detail, words.full)}</bdi>
          </>
        )}
      </p>
    </li>
  );
}

/** Formats a log entry's detail: an end time in milliseconds, or changed settings as a JSON merge patch. */
function detailOf(detail: string, full: (time: number) => string): string {
  if (detail.startsWith('{')) {
    try {
      return settingsOf(JSON.parse(detail)).join(', ');
    } catch {
      // The detail is no JSON, so show it unchanged.
    }
  }
  return detail.replace(/^until (\d+)/, (_, time) => `→ ${full(Number(time))}`);
}

function settingsOf(patch: unknown, path = ''): string[] {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch))
    return [`${path} = ${typeof patch === 'string' ? patch : JSON.stringify(patch)}`];
  return Object.entries(patch).flatMap(([name, one]) => settingsOf(one, path ? `${path}.${name}` : name));
}
