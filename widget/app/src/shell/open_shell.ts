// The open and visible parts, as a value that the page, the phone's Back and the components change.

import { type ConversationKey, direct, pageRoom, room } from '@kith/client';
import type { OpenPanel, Stage } from '@kith/loader/stage';
import { INVITES } from '../features/invite_links/invite_url.ts';

export type Tab = OpenPanel['tab'];

export interface ShellState {
  open: boolean;
  tab: Tab;
  /** The conversation on the screen. */
  chat: ConversationKey | undefined;
  /** The message that it was opened at; another object each time. */
  at: { seq: number } | undefined;
  /** How many chats were asked for by now: with each, what lies over the panel gives way. */
  asked: number;
  /** The fragment of a link that is followed. */
  link?: string;
  /** It was opened by a key on the button: Tab then stays in the panel, until F6 or Escape. */
  byKey: boolean;
  /** The panel stands as on the page before, and nobody has used it on this one: it takes no focus. */
  reopened: boolean;
  /** A bubble that the member has made as large as the page. */
  expanded: boolean;
  /** Chats stand side by side at the bottom, where there is room: as the member chose, else as the tag says. */
  bar: boolean;
}

/** Where chats are opened instead of in the panel. */
export interface Windows {
  open(key: ConversationKey, at?: number): void;
  shows(key: ConversationKey): boolean;
}

export interface OpenShell {
  /** It stands in a corner of the page, and can be closed. */
  readonly corner: boolean;
  state(): ShellState;
  subscribe(listener: () => void): () => void;
  show(): void;
  hide(): void;
  /** Shows what `Stage.remember` was given on the page before. */
  reopen(panel: OpenPanel): void;
  toggleExpanded(): void;
  goTo(tab: Tab): void;
  openChat(key: ConversationKey, at?: number): void;
  openWith(user: string, at?: number): void;
  /** Leads to what a link names, a message or an invitation; without one, it was. */
  follow(link?: string): void;
  /** The chat is before the member's eyes, or the list with its row. */
  shows(key: ConversationKey): boolean;
  /** From a chat to the list. */
  back(): void;
  chooseBar(on: boolean): void;
  divert(windows: Windows | undefined): void;
  destroy(): void;
}

/** Where the member is on a phone is an entry of the history, so that Back leads where they expect. */
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
    // Closing it ends the display of a link's target.
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

  /** Changes, and on a phone writes down how deep we are; going up is the browser's Back, so that no entry is left. */
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
    // Only a widget in a corner writes entries.
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
      // A sheet that covers the page comes back only in the entry of the history that it was open in.
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
      // Everybody with the link can join, so it does not stay in the address, where the page and people
      // nearby can read it. It goes before the address gets into entries of the history, or the phone's Back
      // would open it again.
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
        // A browser may refuse storage; the choice then lasts as long as the page.
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

/** As the page names it: an id, or the path of a page of the site. */
export function keyOfRoom(name: string): ConversationKey {
  return name.startsWith('/') ? pageRoom(name) : room(name);
}

/** The one chat that is embedded in a page. */
export function homeOf({ room = '', person }: Stage['settings']): ConversationKey {
  return person ? direct(person) : keyOfRoom(room);
}

/** Written only when the member chooses; the loader reads it too. */
const LAYOUT = 'kith.layout';

function storedLayout(): string | null {
  try {
    return localStorage.getItem(LAYOUT);
  } catch {
    return null;
  }
}

/** From this width on, chats stand side by side in the bar. */
export const BAR = '(min-width: 1100px)';
export const PHONE = '(max-width: 639px)';
/** From this width on, the list and the chat stand side by side on a full page. */
export const TWO_COLUMNS = '(min-width: 768px)';

function isPhone(): boolean {
  return matchMedia(PHONE).matches;
}

/** Later: a page that unmounts the widget and leads elsewhere at once has an entry of its own on top, and ours stay below. */
function dropEntries(): void {
  const depth = depthOf(history.state);
  if (depth > 0) history.go(-depth);
}

function depthOf(historyState: unknown): number {
  const depth = (historyState as Record<string, unknown> | null)?.[HISTORY_KEY];
  return typeof depth === 'number' ? depth : 0;
}
