// Shows every shared part in each of its states. Parameters: `?part=menu` for one part, `?theme=dark`, `?lang=ar`.

import { render } from 'preact';
import { AppContext, type AppContextValue } from '../src/app_context.tsx';
import { sheets } from '../src/shell/styles.ts';
import { fetchWording } from '../src/wording/wording.ts';
import { FakeClient } from './fake_client.ts';
import css from './stories.css?inline';
import type { Stories } from './story.ts';

const FILES = import.meta.glob<{ stories: Stories }>('../src/ui/**/*.stories.tsx', { eager: true });
/** Parts that cover their container or scroll, so they need a tall frame. */
const TALL = ['confirm_dialog', 'menu', 'sheet', 'skeleton', 'virtual_list'];

const query = new URLSearchParams(location.search);
const dark = query.get('theme') === 'dark';
const host = document.createElement('kith-widget');
if (dark) host.dataset.theme = 'dark';
const root = host.attachShadow({ mode: 'open' });
const own = new CSSStyleSheet();
own.replaceSync(css);
root.adoptedStyleSheets = [...sheets(), own];
document.body.append(host);

const wording = await fetchWording([query.get('lang') ?? 'en']);
const ignore = () => undefined;
const context: AppContextValue = {
  client: new FakeClient({ people: 12, chats: 6, now: Date.now() }),
  wording,
  root,
  announce: ignore,
  openChat: ignore,
  openMenu: ignore,
  pickEmoji: ignore,
  takesFocus: () => false,
  call: ignore,
  confirm: ignore,
  show: ignore,
};

const parts = Object.entries(FILES)
  .map(([path, { stories }]) => ({ part: path.split('/').at(-2) ?? '', stories }))
  .filter(({ part }) => (query.get('part') ?? part) === part);

render(
  <AppContext.Provider value={context}>
    <main class={`kith ${dark ? 'dark' : 'light'}`} lang={wording.language} dir={wording.direction}>
      <div class="story-page desktop">
        {parts.map(({ part, stories }) => (
          <section key={part} aria-label={part}>
            <h1>{part}</h1>
            {Object.entries(stories).map(([name, Story]) => (
              <article key={name} class="story" data-story={`${part}: ${name}`}>
                <h2>{name}</h2>
                <div class={TALL.includes(part) ? 'story-frame story-tall' : 'story-frame'}>
                  <Story />
                </div>
              </article>
            ))}
          </section>
        ))}
      </div>
    </main>
  </AppContext.Provider>,
  root,
);
