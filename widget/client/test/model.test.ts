// Random members, tabs and faults, compared with the server's record: no message is lost or doubled, and tabs agree.

import { expect, test } from 'vitest';
import { type Client, type ConversationKey, direct, type Message } from '../src/client.ts';
import { Browser, type Tab } from './browser.ts';
import { Clock, chance } from './clock.ts';
import { Server } from './server.ts';

/** Run more seeds with `SEEDS=1000 npx vitest run model`, or one with `SEED=17`. */
const only = Number(process.env.SEED ?? 0);
const count = Number(process.env.SEEDS ?? 40);
const seeds = only > 0 ? [only] : Array.from({ length: count }, (_, at) => at + 1);

test.each(seeds)('seed %i', async seed => {
  const run = new Run(seed);
  for (let step = 0; step < 120; step++) await run.step();
  await run.heal();
  run.check();
});

class Run {
  clock = new Clock();
  server = new Server(this.clock);
  random: () => number;
  browsers: Map<string, Browser>;
  /** The messages that each tab has written, in order. Tabs that were killed are left out. */
  written: { from: string; to: string; tab: Tab; body: string; id: string }[] = [];
  calm = false;

  constructor(readonly seed: number) {
    this.random = chance(seed);
    const faulty = this.random() * 0.08;
    this.server.latency = () => Math.floor(this.random() * 40);
    this.server.gapAfter = 1 + Math.floor(this.random() * 12);
    this.server.fault = () => {
      if (this.calm || this.random() > faulty) return 'no';
      return this.random() < 0.5 ? 'cut' : 'twice';
    };
    this.server.refuse = command => {
      if (this.calm || !/^(send|marker|history|edit|delete|react)$/.test(command.t) || this.random() > faulty)
        return undefined;
      const id = command.t === 'send' && { id: command.id };
      const re = 'rid' in command && { re: command.rid };
      return { t: 'error', code: 'rate_limited', text: '', ...id, ...re, retry_after: 500 };
    };
    this.browsers = new Map(
      ['ana', 'ben', 'cem'].map((user, at) => {
        const browser = new Browser(this.clock, this.server.open, seed * 10 + at);
        browser.delay = () => Math.floor(this.random() * 5);
        browser.old = this.random() < 0.2;
        return [user, browser];
      }),
    );
    for (const user of this.browsers.keys()) this.openTab(user);
  }

  openTab(user: string): void {
    const tab = this.browsers.get(user)!.tab(user);
    tab.client.connect();
  }

  alive(user: string): Tab[] {
    return this.browsers.get(user)!.tabs.filter(one => !one.dead);
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }

  async step(): Promise<void> {
    await this.clock.advance(Math.floor(this.random() ** 3 * 8_000));
    const user = this.pick([...this.browsers.keys()]);
    const tabs = this.alive(user).filter(one => !one.frozen);
    const tab = this.pick(tabs);
    const what = this.random();
    if (tab === undefined || (what < 0.05 && tabs.length < 4)) this.openTab(user);
    else if (what < 0.45) this.send(user, tab);
    else if (what < 0.6) tab.client.open(direct(this.other(user)));
    else if (what < 0.65) this.read(tab, user);
    else if (what < 0.7) this.change(tab, user);
    else if (what < 0.76) this.server.cutAll();
    else if (what < 0.79) this.server.freeze();
    else if (what < 0.82) this.server.reachable = this.random() < 0.5;
    else if (what < 0.86) tab.close();
    // A killed tab loses text that it has not sent yet. Wait, because the client cannot prevent that.
    else if (what < 0.89) await this.clock.advance(200).then(() => tab.crash());
    else if (what < 0.92) tab.say(tab.visible ? 'hidden' : 'visible');
    else if (what < 0.94) tab.say(tab.online ? 'offline' : 'online');
    else if (what < 0.96) this.server.epoch = this.random() < 0.2 ? `e${this.clock.now}` : this.server.epoch;
    else if (what < 0.98) this.freezeOrThaw(tab, user);
    else this.clock.sleep(60_000);
  }

  /** A tab in the background stops running for a while, with or without its lock. */
  freezeOrThaw(tab: Tab, user: string): void {
    const frozen = this.alive(user).find(one => one.frozen);
    if (frozen) return frozen.thaw();
    tab.say('hidden');
    tab.frozen = true;
  }

  other(user: string): string {
    return this.pick([...this.browsers.keys()].filter(one => one !== user));
  }

  send(from: string, tab: Tab): void {
    const to = this.other(from);
    const body = `${from}-${this.written.length}`;
    const id = tab.client.send(direct(to), body);
    this.written.push({ from, to, tab, body, id });
  }

  read(tab: Tab, user: string): void {
    const key = direct(this.other(user));
    const seq = tab.client.timeline(key).messages.findLast(one => one.seq !== undefined)?.seq;
    if (seq !== undefined) tab.client.seen(key, seq);
  }

