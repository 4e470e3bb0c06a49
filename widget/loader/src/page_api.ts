// `window.Kith`: the API of the page, and the state that all widgets of the page share, such as the connection.

import type { Client, Status, Totals } from '@kith/client';
import { fieldsOf } from './fields_of.ts';
import { controlsOf, createInstance, type Instance, type InstanceHost } from './instance.ts';
import type { Kith, KithInstance, MountOptions, PageEvents } from './kith.ts';
import { createListeners } from './listeners.ts';
import type { PageBadge } from './page_badge.ts';
import { rememberPanel } from './panel_memory.ts';
import type { Push } from './push/push.ts';
import { mountSettings, type Settings, type TagSettings } from './settings.ts';
import type { CallRequest, Mount } from './stage.ts';
import { createTokenSource } from './token_source.ts';

/** Fetches the lazy parts. Each promise rejects if its part cannot be fetched now. */
export interface Parts {
  client(): Promise<typeof import('./client_entry.ts')>;
  app(): Promise<{ default: Mount }>;
  push(): Promise<typeof import('./push/push.ts')>;
  badge(): Promise<typeof import('./page_badge.ts')>;
  /** Calls when the page is idle. */
  idle(call: () => void): void;
}

/** After this time without a connection the launcher turns grey. */
const AWAY_MS = 8_000;

/** The connection stays open for this time after the last `unmount`: a page may mount the next widget meanwhile. */
export const LINGER_MS = 1_000;

/** Codes of errors that only the site's developer can correct. */
const MISTAKES = new Set(['bad_origin', 'no_such_site', 'bad_version']);

