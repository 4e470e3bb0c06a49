// Actions of a member in the widget on a page, and the visible results.

import { assertNoTrouble, DESKTOP, person, until } from './browser.mjs';

export class Widget {
  constructor(page) {
    this.page = page;
    this.launcher = page.locator('kith-widget .launcher');
    this.panel = page.locator('kith-widget .panel');
    this.field = page.locator('kith-widget .composer-field');
  }

  /** Opens a member's page of the demo with the panel open. */
  static async of(context, kith, member) {
    const page = await context.newPage();
    await page.goto(`${kith.url}/as/${member}/`);
    const widget = new Widget(page);
    await widget.show();
    return widget;
  }

  async show() {
    await this.launcher.click();
    await this.panel.waitFor();
  }

  tab(name) {
    return this.page.getByRole('tab', { name, exact: name === 'Me' });
  }

  /** Opens the chat with a user, whom it finds in the directory by name. */
  async chatWith(name) {
    await this.tab('Contacts').click();
    await this.page.getByRole('textbox', { name: 'Search people' }).fill(name);
    await this.choose(this.page.locator('kith-widget .person-row .row-main', { hasText: name }), this.field);
  }

  /** Creates a room, which opens. `fill` may fill in more of the form. */
  async createRoom(name, kind = 'Public room', fill = async () => {}) {
    await this.tab('Rooms').click();
    await this.page.getByRole('button', { name: 'Create a room' }).click();
    await this.page.getByRole('textbox', { name: 'Name' }).fill(name);
    await this.page.getByRole('radio', { name: new RegExp(`^${kind}`) }).click();
    await fill();
    await this.page.getByRole('button', { name: 'Create', exact: true }).click();
    await this.field.waitFor();
  }

  /** Opens a room that it finds by name. Its messages may be visible before the member has joined. */
  async openRoom(name) {
    await this.tab('Rooms').click();
    await this.page.getByRole('textbox', { name: 'Search rooms' }).fill(name.slice(0, 4));
    const rows = this.page.locator('kith-widget .room-row .row-main', { hasText: name });
    await this.choose(rows, this.page.getByRole('log'));
  }

  /** Opens a room, joins it, and waits until the member may write there. */
  async joinRoom(name) {
    await this.openRoom(name);
    await this.page.getByRole('button', { name: 'Join' }).click();
    await this.field.waitFor();
  }

  /** Clicks the first one of these rows, which opens `shown`. A list that is drawn again under the pointer takes no click. */
  async choose(rows, shown) {
    const click = async () => {
      await rows.first().click();
      await shown.waitFor({ timeout: 10_000 });
    };
    await click().catch(click);
  }

  /** Goes back from the chat to the list, if only one of them is visible. */
  async back() {
    await this.page.getByRole('button', { name: 'Back to the list' }).click();
  }

  async say(text) {
    await this.field.fill(text);
    await this.field.press('Enter');
  }

  /** The open chat's messages: text, author, and state. */
  messages() {
    return this.page.evaluate(() => {
      const root = document.querySelector('kith-widget').shadowRoot;
      return Array.from(root.querySelectorAll('[data-message]'), one => ({
        text: one.querySelector('.body-text')?.textContent ?? '',
        mine: one.classList.contains('own'),
        state: one.querySelector('.state')?.dataset.state,
      }));
    });
  }

  /** The newest message with that text. */
  message(text) {
    return this.page.locator('kith-widget [data-message]', { hasText: text }).last();
  }

  /** Chooses an item of a message's menu by keyboard. */
  async act(text, name, role = 'menuitem') {
    const item = this.page.getByRole(role, { name, exact: role === 'menuitem' });
    const menu = this.page.getByRole('menu');
    const open = async () => {
      if (await menu.isVisible()) await this.page.keyboard.press('Escape');
      await menu.waitFor({ state: 'hidden' });
      await this.message(text).press('Enter');
      await item.waitFor({ timeout: 10_000 });
    };
    // A chat that is just opening may take the focus back before Enter is pressed. An open menu keeps its items when the message changes.
    await open().catch(open);
    await item.click();
  }

  async texts() {
    return (await this.messages()).map(message => message.text);
  }

  sees(text) {
    return until(async () => (await this.texts()).includes(text), `"${text}" arrives`);
  }

  /** Waits for a state of a message. `sent` includes messages that were received or read. */
  async becomes(text, state) {
    const states = state === 'sent' ? ['sent', 'received', 'read'] : [state];
    let last;
    const look = async () => {
      last = (await this.messages()).find(message => message.text === text)?.state;
      return states.includes(last);
    };
    await until(look, `"${text}" is ${state}`).catch(error => {
      error.message += ` (it is ${last})`;
      throw error;
    });
  }

  presence() {
    return this.page.locator('kith-widget .chat-presence').textContent();
  }

  unread() {
    return this.launcher.getAttribute('aria-label');
  }
}

/**
 * Opens a browser context for each member. `run` gets their widgets, then their contexts. No page may have trouble,
 * except for `except`.
 */
export async function asMembers(browser, kith, members, run, { except, ...options } = {}) {
  const contexts = await Promise.all(members.map(() => person(browser, { ...DESKTOP, ...options })));
  const widgets = await Promise.all(members.map((member, i) => Widget.of(contexts[i], kith, member)));
  await run(...widgets, ...contexts);
  for (const context of contexts) {
    assertNoTrouble(context, except);
    await context.close();
  }
}
