// One account in the widget, Profanity and Converse.js in turn: the app passwords are made in the widget, the other side is a member in
// the browser. History and read state agree, a stranger of XMPP becomes a request in the widget, and a ban ends all sessions.

import { execFile, execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { launch, person, shot, until } from '../browser/browser.mjs';
import { freePort, Kith } from '../browser/kith.mjs';
import { Widget } from '../browser/widget.mjs';
import { XmppClient } from '../browser/xmpp.mjs';
import { check, end } from './checks.mjs';
import { bubble, openConverse, serveConverse, signIn } from './converse_page.mjs';

const run = promisify(execFile);

/** Profanity in a terminal of its own. */
class Profanity {
  static async start() {
    const home = await mkdtemp(join(tmpdir(), 'kith-profanity-'));
    const terminal = new Profanity(home, `kith-switching-${process.pid}`);
    // Also after a check that threw: the terminal would outlive this process.
    process.on('exit', () => terminal.end());
    const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home };
    await run('tmux', ['-L', terminal.session, 'new-session', '-d', '-x', '120', '-y', '40', 'profanity'], {
      env,
    });
    await terminal.shows('Profanity');
    return terminal;
  }

  constructor(home, session) {
    Object.assign(this, { home, session });
  }

  tmux(...command) {
    return run('tmux', ['-L', this.session, ...command]);
  }

  async enter(line) {
    await this.tmux('send-keys', '-l', line);
    await this.tmux('send-keys', 'Enter');
  }

  shows(text) {
    return until(
      async () => (await this.tmux('capture-pane', '-p')).stdout.includes(text),
      `"${text}" shows`,
    );
  }

  end() {
    execFileSync('tmux', ['-L', this.session, 'kill-server'], { stdio: 'ignore' });
    rmSync(this.home, { recursive: true, force: true });
  }
}

const port = await freePort();
const [browser, kith] = await Promise.all([
  launch(),
  Kith.start({ KITH_XMPP_LISTEN: `127.0.0.1:${port}`, KITH_XMPP_ALLOW_PLAIN: 'true' }),
]);
await kith.setSite('demo', 'requests.on=true');
const server = await serveConverse({
  WebSocket: { websocket_url: `${kith.url.replace('http', 'ws')}/xmpp-websocket` },
});
const profanity = await Profanity.start();

const anna = await Widget.of(await person(browser), kith, 'anna');
const tom = await Widget.of(await person(browser), kith, 'tom');
const done = outcome => outcome.then(() => true);
const row = (widget, name) => widget.page.locator('kith-widget .chat-row', { hasText: name });
/** The unread messages that the chat in the widget's list shows. */
const badge = widget => row(widget, 'Tom').locator('.badge').first();

const sheet = anna.page.getByRole('dialog', { name: 'Apps' });
/** Makes an app password as a member does: in the widget, under Me. */
async function makePassword(name) {
  await anna.tab('Me').click();
  await anna.page.getByRole('button', { name: /^Apps/ }).click();
  await sheet.getByRole('textbox', { name: 'Name' }).fill(name);
  await sheet.getByRole('button', { name: 'Create password' }).click();
  await sheet.getByRole('heading', { name: `Password for ${name}` }).waitFor();
  const address = await sheet.locator('.copy-value').first().textContent();
  const password = await sheet.locator('.copy-large .copy-value').textContent();
  await anna.page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'detached' });
  return { address, password };
}

// Profanity and a member in the browser.
const forProfanity = await makePassword('Profanity');
await tom.chatWith('Anna');
await profanity.enter(`/connect ${forProfanity.address} server 127.0.0.1 port ${port} tls disable`);
await profanity.shows('assword');
await profanity.enter(forProfanity.password);
await check(
  'profanity: sign in with a password of the widget',
  done(profanity.shows('logged in successfully')),
);
await profanity.enter('/msg tom@demo Greetings from the terminal');
await check(
  'profanity: a message reaches a member in the browser',
  done(tom.sees('Greetings from the terminal')),
);
await tom.say('And back to the terminal');
await check('profanity: the answer arrives', done(profanity.shows('And back to the terminal')));
await anna.chatWith('Tom');
await check(
  'the widget has both messages of the terminal',
  until(async () => {
    const texts = await anna.texts();
    return ['Greetings from the terminal', 'And back to the terminal'].every(text => texts.includes(text));
  }, 'both messages show'),
);
await anna.back();

