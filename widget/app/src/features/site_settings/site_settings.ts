// All settings of a site, in the order in which an admin reads them. A new one of the server is a line here, and its words.

import type { Messages } from 'virtual:messages';

/** As `access` or `requests.on`: each has a text. */
export type SettingPath = PathOf<Messages['siteSettings']['settings']>;
type PathOf<T> = {
  [K in keyof T & string]: T[K] extends string ? K : `${K}.${keyof T[K] & string}`;
}[keyof T & string];

export type SettingKind =
  | { is: 'switch' }
  | { is: 'number'; least: number; most: number }
  | { is: 'text' }
  /** One on each line. */
  | { is: 'list' }
  | { is: 'choice'; values: readonly string[] };

export interface Setting {
  path: SettingPath;
  kind: SettingKind;
}

export interface Group {
  name: keyof Messages['siteSettings']['groups'];
  settings: readonly Setting[];
}

const count = (least: number, most: number): SettingKind => ({ is: 'number', least, most });
const onOff: SettingKind = { is: 'switch' };
const list: SettingKind = { is: 'list' };
const acts: SettingKind = { is: 'choice', values: ['reject', 'hold', 'flag'] };

export const GROUPS: readonly Group[] = [
  {
    name: 'access',
    settings: [
      { path: 'access', kind: { is: 'choice', values: ['open', 'read_only', 'closed'] } },
      { path: 'access_text', kind: { is: 'text' } },
    ],
  },
  {
    name: 'strangers',
    settings: [
      { path: 'requests.on', kind: onOff },
      { path: 'requests.messages', kind: count(1, 100) },
      { path: 'requests.per_day', kind: count(1, 1_000_000) },
      { path: 'calls.from', kind: { is: 'choice', values: ['', 'nobody', 'contacts', 'everyone'] } },
      { path: 'calls.group', kind: count(0, 6) },
      { path: 'invitations.moderators_only', kind: onOff },
      { path: 'rooms.members', kind: count(0, 1_000_000) },
    ],
  },
  {
    name: 'newcomers',
    settings: [
      { path: 'trust.on', kind: onOff },
      { path: 'trust.new_hours', kind: count(0, 10_000) },
      { path: 'trust.new_messages', kind: count(0, 1_000) },
      { path: 'trust.trusted_days', kind: count(0, 10_000) },
      { path: 'trust.trusted_messages', kind: count(0, 1_000) },
      { path: 'trust.new_links', kind: onOff },
      { path: 'trust.new_requests_per_day', kind: count(0, 1_000_000) },
      { path: 'trust.new_rooms_per_day', kind: count(0, 1_000_000) },
      { path: 'trust.rooms_per_day', kind: count(0, 1_000_000) },
    ],
  },
  {
    name: 'raid',
    settings: [
      { path: 'raid.new_per_minute', kind: count(0, 1_000_000) },
      { path: 'raid.minutes', kind: count(1, 10_000) },
    ],
  },
  {
    name: 'members',
    settings: [
      { path: 'members.rename', kind: onOff },
      { path: 'members.remove', kind: onOff },
      { path: 'members.devices', kind: onOff },
      { path: 'members.deleted_name', kind: { is: 'text' } },
      { path: 'retention.days', kind: count(0, 36_500) },
    ],
  },
  {
    name: 'filters',
    settings: [
      { path: 'filters.words', kind: list },
      { path: 'filters.words_act', kind: acts },
      { path: 'filters.links', kind: { is: 'choice', values: ['allow', 'deny'] } },
      { path: 'filters.domains', kind: list },
      { path: 'filters.links_act', kind: acts },
      { path: 'previews.on', kind: onOff },
    ],
  },
];

/** The value at a path, as `requests.on`. */
export function valueAt(settings: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | null)?.[name], settings);
}

/** The text of a setting; its texts are nested as the settings are. */
export function textAt(texts: object, path: SettingPath): string | undefined {
  return valueAt(texts, path) as string | undefined;
}

/** A merge patch (RFC 7396) that sets what is at these paths. */
export function patchOf(values: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const [path, value] of values) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    let at = patch;
    for (const name of names) {
      at[name] ??= {};
      at = at[name] as Record<string, unknown>;
    }
    at[last] = value;
  }
  return patch;
}
