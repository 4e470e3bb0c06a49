// Renders a component with a fake client in a simulated document.

import type { CallRequest, Push } from '@kith/loader/stage';
import { h, render, type VNode } from 'preact';
import { act } from 'preact/test-utils';
import { vi } from 'vitest';
import { FakeClient, type FakeOptions } from '../dev/fake_client.ts';
import { FakePush } from '../dev/fake_push.ts';
import { AppContext, type AppContextValue, type EmojiRequest, type Question } from '../src/app_context.tsx';
import { replyOrEditPart } from '../src/features/composer/composer.tsx';
import { toolsPart } from '../src/features/message/message.tsx';
import { formattedPart } from '../src/features/message_text/message_text.tsx';
import { fetchReader } from '../src/features/message_text/plain_text.ts';
import { fetchPart } from '../src/ui/lazy/lazy.tsx';
import type { MenuRequest } from '../src/ui/menu/menu.tsx';
import { fetchWording } from '../src/wording/wording.ts';
import { plain } from './plain.ts';

export const NOW = Date.UTC(2026, 2, 12, 12);
/** A test of a lazy part must fetch its texts: `beforeAll(() => lateWords.fetch(WORDING))`. */
export const WORDING = await fetchWording(['en-GB'], 'UTC');
// The interface fetches these parts shortly after it has started.
await Promise.all([
  fetchReader(),
  fetchPart(formattedPart, WORDING),
  fetchPart(replyOrEditPart, WORDING),
  fetchPart(toolsPart, WORDING),
]);

export class Drawing {
  readonly client: FakeClient;
  readonly push = new FakePush(undefined);
  readonly said: string[] = [];
  readonly opened: string[] = [];
  /** The props of the parts that a component showed over the panel. */
  readonly covers: object[] = [];
  readonly calls: CallRequest[] = [];
  menu: MenuRequest | undefined;
  question: Question | undefined;
  picking: EmojiRequest | undefined;
  readonly root = document.createElement('div');

  constructor(options: Partial<FakeOptions> = {}) {
    this.client = new FakeClient({ people: 12, chats: 6, now: NOW, ...options });
    document.body.replaceChildren(this.root);
  }

  draw(component: VNode): this {
    const context: AppContextValue = {
      client: this.client,
      push: () => Promise.resolve(this.push as unknown as Push),
      wording: WORDING,
      announce: text => this.said.push(plain(text)),
      openChat: (key, at) => this.opened.push(at === undefined ? key : `${key} ${at}`),
      takesFocus: () => true,
      pickEmoji: request => {
        this.picking = request;
      },
      openMenu: async request => {
        this.menu = await request;
      },
      show: (_, props) => this.covers.push(props),
      call: request => this.calls.push(request),
      confirm: question => {
        this.question = { ...question, title: plain(question.title), text: plain(question.text) };
      },
    };
    act(() => render(h(AppContext.Provider, { value: context, children: component }), this.root));
    return this;
  }

  /** Runs an action and renders all its effects. */
  do(action: () => void): this {
    act(action);
    return this;
  }

  /** Waits for the opened menu, because its items are fetched lazily. */
  async shownMenu(): Promise<MenuRequest> {
    return vi.waitFor(() => {
      if (this.menu === undefined) throw new Error('no menu');
      return this.menu;
    });
  }

  find<E extends HTMLElement = HTMLElement>(selector: string): E {
    const found = this.root.querySelector<E>(selector);
    if (found === null) throw new Error(`no ${selector} in ${this.root.innerHTML}`);
    return found;
  }

  has(selector: string): boolean {
    return this.root.querySelector(selector) !== null;
  }

  button(name: string): HTMLElement {
    const all = Array.from(this.root.querySelectorAll<HTMLElement>('button'));
    const found = all.find(one => plain(one.getAttribute('aria-label') ?? one.textContent) === name);
    if (found === undefined) throw new Error(`no button ${name} in ${this.root.innerHTML}`);
    return found;
  }

  text(): string {
    return plain(this.root.textContent ?? '');
  }

  press(on: HTMLElement, key: string, more: KeyboardEventInit = {}): KeyboardEvent {
    const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more });
    act(() => void on.dispatchEvent(event));
    return event;
  }

  type(on: HTMLTextAreaElement | HTMLInputElement, value: string): this {
    return this.do(() => {
      on.value = value;
      on.dispatchEvent(new Event('input', { bubbles: true }));
    });
  }
}
