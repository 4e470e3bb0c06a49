// The interface's entrance: mounts it on the loader's stage.

import type { App, Stage } from '@kith/loader/stage';
import { h, render } from 'preact';
import { formattedPart } from './body_text/body_text.tsx';
import { fetchReader } from './body_text/plain.ts';
import { createLine } from './call/line.ts';
import { fetchPart } from './late.tsx';
import { Notices } from './notices/notices.ts';
import { soundIsOn } from './notices/sound_choice.ts';
import { sheets } from './sheets.ts';
import { keyOfRoom, openShell } from './shell/open_shell.ts';
import { Shell } from './shell/shell.tsx';
import { fetchWording } from './wording/wording.ts';

export default async function mount(stage: Stage): Promise<App> {
  const marks = fetchReader().catch(() => undefined);
  const wording = await fetchWording([stage.settings.lang, ...navigator.languages]);
  // Small, and asked for at the same time; but nobody waits for it long.
  const read = Promise.allSettled([marks, fetchPart(formattedPart, wording)]);
  await Promise.race([read, new Promise(done => setTimeout(done, MARKS_MS))]);
  const place = document.createElement('div');
  // What a page's rules do to the host element, this element does not inherit.
  place.className = 'kith';
  stage.root.adoptedStyleSheets = [...stage.root.adoptedStyleSheets, ...sheets()];
  stage.root.append(place);

  const shell = openShell(stage);
  const notices = new Notices({
    client: stage.client,
    chime: ring,
    soundIsOn,
    onScreen: shell.shows,
  });
  const line = createLine();
  render(h(Shell, { stage, shell, notices, line, wording }), place);
  return {
    show: shell.show,
    hide: shell.hide,
    open: shell.openWith,
    openRoom: name => shell.openChat(keyOfRoom(name)),
    follow: shell.follow,
    notify: happened => notices.hear(happened),
    call: event => line.say(event ? { do: 'hear', event } : { do: 'rejoin' }),
    destroy() {
      render(null, place);
      notices.destroy();
      shell.destroy();
      place.remove();
    },
  };
}

/** Texts are shown as they were written where it takes longer. */
const MARKS_MS = 150;

let chime: Promise<() => void> | undefined;

/** The sound is made when it is heard first. */
function ring(): void {
  chime ??= import('./notices/chime.ts').then(one => one.createChime());
  chime.then(
    sound => sound(),
    () => {
      chime = undefined;
    },
  );
}
