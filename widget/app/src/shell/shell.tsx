// The panel: the list and the chat side by side, or only one of them if both do not fit.

import { type ConversationKey, direct } from '@kith/client';
import type { Stage } from '@kith/loader/stage';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import { AppContext, useAppContext, useClient, useTopic, useWording } from '../app_context.tsx';
import type { CallDispatcher } from '../features/calls/call_dispatcher.ts';
import { Chat, headPart, personHeadPart } from '../features/chat/chat.tsx';
import { footPart } from '../features/chat/conversation_view.tsx';
import { rowMenu } from '../features/chats/chat_row.tsx';
import { ChatsTab, searchPart } from '../features/chats/chats_tab.tsx';
import { replyOrEditPart } from '../features/composer/composer.tsx';
import { bannerPart, useConnectionProblem } from '../features/connection/connection_problem.ts';
import { INVITES } from '../features/invite_links/invite_url.ts';
import { deleteQuestion } from '../features/message/confirm_delete.ts';
import { failedPart, messageActions, reactionsPart } from '../features/message/message.tsx';
import type { AlertLoader } from '../features/toasts/alert_loader.ts';
import { Icon } from '../ui/icon/icon.tsx';
import { fetchLazy, fetchPart, Lazy, lazy, type Part } from '../ui/lazy/lazy.tsx';
import { type ThemeChoice, useTheme } from '../ui/theme/theme.ts';
import { useMedia } from '../ui/use_media/use_media.ts';
import type { Wording } from '../wording/wording.ts';
import { LiveRegion } from './live_region/live_region.tsx';
import { BAR, homeOf, type OpenShell, PHONE, type ShellState, type Tab, TWO_COLUMNS } from './open_shell.ts';
import { type Below, confirm, menuPart, useOverlays } from './overlays.tsx';
import { TabBar } from './tab_bar.tsx';

interface Props {
  stage: Stage;
  shell: OpenShell;
  alerts: AlertLoader;
  dispatcher: CallDispatcher;
  wording: Wording;
}

export function Shell({ stage, shell, alerts, dispatcher, wording }: Props) {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  useLayoutEffect(() => {
    dispatcher.listen(() => redraw(undefined));
    alerts.listen(() => redraw(undefined));
    return shell.subscribe(() => redraw(undefined));
  }, [shell, alerts, dispatcher]);
  const state = shell.state();
  const announcement = useRef<(text: string) => void>(() => {});
  const theme = useTheme(stage.settings.theme, stage.root.host);
  const embedded = stage.settings.mode === 'embed';
  // An embedded widget is a part of the page on every screen, so it has no phone layout.
  const phone = useMedia(PHONE) && !embedded;
  const wide = useMedia(TWO_COLUMNS);
  const full = stage.settings.mode === 'inbox' || (state.expanded && !phone);
  const bar = useMedia(BAR) && state.bar && !full;

  const below = useMemo<Below>(
    () => ({
      client: stage.client,
      push: stage.push,
      wording,
      root: stage.root,
      announce: text => announcement.current(text),
      openChat: shell.openChat,
      takesFocus: () =>
        (stage.settings.mode !== 'embed' && !shell.state().reopened) || stage.root.activeElement !== null,
      call: stage.call,
      windowItems: () =>
        shell.corner && !full && !phone
          ? [{ icon: 'expand', text: wording.expand, run: shell.toggleExpanded }]
          : [],
    }),
    [stage, wording, shell, full, phone],
  );
  const { context, covered, layer, close } = useOverlays(below, phone);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each request to open a chat closes the overlays
  useLayoutEffect(close, [state.asked]);

  // Effects of child components run first, so the live region already listens.
  useEffect(() => alerts.readOut(), [alerts]);
  const notices = alerts.notices();
  const toast = notices && (
    <Lazy part={toastPart} props={{ notices, onScreen: shell.shows }} onFailed={ignored} />
  );
  const classes = [
    'shell',
    theme.dark ? 'dark' : 'light',
    phone ? 'phone' : 'desktop',
    embedded ? 'embedded' : full ? 'full' : 'corner',
    stage.settings.position,
    full && wide ? 'two-columns' : 'one-column',
    bar && (state.open ? 'with-bar beside-panel' : 'with-bar'),
  ];
  return (
    <AppContext.Provider value={context}>
      <div class={classes.filter(Boolean).join(' ')} lang={wording.language} dir={wording.direction}>
        {state.open && (
          <Panel
            key="panel"
            shell={shell}
            state={state}
            phone={phone}
            full={full}
            twoColumns={full && wide}
            closable={shell.corner}
            {...(embedded && { home: homeOf(stage.settings) })}
            overlay={covered}
            theme={theme}
          >
            {state.link && (
              <Lazy
                key={state.link}
                part={state.link.startsWith(INVITES) ? invitationPart : linkPart}
                props={{ hash: state.link, onDone: () => shell.follow() }}
                onFailed={() => shell.follow()}
              />
            )}
            {layer}
            <div class="toast-inside">{toast}</div>
          </Panel>
        )}
        {bar && <Lazy part={barPart} props={{ shell, stage }} onFailed={ignored} />}
        {!state.open && toast}
        {dispatcher.wanted() && (
          <Lazy
            part={callPart}
            props={{ dispatcher, beside: state.open }}
            onFailed={() => {
              dispatcher.giveUp();
              announcement.current(wording.loadFailed);
            }}
          />
        )}
        <LiveRegion announcement={announcement} chat={state.open ? state.chat : undefined} />
      </div>
    </AppContext.Provider>
  );
}

