// The settings of a site as an admin reads them: those of the server's schema, in groups. A setting of a known part needs only
// its words; a new part needs a group too, or the types do not fit.

import type { Messages } from 'virtual:messages';
import { SETTINGS } from './settings_schema.ts';

/** As `access` or `requests.on`. */
export type SettingPath = Exclude<keyof typeof SETTINGS, (typeof NOT_IN_THE_FORM)[number]>;

type PathWithText = PathOf<Messages['siteSettings']['settings']>;
type PathOf<T> = {
  [K in keyof T & string]: T[K] extends string ? K : `${K}.${keyof T[K] & string}`;
}[keyof T & string];

export type SettingKind =
  | { is: 'switch' }
  | { is: 'number'; least: number; most: number }
  | { is: 'text' }
  /** One on each line. */
  | { is: 'list' }
  /** `null`: as the operator of the server has it. */
  | { is: 'choice'; values: readonly (string | null)[] };

export interface Setting {
  path: SettingPath;
  kind: SettingKind;
}

export type GroupName = keyof Messages['siteSettings']['groups'];

export interface Group {
  name: GroupName;
  settings: readonly Setting[];
}

/** Raid mode has a button, patterns have a list of their own, and rooms with a time of their own are set by the site's server. */
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
};

const SHOWN: readonly Setting[] = Object.keys(SETTINGS)
  .filter(isInTheForm)
  .map(path => ({ path, kind: SETTINGS[path] }));

function isInTheForm(path: string): path is SettingPath {
  return Object.hasOwn(SETTINGS, path) && !NOT_IN_THE_FORM.some(one => one === path);
}

export const GROUPS: readonly Group[] = groups();

/** Groups, and the parts in each, in the order of the table above. */
function groups(): Group[] {
  const byName = new Map<GroupName, Setting[]>();
  for (const [part, name] of Object.entries(GROUP_OF_PART)) {
    const settings = SHOWN.filter(({ path }) => path.split('.')[0] === part);
    byName.set(name, [...(byName.get(name) ?? []), ...settings]);
  }
  return Array.from(byName, ([name, settings]) => ({ name, settings }));
}

/** The value at a path, as `requests.on`. */
export function valueAt(settings: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | null)?.[name], settings);
}

/** The text of a setting; its texts are nested as the settings are. A setting without a text is an error of types. */
export function textAt(texts: object, path: PathWithText): string | undefined {
  const text = valueAt(texts, path);
  return typeof text === 'string' ? text : undefined;
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
