// `window.Kith`: what the page may call and hear, and what all widgets of the page share, from the tag to the connection.

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

/** How the parts that come late are fetched; each rejects where it cannot be had now. */
export interface Parts {
  client(): Promise<typeof import('./client_entry.ts')>;
  app(): Promise<{ default: Mount }>;
  push(): Promise<typeof import('./push/push.ts')>;
  badge(): Promise<typeof import('./page_badge.ts')>;
  /** Calls when the page has nothing better to do. */
  idle(call: () => void): void;
}

/** So long the launcher keeps its colour while the connection is away. */
const AWAY_MS = 8_000;

/** The connection stays for so long after the last `unmount`: a page that changes its view mounts the next widget meanwhile. */
export const LINGER_MS = 1_000;

/** Only the site's developer can do something about these. */
const MISTAKES = new Set(['bad_origin', 'no_such_site', 'bad_version']);

/** `place`: of the tag's own widget. */
export function createKith(tag: TagSettings, parts: Parts, place: HTMLElement): Kith {
  const { site, server, user, tokenUrl, worker, lang } = tag;
  const instances = new Set<Instance>();
  const listeners = createListeners<PageEvents>();
  const tokens = createTokenSource(tokenUrl, () => emit('token', undefined));
  let coming: Promise<Client> | undefined;
  let client: Client | undefined;
  let push: Promise<Push> | undefined;
  let badge: Promise<PageBadge> | undefined;
  /** Names of page rooms, which the widgets bring. */
  const pageNames: Record<string, string> = {};
  /** Somebody has asked for a connection, not only for the client. */
  let wanted = false;
  let quiet: Promise<boolean> | undefined;
  /** A token of the page for which there is no widget yet. */
  let unused: string | undefined;
  /** Without a widget of the tag, a page that asks for the client keeps it. */
  let held = false;
  let unread = 0;
  let away: ReturnType<typeof setTimeout> | undefined;
  /** The connection has been away for so long that the buttons say so. */
  let lost = false;
  /** The widget that draws calls. */
  let caller: Instance | undefined;
  let closing: ReturnType<typeof setTimeout> | undefined;
  let destroyed = false;

  /** The first widget that can show any chat: what concerns the whole page happens there, and once. */
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
      // A call needs the interface; an interface that is loaded gets all other events, too.
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
   * In idle time after load: a member of the site gets an unread count, and so does a guest who has written to somebody
   * on an earlier page. Nobody else is connected anywhere.
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
        // The client asks again, less and less often.
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

  /** Nobody uses it any more. */
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

  // -- what it says --

  /** A stranger's request counts as a message: nobody else tells of it. */
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

  /** An invitation for which one had to sign in first. */
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

  /** Nobody is signed in: what is for the last one who was must not be shown here. */
  const pushEnds = (): void => {
    if (pushIsOn()) pushPart().then(one => one.leave(), ignore);
  };

  // -- the widgets --

  /** All calls of a page are drawn in one widget, because a member is in one call at a time. */
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
      // It may bring a token: two widgets ask for one.
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
    // The place in a call is kept for seconds only.
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
        // The console says why.
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

/** The member has turned notices on in this browser: what is written there, the part itself knows. */
function pushIsOn(): boolean {
  try {
    return localStorage.getItem('kith.push') !== null;
  } catch {
    return false;
  }
}

/** This tab was in a call before the page was loaded; the ticket is the interface's to read. */
function callIsKept(): boolean {
  try {
    return sessionStorage.getItem('kith:call') !== null;
  } catch {
    return false;
  }
}

/** The invitation that the interface has put there (`invite_links/pending_invite.ts`). */
function takeWaiting(): string | null {
  try {
    const hash = sessionStorage.getItem('kith:invitation');
    sessionStorage.removeItem('kith:invitation');
    return hash;
  } catch {
    return null;
  }
}

/** The guest's token, if it is still valid. Without one the visitor would be a new guest. */
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

/** Removes the client's data of earlier pages; on this page the client may not be loaded. */
function forgetKept(...prefixes: string[]): void {
  try {
    for (const key of Object.keys(localStorage)) {
      if (prefixes.some(prefix => key.startsWith(prefix))) localStorage.removeItem(key);
    }
  } catch {
    // Forbidden: nothing is kept either.
  }
}
