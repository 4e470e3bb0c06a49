// A community with content for every screen of the widget: on one real node, in English and in Arabic, with pages of
// its own server. Used for pictures in the documentation, and for tests of all screens.

import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { NAMES, NEWCOMERS, TEXTS } from './community_texts.mjs';
import { Kith } from './kith.mjs';

/** The settings switch off limits of rates, because a script writes the content. Calls have a relay on this machine. */
const SETTINGS = {
  KITH_CALLS_LISTEN: '127.0.0.1:0',
  KITH_CALLS_PEERS: '127.0.0.0/8',
  KITH_PREVIEWS_PRIVATE: 'true',
  KITH_LIMITS_SEND_BURST: '0',
  KITH_LIMITS_SEND_PER_MINUTE: '0',
  KITH_LIMITS_COMMAND_BURST: '0',
  KITH_LIMITS_COMMAND_PER_MINUTE: '0',
  // Members see the entry for their apps. No app connects.
  KITH_XMPP_LISTEN: '127.0.0.1:0',
  KITH_XMPP_ALLOW_PLAIN: 'true',
};

const HTML = 'text/html; charset=utf-8';

/** The stickers of the demo, which the community uses too. */
const STICKERS = new URL('../../crates/server/src/demo/stickers/', import.meta.url);

/** The key of each language's site. */
export const SITES = { en: 'garden', ar: 'hadiqa' };

export class Community {
  #secrets = {};
  #here = [];

  /** `picture`: the bytes of a JPEG that members send. */
  static async start(picture, languages = ['en', 'ar']) {
    const community = new Community();
    community.kith = await Kith.start(SETTINGS);
    await community.#serve(picture);
    community.rooms = {};
    for (const language of languages) await community.#settle(language, picture);
    return community;
  }

  /** The address of a page where `who` is signed in. It does not restore the previous panel. `mode`: `data-mode`. */
  page(language, who, { mode = 'bubble', theme = 'light' } = {}) {
    return `${this.origin}/?${new URLSearchParams({ site: SITES[language], as: who, mode, theme })}`;
  }

