// The preview page: the interface on a fake client.

import type { Push, Stage } from '@kith/loader/stage';
import mount from '../src/main.ts';
import { FakeClient } from './fake_client.ts';
import { FakePush } from './fake_push.ts';

const query = new URLSearchParams(location.search);
const text = (name: string) => query.get(name) ?? undefined;
const number = (name: string, without: number) => Number(query.get(name) ?? without);

const client = new FakeClient({
  people: number('people', 40),
  chats: number('chats', 12),
  requests: number('requests', 2),
  rooms: number('rooms', 0),
  open: text('site') !== 'contacts',
  now: Date.now(),
});
if (text('state') === 'waiting') client.state = { state: 'waiting', shared: false };

const host = document.createElement('kith-widget');
const root = host.attachShadow({ mode: text('root') === 'closed' ? 'closed' : 'open' });
const launcher = document.createElement('button');
launcher.id = 'launcher';
launcher.textContent = 'Messenger';
document.body.append(launcher, host);

const stage: Stage = {
  client,
  root,
  launcher,
  settings: {
    site: 'dev',
    server: '',
    mode: (text('mode') as 'inbox' | 'bar' | undefined) ?? 'bubble',
    lang: text('lang') ?? 'en',
    theme: (text('theme') as 'light' | 'dark' | undefined) ?? 'auto',
    iconDot: false,
    worker: '/kith-sw.js',
    position: text('position') === 'left' ? 'left' : 'right',
  },
  setOpen: open => launcher.setAttribute('aria-expanded', String(open)),
  push: () => Promise.resolve(new FakePush(text('push')) as unknown as Push),
  remember: () => undefined,
  emit: () => undefined,
  shows: key => app.shows(key),
  call: request => app.call(request),
};
const app = await mount(stage);
client.on('message', happened => app.notify(happened));
launcher.addEventListener('click', () => app.show());
if (text('closed') === undefined) app.show();
const user = text('open');
if (user !== undefined) app.open(user);
const opened = text('room');
if (opened !== undefined) app.openRoom(opened);
Object.assign(globalThis, { client, app });
