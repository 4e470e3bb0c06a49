// The script tag's attributes, checked. A wrong one falls back to the default and says so once.

/** From the script tag's attributes. */
export interface Settings {
  site: string;
  /** Origin and path prefix of the Kith server, without a slash at the end. */
  server: string;
  mode: 'bubble' | 'bar' | 'inbox' | 'embed';
  /** In mode `embed`: the room, by its id, or that of a page of the site, which begins with a slash. */
  room?: string;
  /** The name of a page's room here; from `data-room-name`, else this page's title if the room is this page's. */
  roomName?: string;
  /** In mode `embed`: a selector of the element that it goes into; without it, the tag's own parent. */
  into?: string;
  /** BCP 47; from `data-lang`, else the page's, else the browser's. */
  lang: string;
  theme: 'light' | 'dark' | 'auto';
  position: 'left' | 'right';
  /** Where to fetch a token, same origin as the page. */
  tokenUrl?: string;
  /** The member's id, where the page knows it: saves followers of the leading tab a token. */
  user?: string;
  nonce?: string;
  /** Address of the site's service worker for notifications. */
  worker: string;
  /** A dot on the page's icon while something is unread. */
  iconDot: boolean;
  /** Selectors of what shall not be covered. */
  avoid?: string;
}

/** Undefined where the tag cannot work: without a site there is nobody to connect to. */
export function readSettings(
  script: HTMLScriptElement,
  page: { lang: string; dir: string; languages: readonly string[]; path?: string; title?: string },
): Settings | undefined {
  const {
    site,
    server,
    mode,
    lang,
    theme,
    position,
    tokenUrl,
    user,
    icon,
    room,
    roomName,
    into,
    serviceWorker,
    avoid,
  } = script.dataset;
  if (site === undefined || !/^[a-z0-9-]{1,64}$/.test(site)) {
    console.error('kith: the script tag needs data-site="…", the key of your site');
    return undefined;
  }
  const named = (roomName || (room === page.path && page.title) || '').trim().slice(0, MOST_NAME);
  return {
    site,
    server: (server ?? new URL('.', script.src).href).replace(/\/+$/, ''),
    mode: modeOf(mode, room),
    lang: lang || page.lang || page.languages[0] || 'en',
    theme: oneOf('data-theme', theme, ['auto', 'light', 'dark'] as const) ?? 'auto',
    position:
      oneOf('data-position', position, ['left', 'right'] as const) ?? (page.dir === 'rtl' ? 'left' : 'right'),
    // A nonce means a policy, and that may forbid what a changed icon needs: `img-src data:`.
    iconDot:
      (oneOf('data-icon', icon, ['dot', 'same'] as const) ?? (script.nonce ? 'same' : 'dot')) === 'dot',
    worker: serviceWorker || '/kith-sw.js',
    ...(room && { room }),
    ...(room?.startsWith('/') && named && { roomName: named }),
    ...(into && { into }),
    ...(avoid && { avoid }),
    ...(tokenUrl && { tokenUrl }),
    ...(user && { user }),
    ...(script.nonce && { nonce: script.nonce }),
  };
}

/** As long as the name of a room may be. */
const MOST_NAME = 100;

function modeOf(mode: string | undefined, room: string | undefined): Settings['mode'] {
  const wanted = oneOf('data-mode', mode, ['bubble', 'bar', 'inbox', 'embed'] as const) ?? 'bubble';
  if (wanted !== 'embed' || room) return wanted;
  console.warn('kith: data-mode="embed" needs data-room="…", a room or the path of a page');
  return 'bubble';
}

function oneOf<T extends string>(
  name: string,
  value: string | undefined,
  allowed: readonly T[],
): T | undefined {
  const found = allowed.find(one => one === value);
  if (value && !found) console.warn(`kith: ${name}="${value}" is not one of ${allowed.join(', ')}`);
  return found;
}
