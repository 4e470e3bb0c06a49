// The moderators' queue of reports, with the possible acts and the log of past acts.

import { direct, type Report, type ReportState, room } from '@kith/client';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Empty } from '../../ui/empty_state/empty_state.tsx';
import { NextPage, RequestView } from '../../ui/request/request.tsx';
import { usePages } from '../../ui/request/use_pages.ts';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useNow, useTopic } from '../../app_context.tsx';
import { Segmented } from '../../ui/segmented/segmented.tsx';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { SiteAdmin } from '../site_settings/site_admin.tsx';
import css from './moderation.css?inline';
import { failureOf } from './moderation_errors.ts';
import { ModerationLog } from './moderation_log.tsx';
import { ModeratorActionForm } from './moderator_action_form.tsx';

export { rareWords as words } from '../../wording/late_words.ts';

export function ModerationSheet({ onClose }: { onClose(): void }) {
  useStyles(css);
  const words = useWords('moderation');
  const guarding = useWords('siteSettings');
  const [part, setPart] = useState<ReportState | 'record' | 'guard'>('open');
  return (
    <Sheet title={words.moderation} onClose={onClose}>
      <div class="list-tools">
        <Segmented<ReportState | 'record' | 'guard'>
          label={words.moderation}
          look="chips"
          value={part}
          choices={[
            { value: 'open', text: words.stateOpen },
            { value: 'taken', text: words.stateTaken },
            { value: 'closed', text: words.stateClosed },
            { value: 'record', text: words.record },
            { value: 'guard', text: guarding.guard },
          ]}
          onChange={setPart}
        />
      </div>
      {part === 'record' && <ModerationLog />}
      {part === 'guard' && <SiteAdmin />}
      {part !== 'record' && part !== 'guard' && <Reports key={part} state={part} onLeave={onClose} />}
    </Sheet>
  );
}

function Reports({ state, onLeave }: { state: ReportState; onLeave(): void }) {
  const { client } = useAppContext();
  const words = useWords('moderation');
  const load = useCallback(
    async (after?: string) => {
      const { reports, next } = await client.reports(state, after);
      return { items: reports, next };
    },
    [client, state],
  );
  const pages = usePages(load, { refresh: true });
  const { update } = pages;
  const changed = useCallback(
    (now: Report) =>
      update(before => {
        const rest = before.filter(one => one.report !== now.report);
        if (now.state !== state) return rest;
        return [...rest, now].sort((a, b) => b.report - a.report);
      }),
    [update, state],
  );
  useEffect(() => client.on('report', changed), [client, changed]);
  return (
    <RequestView
      request={pages}
      empty={<Empty icon="check" title={words.noReports} hint={words.noReportsHint} />}
    >
      {reports => (
        <ul class="reports" aria-label={words.reports}>
          {reports.map(one => (
            <ReportCard key={one.report} report={one} onChanged={changed} onLeave={onLeave} />
          ))}
          {pages.hasMore && (
            <li class="reports-more">
              <NextPage pages={pages} text={words.more} />
            </li>
          )}
        </ul>
      )}
    </RequestView>
  );
}

interface CardProps {
  report: Report;
  onChanged(now: Report): void;
  onLeave(): void;
}