  async stop() {
    for (const one of this.#here) one.leave();
    this.server.closeAllConnections();
    await Promise.all([new Promise(resolve => this.server.close(resolve)), this.kith.stop()]);
  }

  /** Signs a token as docs/embed.md describes it. */
  token(language, sub, more = {}) {
    const part = value => Buffer.from(value).toString('base64url');
    const name = (NAMES[sub] ?? NEWCOMERS[sub])?.[language === 'ar' ? 1 : 0] ?? sub;
    const claims = {
      sub,
      name,
      ...(NAMES[sub] && { avatar: `${this.origin}/avatar/${sub}.svg` }),
      exp: Math.floor(Date.now() / 1000) + 3_600,
      ...more,
    };
    const signed = `${part(JSON.stringify({ alg: 'HS256', typ: 'JWT' }))}.${part(JSON.stringify(claims))}`;
    const secret = this.#secrets[language];
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  }

  /** A REST request of the site's own server. */
  async rest(language, method, path, body) {
    const authorization = `Bearer ${this.token(language, 'server', { role: 'service' })}`;
    const url = `${this.kith.url}/v1/sites/${SITES[language]}/${path}`;
    const answer = await fetch(url, {
      method,
      headers: { authorization },
      body: body && JSON.stringify(body),
    });
    assert.equal(answer.status, 200, await answer.clone().text());
    return answer.json();
  }

  async #serve(picture) {
    const portraits = new Map();
    for (const sub of Object.keys(NAMES)) {
      const svg = await (await fetch(`${this.kith.url}/demo/avatar/${sub}.svg`)).text();
      portraits.set(`/avatar/${sub}.svg`, ['image/svg+xml', svg]);
    }
    this.server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url, 'http://community');
      const site = searchParams.get('site');
      const language = site === SITES.ar ? 'ar' : 'en';
      const answer = {
        '/token': () => [
          'application/json',
          JSON.stringify({ token: this.token(language, searchParams.get('as')) }),
        ],
        '/beds.jpg': () => ['image/jpeg', picture],
        '/': () => [HTML, this.#html(language, Object.fromEntries(searchParams))],
      };
      const [type, content] = portraits.get(pathname) ?? answer[pathname]?.() ?? [HTML, ''];
      response.writeHead(200, { 'content-type': type });
      response.end(content);
    });
    await new Promise(resolve => this.server.listen(0, 'localhost', resolve));
    this.origin = `http://localhost:${this.server.address().port}`;
  }

  #html(language, { site, as, mode, theme }) {
    const { page } = TEXTS[language];
    const dark = theme === 'dark';
    const embed = mode === 'embed' ? `data-room="/seed-swap" data-into="#chat"` : '';
    return `<!doctype html><html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}"><head><meta charset="utf-8">
      <title>${page.title}</title>
      <meta property="og:title" content="${page.heading}"><meta property="og:site_name" content="${page.title}">
      <meta property="og:description" content="${page.text[0]}"><meta property="og:image" content="/beds.jpg">
      <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
      <link rel="icon" href="data:,">
      <style>
        body { margin: 0; font: 16px/1.6 system-ui, sans-serif; background: ${dark ? '#1c211e' : '#f6f5f1'}; color: ${dark ? '#e4e7e4' : '#23312a'}; }
        header { background: ${dark ? '#26362d' : '#2f6f4f'}; color: #fff; padding: 14px 28px; font-weight: 600; }
        main { max-width: ${mode === 'embed' ? 680 : 500}px; padding: 12px 28px; }
        h1 { font-size: 26px; } #chat { margin-top: 20px; }
      </style>
      <script>
        for (const key of Object.keys(localStorage)) if (!key.endsWith(':device')) localStorage.removeItem(key);
        sessionStorage.clear();
      </script>
      <script async src="${this.kith.url}/kith.js" data-site="${site}" data-token-url="/token?site=${site}&amp;as=${as}"
        data-mode="${mode}" data-theme="${theme}" ${embed}></script></head>
      <body>${
        mode === 'inbox'
          ? ''
          : `<header>${page.title}</header><main><h1>${page.heading}</h1>${page.text
              .slice(mode === 'embed' ? 1 : 0)
              .map(text => `<p>${text}</p>`)
              .join('')}<div id="chat"></div></main>`
      }</body></html>`;
  }

  async #settle(language, picture) {
    const { kith } = this;
    const key = SITES[language];
    const before = await kith.metric('kith_chat_sites');
    const names = ['--name', TEXTS[language].page.title, '--mode', 'open', '--origin', this.origin, '--json'];
    this.#secrets[language] = JSON.parse(await kith.command('site', 'add', key, ...names)).secret;
    while ((await kith.metric('kith_chat_sites')) === before)
      await new Promise(resolve => setTimeout(resolve, 100));
    const settings = {
      requests: { on: false },
      trust: { on: false },
      raid: { new_per_minute: 0 },
      members: { rename: true, remove: true, devices: true },
      filters: { words: [TEXTS[language].unwanted], words_act: 'hold' },
      previews: { on: true },
    };
    await this.rest(language, 'PATCH', 'settings', settings);
    for (const [name, words] of Object.entries(TEXTS[language].stickers)) {
      const sticker = await readFile(new URL(`${name}.png`, STICKERS), 'base64');
      await this.rest(language, 'POST', 'stickers', {
        set: TEXTS[language].page.title,
        words,
        picture: sticker,
      });
    }
    const people = {};
    for (const sub of Object.keys(NAMES)) {
      people[sub] = await Speaker.enter(kith.url, key, this.token(language, sub));
    }
    await this.rest(language, 'POST', 'moderate', { act: 'set_role', user: 'ingrid', role: 'admin' });
    const link = `${this.origin}/?site=${key}`;
    this.rooms[language] = await happen(people, TEXTS[language], picture, link);
    await this.rest(language, 'PATCH', 'settings', { requests: { on: true } });
    await strangers(people, TEXTS[language]);
    const there = { mei: 'online', tom: 'away', raj: 'online', sofia: 'busy', yusuf: 'online' };
    for (const [sub, presence] of Object.entries(there)) {
      await people[sub].say({ t: 'presence', set: presence });
      this.#here.push(people[sub]);
      people[sub].stay();
    }
    for (const [sub, speaker] of Object.entries(people)) if (!(sub in there)) await speaker.bye();
  }
}

/**
 * Fills the community with messages, the newest last. Returns the ids of rooms, and the code of a private room's invite
 * link.
 */
