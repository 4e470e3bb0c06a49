// The bar at the bottom: the member, minimized chats as heads, and the button of the list. Open chats are
// windows above it.

import type { ConversationKey } from '@kith/client';
import type { Stage } from '@kith/loader/stage';
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { PresenceMark } from '../../ui/avatar/avatar.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useTopic, useWatch } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import type { OpenShell } from '../open_shell.ts';
import { badgeText } from '../tab_bar.tsx';
import { waitingText } from '../waiting_text.ts';
import css from './bar.css?inline';
import { Head } from './bar_chat_head.tsx';
import { Window } from './bar_chat_window.tsx';
import { keep, kept } from './open_windows_storage.ts';
import { useRegionCycle } from './use_region_cycle.ts';
import {
  type Arrangement,
  closed,
  drawn,
  moved,
  NOTHING,
  opened,
  putAway,
  roomFor,
} from './window_layout.ts';

export { lateWords as words } from '../../wording/late_words.ts';

/** Maximum number of heads. A button such as "+2" opens the list with the other chats. */
const MOST_HEADS = 6;

export function Bar({ shell, stage }: { shell: OpenShell; stage: Stage }) {
  useStyles(css);
  const { root, wording } = useAppContext();
  const words = useWords('bar');
  const me = useTopic('me', one => one.me());
  const totals = useTopic('totals', one => one.totals());
  const strip = useRef<HTMLElement>(null);
  const [all, arrange] = useArrangement(stage.settings.site, me?.user);
  const room = useRoom();
  const { windows, heads } = drawn(all, room);
  const at = useRef(new Map<ConversationKey, { seq: number }>());
  /** A chat that the member opened takes the focus; chats reopened from the last page do not. */
  const [asked, setAsked] = useState<ConversationKey>();
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);

  const open = (key: ConversationKey, seq?: number) => {
    if (seq !== undefined) at.current.set(key, { seq });
    setAsked(key);
    arrange(before => opened(before, key, roomFor(innerWidth)));
    redraw(undefined);
    if (windows.includes(key)) focusWindow(root, key);
  };
  const current = useRef({ open, windows });
  current.current = { open, windows };
  useLayoutEffect(() => {
    shell.divert({
      open: (key, seq) => current.current.open(key, seq),
      shows: key => current.current.windows.includes(key),
    });
    const { chat, at: where } = shell.state();
    if (chat !== undefined) {
      shell.back();
      current.current.open(chat, where?.seq);
    }
    stage.launcher.hidden = true;
    return () => {
      shell.divert(undefined);
      stage.launcher.hidden = false;
    };
  }, [shell, stage]);
  const isOpen = shell.state().open;
  useFocusBack(strip, isOpen);
  useRegionCycle(strip);
  useWatch(heads.filter(key => key[0] === '@').map(key => key.slice(1)));

  const leave = (key: ConversationKey, next: (before: Arrangement, key: ConversationKey) => Arrangement) => {
    const at = windows.indexOf(key);
    arrange(before => next(before, key));
    const beside = windows[at + 1] ?? windows[at - 1];
    if (beside) focusWindow(root, beside);
    else chatsButton(strip)?.focus();
  };
  const follow = (key: ConversationKey, to: ConversationKey) => {
    const writes = (root?.activeElement as HTMLElement | null)?.closest<HTMLElement>('.window');
    if (writes?.dataset.chat === key) setAsked(to);
    arrange(before => moved(before, key, to));
  };
  return (
    <>
      {windows.map((key, place) => (
        <Window
          key={key}
          conversation={key}
          place={place}
          at={at.current.get(key)}
          asked={asked === key}
          onPutAway={() => leave(key, putAway)}
          onClose={() => leave(key, closed)}
          onMoved={to => follow(key, to)}
        />
      ))}
      <nav class="bar-strip" ref={strip} aria-label={words.chatBar}>
        {me && (
          <button
            type="button"
            class="bar-me"
            onClick={() => {
              shell.goTo('me');
              shell.show();
            }}
          >
            <PresenceMark presence={me.presence === 'invisible' ? 'offline' : me.presence} />
            <bdi class="clip">{me.name}</bdi>
          </button>
        )}
        {heads.slice(0, MOST_HEADS).map(key => (
          <Head
            key={key}
            conversation={key}
            onOpen={() => open(key)}
            onClose={() => leave(key, closed)}
            onMoved={to => follow(key, to)}
          />
        ))}
        {heads.length > MOST_HEADS && (
          <button
            type="button"
            class="bar-more"
            aria-label={words.moreChats(heads.length - MOST_HEADS)}
            onClick={() => {
              shell.goTo('chats');
              shell.show();
            }}
          >
            +{words.number(heads.length - MOST_HEADS)}
          </button>
        )}
        <button
          type="button"
          class="bar-chats"
          aria-expanded={isOpen}
          onClick={isOpen ? shell.hide : shell.show}
        >
          <Icon name="chat" />
          <span>{words.chats}</span>
          {totals.unread + totals.strangers > 0 && (
            <>
              <span class="badge" aria-hidden="true">
                {badgeText(totals.unread + totals.strangers)}
              </span>
              <span class="hidden-text">{waitingText(wording, totals)}</span>
            </>
          )}
        </button>
      </nav>
    </>
  );
}

/** The member's windows and heads, stored for the next page. Another user or a visitor does not get them. */
function useArrangement(site: string, user: string | undefined) {
  const [mine, setMine] = useState<{ user: string | undefined; all: Arrangement }>();
  const all =
    mine !== undefined && mine.user === user ? mine.all : user === undefined ? NOTHING : kept(site, user);
  const latest = useRef(all);
  latest.current = all;
  const arrange = (change: (before: Arrangement) => Arrangement) => {
    latest.current = change(latest.current);
    setMine({ user, all: latest.current });
    if (user !== undefined) keep(site, user, latest.current);
  };
  return [all, arrange] as const;
}

function useRoom(): number {
  const [room, setRoom] = useState(() => roomFor(innerWidth));
  useLayoutEffect(() => {
    const look = () => setRoom(roomFor(innerWidth));
    addEventListener('resize', look);
    return () => removeEventListener('resize', look);
  }, []);
  return room;
}

/** A closing panel focuses the launcher, which the bar hides. This hook focuses the bar's button instead. */
function useFocusBack(strip: { current: HTMLElement | null }, isOpen: boolean): void {
  const before = useRef(isOpen);
  useLayoutEffect(() => {
    const root = strip.current?.getRootNode() as ShadowRoot | undefined;
    if (before.current && !isOpen && root?.activeElement === null) chatsButton(strip)?.focus();
    before.current = isOpen;
  }, [isOpen, strip]);
}

function chatsButton(strip: { current: HTMLElement | null }): HTMLElement | null | undefined {
  return strip.current?.querySelector<HTMLElement>('.bar-chats');
}

function focusWindow(root: ShadowRoot | undefined, key: ConversationKey): void {
  const all = Array.from(root?.querySelectorAll<HTMLElement>('.window') ?? []);
  const window = all.find(one => one.dataset.chat === key);
  (window?.querySelector<HTMLElement>('textarea') ?? window)?.focus();
}