const contactsTab = lazy(() => import('../features/contacts/contacts_tab.tsx'), 'ContactsTab');
const roomsTab = lazy(() => import('../features/rooms/rooms_tab.tsx'), 'RoomsTab');
const meTab = lazy(() => import('../features/me/me_tab.tsx'), 'MeTab');
const linkPart = lazy(() => import('../features/message_links/message_link.tsx'), 'Follow');
const invitationPart = lazy(() => import('../features/invite_links/invite_card.tsx'), 'InviteCard');
const barPart = lazy(() => import('./bar/bar.tsx'), 'Bar');
const toastPart = lazy(() => import('../features/toasts/toast_outlet.tsx'), 'ToastPlace');
const noticePart = lazy(() => import('../features/moderation/moderator_warning.tsx'), 'ModeratorWarning');
const callPart = lazy(() => import('../features/calls/call_root.tsx'), 'CallRoot');
const emptyPart = lazy(() => import('../ui/empty_state/empty_state.tsx'), 'Empty');
const ignored = () => undefined;

/** The parts that one click opens. They are fetched ahead of time. */
const PARTS = [
  menuPart,
  confirm,
  searchPart,
  contactsTab,
  roomsTab,
  meTab,
  headPart,
  personHeadPart,
  footPart,
  replyOrEditPart,
  failedPart,
  reactionsPart,
];
const CODES = [rowMenu, () => import('../features/chat/chat_menu.ts'), messageActions, deleteQuestion];

interface PanelProps {
  shell: OpenShell;
  state: ShellState;
  phone: boolean;
  full: boolean;
  twoColumns: boolean;
  closable: boolean;
  /** The chat that is embedded in the page. An embedded widget has no list. */
  home?: ConversationKey;
  /** An overlay covers the panel. */
  overlay: boolean;
  theme: ThemeChoice;
  children: ComponentChildren;
}

function Panel({
  shell,
  state,
  phone,
  full,
  twoColumns,
  closable,
  home,
  overlay,
  theme,
  children,
}: PanelProps) {
  const client = useClient();
  const words = useWording();
  const panel = useRef<HTMLElement>(null);
  useEffect(() => client.watchContacts(), [client]);
  const site = useTopic('me', one => one.me())?.site;
  // The name of the chat distinguishes two widgets of a page.
  const name = useTopic(
    `conversation:${home ?? direct('')}`,
    one => home && one.conversation(home).with.name,
  );
  const noticed = useTopic('notices', one => one.notices()).length > 0 || site;
  const trouble = useConnectionProblem();
  const banner = (
    <>
      {trouble && <Lazy part={bannerPart} props={{ trouble }} onFailed={ignored} />}
      {noticed && <Lazy part={noticePart} props={{}} onFailed={ignored} />}
    </>
  );
  useScrollLock(phone);
  const keys = useFocusKeys(panel, shell);
  useFirstFocus(panel, state.chat, twoColumns);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !event.defaultPrevented) {
      event.preventDefault();
      if (home) back?.();
      else if (state.chat !== undefined && !twoColumns) shell.back();
      else if (closable) shell.hide();
    } else if (event.key === 'Tab' && (phone || state.byKey) && !overlay && panel.current) {
      keys.current.keepInside(event, panel.current);
    }
  };
  const back = home
    ? state.chat === home
      ? undefined
      : () => shell.openChat(home)
    : twoColumns
      ? undefined
      : shell.back;
  const listHidden = state.chat !== undefined && !twoColumns;
  const closeButton = (
    <button
      type="button"
      class="icon-button"
      aria-label={words.close}
      title={words.close}
      onClick={shell.hide}
    >
      <Icon name="close" />
    </button>
  );
  const corner = closable && (
    <>
      {!phone && (
        <button
          type="button"
          class="icon-button"
          aria-label={full ? words.collapse : words.expand}
          title={full ? words.collapse : words.expand}
          onClick={shell.toggleExpanded}
        >
          <Icon name={full ? 'collapse' : 'expand'} />
        </button>
      )}
      {closeButton}
    </>
  );

  return (
    <section
      ref={panel}
      class="panel"
      part="panel"
      role={phone ? 'dialog' : 'region'}
      {...(phone ? { 'aria-modal': true } : {})}
      aria-label={name || words.messenger}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      {!home && (
        <div class="pane pane-list" inert={listHidden || overlay} data-hidden={listHidden}>
          <ListPane
            shell={shell}
            state={state}
            theme={theme}
            corner={corner}
            banner={!listHidden && banner}
          />
        </div>
      )}
      {state.chat !== undefined ? (
        <div class="pane pane-chat" inert={overlay} key={state.chat}>
          <Chat
            conversation={state.chat}
            at={state.at}
            onBack={back}
            onMoved={shell.openChat}
            corner={full ? corner : closable && closeButton}
            banner={!twoColumns && banner}
          />
        </div>
      ) : (
        twoColumns && (
          <div class="pane pane-chat pane-empty">
            <div class="bar">
              <span class="grow" />
              {corner}
            </div>
            <Lazy
              part={emptyPart}
              canWait
              props={{ icon: 'chat' as const, hint: words.noChatsHint }}
              onFailed={ignored}
            />
          </div>
        )
      )}
      {children}
    </section>
  );
}

