// `window.Kith`: what the page may call and hear, and the widget's life from the tag to the open panel.

import type { Client, Status, Totals } from '@kith/client';
import { createIconDot } from './icon_dot.ts';
import { createLauncher, type Launcher } from './launcher.ts';
import { type OpenPanel, rememberedPanel, rememberPanel } from './panel_memory.ts';
import type { Push } from './push/push.ts';
import type { Settings } from './settings.ts';
import type { App, Mount } from './stage.ts';
import { createTitleCounter } from './title_counter.ts';
import { TokenSource } from './token_source.ts';

/** `window.Kith`. Nothing of it throws; calls before the app has arrived wait for it. */
export interface Kith {
  /** Opens the widget, or the conversation with this user of the site. */
  open(user?: string): void;
  /** Opens a room: by its id, or that of a page of the site, which begins with a slash. */
  openRoom(room: string): void;
  close(): void;
  /** Hears an event from now on; the returned function ends that. */
  on<K extends keyof PageEvents>(event: K, listener: (detail: PageEvents[K]) => void): () => void;
  off<K extends keyof PageEvents>(event: K, listener: (detail: PageEvents[K]) => void): void;
  /** Signs the member in, or brings a fresh token. `null`: they have signed out; what was cached is forgotten. */
  setToken(token: string | null): void;
  /** Takes the widget off the page, and forgets the guest who was here. */
  destroy(): void;
  /** The token of the guest who has written from this browser: it proves to your server who they are, when they register. */
  guestToken(): string | undefined;
  /** The headless client of this page, connected or not. */
  client(): Promise<Client>;
  /** Fulfilled once the launcher is on the page. */
  readonly ready: Promise<Kith>;
}

export interface PageEvents {
  open: undefined;
  close: undefined;
  unread: { unread: number; mentions: number; conversations: number; requests: number };
  /** Somebody else's message arrived. `first` is true in one tab only: the one to make a sound in. */
  message: { from: string; body: string; time: number; first: boolean };
  status: Status;
  /** The page has brought a token before, and it is about to expire: call `setToken` with a new one. */
  token: undefined;
}

/** How the parts that come late are fetched; each rejects where it cannot be had now. */
export interface Parts {
  client(): Promise<typeof import('./client_entry.ts')>;
  app(): Promise<{ default: Mount }>;
  push(): Promise<typeof import('./push/push.ts')>;
  /** Calls when the page has nothing better to do. */
  idle(call: () => void): void;
}

/** So long the launcher keeps its colour while the connection is away. */
const AWAY_MS = 8_000;

/** Only the site's developer can do something about these. */
const MISTAKES = new Set(['bad_origin', 'no_such_site', 'bad_version']);

export function createKith(settings: Settings, parts: Parts, place: HTMLElement): Kith {
  return new Page(settings, parts, place).kith;
}

class Page {
  readonly kith: Kith;
  #launcher: Launcher;
  #title = createTitleCounter(document);
  #icon = createIconDot(document);
  #tokens: TokenSource;
  #client: Promise<Client> | undefined;
  #living: Client | undefined;
  #app: Promise<App> | undefined;
  #push: Promise<Push> | undefined;
  #open = false;
  /** The open parts, as the app reports them; the next page of this tab gets them. */
  #panel: OpenPanel | undefined;
  /** Somebody has asked for a connection, not only for the client. */
  #begun = false;
  #away: ReturnType<typeof setTimeout> | undefined;
  /** The connection has been away for so long that the button says so. */
  #lost = false;
  #listeners = new Map<keyof PageEvents, Set<(detail: never) => void>>();
  #destroyed = false;