function ReportCard({ report, onChanged, onLeave }: CardProps) {
  const { client, announce, openChat } = useAppContext();
  const words = useWords('moderation');
  const now = useNow();
  const [acting, setActing] = useState(false);
  const [closing, setClosing] = useState<string>();
  const guarding = useWords('siteSettings');
  const isHeld = report.held === true && report.state !== 'closed';
  const reporter = report.by ?? '';
  const user = report.user ?? reporter;
  const person = useTopic(`person:${user}`, one => one.person(user));
  const by = useTopic(`person:${reporter}`, one => (reporter === '' ? undefined : one.person(reporter)));
  const moderator = report.moderator;
  const failed = (error: unknown) => announce(failureOf(error, words));
  const act = (
    what: 'take_report' | 'close_report' | 'reopen_report' | 'approve' | 'refuse',
    reason?: string,
  ) =>
    client.moderate({ act: what, report: report.report, ...(reason && { reason }) }).then(done => {
      if (done) onChanged(done);
    }, failed);
  const remove = () =>
    client
      .moderate({ act: 'delete', conversation: report.conversation ?? '', seq: report.seq ?? 0 })
      .then(() => announce(words.messageDeleted), failed);
  return (
    <li class="report">
      <div class="report-head">
        <Avatar person={person} size="small" />
        <div class="grow">
          <p class="report-who">
            <bdi>{report.user === undefined ? words.reportRoom : person.name}</bdi>
            <span class="report-reason">
              {report.reason === 'filter' ? guarding.filter : words.reasons[report.reason]}
            </span>
          </p>
          <p class="report-by">
            {`${by ? words.reportedBy(by.name) : guarding.filterFound} · ${words.ago(report.time, now)}`}
            {moderator !== undefined && ` · ${words.lookedAfterBy(client.person(moderator).name)}`}
          </p>
        </div>
      </div>
      {report.text && (
        <blockquote class="report-text" dir="auto">
          {report.reason === 'filter' ? whatFits(report.text, guarding.hitKinds) : report.text}
        </blockquote>
      )}
      {report.lines && report.lines.length > 0 && (
        <ol class="report-lines">
          {report.lines.map(line => (
            <li
              key={line.seq}
              class={
                line.seq === report.seq || (report.held && line === report.lines?.at(-1))
                  ? 'report-line is-reported'
                  : 'report-line'
              }
            >
              <span class="report-from">
                <bdi>{client.person(line.from).name}</bdi>
                <time>{words.clock(line.time)}</time>
              </span>
              {line.seq === report.seq &&
                report.former?.map(former => (
                  <del class="report-former" dir="auto" key={former.until}>
                    {former.body} <time>{words.clock(former.until)}</time>
                  </del>
                ))}
              <span dir="auto">{line.body || words.deletedMessage}</span>
            </li>
          ))}
        </ol>
      )}
      {isHeld && <p class="report-by">{guarding.heldHint}</p>}
      {report.note && <p class="report-note">{report.note}</p>}
      <div class="report-buttons">
        {isHeld && (
          <button type="button" class="button button-main" onClick={() => act('approve')}>
            {guarding.approve}
          </button>
        )}
        {report.state === 'open' && !isHeld && (
          <button type="button" class="button button-main" onClick={() => act('take_report')}>
            {words.take}
          </button>
        )}
        {report.state !== 'closed' && report.seq !== undefined && (
          <button type="button" class="button" onClick={remove}>
            {words.deleteMessage}
          </button>
        )}
        {report.user !== undefined && (
          <button type="button" class="button" aria-expanded={acting} onClick={() => setActing(!acting)}>
            {words.act(person.name)}
          </button>
        )}
        {report.state === 'closed' ? (
          <button type="button" class="button" onClick={() => act('reopen_report')}>
            {words.reopen}
          </button>
        ) : (
          <button
            type="button"
            class="button"
            aria-expanded={closing !== undefined}
            onClick={() => setClosing(closing === undefined ? '' : undefined)}
          >
            {isHeld ? guarding.refuse : words.closeReport}
          </button>
        )}
        {report.user === undefined && report.conversation !== undefined && (
          <button
            type="button"
            class="button"
            onClick={() => {
              onLeave();
              openChat(room(report.conversation ?? ''));
            }}
          >
            {words.toRoom}
          </button>
        )}
        {by && (
          <button
            type="button"
            class="button button-plain"
            onClick={() => {
              onLeave();
              openChat(direct(by.user));
            }}
          >
            {words.writeToThem(by.name)}
          </button>
        )}
      </div>
      {acting && report.user !== undefined && (
        <ModeratorActionForm user={report.user} name={person.name} onDone={() => setActing(false)} />
      )}
      {closing !== undefined && (
        <form
          class="report-act"
          onSubmit={event => {
            event.preventDefault();
            void act(isHeld ? 'refuse' : 'close_report', closing.trim());
            setClosing(undefined);
          }}
        >
          <label class="sheet-field">
            {isHeld ? guarding.refuseWhy : words.note}
            <input
              maxLength={300}
              dir="auto"
              value={closing}
              onInput={event => setClosing(event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="button button-main">
            {isHeld ? guarding.refuse : words.closeReport}
          </button>
        </form>
      )}
    </li>
  );
}

/** Translates the kinds in a filter's note, such as `word: casino, link: spam.example`. */
function whatFits(note: string, kinds: Record<string, string>): string {
  return note
    .replace(/^unreadable: $/, kinds.unreadable ?? '')
    .replace(/(^|, )(word|link|pattern): /g, (_, before, kind) => `${before}${kinds[kind]}: `);
}