/** `place`: the element of the tag's own widget. */
export function createKith(tag: TagSettings, parts: Parts, place: HTMLElement): Kith {
  const { site, server, user, tokenUrl, worker, lang } = tag;
  const instances = new Set<Instance>();
  const listeners = createListeners<PageEvents>();
  const tokens = createTokenSource(tokenUrl, () => emit('token', undefined));
  let coming: Promise<Client> | undefined;
  let client: Client | undefined;
  let push: Promise<Push> | undefined;
  let badge: Promise<PageBadge> | undefined;
  /** Names of page rooms, which the widgets' options set. */
  const pageNames: Record<string, string> = {};
  /** Whether a connection was requested, not only the client. */
  let wanted = false;
  let quiet: Promise<boolean> | undefined;
  /** A token that the page has set before it has a widget. */
  let unused: string | undefined;
  /** If the tag has no widget, a page that requests the client keeps it. */
  let held = false;
  let unread = 0;
  let away: ReturnType<typeof setTimeout> | undefined;
  /** Whether the connection has been lost for longer than `AWAY_MS`, so that buttons show it. */
  let lost = false;
  /** The widget that draws calls. */
  let caller: Instance | undefined;
  let closing: ReturnType<typeof setTimeout> | undefined;
  let destroyed = false;

  /** The first widget that can show any chat. It handles what concerns the whole page. */
  const free = () => Array.from(instances).find(one => one.settings.mode !== 'embed');
  const main = (): Instance | undefined => free() ?? instances.values().next().value;

  // -- the client --

  const fetchClient = (): Promise<Client> => {
    if (destroyed) return Promise.reject(new Error('kith: it was destroyed'));
    if (coming) return coming;
    const own: Promise<Client> = parts.client().then(
      ({ createClient, browserEnvironment }) => {
        const options = {
          site,
          token: () => tokens.next(),
          ...(user !== undefined && { user }),
          pageNames,
        };
        const made = createClient(options, browserEnvironment(server));
        if (coming === own) follow(made);
        else if (destroyed) made.destroy();
        else made.close();
        return made;
      },
      error => {
        if (coming === own) coming = undefined;
        throw error;
      },
    );
    coming = own;
    return own;
  };

  const follow = (made: Client): void => {
    client = made;
    made.on('totals', totals => {
      setUnread(totals);
      emit('unread', { ...totals });
    });
    made.on('message', happened => {
      const { from, body, time } = happened.message;
      emit('message', { from, body, time, first: happened.first });
      if (happened.first) main()?.behind(app => app.notify(happened));
    });
    made.on('call', event => {
      // An incoming call loads the interface. Other call events matter only if the interface is loaded.
      if (event.news === 'ring' || (caller ?? main())?.loaded()) call({ do: 'hear', event });
    });
    made.subscribe('status', () => statusChanged(made.status()));
    setUnread(made.totals());
    if (pushIsOn()) pushPart().then(one => one.begin(), ignore);
  };

  const connect = (token: string | undefined): void => {
    wanted = true;
    fetchClient().then(
      one => {
        if (one !== client) return;
        if (token !== undefined) one.setToken(token);
        one.connect();
      },
      () => setState('away'),
    );
  };

  /**
   * Connects in idle time after load, so that the button shows an unread count: a signed-in member, or a guest who has
   * written on an earlier page. Other visitors are not connected.
   */
  const connectWhoIsHere = async (): Promise<boolean> => {
    const guest = keptGuest(site) !== undefined;
    if (!tokens.exists() && !guest) return false;
    let token = unused;
    unused = undefined;
    if (user === undefined && tokenUrl !== undefined) {
      try {
        token = await tokens.next();
        if (token === undefined) pushEnds();
        if (token === undefined && !guest) return false;
      } catch {
        // The client asks again, at growing intervals.
      }
    }
    if (instances.size === 0) return false;
    connect(token);
    return true;
  };

  const connectQuietly = (): Promise<boolean> => {
    if (wanted) return Promise.resolve(true);
    quiet ??= connectWhoIsHere().finally(() => {
      quiet = undefined;
    });
    return quiet;
  };

  /** Closes the client when no widget uses it. */
  const disconnect = (end: (one: Client) => void): void => {
    clearTimeout(closing);
    clearTimeout(away);
    closing = away = undefined;
    wanted = held = lost = false;
    if (client) end(client);
    push?.then(one => one.end(), ignore);
    client = coming = push = undefined;
    setUnread({ unread: 0, strangers: 0 });
  };

  // -- events of the client --

  /** Adds the requests of strangers to the number, because the page shows them in no other way. */
  const setUnread = (totals: Pick<Totals, 'unread' | 'strangers'>): void => {
    unread = totals.unread + totals.strangers;
    for (const one of instances) one.setUnread(unread);
    if (unread > 0) badge ??= parts.badge().then(it => it.createPageBadge(document, tag.iconDot));
    badge?.then(
      it => it.set(unread),
      () => {
        badge = undefined;
      },
    );
  };

  const setState = (state: 'ready' | 'away'): void => {
    for (const one of instances) one.setState(state);
  };

  const seemsLost = (): void => {
    lost = true;
    setState('away');
  };

  const statusChanged = (status: Status): void => {
    if (status.code === 'signed_out') pushEnds();
    if (status.state === 'stopped' && status.code && MISTAKES.has(status.code)) {
      console.warn(`kith: the server says ${status.code}; docs/embed.md says what to do`);
      seemsLost();
      return emit('status', { ...status });
    }
    const isAway = status.state === 'waiting' || status.state === 'offline';
    const isOn = status.state === 'online' || status.state === 'idle';
    if (status.state === 'online') followWaiting();
    if (isOn || status.state === 'stopped') {
      clearTimeout(away);
      away = undefined;
      lost = false;
      setState('ready');
    } else if (isAway) away ??= setTimeout(seemsLost, AWAY_MS);
    emit('status', { ...status });
  };

  const emit = <K extends keyof PageEvents>(event: K, detail: PageEvents[K]): void => {
    listeners.emit(event, detail);
    for (const one of instances) one.emit(event, detail);
  };

  /** Opens an invitation that has waited for the sign-in. */
  const followWaiting = (): void => {
    const one = free();
    const hash = one && takeWaiting();
    if (hash) one.show(app => app.follow(hash));
  };

  const pushPart = (): Promise<Push> => {
    const open = (kith: string) =>
      main()?.show(app => (kith[0] === '@' ? app.open(kith.slice(1)) : app.openRoom(kith.slice(1))));
    if (push) return push;
    const own: Promise<Push> = Promise.all([parts.push(), fetchClient()]).then(
      ([{ Push }, one]) => new Push({ client: one, worker, lang, open }),
      error => {
        if (push === own) push = undefined;
        throw error;
      },
    );
    push = own;
    return own;
  };

  /** Ends notifications after a sign-out, so that the browser shows none for the former member. */
  const pushEnds = (): void => {
    if (pushIsOn()) pushPart().then(one => one.leave(), ignore);
  };

  // -- the widgets --

  /** One widget of a page draws all calls, because a member is in one call at a time. */
  const call = (request: CallRequest): void => {
    caller ??= main();
    caller?.behind(app => app.call(request));
  };

  const host: InstanceHost = {
    app: parts.app,
    client: fetchClient,
    push: pushPart,
    idle: parts.idle,
    connectQuietly,
    wanted() {
      wanted = true;
    },
    isWanted: () => wanted,
    async connect(one) {
      // `connectQuietly` may be fetching a token. Waiting for it avoids a second request.
      await quiet;
      if (one !== client) return;
      if (unused !== undefined) one.setToken(unused);
      unused = undefined;
      if (one.status().state === 'idle') one.connect();
    },
    user: () => client?.me()?.user,
    lost: () => lost,
    shows: key => Array.from(instances).some(one => one.shows(key)),
    call,
    emit(event, from) {
      from.emit(event, undefined);
      if (from === main()) listeners.emit(event, undefined);
    },
    removed(one) {
      instances.delete(one);
      if (caller === one) caller = undefined;
      if (instances.size === 0 && !held)
        closing = setTimeout(disconnect, LINGER_MS, (it: Client) => it.close());
    },
  };

  const add = (settings: Settings, into: HTMLElement): Instance => {
    clearTimeout(closing);
    const { room, roomName } = settings;
    if (room && roomName) pageNames[room] = roomName;
    const one = createInstance(settings, into, host);
    instances.add(one);
    one.setUnread(unread);
    if (lost) one.setState('away');
    if (client?.status().state === 'online') followWaiting();
    // Rejoin at once: the server keeps a place in a call for seconds only.
    if (caller === undefined && callIsKept()) call({ do: 'rejoin' });
    return one;
  };

  const mount = (options: MountOptions): KithInstance => {
    let one: Instance | undefined;
    try {
      const settings = mountSettings(tag, options);
      const { element } = fieldsOf(options);
      const into = element instanceof HTMLElement ? element : document.body;
      const all = Array.from(instances);
      if (settings === undefined) {
        // `mountSettings` has written the reason to the console.
      } else if (settings.mode === 'embed' && all.some(it => it.place === into)) {
        console.error('kith: mount(): this element has a widget already, which must be unmounted first');
      } else if (settings.mode !== 'embed' && free()) {
        console.error(
          'kith: mount(): the page has a widget outside of its elements already: unmount it first',
        );
      } else {
        destroyed = false;
        one = add(settings, into);
      }
    } catch (error) {
      console.error('kith: mount():', error);
    }
    return controlsOf(one, () => {
      one?.remove(false);
      if (one && instances.size === 0 && !held) disconnect(it => it.destroy());
    });
  };

  const setToken = (token: string | null): void => {
    if (destroyed) return;
    if (token === null || token === '') return signOut();
    tokens.push(token);
    if (client) {
      client.setToken(token);
      client.connect();
    } else if (instances.size > 0 || held) connect(token);
    else unused = token;
  };

  const signOut = (): void => {
    unused = undefined;
    pushEnds();
    if (client) client.forget();
    else forgetKept(`kith:${site}:cache:`, `kith:${site}:guest`);
    forgetKept(`kith:${site}:bar`);
    rememberPanel(site, undefined);
    setUnread({ unread: 0, strangers: 0 });
    for (const one of instances) one.hide();
  };

  const kith: Kith = {
    open: name => controlsOf(main(), ignore).open(name),
    openRoom: room => controlsOf(main(), ignore).openRoom(room),
    close: () => main()?.hide(),
    on: listeners.on,
    off: listeners.off,
    setToken,
    destroy() {
      if (destroyed) return;
      destroyed = true;
      for (const one of Array.from(instances)) one.remove(false);
      rememberPanel(site, undefined);
      if (client === undefined) forgetKept(`kith:${site}:guest`);
      disconnect(it => it.destroy());
      listeners.clear();
    },
    guestToken: () => keptGuest(site),
    client() {
      if (tag.mode === 'headless' && !destroyed) held = true;
      return fetchClient();
    },
    mount,
    ready: Promise.resolve().then(() => kith),
  };
  if (tag.mode !== 'headless') add({ ...tag, mode: tag.mode }, place);
  return kith;
}

