// @vitest-environment happy-dom

import { direct } from '@kith/client';
import type { OpenPanel } from '@kith/loader/stage';
import { beforeEach, expect, test, vi } from 'vitest';
import { openShell } from './open_shell.ts';

let phone = true;
let went: number[] = [];
let pushed: unknown[] = [];
let remembered: (OpenPanel | undefined)[] = [];
beforeEach(() => {
  phone = true;
  went = [];
  pushed = [];
  remembered = [];
  history.replaceState({ router: 'of the page' }, '');
  vi.stubGlobal('matchMedia', () => ({ matches: phone }));
  vi.spyOn(history, 'go').mockImplementation(delta => void went.push(delta ?? 0));
  vi.spyOn(history, 'pushState').mockImplementation(state => {
    pushed.push(state);
    history.replaceState(state, '');
  });
});

function shell(mode: 'bubble' | 'inbox' = 'bubble') {
  const events: string[] = [];
  const launcher = document.createElement('button');
  const settings = {
    site: 's',
    server: '',
    mode,
    lang: 'en',
    theme: 'auto',
    position: 'right',
    iconDot: false,
    worker: '/kith-sw.js',
  } as const;
  const stage = {
    launcher,
    settings,
    setOpen: (open: boolean) => void events.push(`open ${open}`),
    remember: (panel: OpenPanel | undefined) => void remembered.push(panel),
    emit: (event: string) => void events.push(event),
  };
  return { shell: openShell(stage), events };
}

const back = (state: unknown) => dispatchEvent(new PopStateEvent('popstate', { state }));

test('byKey is set if a key opened the panel, and not if a mouse did', () => {
  phone = false;
  for (const byKey of [true, false]) {
    vi.spyOn(HTMLElement.prototype, 'matches').mockImplementation(what => byKey && what === ':focus-visible');
    const { shell: one } = shell();
    one.show();
    expect(one.state().byKey).toBe(byKey);
    one.destroy();
  }
  vi.mocked(HTMLElement.prototype.matches).mockRestore();
});

test('opening and closing emit one event each', () => {
  const { shell: one, events } = shell();
  one.show();
  one.show();
  one.hide();
  one.hide();
  expect(events).toEqual(['open true', 'open', 'open false', 'close']);
  one.destroy();
});

test('on a phone each level is a history entry, and keeps the state of the page', () => {
  const { shell: one } = shell();
  one.show();
  one.openChat(direct('ana'));
  expect(pushed).toEqual([
    { router: 'of the page', kithDepth: 1 },
    { router: 'of the page', kithDepth: 2 },
  ]);
  back({ kithDepth: 1 });
  expect(one.state()).toMatchObject({ open: true, chat: undefined });
  back({ router: 'of the page' });
  expect(one.state().open).toBe(false);
  expect(went).toEqual([]);
  one.destroy();
});

test('closing a chat that the page opened goes back two entries', () => {
  const { shell: one } = shell();
  one.openWith('ana');
  expect(pushed).toHaveLength(2);
  one.hide();
  expect(went).toEqual([-2]);
  one.destroy();
});

test('leaving a chat by its button goes back one entry', () => {
  const { shell: one } = shell();
  one.openWith('ana');
  one.back();
  expect(went).toEqual([-1]);
  expect(one.state()).toMatchObject({ open: true, chat: undefined });
  one.destroy();
});

test('on a desktop and in an inbox page the history does not change', () => {
  const inbox = shell('inbox').shell;
  inbox.openWith('ana');
  phone = false;
  const bubble = shell().shell;
  bubble.openWith('ana');
  bubble.hide();
  expect([pushed, went]).toEqual([[], []]);
  expect(bubble.state().chat).toBe(direct('ana'));
  inbox.destroy();
  bubble.destroy();
});

test('an invitation is removed from the address and the history; a message link stays', () => {
  const { shell: one } = shell();
  const invites = '#kith=join.q5Zt0o1VYx7c_8mD-2KfLw';
  history.replaceState({ router: 'of the page' }, '', `/thread?page=2${invites}`);
  const addresses: string[] = [];
  vi.mocked(history.pushState).mockImplementation(() => void addresses.push(location.href));
  one.follow(invites);
  expect(one.state()).toMatchObject({ open: true, link: invites });
  expect(addresses.map(address => new URL(address).hash)).toEqual(['']);
  expect(`${location.pathname}${location.search}${location.hash}`).toBe('/thread?page=2');
  expect(history.state).toEqual({ router: 'of the page' });
  back({ router: 'of the page' });
  expect(one.state()).toMatchObject({ open: false, link: '' });
  history.replaceState(null, '', '/#kith=8000000000000001.12');
  one.follow(location.hash);
  expect(location.hash).toBe('#kith=8000000000000001.12');
  history.replaceState(null, '', '/');
  one.destroy();
});

test('shows is true for the open chat, or for all chats while the list is visible', () => {
  const [ana, tom] = [direct('ana'), direct('tom')];
  phone = false;
  const { shell: one } = shell();
  expect(one.shows(ana)).toBe(false);
  one.show();
  expect(one.shows(ana)).toBe(true);
  one.goTo('me');
  expect(one.shows(ana)).toBe(false);
  one.goTo('chats');
  one.openChat(ana);
  expect([one.shows(ana), one.shows(tom)]).toEqual([true, false]);
  one.destroy();
  const beside = vi.fn(() => ({ matches: true }));
  vi.stubGlobal('matchMedia', beside);
  const inbox = shell('inbox').shell;
  inbox.openChat(ana);
  expect(inbox.shows(tom)).toBe(true);
  inbox.destroy();
});

test('the next page reopens the panel as it was, and takes no focus until the member uses it', () => {
  phone = false;
  const { shell: one } = shell();
  one.show();
  one.goTo('contacts');
  one.openChat(direct('ana'));
  one.toggleExpanded();
  const panel = remembered.at(-1);
  one.hide();
  expect(remembered.at(-1)).toBe(undefined);
  one.destroy();
  const { shell: next, events } = shell();
  if (panel) next.reopen(panel);
  const as = { open: true, tab: 'contacts', chat: direct('ana'), expanded: true };
  expect(next.state()).toMatchObject({ ...as, reopened: true });
  expect(events).toEqual(['open true', 'open']);
  next.goTo('me');
  expect(next.state()).toMatchObject({ ...as, tab: 'me', reopened: false });
  next.destroy();
});

test('on a phone the panel reopens after a reload, and not on another page', () => {
  const panel: OpenPanel = { tab: 'chats', chat: direct('ana'), expanded: false };
  const { shell: one } = shell();
  one.reopen(panel);
  expect(one.state().open).toBe(false);
  for (const [depth, chat] of [[1], [2, direct('ana')]] as const) {
    history.replaceState({ kithDepth: depth }, '');
    const { shell: next } = shell();
    next.reopen(panel);
    expect(next.state()).toMatchObject({ open: true, chat });
    next.destroy();
  }
  expect(pushed).toEqual([]);
  one.destroy();
});

test('a destroyed shell ignores history events', () => {
  const { shell: one } = shell();
  one.show();
  one.destroy();
  back(null);
  expect(one.state().open).toBe(true);
});
