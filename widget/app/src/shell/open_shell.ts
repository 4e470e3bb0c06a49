// The state of the panel: whether it is open, its tab and its chat. The page, the browser's Back button and the
// components change it.

import { type ConversationKey, direct, pageRoom, room } from '@kith/client';
import type { OpenPanel, Stage } from '@kith/loader/stage';
import { INVITES } from '../features/invite_links/invite_url.ts';

export type Tab = OpenPanel['tab'];

export interface ShellState {
  open: boolean;
  tab: Tab;
  /** The conversation on the screen. */
  chat: ConversationKey | undefined;
  /** The message to scroll to. Each request is a new object. */
  at: { seq: number } | undefined;
  /** Counts requests to open a chat. Each one closes the overlays of the panel. */
  asked: number;
  /** The fragment of the message link or invite link that is being opened. */
  link?: string;
  /** The member opened the panel with the keyboard: Tab stays in the panel until F6 or Escape. */
  byKey: boolean;
  /** The panel was open on the previous page, and the member has not used it on this one. It takes no focus. */
  reopened: boolean;
  /** The member has expanded the panel to the size of the page. */
  expanded: boolean;
  /** Chats open side by side above a bar if they fit. The member's choice overrides the site's tag. */
  bar: boolean;
}

/** The windows of the bar, which open chats instead of the panel. */
export interface Windows {
  open(key: ConversationKey, at?: number): void;
  shows(key: ConversationKey): boolean;
}

export interface OpenShell {
  /** The panel is in a corner of the page and can be closed. */
  readonly corner: boolean;
  state(): ShellState;
  subscribe(listener: () => void): () => void;
  show(): void;
  hide(): void;
  /** Restores the panel that the previous page passed to `Stage.remember`. */
  reopen(panel: OpenPanel): void;
  toggleExpanded(): void;
  goTo(tab: Tab): void;
  openChat(key: ConversationKey, at?: number): void;
  openWith(user: string, at?: number): void;
  /** Opens the message or invitation of a link. Without a link, it closes the one that is open. */
  follow(link?: string): void;
  /** Whether the chat, or the list with its row, is on the screen. */
  shows(key: ConversationKey): boolean;
  /** Returns from a chat to the list. */
  back(): void;
  chooseBar(on: boolean): void;
  divert(windows: Windows | undefined): void;
  destroy(): void;
}

/** On a phone each level of the panel is an entry of the history, so that the browser's Back closes one level. */
const HISTORY_KEY = 'kithDepth';