  /** Edits, deletes or reacts, online or not. */
  change(tab: Tab, user: string): void {
    const key = direct(this.other(user));
    const messages = tab.client.timeline(key).messages.filter(one => one.seq !== undefined);
    const one = messages[Math.floor(this.random() * messages.length)];
    if (one?.seq === undefined) return;
    const what = this.random();
    if (what < 0.5) tab.client.react(key, one.seq, this.pick(['👍', '🎉']), this.random() < 0.6);
    else if (one.mine && what < 0.85) tab.client.edit(key, one.seq, `${one.id}, changed ${this.clock.now}`);
    else if (one.mine) tab.client.remove(key, one.seq);
  }

  /** Ends all faults, and waits until the clients have recovered. */
  async heal(): Promise<void> {
    this.calm = true;
    this.server.reachable = true;
    for (const user of this.browsers.keys()) {
      if (this.alive(user).length === 0) this.openTab(user);
      for (const tab of this.alive(user)) {
        tab.thaw();
        if (!tab.online) tab.say('online');
        tab.say('visible');
        tab.client.connect();
      }
    }
    await this.clock.advance(300_000);
    for (const { tab, key } of this.#windows()) tab.client.open(key);
    for (let page = 0; page < 10; page++) {
      await this.clock.advance(2_000);
      for (const { tab, key } of this.#windows())
        if (tab.client.timeline(key).more) tab.client.loadOlder(key);
    }
    await this.clock.advance(10_000);
  }

  #windows(): { tab: Tab; user: string; other: string; key: ConversationKey }[] {
    const users = [...this.browsers.keys()];
    return users.flatMap(user =>
      this.alive(user).flatMap(tab =>
        users.filter(other => other !== user).map(other => ({ tab, user, other, key: direct(other) })),
      ),
    );
  }

  check(): void {
    this.#eachWrittenOnce();
    for (const { tab, user, other, key } of this.#windows()) {
      const where = `${user} with ${other}`;
      expect(tab.client.status().state, where).toBe('online');
      const { messages } = this.server.talk(user, other);
      const seen = tab.client.timeline(key);
      expect(seen.messages.map(shown), where).toEqual(messages.map(shown));
      expect(
        seen.messages.filter(one => one.changing),
        `${where}, on their way`,
      ).toEqual([]);
      for (const { reactions = [] } of seen.messages)
        for (const one of reactions)
          expect(one.mine, `${where}, own reactions`).toBe(one.users.includes(user));
      expect(seen.more, where).toBe(false);
      const record = this.server.record(this.server.talk(user, other), user);
      expect(tab.client.conversation(key).unread, `${where}, unread`).toBe(record.unread);
      const own = seen.messages.filter(one => one.mine && one.state === 'read').length;
      expect(own, `${where}, read`).toBe(
        messages.filter(one => one.from === user && one.seq <= record.their_read).length,
      );
    }
    for (const user of this.browsers.keys())
      this.#onlyOneLeads(
        this.alive(user).map(one => one.client),
        user,
      );
  }

  #eachWrittenOnce(): void {
    for (const { from, to, id, body, tab } of this.written) {
      const stored = this.server.talk(from, to).messages.filter(one => one.from === from && one.id === id);
      expect(stored.length, `${body} is there at most once`).toBeLessThanOrEqual(1);
      if (!tab.dead) expect(stored.length, `${body} of a living tab is there`).toBe(1);
    }
    // The archive has the messages of one tab in the order of writing.
    const byTab = new Map<string, string[]>();
    for (const { from, to, tab, id } of this.written) {
      const at = [...this.browsers.get(from)!.tabs].indexOf(tab);
      const name = `${from} ${to} ${at}`;
      byTab.set(name, [...(byTab.get(name) ?? []), id]);
    }
    for (const [name, ids] of byTab) {
      const [from = '', to = ''] = name.split(' ');
      const stored = this.server
        .talk(from, to)
        .messages.map(one => one.id)
        .filter(id => ids.includes(id));
      expect(stored, name).toEqual(ids.filter(id => stored.includes(id)));
    }
  }

  #onlyOneLeads(clients: Client[], user: string): void {
    if (this.browsers.get(user)!.old) return;
    expect(clients.filter(one => !one.status().shared).length, `${user}: leaders`).toBe(1);
    expect([...this.server.sessions].filter(one => one.user === user).length, `${user}: sessions`).toBe(1);
  }
}

type Shown = Pick<Message, 'seq' | 'id' | 'from' | 'body' | 'edited'> & {
  deleted?: boolean;
  reactions?: readonly { reaction: string; count: number; users: readonly string[] }[];
};

function shown(message: Shown): string {
  const { seq, id, from, body, edited = 0, deleted = false, reactions = [] } = message;
  const marks = reactions.map(one => `${one.reaction}${one.count}${one.users.join('+')}`);
  return `${seq} ${from} ${id} ${body} ${edited} ${deleted} ${marks.join(' ')}`;
}