  constructor(
    private readonly settings: Settings,
    private readonly parts: Parts,
    place: HTMLElement,
  ) {
    this.#tokens = new TokenSource(settings.tokenUrl, () => this.#emit('token', undefined));
    this.#launcher = createLauncher(settings, place);
    this.kith = this.#api();
    this.#listen(this.#launcher.button);
    const { mode, room } = settings;
    if (mode === 'inbox') this.#show(app => app.show());
    else if (mode === 'embed' && room) parts.idle(() => this.#show(app => app.openRoom(room)));
    else parts.idle(() => this.#quietly());
    // The place in a call is kept for seconds only.
    if (callIsKept()) this.#behind(app => app.call(undefined));
    addEventListener('pagehide', this.#remember);
    if (mode !== 'embed') {
      this.#followLink();
      addEventListener('hashchange', this.#followLink);
    }
  }

  /** A link to a message opens it, and one that invites shows into what. What a notice was clicked for is that of `push.ts`. */
  #followLink = (): void => {
    const { hash } = location;
    if (/^#kith=[^%]/.test(hash)) this.#show(app => app.follow(hash));
  };

  /** Only now, because nobody may have been signed in when the panel was opened. */
  #remember = (): void => {
    const user = this.#living?.me()?.user;
    if (this.#begun)
      rememberPanel(this.settings.site, this.#panel && user ? { user, panel: this.#panel } : undefined);
  };

  /** An invitation for which one had to sign in first. */
  #followWaiting(): void {
    const hash = this.settings.mode === 'embed' ? null : takeWaiting();
    if (hash) this.#show(app => app.follow(hash));
  }

  #api(): Kith {
    const kith: Omit<Kith, 'ready'> & { ready: Promise<Kith> } = {
      open: user => this.#show(app => (user === undefined ? app.show() : app.open(String(user)))),
      openRoom: room => this.#show(app => app.openRoom(String(room))),
      close: () => {
        if (this.#open) void this.#app?.then(app => app.hide());
      },
      on: (event, listener) => {
        const listeners = this.#listeners.get(event) ?? new Set();
        this.#listeners.set(event, listeners);
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      off: (event, listener) => {
        this.#listeners.get(event)?.delete(listener);
      },
      setToken: token => this.#setToken(token),
      destroy: () => this.#destroy(),
      guestToken: () => keptGuest(this.settings.site),
      client: () => this.#clientWithoutConnecting(),
      ready: Promise.resolve() as unknown as Promise<Kith>,
    };
    kith.ready = Promise.resolve(kith);
    return kith;
  }

  #listen(button: HTMLButtonElement): void {
    button.addEventListener('click', () => this.#show(app => (this.#open ? app.hide() : app.show())));
    // On the way to the button there is time to fetch what a click will need.
    const soon = () => void this.#appModule().catch(() => undefined);
    for (const event of ['pointerenter', 'focus', 'touchstart']) {
      button.addEventListener(event, soon, { once: true, passive: true });
    }
  }

  /**
   * In idle time after load: a member of the site gets an unread count, and so does a guest who has written to somebody
   * on an earlier page. Nobody else is connected anywhere.
   */
  async #quietly(): Promise<void> {
    if (this.#destroyed || this.#begun) return;
    const guest = keptGuest(this.settings.site) !== undefined;
    if (!this.#tokens.exists && !guest) return;
    try {
      if (this.settings.user === undefined && this.settings.tokenUrl !== undefined) {
        const token = await this.#tokens.next();
        if (token === undefined) this.#pushEnds();
        if ((token === undefined && !guest) || this.#destroyed) return;
        this.#connect(token);
        return this.#asBefore();
      }
    } catch {
      // The client asks again, less and less often.
    }
    this.#connect(undefined);
    this.#asBefore();
  }

  /** Shows what the page before this one showed: the bar with its windows, the panel that was open in this tab. */
  #asBefore(): void {
    const { mode, site } = this.settings;
    if (hasBar(mode)) this.#show(() => undefined);
    const before = rememberedPanel(site);
    if (before === undefined) return;
    this.#clientWithoutConnecting().then(client => {
      let leave = () => {};
      const look = () => {
        const me = client.me()?.user;
        if (me === undefined) return;
        leave();
        if (me !== before.user) rememberPanel(site, undefined);
        else if (!this.#open) this.#behind(app => this.#open || app.reopen(before.panel));
      };
      leave = client.subscribe('me', look);
      look();
    }, ignore);
  }

  #connect(token: string | undefined): void {
    this.#begun = true;
    this.#clientWithoutConnecting().then(
      client => {
        if (this.#destroyed) return;
        if (token !== undefined) client.setToken(token);
        client.connect();
      },
      () => this.#launcher.setState('away'),
    );
  }

  #clientWithoutConnecting(): Promise<Client> {
    if (this.#destroyed) return Promise.reject(new Error('kith: it was destroyed'));
    const { site, server, user, room, roomName } = this.settings;
    this.#client ??= this.parts.client().then(
      ({ createClient, browserEnvironment }) => {
        const options = {
          site,
          token: () => this.#tokens.next(),
          ...(user !== undefined && { user }),
          ...(room && roomName && { pageNames: { [room]: roomName } }),
        };
        const client = createClient(options, browserEnvironment(server));
        this.#follow(client);
        return client;
      },
      error => {
        this.#client = undefined;
        throw error;
      },
    );
    return this.#client;
  }

  #follow(client: Client): void {
    this.#living = client;
    if (this.#destroyed) return client.destroy();
    client.on('totals', totals => {
      this.#setUnread(totals);
      this.#emit('unread', { ...totals });
    });
    client.on('message', happened => {
      const { from, body, time } = happened.message;
      this.#emit('message', { from, body, time, first: happened.first });
      if (happened.first) this.#behind(app => app.notify(happened));
    });
    client.on('call', event => {
      // A call needs the interface; an interface that is loaded gets all other events, too.
      if (event.news === 'ring' || this.#app) this.#behind(app => app.call(event));
    });
    client.subscribe('status', () => this.#statusChanged(client.status()));
    this.#setUnread(client.totals());
    if (pushIsOn()) this.#pushPart().then(push => push.begin(), ignore);
  }

  /** A stranger's request counts as a message: nobody else tells of it. */
  #setUnread({ unread, strangers }: Pick<Totals, 'unread' | 'strangers'>): void {
    const count = unread + strangers;
    this.#launcher.setUnread(count);
    this.#title.set(count);
    if (this.settings.iconDot) this.#icon.set(count > 0);
  }

  #statusChanged(status: Status): void {
    if (status.code === 'signed_out') this.#pushEnds();
    if (status.state === 'stopped' && status.code && MISTAKES.has(status.code)) {
      console.warn(`kith: the server says ${status.code}; docs/embed.md says what to do`);
      this.#seemsLost();
      return this.#emit('status', { ...status });
    }
    const away = status.state === 'waiting' || status.state === 'offline';
    const on = status.state === 'online' || status.state === 'idle';
    if (status.state === 'online') this.#followWaiting();
    if (on || status.state === 'stopped') {
      clearTimeout(this.#away);
      this.#away = undefined;
      this.#lost = false;
      this.#launcher.setState('ready');
    } else if (away) this.#away ??= setTimeout(() => this.#seemsLost(), AWAY_MS);
    this.#emit('status', { ...status });
  }

  #seemsLost(): void {
    this.#lost = true;
    this.#launcher.setState('away');
  }

  #pushPart(): Promise<Push> {
    const { worker, lang } = this.settings;
    const open = (kith: string) =>
      this.#show(app => (kith[0] === '@' ? app.open(kith.slice(1)) : app.openRoom(kith.slice(1))));
    this.#push ??= Promise.all([this.parts.push(), this.#clientWithoutConnecting()]).then(
      ([{ Push }, client]) => new Push({ client, worker, lang, open }),
      error => {
        this.#push = undefined;
        throw error;
      },
    );
    return this.#push;
  }

  /** Nobody is signed in: what is for the last one who was must not be shown here. */
  #pushEnds(): void {
    if (pushIsOn()) this.#pushPart().then(push => push.leave(), ignore);
  }