async function happen(people, texts, picture, link) {
  const { anna, raj, mei, tom, yusuf, ingrid, sofia, amara, jonas } = people;
  for (const [sub, one] of Object.entries({ raj, mei, tom, yusuf, sofia, amara })) {
    await anna.ask({ t: 'contact', action: 'request', user: sub });
    await one.ask({ t: 'contact', action: 'accept', user: 'anna' });
  }
  await jonas.ask({ t: 'contact', action: 'request', user: 'anna' });
  await anna.ask({ t: 'change_profile', status: texts.status.anna });
  await mei.ask({ t: 'change_profile', status: texts.status.mei });

  const talk = async (one, other, lines) => {
    const sub = Object.keys(people).find(name => people[name] === other);
    const own = Object.keys(people).find(name => people[name] === one);
    let last;
    for (const [at, line] of lines.entries()) {
      const [from, to] = at % 2 === 0 ? [one, sub] : [other, own];
      last = await from.send({ user: to }, line);
    }
    return last.conversation;
  };
  const read = (who, conversation, seq) => who.say({ t: 'marker', conversation, received: seq, read: seq });

  await talk(sofia, anna, [texts.sofia[0], `[${texts.sofia[1]}](${link})`]);
  const { stickers } = await anna.ask({ t: 'stickers' });
  const thanks = stickers.find(one => one.words === texts.stickers.thanks).id;
  const sent = await sofia.ask({
    t: 'sticker',
    id: randomUUID(),
    to: { user: 'anna' },
    sticker: thanks,
  });
  read(anna, sent.conversation, sent.seq);
  await talk(yusuf, anna, texts.yusuf);
  const accounts = await tom.upload(
    { user: 'anna' },
    texts.file,
    Buffer.from('%PDF-1.7\n'.padEnd(184_320, ' ')),
  );
  await talk(tom, anna, texts.tom);
  await tom.send({ user: 'anna' }, texts.accounts, { files: [accounts] });

  const news = await ingrid.room(texts.rooms.news, 'announcement');
  await ingrid.send({ conversation: news }, texts.news);
  for (const name of ['compost', 'bees', 'photos']) await sofia.room(texts.rooms[name], 'public');
  const committee = await anna.room(texts.rooms.committee, 'private');
  for (const user of ['tom', 'ingrid'])
    await anna.ask({ t: 'member', conversation: committee, user, action: 'invite' });
  await anna.send({ conversation: committee }, texts.committee);
  const { code } = await anna.ask({ t: 'make_link', conversation: committee });
  const swap = await plantSwap(people, texts);
  await anna.ask({ t: 'join', to: { conversation: news } });

  await talk(mei, anna, texts.mei);
  const voice = await mei.upload({ user: 'anna' }, 'voice.wav', wave(7), {
    voice: '',
    duration: '7000',
    peaks: Array.from({ length: 48 }, (_, at) =>
      Math.round(17 + 17 * Math.sin(at * 0.9) * Math.cos(at * 0.31)).toString(36),
    ).join(''),
  });
  await mei.send({ user: 'anna' }, '', { files: [voice] });

  await amara.send({ user: 'anna' }, texts.amara[0]);
  await amara.send({ user: 'anna' }, texts.amara[1]);

  const [hello, reply, deal, shown, light] = texts.raj;
  const { conversation } = await anna.send({ user: 'raj' }, hello);
  const answered = await raj.send({ user: 'anna' }, reply);
  await anna.send({ user: 'raj' }, deal, { reply_to: answered.seq });
  const beds = await raj.upload({ user: 'anna' }, texts.picture, picture);
  const pictured = await raj.send({ user: 'anna' }, shown, { files: [beds] });
  await anna.ask({ t: 'react', conversation, seq: pictured.seq, reaction: '😍', on: true });
  const last = await anna.send({ user: 'raj' }, light);
  await raj.ask({ t: 'react', conversation, seq: last.seq, reaction: '👍', on: true });
  await read(raj, conversation, last.seq);
  await read(anna, conversation, last.seq);

  const page = await mei.ask({ t: 'join', to: { page: '/seed-swap' } });
  assert.equal(page.t === 'error', false, JSON.stringify(page));
  for (const [at, line] of texts.seeds.entries())
    await [mei, tom, yusuf][at % 3].joinAndSend({ page: '/seed-swap' }, line);
  return { swap, news, committee, code };
}

async function plantSwap({ anna, raj, mei, tom, sofia, yusuf }, texts) {
  const swap = await anna.room(texts.rooms.swap, 'public', texts.topic);
  const to = { conversation: swap };
  const { code } = await anna.ask({ t: 'make_link', conversation: swap, uses: 10 });
  for (const one of [raj, mei, tom]) await one.ask({ t: 'join_link', code });
  for (const one of [sofia, yusuf]) await one.ask({ t: 'join', to });
  await raj.ask({ t: 'make_link', conversation: swap, hours: 24 });
  const [welcome, list, wants, offer, mention] = texts.swap;
  const first = await anna.send(to, welcome);
  await anna.ask({ t: 'pin', conversation: swap, seq: first.seq, on: true });
  const seedlings = await raj.send(to, list);
  for (const [who, reaction] of [
    [mei, '🌶️'],
    [tom, '🌶️'],
    [anna, '🎉'],
  ])
    await who.ask({ t: 'react', conversation: swap, seq: seedlings.seq, reaction, on: true });
  await mei.send(to, wants, { reply_to: seedlings.seq });
  const asked = await tom.send(to, offer);
  for (const [who, line] of [
    [sofia, texts.thread[0]],
    [tom, texts.thread[1]],
    [anna, texts.thread[2]],
  ])
    await who.send(to, line, { thread: asked.seq });
  const poll = await sofia.ask({
    t: 'poll',
    id: randomUUID(),
    to,
    body: texts.poll[0],
    choices: texts.poll.slice(1),
  });
  const votes = [
    [raj, 0],
    [mei, 0],
    [tom, 1],
    [yusuf, 0],
    [anna, 0],
    [sofia, 2],
  ];
  for (const [who, choice] of votes)
    await who.ask({ t: 'vote', conversation: swap, seq: poll.seq, choices: [choice] });
  await mei.send(to, mention);
  return swap;
}