const PANEL_ID = 'tab-panel';
const FETCH_DELAY = 500;

function ListPane({
  shell,
  state,
  theme,
  corner,
  banner,
}: Pick<PanelProps, 'shell' | 'state' | 'theme'> & Record<'corner' | 'banner', ComponentChildren>) {
  const { wording: words, announce, client } = useAppContext();
  const failed = () => {
    announce(words.loadFailed);
    shell.goTo('chats');
  };
  // The first chat loads first. After `FETCH_DELAY`, fetch the parts that one click opens.
  useEffect(() => {
    const timer = setTimeout(() => {
      client.prepare();
      for (const code of CODES) fetchLazy<object>(code, words).catch(() => undefined);
      for (const part of PARTS) fetchPart(part as Part<never>, words).catch(() => undefined);
    }, FETCH_DELAY);
    return () => clearTimeout(timer);
  }, [client, words]);
  const titles: Record<Tab, string> = {
    chats: words.chats,
    contacts: words.contacts,
    rooms: words.rooms,
    me: words.me,
  };
  return (
    <>
      <div class="bar">
        <h2 class="bar-title grow">{titles[state.tab]}</h2>
        {corner}
      </div>
      {banner}
      <div class="tab-panel" role="tabpanel" id={PANEL_ID} aria-labelledby={`tab-${state.tab}`}>
        {state.tab === 'chats' && (
          <ChatsTab chosen={state.chat} onFindPeople={() => shell.goTo('contacts')} />
        )}
        {state.tab === 'contacts' && <Lazy part={contactsTab} props={{}} onFailed={failed} />}
        {state.tab === 'rooms' && <Lazy part={roomsTab} props={{}} onFailed={failed} />}
        {state.tab === 'me' && <Lazy part={meTab} props={{ theme, shell }} onFailed={failed} />}
      </div>
      <TabBar tab={state.tab} panelId={PANEL_ID} titles={titles} onChange={shell.goTo} />
    </>
  );
}

/**
 * Moves the focus into the panel when it opens, and to the row of a chat when the member leaves the chat. A layout
 * effect runs before the paint, so that a second Escape right after the first one does not reach the page.
 */
function useFirstFocus(
  panel: { current: HTMLElement | null },
  chat: ConversationKey | undefined,
  twoColumns: boolean,
) {
  const { takesFocus } = useAppContext();
  const before = useRef<ConversationKey | undefined>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a window that changes its size moves no focus
  useLayoutEffect(() => {
    const element = panel.current;
    if (element === null || !takesFocus()) return;
    if (chat === undefined) {
      // The row in the tab order is the last used one, at first the newest chat. Without rows, focus the selected tab.
      const list = element.querySelector('.pane-list');
      const row = list?.querySelector<HTMLElement>('[data-stop][tabindex="0"]');
      const tab = list?.querySelector<HTMLElement>('[role=tab][aria-selected=true]');
      (row ?? tab)?.focus({ preventScroll: true });
    } else if (!twoColumns && before.current === undefined) {
      // The composer takes the focus itself if that opens no on-screen keyboard.
      if (!element.contains((element.getRootNode() as ShadowRoot).activeElement)) element.focus();
    }
    before.current = chat;
  }, [panel, chat, twoColumns]);
}

const focusCode = () => import('./focus.ts');
/** Holds Tab while its code is loading: the focus would leave the panel at its end. */
const whileLoading = {
  keepInside(event: KeyboardEvent, panel: HTMLElement) {
    event.preventDefault();
    focusCode().then(one => one.step(event, panel), ignored);
  },
};

/** Loads the handlers of the focus keys, shortly after the panel. Without them, Tab works as in the page. */
function useFocusKeys(panel: { current: HTMLElement | null }, shell: OpenShell) {
  const keys = useRef<Pick<typeof import('./focus.ts'), 'keepInside'>>(whileLoading);
  useEffect(() => {
    let leave: (() => void) | undefined;
    let over = false;
    focusCode().then(
      one => {
        keys.current = one;
        if (!over && panel.current) leave = one.cycle(panel.current, shell);
      },
      () => {
        keys.current = { keepInside: ignored };
      },
    );
    return () => {
      over = true;
      leave?.();
    };
  }, [panel, shell]);
  return keys;
}

/** Stops the page from scrolling below a panel that covers it. */
function useScrollLock(locked: boolean): void {
  useEffect(() => {
    if (!locked) return;
    const { style } = document.documentElement;
    const before = style.overflow;
    style.overflow = 'hidden';
    return () => {
      style.overflow = before;
    };
  }, [locked]);
}