  #appModule(): Promise<{ default: Mount }> {
    return this.parts.app();
  }

  /** Fetches what is missing, then acts. A click that finds no server greys the button, and the next one tries again. */
  #show(act: (app: App) => void): void {
    if (this.#destroyed) return;
    this.#app ??= this.#mount();
    const slow = setTimeout(() => this.#launcher.setState('busy'), 150);
    this.#app.then(
      app => {
        clearTimeout(slow);
        this.#launcher.setState(this.#lost ? 'away' : 'ready');
        if (!this.#destroyed) act(app);
      },
      error => {
        clearTimeout(slow);
        if (this.#destroyed) return;
        this.#app = undefined;
        this.#launcher.setState('away');
        console.error('kith: the messenger could not be loaded', error);
      },
    );
  }

  /** Nobody has asked for it: fetches the interface if need be, and where it cannot be had, nobody is told. */
  #behind(act: (app: App) => void): void {
    this.#app ??= this.#mount();
    this.#app.then(
      app => {
        if (!this.#destroyed) act(app);
      },
      () => {
        this.#app = undefined;
      },
    );
  }

  async #mount(): Promise<App> {
    this.#begun = true;
    const [client, { default: mount }] = await Promise.all([
      this.#clientWithoutConnecting(),
      this.#appModule(),
    ]);
    if (this.#destroyed) throw new Error('kith: it was destroyed');
    const { root, button } = this.#launcher;
    const app = await mount({
      client,
      root,
      launcher: button,
      settings: this.settings,
      push: () => this.#pushPart(),
      setOpen: open => {
        this.#open = open;
        this.#launcher.setOpen(open);
      },
      remember: panel => {
        this.#panel = panel;
      },
      emit: (event, detail) => this.#emit(event, detail),
    });
    if (client.status().state === 'idle') client.connect();
    return app;
  }

  #setToken(token: string | null): void {
    if (this.#destroyed) return;
    if (token === null || token === '') return this.#signOut();
    this.#tokens.push(token);
    const known = this.#living;
    if (known === undefined) return this.#connect(token);
    known.setToken(token);
    known.connect();
  }

  #signOut(): void {
    this.#pushEnds();
    if (this.#living) this.#living.forget();
    else forgetKept(`kith:${this.settings.site}:cache:`, `kith:${this.settings.site}:guest`);
    forgetKept(`kith:${this.settings.site}:bar`);
    rememberPanel(this.settings.site, undefined);
    this.#setUnread({ unread: 0, strangers: 0 });
    if (this.#open) void this.#app?.then(app => app.hide());
  }

  #destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    clearTimeout(this.#away);
    removeEventListener('hashchange', this.#followLink);
    removeEventListener('pagehide', this.#remember);
    rememberPanel(this.settings.site, undefined);
    void this.#app?.then(
      app => app.destroy(),
      () => undefined,
    );
    if (this.#living) this.#living.destroy();
    else forgetKept(`kith:${this.settings.site}:guest`);
    this.#title.stop();
    this.#icon.set(false);
    this.#launcher.remove();
    this.#listeners.clear();
  }

  #emit<K extends keyof PageEvents>(event: K, detail: PageEvents[K]): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) {
      try {
        (listener as (detail: PageEvents[K]) => void)(detail);
      } catch (error) {
        console.error(error);
      }
    }
  }
}

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

/** The invitation that the interface has put there (`invitation/waiting.ts`). */
function takeWaiting(): string | null {
  try {
    const hash = sessionStorage.getItem('kith:invitation');
    sessionStorage.removeItem('kith:invitation');
    return hash;
  } catch {
    return null;
  }
}

/** As the member chose, else as the tag says; there is room for it from this width on. */
function hasBar(mode: Settings['mode']): boolean {
  if ((mode !== 'bar' && mode !== 'bubble') || !matchMedia('(min-width: 1100px)').matches) return false;
  try {
    return (localStorage.getItem('kith.layout') ?? mode) === 'bar';
  } catch {
    return mode === 'bar';
  }
}

const ignore = () => undefined;

/** The guest's token, if it is still valid. Without one the visitor would be a new guest. */
function keptGuest(site: string): string | undefined {
  try {
    const token = localStorage.getItem(`kith:${site}:guest`) ?? '';
    const [, claims = ''] = token.split('.');
    const { exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { exp: number };
    return exp * 1000 > Date.now() ? token : undefined;
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