/** Messages of strangers, after the site requires message requests. */
async function strangers({ hamish, piotr, amara, chloe }, texts) {
  await hamish.send({ user: 'anna' }, texts.hamish);
  const { conversation, seq } = await piotr.send({ user: 'amara' }, texts.insult);
  await amara.ask({ t: 'report', conversation, seq, reason: 'abuse', text: texts.complaint });
  await piotr.send({ user: 'chloe' }, texts.advertising);
  await chloe.ask({ t: 'report', user: 'piotr', reason: 'spam', text: texts.spam });
}

/** A member without a browser, who uses long polling. */
class Speaker {
  #number = 0;
  #stop = new AbortController();

  constructor(url, site, token, key) {
    Object.assign(this, { url, site, token, key });
  }

  static async enter(url, site, token) {
    const hello = { t: 'hello', v: 1, site, token, device: randomUUID() };
    const answer = await fetch(`${url}/v1/poll`, { method: 'POST', body: JSON.stringify(hello) });
    const [welcome] = await answer.json();
    assert.equal(welcome?.t, 'welcome', JSON.stringify(welcome));
    return new Speaker(url, site, token, welcome.key);
  }

  #post(path, body) {
    const headers = { authorization: `Kith ${this.key}` };
    return fetch(`${this.url}${path}`, { method: 'POST', headers, body, signal: this.#stop.signal });
  }

  async say(frame) {
    const answer = await this.#post('/v1/send', JSON.stringify(frame));
    assert.equal(answer.status, 204, `${JSON.stringify(frame)}: ${await answer.text()}`);
  }

  /** Sends a command, and returns its answer. */
  async ask(frame) {
    const rid = frame.id === undefined ? { rid: ++this.#number } : {};
    await this.say({ ...frame, ...rid });
    for (;;) {
      const events = await (await this.#post('/v1/poll', '')).json();
      const answer = events.find(one =>
        frame.id === undefined ? one.re === rid.rid : (one.id ?? one.held?.id) === frame.id,
      );
      if (answer === undefined) continue;
      assert.notEqual(answer.t, 'error', `${JSON.stringify(frame)}: ${JSON.stringify(answer)}`);
      return answer;
    }
  }

  send(to, body, more = {}) {
    return this.ask({ t: 'send', id: randomUUID(), to, body, ...more });
  }

  async joinAndSend(to, body) {
    await this.ask({ t: 'join', to });
    return this.send(to, body);
  }

  async room(name, kind, topic) {
    const made = await this.ask({ t: 'create_room', name, kind, ...(topic && { topic }) });
    return made.conversation.conversation;
  }

  /** Uploads a file with tus 1.0.0 in one piece. Returns the id of the file. */
  async upload(to, filename, bytes, more = {}) {
    const told = Object.entries({ site: this.site, ...to, filename, ...more });
    const headers = { authorization: `Bearer ${this.token}`, 'tus-resumable': '1.0.0' };
    const base64 = value => Buffer.from(value).toString('base64');
    const made = await fetch(`${this.url}/v1/files`, {
      method: 'POST',
      headers: {
        ...headers,
        'upload-length': String(bytes.length),
        'upload-metadata': told.map(([name, value]) => `${name} ${base64(value)}`.trim()).join(','),
      },
    });
    assert.equal(made.status, 201, await made.text());
    const location = new URL(made.headers.get('location'), this.url);
    const sent = await fetch(location, {
      method: 'PATCH',
      headers: { ...headers, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
      body: bytes,
    });
    assert.equal(sent.status, 204, await sent.text());
    return (await (await fetch(location, { headers })).json()).id;
  }

  /** Stays online until the end, by polling. */
  stay() {
    const poll = async () => {
      for (;;) await (await this.#post('/v1/poll', '')).text();
    };
    poll().catch(() => undefined);
  }

  leave() {
    this.#stop.abort();
  }

  async bye() {
    await this.say({ t: 'bye' });
  }
}

/** A WAV file with some seconds of a quiet tone. */
function wave(seconds) {
  const samples = 8_000 * seconds;
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(8_000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples, 40);
  return Buffer.concat([head, Uint8Array.from({ length: samples }, (_, at) => 128 + 20 * Math.sin(at / 9))]);
}
