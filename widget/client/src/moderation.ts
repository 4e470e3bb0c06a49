// Requests to the server about message requests, reports and moderation. Loaded when first needed.

import {
  type ConversationKey,
  type FilterTest,
  type ModerationAction,
  type ReportTarget,
  RequestError,
  type SiteSettings,
} from './client.ts';
import { page } from './page_request.ts';
import type { Replica } from './replica.ts';
import type { Ask } from './request.ts';
import type { AuditEntry, Report, ReportReason, ReportState, RequestAnswer } from './wire.ts';

export interface ModerationHost {
  replica: Replica;
  ask: Ask;
}

function idOf({ replica }: ModerationHost, key: ConversationKey): string {
  const { id } = replica.known(key);
  if (id === undefined) throw new RequestError('no_such_conversation');
  return id;
}

export async function answer(host: ModerationHost, key: ConversationKey, what: RequestAnswer): Promise<void> {
  await host.ask({ t: 'request', conversation: idOf(host, key), answer: what });
}

export async function report(
  host: ModerationHost,
  target: ReportTarget,
  reason: ReportReason,
  text?: string,
): Promise<number> {
  const of =
    'user' in target
      ? target
      : 'room' in target
        ? { conversation: idOf(host, target.room) }
        : { conversation: idOf(host, target.key), seq: target.seq };
  const event = await host.ask({ t: 'report', ...of, reason, ...(text && { text }) });
  return event.report;
}

export async function noticesSeen(host: ModerationHost): Promise<void> {
  await host.ask({ t: 'notices', seen: true });
}

export async function reports(
  host: ModerationHost,
  state?: ReportState,
  after?: string,
): Promise<{ reports: Report[]; next?: string }> {
  const event = await host.ask({ t: 'reports', ...(state && { state }), ...page(undefined, after) });
  return { reports: event.reports, ...(event.next !== undefined && { next: event.next }) };
}

export async function moderate(host: ModerationHost, act: ModerationAction): Promise<Report | undefined> {
  return (await host.ask({ t: 'moderate', ...act })).report;
}

export async function testFilter(host: ModerationHost, body: string): Promise<FilterTest> {
  const event = await host.ask({ t: 'test_filter', body });
  return { hits: event.hits, ...(event.act && { act: event.act }) };
}

export async function settings(host: ModerationHost, patch?: SiteSettings): Promise<SiteSettings> {
  const event = await host.ask(patch ? { t: 'configure', patch } : { t: 'settings' });
  return event.settings;
}

export async function audit(
  host: ModerationHost,
  after?: string,
): Promise<{ entries: AuditEntry[]; next?: string }> {
  const event = await host.ask({ t: 'audit', ...page(undefined, after) });
  return { entries: event.entries, ...(event.next !== undefined && { next: event.next }) };
}
