// Creates a member with a long history through a real server: 20,000 messages in a room, 8,000 contacts, 500
// conversations.

import { createHmac, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Kith } from './kith.mjs';

export const SITE = 'long';
/** No limits of rates, because the tests measure only the widget. */
const FAST = {
  KITH_LIMITS_SEND_PER_MINUTE: '0',
  KITH_LIMITS_COMMAND_PER_MINUTE: '0',
  KITH_LIMITS_SITE_SENDS_PER_SECOND: '0',
  KITH_WEB_FRAME_BYTES: '262144',
};
const BATCH = 1_000;

/**
 * A node with the site `long`. `owner` has `contacts` contacts (`c0`, `c1`, …), and the first `conversations` of them
 * have sent one message to the owner. `rooms`: the number of messages in the room of each page. The owner wrote the
 * first one and has read no other. `mate` wrote all others.
 */
export async function longHistory({ owner, contacts, conversations, rooms }) {
  const kith = await Kith.start(FAST);
  try {
    const enter = await filled(kith, { owner, contacts, conversations, rooms });
    return { kith, enter };
  } catch (error) {
    await kith.stop();
    throw error;
  }
}

async function filled(kith, { owner, contacts, conversations, rooms }) {
  const added = JSON.parse(await kith.command('site', 'add', SITE, '--origin', '*', '--json'));
  await kith.setSite(SITE, 'trust.on=false', 'requests.on=false');
  if (contacts > 0) await importContacts(kith, owner, contacts);
  const enter = user => Sender.enter(kith, user, signed(added.secret, user));
  for (let first = 0; first < conversations; first += 25) {
    const some = Array.from({ length: Math.min(25, conversations - first) }, (_, at) => `c${first + at}`);
    await Promise.all(
      some.map(async user => {
        const sender = await enter(user);
        await sender.send([{ to: { user: owner }, body: `hello from ${user}` }]);
        await sender.leave();
      }),
    );
  }
  const mate = await enter('mate');
  for (const [page, count] of Object.entries(rooms)) {
    const to = { page };
    const all = Array.from({ length: count }, (_, at) => ({
      to,
      body: textOf(at + 1),
      ...answersTo(at + 1),
    }));
    // A session that does not poll soon gets `behind`, so the owner opens a new session for each room.
    await (await enter(owner)).send(all.slice(0, 1));
    await mate.send(all.slice(1));
  }
  return enter;
}

/** The text of a message. Search finds it by its number, and some texts are longer than a line. */
export function textOf(number) {
  const more = number % 7 === 0 ? ', and a few more words so that this message needs two or three lines' : '';
  return `message n${number}${more}`;
}

/** Every hundredth message is a reply to the first one of the room. */
function answersTo(number) {
  return number > 1 && number % 100 === 0 ? { reply_to: 1 } : {};
}

async function importContacts(kith, owner, count) {
  const ids = Array.from({ length: count }, (_, at) => `c${at}`);
  const lines = [
    { type: 'user', id: owner, name: owner },
    ...ids.map((id, at) => ({ type: 'user', id, name: `Contact ${at}` })),
    ...ids.map(id => ({ type: 'contact', users: [owner, id] })),
  ];
  const file = join(kith.data, 'members.jsonl');
  await writeFile(file, lines.map(one => JSON.stringify(one)).join('\n'));
  await kith.command('import', '--site', SITE, file);
}

/** A session over long polling, which sends many messages in one request. */
class Sender {
  static async enter(kith, user, token) {
    const hello = { t: 'hello', v: 1, site: SITE, token, device: `d-${user}` };
    const answer = await fetch(`${kith.url}/v1/poll`, { method: 'POST', body: JSON.stringify(hello) });
    const [welcome] = await answer.json();
    if (welcome?.key === undefined) throw new Error(`no session for ${user}: ${JSON.stringify(welcome)}`);
    return new Sender(kith, welcome);
  }

  constructor(kith, { key, position }) {
    this.url = kith.url;
    this.position = position;
    this.headers = { authorization: `Kith ${key}` };
  }

  async send(messages) {
    for (let first = 0; first < messages.length; first += BATCH) {
      const lines = new Map();
      for (const message of messages.slice(first, first + BATCH)) {
        const id = randomUUID();
        lines.set(id, JSON.stringify({ t: 'send', id, ...message }));
      }
      await this.#post('/v1/send', [...lines.values()].join('\n'));
      while (lines.size > 0) {
        const events = await (await this.#post('/v1/poll', '')).json();
        const wrong = events.find(one => one.t === 'error' || one.t === 'bye');
        if (wrong) throw new Error(JSON.stringify(wrong));
        for (const one of events) if (one.t === 'ack') lines.delete(one.id);
        // The import makes online sessions load again (`behind`), and acknowledgements may be lost: send the rest
        // again.
        if (events.some(one => one.t === 'behind')) {
          const resume = JSON.stringify({ t: 'resume', rid: 1, position: this.position });
          await this.#post('/v1/send', [resume, ...lines.values()].join('\n'));
        }
      }
    }
  }

  /** Ends the session, so that the contact is offline at once and not after the session's timeout. */
  async leave() {
    await this.#post('/v1/send', '{"t":"bye"}');
  }

  async #post(path, body) {
    const answer = await fetch(this.url + path, { method: 'POST', headers: this.headers, body });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }
}

/** Signs a token as the owner of a site does. */
function signed(secret, user) {
  const part = value => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({
    sub: user,
    name: user,
    exp: Math.floor(Date.now() / 1_000) + 86_400,
  })}`;
  const key = Buffer.from(secret);
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}