const ignore = () => undefined;

/** Whether the member has turned notifications on in this browser. Only `push.ts` reads the value. */
function pushIsOn(): boolean {
  try {
    return localStorage.getItem('kith.push') !== null;
  } catch {
    return false;
  }
}

/** Whether this tab was in a call before the page was loaded. Only the interface reads the stored ticket. */
function callIsKept(): boolean {
  try {
    return sessionStorage.getItem('kith:call') !== null;
  } catch {
    return false;
  }
}

/** Takes the invitation that the interface has stored (`invite_links/pending_invite.ts`). */
function takeWaiting(): string | null {
  try {
    const hash = sessionStorage.getItem('kith:invitation');
    sessionStorage.removeItem('kith:invitation');
    return hash;
  } catch {
    return null;
  }
}

/** The guest's stored token, if it is still valid. Without it the visitor would become a new guest. */
function keptGuest(site: string): string | undefined {
  try {
    const token = localStorage.getItem(`kith:${site}:guest`) ?? '';
    const [, claims = ''] = token.split('.');
    const { exp } = fieldsOf(JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))));
    return typeof exp === 'number' && exp * 1000 > Date.now() ? token : undefined;
  } catch {
    return undefined;
  }
}

/** Removes data that the client stored on earlier pages. On this page the client may not be loaded. */
function forgetKept(...prefixes: string[]): void {
  try {
    for (const key of Object.keys(localStorage)) {
      if (prefixes.some(prefix => key.startsWith(prefix))) localStorage.removeItem(key);
    }
  } catch {
    // Storage is forbidden, so it has no data.
  }
}
