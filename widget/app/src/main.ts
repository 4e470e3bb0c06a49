// The entry point of the interface: mounts it on the loader's stage.

import type { App, Stage } from '@kith/loader/stage';
import { h, render } from 'preact';
import { createCallDispatcher } from './features/calls/call_dispatcher.ts';
import { formattedPart } from './features/message_text/message_text.tsx';
import { fetchReader } from './features/message_text/plain_text.ts';
import { createAlertLoader } from './features/toasts/alert_loader.ts';
import { keyOfRoom, openShell } from './shell/open_shell.ts';
import { Shell } from './shell/shell.tsx';
import { sheets } from './shell/styles.ts';
import { fetchPart } from './ui/lazy/lazy.tsx';
import { fetchWording, type Wording } from './wording/wording.ts';

/** All widgets of a page have the same language and share the lazy texts. */
let coming: Promise<Wording> | undefined;

export default async function mount(stage: Stage): Promise<App> {
  const marks = fetchReader().catch(() => undefined);
  coming ??= fetchWording([stage.settings.lang, ...navigator.languages]).catch(error => {
    coming = undefined;
    throw error;
  });
  const wording = await coming;
  // The formatting code is small and fetched at the same time. The mount waits `MARKS_MS` for it at most.
  const read = Promise.allSettled([marks, fetchPart(formattedPart, wording)]);
  await Promise.race([read, new Promise(done => setTimeout(done, MARKS_MS))]);
  const place = document.createElement('div');
  // The class has `all: initial`, so that no style of the page's rules for the host element is inherited.
  place.className = 'kith';
  stage.root.adoptedStyleSheets = [...stage.root.adoptedStyleSheets, ...sheets()];
  stage.root.append(place);

  const shell = openShell(stage);
  const alerts = createAlertLoader(stage.client, stage.shows);
  const dispatcher = createCallDispatcher();
  render(h(Shell, { stage, shell, alerts, dispatcher, wording }), place);
  return {
    show: shell.show,
    hide: shell.hide,
    reopen: shell.reopen,
    open: shell.openWith,
    openRoom: name => shell.openChat(keyOfRoom(name)),
    follow: shell.follow,
    notify: alerts.hear,
    shows: shell.shows,
    call: dispatcher.say,
    destroy() {
      render(null, place);
      alerts.destroy();
      shell.destroy();
      place.remove();
    },
  };
}

/** Milliseconds. If the formatting code takes longer, texts are shown without formatting first. */
const MARKS_MS = 150;
