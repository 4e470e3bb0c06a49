// Actions of two members in calls, and their visible effects. Shared by the tests of calls.

import { assertNoTrouble, DESKTOP, launch, person, until } from './browser.mjs';
import { Widget } from './widget.mjs';

/** Starts a browser with a fake camera and microphone, and with the permission to use them. */
export function launchForCalls(...more) {
  return launch(...CALLS, ...more);
}

/** Options of Chromium for calls. */
export const CALLS = [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  // A machine without a network has only loopback, and cannot resolve names of multicast DNS.
  '--allow-loopback-in-peer-connection',
  '--disable-features=WebRtcHideLocalIpsWithMdns',
];

/** A browser context of a member. Its pages store their connections in `connections`. */
export async function browserOf(browser, options = {}) {
  const context = await person(browser, { ...DESKTOP, ...options });
  await context.addInitScript(() => {
    globalThis.connections = [];
    const Connection = globalThis.RTCPeerConnection;
    globalThis.RTCPeerConnection = class extends Connection {
      constructor(...given) {
        super(...given);
        globalThis.connections.push(this);
      }
    };
  });
  return context;
}

/** Makes a member's calls go through the relay of the node. */
export const hide = context =>
  context.addInitScript(() => {
    // Skip the empty page with which each tab begins.
    if (location.protocol === 'http:') localStorage.setItem('kith.call.relay', 'on');
  });

/** Opens the widget for two members who are contacts. */
export async function pair(browser, kith, one, other, options) {
  const contexts = await Promise.all([browserOf(browser, options), browserOf(browser)]);
  const widgets = await Promise.all([one, other].map((name, at) => Widget.of(contexts[at], kith, name)));
  await befriend(widgets, [one, other]);
  return widgets;
}

export async function befriend(widgets, users) {
  for (const widget of widgets) await until(() => online(widget), 'they are online');
  const request = async user => (await globalThis.Kith.client()).changeContact('request', user);
  for (const at of [0, 1]) await widgets[at].page.evaluate(request, users[1 - at]).catch(() => undefined);
}

/** Asserts that the pages had no trouble, and closes their contexts. */
export async function bye(...widgets) {
  for (const { page } of widgets) {
    assertNoTrouble(page.context());
    await page.context().close();
  }
}

export const online = ({ page }) =>
  page.evaluate(async () => (await globalThis.Kith.client()).status().state === 'online');
export const openChat = ({ page }, user) => page.evaluate(user => globalThis.Kith.open(user), user);
export const button = ({ page }, name) =>
  page.locator('kith-widget').getByRole('button', { name, exact: true });
export const card = ({ page }) => page.locator('kith-widget .call-card');
export const frame = ({ page }) => page.locator('kith-widget .call-window');
export const line = ({ page }) => page.locator('kith-widget .call-line').textContent();

export async function call(widget, user, kind) {
  await openChat(widget, user);
  await button(widget, 'Call').click();
  await widget.page.getByRole('menuitem', { name: kind }).click();
}

/** Waits until audio arrives on the newest connection, and with `pictures` also video. */
export function flows(widget, pictures = true) {
  const look = async () => {
    const { frames, energy } = await heard(widget);
    return energy > 0 && (!pictures || frames > 5);
  };
  return until(look, 'pictures and voices come in');
}

/** The number of decoded frames, and the total audio energy. */
export const heard = ({ page }) =>
  page.evaluate(async () => {
    const seen = { frames: 0, energy: 0 };
    for (const one of (await globalThis.connections.at(-1)?.getStats())?.values() ?? []) {
      if (one.type !== 'inbound-rtp') continue;
      if (one.kind === 'video') seen.frames += one.framesDecoded ?? 0;
      if (one.kind === 'audio') seen.energy += one.totalAudioEnergy ?? 0;
    }
    return seen;
  });
