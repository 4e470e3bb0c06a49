// The members of a run. Each has the widget's own client, so that it repeats and resumes as the widget does.

import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SITE } from './cluster.mjs';
import { Socket } from './websocket.mjs';

const widget = fileURLToPath(new URL('../../widget', import.meta.url));
const require = createRequire(join(widget, 'package.json'));

/** Milliseconds between two messages of a member. */
const WRITES_EVERY = [250, 900];
/** A member reads a new message with this probability, after this time. */
const READS = 0.6;
const READS_AFTER = [50, 1_500];

/** As in widget/client/src/connection.ts. */
const STABLE_MS = 10_000;

/** Builds the client of the widget, and returns its modules. */
export async function widgetClient(dir) {
  const { build } = await import(pathToFileURL(require.resolve('vite')).href);
  const source = name => join(widget, 'client/src', `${name}.ts`);
  await build({
    root: widget,
    configFile: false,
    logLevel: 'error',
    build: {
      outDir: dir,
      target: 'es2022',
      minify: false,
      lib: {
        entry: { member: source('member'), websocket: source('websocket') },
        formats: ['es'],
        fileName: (_format, name) => `${name}.mjs`,
      },
    },
  });
  const [member, websocket] = await Promise.all(
    ['member', 'websocket'].map(name => import(pathToFileURL(join(dir, `${name}.mjs`)).href)),
  );
  return { createClient: member.createClient, websocket: websocket.websocket };
}

/** Records what passes over the sockets of members. Entries: see checker.mjs. */
export class History {
  entries = [];
  sessions = 0;

  add(entry) {
    this.entries.push({ ...entry, at: Math.round(performance.now()) });
  }

  /** Returns the entries of a round, and begins the next one. */
  take() {
    return this.entries.splice(0);
  }
}

/** A socket whose frames are recorded. */
class RecordedSocket {
  onopen = null;
  onmessage = null;
  onclose = null;
  onerror = null;
  #socket;
  #isOver = false;
  #isWelcome = false;
  #code;

  constructor({ address, node, member, history, welcomed }) {
    this.about = { member, node, session: ++history.sessions };
    this.history = history;
    this.welcomed = welcomed;
    this.#socket = new Socket(address);
    this.#socket.onopen = () => this.onopen?.();
    this.#socket.onmessage = message => {
      this.#record(JSON.parse(message.data));
      this.onmessage?.(message);
    };
    this.#socket.onclose = () => {
      this.#end('server');
      this.onclose?.();
    };
  }

  send(text) {
    const { t, id } = JSON.parse(text);
    if (t === 'send') this.#add({ t: 'sent', id });
    if (t === 'hello' || t === 'resume') this.#add({ t });
    this.#socket.send(text);
  }

  close() {
    // The client closes after a `bye`, too; then it was the server's decision.
    this.#end(this.#code === undefined ? 'client' : 'server');
    this.#socket.close();
  }

  #add(entry) {
    this.history.add({ ...entry, ...this.about });
  }

  #end(by) {
    if (this.#isOver) return;
    this.#isOver = true;
    const welcomed = this.#isWelcome;
    this.#add({ t: 'ended', by, welcomed, ...(this.#code && { code: this.#code }) });
  }

  #record(event) {
    const { t, id, conversation, seq } = event;
    switch (t) {
      case 'ack':
        return this.#add({ t: 'acked', id, conversation, seq });
      case 'error':
        if (id !== undefined) this.#add({ t: 'refused', id, code: event.code });
        return;
      case 'message':
        return this.#add({ t: 'delivered', conversation, seq, id, from: event.from });
      case 'behind':
        return this.#add({ t });
      case 'welcome':
      case 'changes':
        this.#add({
          t,
          resumed: t === 'welcome' ? event.resumed : !event.reset,
          tops: Object.fromEntries(
            event.conversations.filter(({ last }) => last).map(one => [one.conversation, one.last.seq]),
          ),
          gaps: event.gaps.map(one => one.conversation),
          messages: event.messages.map(one => ({
            conversation: one.conversation,
            seq: one.seq,
            id: one.id,
            from: one.from,
          })),
        });
        if (t === 'welcome') {
          this.#isWelcome = true;
          this.welcomed();
        }
        return;
      case 'bye':
        this.#code = event.code;
    }
  }
}