// The same account moves to Converse.js.
const forConverse = await makePassword('Converse');
await anna.tab('Chats').click();
const page = await openConverse(browser, server, 'WebSocket');
await signIn(page, forConverse.address, forConverse.password);
await page.locator('converse-user-profile').first().waitFor();
await tom.say('Unread until an app reads it');
await check('a new message is unread in the widget', done(badge(anna).waitFor()));
await page.locator('converse-roster').getByText('Tom').first().click();
await check(
  'converse: the history has the messages of the terminal',
  done(
    Promise.all([
      bubble(page, 'Greetings from the terminal').first().waitFor(),
      bubble(page, 'And back to the terminal').first().waitFor(),
    ]),
  ),
);
await bubble(page, 'Unread until an app reads it').first().waitFor();
await check('read in the app, it is read in the widget', done(badge(anna).waitFor({ state: 'detached' })));
await check('and its author learns it', done(tom.becomes('Unread until an app reads it', 'read')));
const field = page.locator('textarea.chat-textarea').first();
await field.fill('Greetings from Converse');
await field.press('Enter');
await check('converse: a message reaches the browser', done(tom.sees('Greetings from Converse')));
await check('and the terminal, as a copy', done(profanity.shows('Greetings from Converse')));

// Back to the widget: what it reads is read for the apps.
await page.context().close();
await tom.say('Unread until the widget reads it');
await badge(anna).waitFor();
await row(anna, 'Tom').locator('.row-main').click();
await anna.sees('Unread until the widget reads it');
await check(
  'back in the widget: the history has the messages of both apps',
  anna
    .texts()
    .then(texts =>
      ['Greetings from the terminal', 'Greetings from Converse'].every(one => texts.includes(one)),
    ),
);
await tom.becomes('Unread until the widget reads it', 'read');
await anna.back();
const reader = await XmppClient.signIn(port, forConverse.address, forConverse.password);
reader.send(
  "<iq type='get' id='displayed'><pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='urn:xmpp:mds:displayed:0'/></pubsub></iq>" +
    "<iq type='set' id='history'><query xmlns='urn:xmpp:mam:2'><x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE'><value>urn:xmpp:mam:2</value></field><field var='with'><value>tom@demo</value></field></x><set xmlns='http://jabber.org/protocol/rsm'><max>1</max><before/></set></query></iq>",
);
const [displayed] = await reader.gets(/<iq [^>]*id=["']displayed["'].*?<\/iq>/s);
const [newest] = await reader.gets(/<result [^>]*>.*?<\/result>/s);
const id = /<result [^>]*\bid=["']([^"']+)["']/.exec(newest)?.[1];
await check(
  'read in the widget, it is read for the apps',
  newest.includes('Unread until the widget reads it') && displayed.includes(`'${id}'`),
);
reader.end();

// A stranger with an app.
const password = (await kith.command('user', 'set-password', '--site', 'demo', 'hamish')).match(
  /^password (.*)$/m,
)[1];
const hamish = await XmppClient.signIn(port, 'hamish@demo', password);
hamish.say('anna@demo', 'Hello from a stranger');
await anna.page.getByRole('radio', { name: /^Requests/ }).click();
const request = row(anna, 'Hamish');
await check("a stranger's message of an app is a request in the widget", done(request.waitFor()));
await request.locator('.row-main').click();
await check(
  'with the choice to accept it',
  done(anna.page.getByRole('button', { name: 'Accept' }).waitFor()),
);
await check('and with its text', done(anna.sees('Hello from a stranger')));
await shot(anna.page, 'stranger');

// A ban ends the account in the widget and in the apps.
await kith.command('user', 'ban', '--site', 'demo', 'anna');
await check(
  'a banned member is out in the widget',
  done(anna.page.getByText('You are banned from this site').first().waitFor()),
);
await check('and in the app', done(profanity.shows('Lost connection')));
const again = XmppClient.signIn(port, forProfanity.address, forProfanity.password);
await check(
  'and cannot sign in again',
  again.then(
    () => false,
    error => /the user is banned/.test(error.message),
  ),
);
await shot(anna.page, 'banned');

hamish.end();
await browser.close();
server.close();
await kith.stop();
end();
