// Reads and checks the settings of a widget, from the attributes of the script tag or from the options of `mount`. A
// wrong value causes a warning on the console, and the default is used.

import { fieldsOf } from './fields_of.ts';
import type { MountOptions } from './kith.ts';

export interface Settings {
  site: string;
  /** Origin and path prefix of the Kith server, without a slash at the end. */
  server: string;
  mode: Mode;
  /** In mode `embed`: the id of the room, or the path of a page of the site, which begins with a slash. */
  room?: string;
  /** In mode `embed`, instead of a room: the conversation with this user. */
  person?: string;
  /** The name of a page's room, from `data-room-name`. Default: the title of this page, if the room belongs to it. */
  roomName?: string;
  /** In mode `embed`: a selector of the element that contains the chat. Default: the parent of the tag. */
  into?: string;
  /** A BCP 47 tag, from `data-lang`, else the page, else the browser. */
  lang: string;
  theme: 'light' | 'dark' | 'auto';
  position: 'left' | 'right';
  /** The address of tokens, on the same origin as the page. */
  tokenUrl?: string;
  /** The member's id, if the page knows it. Then tabs that follow the leading one need no token. */
  user?: string;
  nonce?: string;
  /** Address of the site's service worker for notifications. */
  worker: string;
  /** Whether the page's icon gets a dot while a message is unread. */
  iconDot: boolean;
  /** Selectors of elements that must not be covered. */
  avoid?: string;
}

type Mode = 'bubble' | 'bar' | 'inbox' | 'embed';

/** The settings of the tag. `headless`: it has no widget; the page mounts widgets, or uses the client. */
export type TagSettings = Omit<Settings, 'mode'> & { mode: Mode | 'headless' };

export interface PageSettings {
  lang: string;
  dir: string;
  languages: readonly string[];
  path?: string;
  title?: string;
}

/** Undefined if the tag cannot work, for example without a site. */
export function readSettings(script: HTMLScriptElement, page: PageSettings): TagSettings | undefined {
  const { site, server, lang, theme, position, tokenUrl, user, icon, into, serviceWorker, avoid } =
    script.dataset;
  if (site === undefined || !/^[a-z0-9-]{1,64}$/.test(site)) {
    console.error('kith: the script tag needs data-site="…", the key of your site');
    return undefined;
  }
  const { mode, room, person } = script.dataset;
  let wanted = oneOf('data-mode', mode, [...MODES, 'headless']) ?? 'bubble';
  if (wanted === 'embed' && !room && !person) {
    console.warn(
      'kith: data-mode="embed" needs data-room="…", a room or the path of a page, or data-person="…"',
    );
    wanted = 'bubble';
  }
  return {
    site,
    server: (server ?? new URL('.', script.src).href).replace(/\/+$/, ''),
    mode: wanted,
    lang: lang || page.lang || page.languages[0] || 'en',
    theme: oneOf('data-theme', theme, THEMES) ?? 'auto',
    position: oneOf('data-position', position, SIDES) ?? (page.dir === 'rtl' ? 'left' : 'right'),
    // A nonce indicates a policy, which may forbid the data address of a changed icon (`img-src data:`).
    iconDot: (oneOf('data-icon', icon, ['dot', 'same']) ?? (script.nonce ? 'same' : 'dot')) === 'dot',
    worker: serviceWorker || '/kith-sw.js',
    ...chatOf(script.dataset, page),
    ...(into && { into }),
    ...(avoid && { avoid }),
    ...(tokenUrl && { tokenUrl }),
    ...(user && { user }),
    ...(script.nonce && { nonce: script.nonce }),
  };
}

const MODES = ['bubble', 'bar', 'inbox', 'embed'] as const;
const THEMES = ['auto', 'light', 'dark'] as const;
const SIDES = ['left', 'right'] as const;
const TEXTS = ['site', 'mode', 'room', 'person', 'roomName', 'position', 'theme', 'avoid'];

/** Undefined if the options cannot work. The console shows the reason. */
export function mountSettings(tag: TagSettings, options: MountOptions): Settings | undefined {
  const texts: Partial<Record<string, string>> = {};
  const given = fieldsOf(options);
  for (const [name, value] of Object.entries(given)) {
    if (name === 'element' || value === undefined || value === null) continue;
    if (!TEXTS.includes(name)) console.warn(`kith: mount() has no option ${name}`);
    else if (typeof value !== 'string') console.warn(`kith: mount(): ${name} must be a text`);
    else texts[name] = value;
  }
  const { element } = given;
  const { site = tag.site, room, person, avoid = tag.avoid } = texts;
  const mode = oneOf('mode', texts.mode, MODES) ?? (element ? 'embed' : 'bubble');
  const wrong =
    typeof options !== 'object'
      ? 'it takes an object of options'
      : site !== tag.site
        ? `this page is connected to the site ${tag.site}, and cannot show ${site}`
        : mode !== 'embed'
          ? element && `mode ${mode} takes no element`
          : !(element instanceof HTMLElement)
            ? 'element must be an HTML element of this page'
            : !room && !person && 'mode embed needs a room or a person';
  if (wrong) {
    console.error(`kith: mount(): ${wrong}`);
    return undefined;
  }
  const { room: _, person: __, roomName: ___, into: ____, ...shared } = tag;
  return {
    ...shared,
    mode,
    theme: oneOf('theme', texts.theme, THEMES) ?? tag.theme,
    position: oneOf('position', texts.position, SIDES) ?? tag.position,
    ...chatOf(texts, { path: location.pathname, title: document.title }),
    ...(avoid && { avoid }),
  };
}

/** The chat that a widget embeds. */
function chatOf(
  { room, person, roomName }: Partial<Record<string, string>>,
  page: Pick<PageSettings, 'path' | 'title'>,
): Pick<Settings, 'room' | 'person' | 'roomName'> {
  const named = (roomName || (room === page.path && page.title) || '').trim().slice(0, MOST_NAME);
  return {
    ...(room && { room }),
    ...(!room && person && { person }),
    ...(room?.startsWith('/') && named && { roomName: named }),
  };
}

/** The maximum length of a room's name. */
const MOST_NAME = 100;

function oneOf<const T extends string>(
  name: string,
  value: string | undefined,
  allowed: readonly T[],
): T | undefined {
  const found = allowed.find(one => one === value);
  if (value && !found) console.warn(`kith: ${name}="${value}" is not one of ${allowed.join(', ')}`);
  return found;
}