export function openShell(
  stage: Pick<Stage, 'launcher' | 'setOpen' | 'remember' | 'emit' | 'settings'>,
): OpenShell {
  const { mode } = stage.settings;
  const corner = mode === 'bubble' || mode === 'bar';
  const bar = corner && (storedLayout() ?? mode) === 'bar';
  let state: ShellState = {
    open: false,
    tab: 'chats',
    chat: undefined,
    at: undefined,
    asked: 0,
    byKey: false,
    reopened: false,
    expanded: false,
    bar,
  };
  let windows: Windows | undefined;
  const listeners = new Set<() => void>();

  const change = (next: Partial<ShellState>) => {
    const before = state;
    state = { ...state, reopened: false, ...next };
    // Closing the panel also closes the card of a message link or invite link.
    if (!state.open) state.link = '';
    if (state.open !== before.open) {
      stage.setOpen(state.open);
      stage.emit(state.open ? 'open' : 'close', undefined);
    }
    if (corner) {
      const { open, tab, chat, expanded } = state;
      stage.remember(open ? { tab, chat, expanded } : undefined);
    }
    for (const listener of Array.from(listeners)) listener();
  };
  const depth = () => (state.open ? (state.chat === undefined ? 1 : 2) : 0);
  const usesHistory = () => corner && isPhone();

  /** Changes the state. On a phone it adds history entries for new levels, and goes back to remove closed ones. */
  const go = (next: Partial<ShellState>) => {
    const before = depth();
    change(next);
    if (!usesHistory()) return;
    const written = depthOf(history.state);
    if (depth() > before) {
      for (let level = before + 1; level <= depth(); level++) {
        history.pushState({ ...history.state, [HISTORY_KEY]: level }, '');
      }
    } else if (depth() < written) {
      history.go(depth() - written);
    }
  };
  const onPopState = (event: PopStateEvent) => {
    const wanted = depthOf(event.state);
    // Only a widget in a corner adds entries to the history.
    if (!corner || wanted >= depth()) return;
    change(wanted === 0 ? { open: false, chat: undefined } : { chat: undefined });
    if (wanted === 0) stage.launcher.focus();
  };
  addEventListener('popstate', onPopState);

  const shell: OpenShell = {
    corner,
    state: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    show: () => go({ open: true, byKey: stage.launcher.matches(':focus-visible') }),
    hide() {
      if (!state.open || mode === 'embed') return;
      go(isPhone() ? { open: false, chat: undefined } : { open: false });
      stage.launcher.focus();
    },
    reopen(panel) {
      // On a phone the panel covers the page, so it reopens only in the history entry in which it was open.
      const most = usesHistory() ? depthOf(history.state) : 2;
      if (state.open || !corner || most === 0) return;
      change({
        open: true,
        reopened: true,
        ...panel,
        ...(most < 2 && { chat: undefined }),
      });
    },
    toggleExpanded: () => change({ expanded: !state.expanded }),
    goTo: tab => change({ tab }),
    openChat(key, at) {
      if (windows) windows.open(key, at);
      else {
        const asked = state.asked + 1;
        go({ open: true, chat: key, at: at === undefined ? undefined : { seq: at }, asked });
      }
    },
    openWith: (user, at) => shell.openChat(direct(user), at),
    follow(link) {
      if (!link) return change({ link: '' });
      // Everybody with the link can join. Remove it from the address, where the page and people nearby can read it.
      // Remove it before `go` adds history entries, or the browser's Back would open it again.
      if (link.startsWith(INVITES) && location.hash === link)
        history.replaceState(history.state, '', location.pathname + location.search);
      go({ open: true, link });
    },
    shows(key) {
      if (windows?.shows(key)) return true;
      if (!state.open) return false;
      const full = mode === 'inbox' || (state.expanded && !isPhone());
      const list = state.chat === undefined || (full && matchMedia(TWO_COLUMNS).matches);
      return state.chat === key || (list && state.tab === 'chats');
    },
    back: () => go({ chat: undefined }),
    chooseBar(on) {
      change({ bar: on });
      try {
        localStorage.setItem(LAYOUT, on ? 'bar' : 'bubble');
      } catch {
        // The browser may refuse storage. The choice is then lost when the page unloads.
      }
    },
    divert(to) {
      windows = to;
    },
    destroy() {
      removeEventListener('popstate', onPopState);
      listeners.clear();
      if (state.open) stage.setOpen(false);
      if (state.open && usesHistory()) setTimeout(dropEntries);
    },
  };
  return shell;
}

/** `name`: the name that the page uses for a room, either an id or the path of a page of the site. */
export function keyOfRoom(name: string): ConversationKey {
  return name.startsWith('/') ? pageRoom(name) : room(name);
}

/** The one chat that is embedded in a page. */
export function homeOf({ room = '', person }: Stage['settings']): ConversationKey {
  return person ? direct(person) : keyOfRoom(room);
}

/** The key in local storage, written only when the member makes a choice. The loader reads it too. */
const LAYOUT = 'kith.layout';

function storedLayout(): string | null {
  try {
    return localStorage.getItem(LAYOUT);
  } catch {
    return null;
  }
}

/** From this width on, chats open side by side above the bar. */
export const BAR = '(min-width: 1100px)';
export const PHONE = '(max-width: 639px)';
/** From this width on, a panel of the page's size shows the list and the chat side by side. */
export const TWO_COLUMNS = '(min-width: 768px)';

function isPhone(): boolean {
  return matchMedia(PHONE).matches;
}

/** Runs in a later task: a page that unmounts the widget and navigates at once has its own entry on top by then. */
function dropEntries(): void {
  const depth = depthOf(history.state);
  if (depth > 0) history.go(-depth);
}

function depthOf(historyState: unknown): number {
  const depth = (historyState as Record<string, unknown> | null)?.[HISTORY_KEY];
  return typeof depth === 'number' ? depth : 0;
}
