// One widget of a page: its button or its element, its interface, and its listeners. All widgets of a page share the
// client and the rest (`page_api.ts`).

import type { Client, ConversationKey } from '@kith/client';
import type { KithInstance, PageEvents } from './kith.ts';
import { createLauncher, type LauncherState } from './launcher.ts';
import { createListeners, type Listeners } from './listeners.ts';
import { type OpenPanel, rememberedPanel, rememberPanel } from './panel_memory.ts';
import type { Settings } from './settings.ts';
import type { App, CallRequest, Mount, Push } from './stage.ts';

/** The services that all widgets of a page share. */
export interface InstanceHost {
  app(): Promise<{ default: Mount }>;
  client(): Promise<Client>;
  push(): Promise<Push>;
  /** Calls when the page is idle. */
  idle(call: () => void): void;
  /** Connects if a user is signed in or a guest's token is stored. Resolves with false if nothing was connected. */
  connectQuietly(): Promise<boolean>;
  /** Marks that a connection was requested. */
  wanted(): void;
  isWanted(): boolean;
  /** Connects the client. Called when the interface can show its events. */
  connect(client: Client): void;
  /** The signed-in user, if known. */
  user(): string | undefined;
  /** Whether the connection has been lost for longer than `AWAY_MS`, so that buttons show it. */
  lost(): boolean;
  /** Whether any widget of this page shows the chat. */
  shows(key: ConversationKey): boolean;
  call(request: CallRequest): void;
  emit(event: 'open' | 'close', from: Instance): void;
  /** Called when the widget was removed from the page. */
  removed(instance: Instance): void;
}

export interface Instance extends Pick<Listeners<PageEvents>, 'emit' | 'on' | 'off'> {
  readonly settings: Settings;
  readonly place: HTMLElement;
  /** Fetches the interface if need be, then acts; the button shows the progress. */
  show(act: (app: App) => void): void;
  /** Like `show`, but the button shows no progress: for actions that the member did not request. */
  behind(act: (app: App) => void): void;
  /** Whether the interface was fetched or is being fetched. */
  loaded(): boolean;
  shows(key: ConversationKey): boolean;
  hide(): void;
  setUnread(count: number): void;
  setState(state: LauncherState): void;
  /** `keepPanel`: the next widget of this tab opens the same panel. */
  remove(keepPanel: boolean): void;
  removed(): boolean;
}

