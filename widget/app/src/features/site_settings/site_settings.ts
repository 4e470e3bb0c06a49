// The settings of a site in the admin's form: the server's schema, in groups. A new setting of a known part needs
// only its texts. A new part also needs a group; without one, type checking fails.

import type { Messages } from 'virtual:messages';
import { SETTINGS } from './settings_schema.ts';

/** For example `access` or `requests.on`. */
export type SettingPath = Exclude<keyof typeof SETTINGS, (typeof NOT_IN_THE_FORM)[number]>;

type PathWithText = PathOf<Messages['settingsForm']['settings']>;
type PathOf<T> = {
  [K in keyof T & string]: T[K] extends string ? K : `${K}.${keyof T[K] & string}`;
}[keyof T & string];

export type SettingKind =
  | { is: 'switch' }
  | { is: 'number'; least: number; most: number }
  | { is: 'text' }
  /** The field has one entry per line. */
  | { is: 'list' }
  /** `null` is the choice of the server operator's default. */
  | { is: 'choice'; values: readonly (string | null)[] };

export interface Setting {
  path: SettingPath;
  kind: SettingKind;
}

export type GroupName = keyof Messages['settingsForm']['groups'];

export interface Group {
  name: GroupName;
  settings: readonly Setting[];
}

/** Raid mode has a button, patterns have their own list, and the site's server sets the retention of single rooms. */
const NOT_IN_THE_FORM = ['raid.until', 'filters.patterns', 'retention.rooms'] as const;

type PartOf<P> = P extends `${infer Part}.${string}` ? Part : P;

const GROUP_OF_PART: Record<PartOf<keyof typeof SETTINGS>, GroupName> = {
  access: 'access',
  access_text: 'access',
  requests: 'strangers',
  calls: 'strangers',
  invitations: 'strangers',
  rooms: 'strangers',
  trust: 'newcomers',
  raid: 'raid',
  members: 'members',
  retention: 'members',
  filters: 'filters',
  previews: 'filters',
  xmpp: 'members',
  federation: 'members',
};

const SHOWN: readonly Setting[] = Object.keys(SETTINGS)
  .filter(isInTheForm)
  .map(path => ({ path, kind: SETTINGS[path] }));

function isInTheForm(path: string): path is SettingPath {
  return Object.hasOwn(SETTINGS, path) && !NOT_IN_THE_FORM.some(one => one === path);
}

export const GROUPS: readonly Group[] = groups();

/** Groups and their parts have the order of `GROUP_OF_PART`. */
function groups(): Group[] {
  const byName = new Map<GroupName, Setting[]>();
  for (const [part, name] of Object.entries(GROUP_OF_PART)) {
    const settings = SHOWN.filter(({ path }) => path.split('.')[0] === part);
    byName.set(name, [...(byName.get(name) ?? []), ...settings]);
  }
  return Array.from(byName, ([name, settings]) => ({ name, settings }));
}

/** The value at a path such as `requests.on`. */
export function valueAt(settings: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | null)?.[name], settings);
}

/** The text of a setting. Texts are nested like the settings. A setting without a text is a type error. */
export function textAt(texts: object, path: PathWithText): string | undefined {
  const text = valueAt(texts, path);
  return typeof text === 'string' ? text : undefined;
}

/** A JSON merge patch (RFC 7396) that sets the values at these paths. */
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