export class Member {
  /** `keys`: the conversations in which the member writes. `place`: the number of the node that the member prefers. */
  constructor({ user, place, cluster, history, modules, random, written }) {
    Object.assign(this, { user, place, cluster, history, random, written });
    this.keys = [];
    this.failures = 0;
    this.count = 0;
    this.isHere = false;
    const connect = () => {
      // As through a balancer: after a failure the next node.
      const { serving } = cluster;
      const node = serving[(this.place + this.failures) % serving.length];
      this.failures += 1;
      const welcomed = () => {
        this.failures = 0;
        this.node = node;
        this.since = performance.now();
      };
      return new RecordedSocket({
        address: cluster.addressOf(node),
        node: node.name,
        member: user,
        history,
        welcomed,
      });
    };
    const env = {
      server: 'http://kith',
      now: () => Date.now(),
      timer: (ms, call) => {
        const timer = setTimeout(call, Math.min(ms, 2 ** 31 - 1));
        return () => clearTimeout(timer);
      },
      soon: call => queueMicrotask(call),
      random: () => Math.random(),
      bytes: count => new Uint8Array(randomBytes(count)),
      compare: (one, other) => (one < other ? -1 : Number(one > other)),
      transports: { websocket: modules.websocket('http://kith', connect) },
      page: { visible: () => true, focused: () => true, online: () => true, listen: () => () => {} },
    };
    this.client = modules.createClient({ site: SITE, user, token: async () => cluster.token(user) }, env);
    this.client.watchContacts();
    this.client.on('message', ({ key, message }) => this.#read(key, message.seq));
  }

  come() {
    this.isHere = true;
    this.client.connect();
  }

  /** Goes back to the preferred node. Without this, nodes that have failed would have no members in later rounds. */
  goBack() {
    if (this.node === this.cluster.serving[this.place % this.cluster.serving.length]) return;
    this.client.stop();
    this.client.connect();
  }

  /** Leaves with a `bye`, after all own messages were sent. */
  leave() {
    this.isHere = false;
    this.client.stop();
  }

  get isOnline() {
    return this.client.status().state === 'online';
  }

  /** After a connection of this length, the client forgets earlier failures, and does not wait longer because of them. */
  get isStable() {
    return this.isOnline && performance.now() - this.since > STABLE_MS;
  }

  /** The number of messages without an acknowledgement. */
  get unsent() {
    return this.keys.reduce(
      (sum, key) => sum + this.client.timeline(key).messages.filter(one => one.seq === undefined).length,
      0,
    );
  }

  /** Writes until `stopWriting`. */
  write() {
    this.writing = setTimeout(
      () => {
        const key = this.random.pick(this.keys);
        this.count += 1;
        const body = `${this.user} ${this.count}`;
        // Recorded before the client sends it. The id is known only then.
        const at = this.history.entries.length;
        const id = this.client.send(key, body);
        this.written.set(id, this.user);
        this.history.entries.splice(at, 0, {
          t: 'wrote',
          member: this.user,
          id,
          to: key,
          at: Math.round(performance.now()),
        });
        this.write();
      },
      this.random.between(...WRITES_EVERY),
    );
  }

  stopWriting() {
    clearTimeout(this.writing);
  }

  #read(key, seq) {
    if (!this.random.chance(READS)) return;
    setTimeout(() => this.isHere && this.client.seen(key, seq), this.random.between(...READS_AFTER));
  }

  /** What the client shows, for convergence.mjs. `keyOf`: the key of a conversation's record. */
  shown(records, contacts) {
    const conversations = new Map();
    for (const [id, { key }] of records) {
      const view = this.client.conversation(key);
      if (!view.exists) continue;
      conversations.set(id, {
        unread: view.unread,
        read: view.readUpTo,
        last: view.last?.seq,
        messages: this.client.timeline(key).messages,
      });
    }
    return {
      conversations,
      contacts: new Map(contacts.map(user => [user, this.client.contact(user)])),
      presence: new Map(contacts.map(user => [user, this.client.presence(user).presence])),
      unsent: this.unsent,
    };
  }

  /** Frees the memory of old messages, as when a person opens and closes each conversation. */
  forget() {
    for (const key of this.keys) this.client.open(key)();
  }
}