export function createInstance(settings: Settings, place: HTMLElement, host: InstanceHost): Instance {
  const { mode, site, room, person } = settings;
  const embedded = mode === 'embed';
  const launcher = createLauncher(settings, place);
  const listeners = createListeners<PageEvents>();
  let coming: Promise<App> | undefined;
  let here: App | undefined;
  let isOpen = false;
  let isRemoved = false;
  /** The open parts, as the interface reports them; the next page of this tab gets them. */
  let panel: OpenPanel | undefined;
  let placed: ResizeObserver | undefined;

  const mount = async (): Promise<App> => {
    host.wanted();
    const [client, { default: mountApp }] = await Promise.all([host.client(), host.app()]);
    if (isRemoved) throw new Error('kith: it was unmounted');
    const app = await mountApp({
      client,
      root: launcher.root,
      launcher: launcher.button,
      settings,
      push: host.push,
      setOpen(open) {
        isOpen = open;
        launcher.setOpen(open);
      },
      remember(open) {
        panel = open;
      },
      emit: event => host.emit(event, instance),
      shows: host.shows,
      call: host.call,
    });
    here = app;
    host.connect(client);
    return app;
  };

  const instance: Instance = {
    ...listeners,
    settings,
    place,
    show(act) {
      if (isRemoved) return;
      coming ??= mount();
      const slow = setTimeout(() => launcher.setState('busy'), 150);
      coming.then(
        app => {
          clearTimeout(slow);
          launcher.setState(host.lost() ? 'away' : 'ready');
          if (!isRemoved) act(app);
        },
        // If the server cannot be reached, the button turns grey, and the next click retries.
        error => {
          clearTimeout(slow);
          if (isRemoved) return;
          coming = undefined;
          launcher.setState('away');
          console.error('kith: the messenger could not be loaded', error);
        },
      );
    },
    behind(act) {
      if (isRemoved) return;
      coming ??= mount();
      coming.then(
        app => {
          if (!isRemoved) act(app);
        },
        () => {
          coming = undefined;
        },
      );
    },
    loaded: () => coming !== undefined,
    shows: key => here?.shows(key) === true,
    hide() {
      if (isOpen) void coming?.then(app => app.hide());
    },
    setUnread: launcher.setUnread,
    setState: launcher.setState,
    remove(keepPanel) {
      if (isRemoved) return;
      isRemoved = true;
      placed?.disconnect();
      if (!embedded) {
        removeEventListener('pagehide', remember);
        removeEventListener('hashchange', followLink);
        if (keepPanel) remember();
        else rememberPanel(site, undefined);
      }
      void coming?.then(
        app => app.destroy(),
        () => undefined,
      );
      launcher.remove();
      listeners.clear();
      host.removed(instance);
    },
    removed: () => isRemoved,
  };

  /** Stores the panel when the page is left. When the panel was opened, the user may not have been known yet. */
  function remember(): void {
    const user = host.user();
    if (host.isWanted()) rememberPanel(site, panel && user ? { user, panel } : undefined);
  }

  /** Opens the message or the invitation of a link. `push.ts` handles links of notices (`%40…` or `%23…`). */
  function followLink(): void {
    const { hash } = location;
    if (/^#kith=[^%]/.test(hash)) instance.show(app => app.follow(hash));
  }

  /** Restores the state of the previous page in this tab: the bar with its windows, or the open panel. */
  function showAsBefore(): void {
    if (hasBar(mode)) instance.show(() => undefined);
    const before = rememberedPanel(site);
    if (before === undefined) return;
    host.client().then(
      client => {
        let leave = () => {};
        const look = () => {
          const me = client.me()?.user;
          if (me === undefined && !isRemoved) return;
          leave();
          if (isRemoved) return;
          if (me !== before.user) rememberPanel(site, undefined);
          else if (!isOpen) instance.behind(app => isOpen || app.reopen(before.panel));
        };
        leave = client.subscribe('me', look);
        look();
      },
      () => undefined,
    );
  }

  function openEmbedded(): void {
    const open = () => instance.show(app => (person ? app.open(person) : app.openRoom(room ?? '')));
    if (isRemoved) return;
    if (launcher.host.isConnected) return open();
    // The page inserts the element later. Until then its content has no size, and a chat could not scroll to its end.
    placed = new ResizeObserver(() => {
      placed?.disconnect();
      open();
    });
    placed.observe(launcher.host);
  }

  const { button } = launcher;
  button.addEventListener('click', () => instance.show(app => (isOpen ? app.hide() : app.show())));
  // Fetch the interface before the click, when the pointer or the focus reaches the button.
  const fetchSoon = () => void host.app().catch(() => undefined);
  for (const event of ['pointerenter', 'focus', 'touchstart'])
    button.addEventListener(event, fetchSoon, { once: true, passive: true });

  if (mode === 'inbox') instance.show(app => app.show());
  else if (embedded) host.idle(openEmbedded);
  else
    host.idle(async () => {
      // If the interface is open or opening already, the member has requested it on this page.
      if (!isRemoved && coming === undefined && (await host.connectQuietly()) && !isRemoved) showAsBefore();
    });
  if (!embedded) {
    addEventListener('pagehide', remember);
    addEventListener('hashchange', followLink);
    followLink();
  }
  return instance;
}

/** The methods that the page calls. Without an instance they have no effect. */
export function controlsOf(instance: Instance | undefined, destroy: () => void): KithInstance {
  return {
    open: user => instance?.show(app => (user === undefined ? app.show() : app.open(String(user)))),
    openRoom: room => instance?.show(app => app.openRoom(String(room))),
    close: () => instance?.hide(),
    on: (event, listener) => instance?.on(event, listener) ?? (() => undefined),
    off: (event, listener) => instance?.off(event, listener),
    unmount: () => instance?.remove(true),
    destroy,
    get mounted() {
      return instance?.removed() === false;
    },
  };
}

/** The member's choice, or else the tag's mode. The bar needs at least this width. */
function hasBar(mode: Settings['mode']): boolean {
  if ((mode !== 'bar' && mode !== 'bubble') || !matchMedia('(min-width: 1100px)').matches) return false;
  try {
    return (localStorage.getItem('kith.layout') ?? mode) === 'bar';
  } catch {
    return mode === 'bar';
  }
}
