// One server, one clock, and members who are online.

import type { Client } from '../src/client.ts';
import { Browser, type Tab } from './browser.ts';
import { Clock } from './clock.ts';
import { Server } from './server.ts';

export function world() {
  const clock = new Clock();
  const server = new Server(clock);
  let browsers = 0;
  const browser = () => new Browser(clock, server.open, ++browsers);
  const online = async (user: string, inBrowser = browser()): Promise<Tab & { client: Client }> => {
    const tab = inBrowser.tab(user);
    tab.client.connect();
    await clock.advance(500);
    return tab;
  };
  return { clock, server, browser, online };
}
