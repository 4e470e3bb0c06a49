// Every screen of the widget, and the actions that open it. They work in all languages, because they do not use texts.

import { settled, until, untilIn } from './browser.mjs';
import { TEXTS } from './community_texts.mjs';

const DESKTOP = { viewport: { width: 980, height: 720 } };
const PHONE = { viewport: { width: 360, height: 720 }, hasTouch: true, isMobile: true };

/** The looks of a screen: size, theme and language. */
export const LOOKS = {
  desktop: { title: 'Desktop', language: 'en', theme: 'light', options: DESKTOP },
  dark: { title: 'Dark', language: 'en', theme: 'dark', options: { ...DESKTOP, colorScheme: 'dark' } },
  phone: { title: 'Phone', language: 'en', theme: 'light', options: PHONE, phone: true },
  arabic: { title: 'Arabic', language: 'ar', theme: 'light', options: PHONE, phone: true },
};

/** The looks of screens that phones do not have. */
export const WIDE = {
  desktop: { ...LOOKS.desktop, options: { viewport: { width: 1280, height: 720 } } },
  dark: { ...LOOKS.dark, options: { viewport: { width: 1280, height: 720 }, colorScheme: 'dark' } },
  arabic: { ...LOOKS.arabic, options: { viewport: { width: 1280, height: 720 } }, phone: false },
};

/** A page that shows one screen in one look. */
export class Sight {
  constructor(page, look, community) {
    Object.assign(this, { page, look, community, language: look.language, texts: TEXTS[look.language] });
  }

  in(selector) {
    return this.page.locator(`kith-widget ${selector}`);
  }

  /** Opens the panel with the mouse. With keys the focus would be visible in the picture. */
  async show() {
    const open = this.in('.panel').first();
    if (await open.isVisible()) return;
    if (await this.in('.launcher').isVisible()) await this.in('.launcher').click();
    await open.waitFor();
  }

  async tab(name) {
    await this.show();
    await this.in(`#tab-${name}`).click();
  }

  async chat(user) {
    await this.show();
    await this.page.evaluate(user => globalThis.Kith.open(user), user);
    await this.in('.composer-field').last().waitFor();
    await this.in('[data-message]').first().waitFor();
  }

  async room(name = 'swap') {
    await this.show();
    await this.page.evaluate(id => globalThis.Kith.openRoom(id), this.community.rooms[this.language][name]);
    await this.in('.room-head').waitFor();
    await this.in('[data-message]').first().waitFor();
  }

  /** Opens the sheet of a row under Me. */
  async sheet(at) {
    await this.tab('me');
    const row = this.in('.me .choice[aria-haspopup=dialog]');
    await row.nth(4).waitFor();
    await row.nth(at).click();
    await this.in('.sheet').waitFor();
  }

  /** Opens a view of moderators: reports, protection, the audit log. */
  async moderation(part) {
    await this.tab('me');
    await this.in('.me .choice:has(.icon-shield)').first().click();
    await this.in('.sheet').waitFor();
    if (part !== undefined) await this.in('.sheet [role=radio]').nth(part).click();
  }

  /** Another member calls with video, from another browser. */
  async call() {
    const [caller] = this.callers;
    await caller.evaluate(() => globalThis.Kith.open('anna'));
    await caller.locator('kith-widget .call-either').click();
    await caller.locator('kith-widget [role=menuitem]').last().click();
  }

  async hangUp() {
    const [caller] = this.callers;
    await caller.locator('kith-widget .call-controls .call-no').click();
    await caller.reload();
    await this.in('.call-card').waitFor({ state: 'detached' });
  }

  /** The first of the other members begins a video call in the room, and the rest join. */
  async roomCall() {
    for (const [at, one] of this.callers.entries()) {
      await one.evaluate(id => globalThis.Kith.openRoom(id), this.community.rooms[this.language].committee);
      if (at === 0) {
        await one.locator('kith-widget .chat-bar [aria-haspopup=menu]:has(.icon-phone)').click();
        await one.locator('kith-widget [role=menuitem]').last().click();
      } else await one.locator('kith-widget .room-call button').click();
      await one.locator('kith-widget .call-group .call-tile').nth(at).waitFor();
    }
    await this.room('committee');
    await this.in('.room-call button').waitFor();
  }

  async leaveRoomCall() {
    for (const one of [...this.callers, this.page]) {
      const leave = one.locator('kith-widget .call-group .call-no');
      if (await leave.isVisible()) await leave.click();
    }
    for (const one of this.callers) await one.reload();
    await this.in('.room-call').waitFor({ state: 'detached' });
  }

  async pictures() {
    await this.in('.picture.is-here').first().waitFor();
  }
}

/** Attaches a file whose upload does not finish. */
async function attach(s) {
  await s.chat('raj');
  let first = true;
  await s.page.route('**/v1/files/*/*', route => {
    if (route.request().method() !== 'PATCH' || first) {
      first &&= route.request().method() !== 'PATCH';
      return route.continue();
    }
    return undefined;
  });
  const file = (name, mimeType, size) => ({ name, mimeType, buffer: Buffer.alloc(size, '%PDF-1.7 ') });
  await s.in('input[type=file]').setInputFiles([file(s.texts.file, 'application/pdf', 900_000)]);
  await until(
    async () => Number(await s.in('.attach-progress').first().getAttribute('value')) > 0.1,
    'some of it has arrived',
  );
}

/** `text` is shown in the documentation. A screen without `looks` is shown in all of `LOOKS`. */
export const SCREENS = {
  closed: {
    title: 'The button',
    text: 'The only part of the messenger on a page until a member opens it. It shows the number of unread messages.',
    whole: true,
    act: async s => {
      await until(
        async () => /[0-9٠-٩]/.test(await s.in('.launcher').getAttribute('aria-label')),
        'it counts',
      );
    },
  },
  chats: {
    title: 'Chats',
    text: 'The newest chats first, with pictures, voice messages, mentions, drafts and presence.',
    act: async s => {
      await s.show();
      await s.in('.chat-row').nth(5).waitFor();
    },
  },
  chat: {
    title: 'A conversation',
    text: 'Replies, reactions, pictures and read receipts.',
    act: async s => {
      await s.chat('raj');
      await s.pictures();
    },
  },
  menu: {
    title: 'The menu of a message',
    text: 'Opens with a right click, a long press or Enter.',
    act: async s => {
      await s.chat('raj');
      await s.pictures();
      await s.in('[data-message]').last().press('Enter');
      await s.in('[role=menu]').waitFor();
    },
  },
  emoji: {
    title: 'Emoji',
    text: 'Search and skin tones. `:name:` works in the text field.',
    act: async s => {
      await s.chat('raj');
      await s.in('.composer-emoji').click();
      await s.in('.picker-grid').first().waitFor();
    },
  },
  stickers: {
    title: 'Stickers',
    text: 'Stickers of the site, in a tab of the picker ([how to add stickers](operate.md#stickers)).',
    act: async s => {
      await s.chat('sofia');
      await s.in('.composer-emoji').click();
      await s.in('.picker [role=radio]').nth(1).click();
      await s.in('.sticker-choice canvas.is-here').nth(5).waitFor();
    },
  },
  preview: {
    title: 'A link preview',
    text: 'The server fetches the page, so the linked site sees no member. Below it is a sticker.',
    act: async s => {
      await s.chat('sofia');
      await s.in('a.preview canvas.is-here').waitFor();
      await s.in('.sticker canvas.is-here').waitFor();
    },
  },
  attach: {
    title: 'An upload',
    text: 'Drag a file, paste it or choose it. An upload continues after a lost connection.',
    act: attach,
    after: s => s.page.unrouteAll({ behavior: 'ignoreErrors' }),
  },
  viewer: {
    title: 'A picture',
    whole: true,
    text: 'The server re-encodes pictures, which removes the place where they were taken.',
    act: async s => {
      await s.chat('raj');
      await s.pictures();
      await s.in('.shot').first().click();
      await s.in('.viewer .picture.is-here').waitFor();
    },
  },
  voice: {
    title: 'A voice message',
    text: 'Recording shows the level. Received messages show a waveform with a position.',
    act: async s => {
      await s.chat('mei');
      await s.in('.voice').waitFor();
      await s.in('.attach-mic').click();
      await s.in('.recorder-time').waitFor();
      await until(async () => /[1١]/.test(await s.in('.recorder-time').textContent()), 'a second has passed');
    },
  },
  room: {
    title: 'A room',
    text: 'Public, private or for announcements. This one has a pinned message, a list and a thread.',
    act: async s => {
      await s.room();
      await s.in('.poll').waitFor();
    },
  },
  poll: {
    title: 'A new poll',
    text: 'One or several answers, with or without names, with or without an end.',
    act: async s => {
      await s.room();
      await s.in('.attach-add').click();
      await s.in('[role=menuitem]').last().click();
      const fields = s.in('.sheet textarea, .sheet input:not([type=checkbox])');
      await fields.first().waitFor();
      for (const [at, text] of s.texts.writing.poll.entries()) await fields.nth(at).fill(text);
    },
  },
  thread: {
    title: 'A thread',
    text: 'Replies to one message, in a view of their own.',
    act: async s => {
      await s.room();
      await s.in('.rich-replies').first().click();
      await s.in('.history [data-message]').nth(2).waitFor();
    },
  },
  about: {
    title: 'About a room',
    text: 'Members, their roles, and invitations.',
    act: async s => {
      await s.room();
      await s.in('.room-head').click();
      await s.in('.room-about .room-row').nth(3).waitFor();
    },
  },
  roomLinks: {
    title: 'Invite links',
    text: 'A link expires after a time or a number of uses, and can be revoked.',
    act: async s => {
      await s.room();
      await s.in('.room-head').click();
      await s.in('.room-buttons button:has(.icon-link)').click();
      await s.in('.invitation-list li').nth(1).waitFor();
    },
  },
  roomLink: {
    title: 'An invitation',
    text: 'Shown on the page that an invite link opens. It also lets people join a private room.',
    as: 'nadia',
    act: async s => {
      await s.page.evaluate(code => {
        location.hash = `#kith=join.${code}`;
      }, s.community.rooms[s.language].code);
      await s.in('.invitation-by').waitFor();
    },
  },
  roomSettings: {
    title: 'Room settings',
    text: 'Name, topic, slow mode and freeze.',
    act: async s => {
      await s.room();
      await s.in('.room-head').click();
      await s.in('.room-buttons button:has(.icon-gear)').click();
      await s.in('.room-form').waitFor();
    },
  },
  rooms: {
    title: 'Rooms',
    text: 'Your rooms and all rooms of the site.',
    act: async s => {
      await s.tab('rooms');
      await s.in('.room-row').nth(5).waitFor();
    },
  },
  makeRoom: {
    title: 'A new room',
    text: 'Public, private or for announcements.',
    act: async s => {
      await s.tab('rooms');
      await s.in('.room-buttons .button-main').click();
      await s.in('.room-form input').first().fill(s.texts.writing.room);
    },
  },
  contacts: {
    title: 'Contacts',
    text: 'Requests, members who are online, and all members.',
    act: async s => {
      await s.tab('contacts');
      await s.in('.person-row').nth(4).waitFor();
    },
  },
  profile: {
    title: 'A profile',
    text: 'Name, status and actions.',
    act: async s => {
      await s.chat('mei');
      await s.in('.chat-face').click();
      await s.in('.profile-status').waitFor();
    },
  },
  search: {
    title: 'Search',
    text: 'One field for people, rooms and messages. A result opens its place in the chat.',
    act: async s => {
      await s.show();
      await s.in('.search-open').click();
      const field = s.in('[role=combobox]');
      await until(async () => {
        await field.fill('');
        await field.fill(s.texts.search);
        await s.page.waitForTimeout(300);
        return (await s.in('[role=option]').count()) > 2;
      }, 'much is found');
    },
  },
  unread: {
    title: 'Unread chats',
    text: 'Filters: all, unread, mentions, requests, archived.',
    act: async s => {
      await s.show();
      await s.in('.list-tools [role=radio]').nth(1).click();
      await s.in('.chat-row').first().waitFor();
    },
  },
  request: {
    title: 'A message request',
    text: 'Without a notification until it is accepted. Links, pictures and calls are off.',
    act: async s => {
      await s.chat('hamish');
      await s.in('.stranger').waitFor();
    },
  },
  asked: {
    title: 'A sent request',
    text: 'Few messages and no links until the other member accepts.',
    as: 'hamish',
    act: async s => {
      await s.chat('anna');
      await s.in('.stranger').waitFor();
    },
  },
  report: {
    title: 'A report',
    text: 'Moderators receive it with the messages around it.',
    act: async s => {
      await s.chat('hamish');
      await s.in('.stranger button:has(.icon-flag)').click();
      await s.in('.sheet input[type=radio]').nth(1).check();
    },
  },
  me: {
    title: 'Me',
    text: 'Your name, picture and presence.',
    act: async s => {
      await s.tab('me');
      await s.in('.me .choice[aria-haspopup=dialog]').nth(4).waitFor();
    },
  },
  status: {
    title: 'Status and name',
    text: 'A status can end by itself after some time.',
    act: s => s.sheet(0),
  },
  privacy: {
    title: 'Privacy',
    text: 'Choose who may write to you and who sees your presence and when you were last seen.',
    act: s => s.sheet(1),
  },
  devices: {
    title: 'Devices',
    text: 'Where you are signed in. Sign out any device.',
    act: async s => {
      await s.sheet(3);
      await s.in('.sheet .blocked-row').first().waitFor();
    },
  },
  apps: {
    title: 'Apps',
    text: 'Your address and passwords for XMPP apps. A password is shown once.',
    act: async s => {
      await s.sheet(4);
      const name = s.in('.app-form input');
      await name.fill('Conversations');
      await name.press('Enter');
      await s.in('.app-shown').waitFor();
      await s.in('.app-shown').evaluate(one => one.scrollIntoView({ block: 'center' }));
      // In a picture, anybody could read it.
      await s.in('.copy-large .copy-value').evaluate(one => {
        one.textContent = 'abcde-fghjk-mnpqr-tuvwx-y3467';
      });
    },
    after: s =>
      s
        .in('.app-row .button')
        .first()
        .click()
        .then(() => s.in('.confirm .button-danger').click()),
  },
  appAddress: {
    title: 'The address for apps',
    text: 'A phone reads it from the QR code.',
    act: async s => {
      await s.sheet(4);
      await s.in('.app-form').waitFor();
      if (!(await s.in('.qr-code').isVisible())) await s.in('.app-part .app-button').first().click();
      await s.in('.qr-code').waitFor();
    },
  },
  data: {
    title: 'Your data',
    text: 'Download a copy, or delete the account.',
    act: s => s.sheet(5),
  },
  notifications: {
    title: 'Notifications',
    text: 'Sound, browser notifications, quiet hours, calls and appearance.',
    act: async s => {
      await s.tab('me');
      const sound = s.in('.me [role=switch]').first();
      await sound.waitFor();
      await s.in('.me .choice[aria-haspopup=dialog]').nth(4).waitFor();
      await sound.evaluate(one => one.closest('.choices').scrollIntoView({ block: 'start' }));
    },
  },
  newcomer: {
    title: 'The first visit',
    text: 'Shows members who are online now.',
    as: 'nadia',
    act: async s => {
      await s.show();
      await s.in('.empty').first().waitFor();
    },
  },
  offline: {
    title: 'Offline',
    text: 'Messages wait and are sent when the connection is back.',
    act: async s => {
      await s.chat('raj');
      await s.pictures();
      await s.page.context().setOffline(true);
      await s.in('.banner').first().waitFor();
      await s.in('.composer-field').fill(s.texts.draft);
      await s.in('.composer-field').press('Enter');
      await s.in('[data-message] .icon-clock').first().waitFor();
    },
    after: s => s.page.context().setOffline(false),
  },
  queue: {
    title: 'Reports, for moderators',
    text: 'The reported message, the messages around it, and the actions.',
    as: 'ingrid',
    act: async s => {
      await s.moderation();
      await s.in('.report').nth(1).waitFor();
    },
  },
  act: {
    title: 'Actions of moderators',
    text: 'Warn, mute or ban, for a time or permanently. The member sees the reason.',
    as: 'ingrid',
    act: async s => {
      await s.moderation();
      await s.in('.report:last-child .report-buttons button[aria-expanded]').first().click();
      await s.in('.report-act select').first().selectOption('ban');
      await s.in('.report-act').evaluate(one => one.scrollIntoView({ block: 'center' }));
    },
  },
  protection: {
    title: 'Protection',
    text: 'Raid mode, and a test of the filters with any text.',
    as: 'ingrid',
    act: async s => {
      await s.moderation(4);
      await s.in('.guard-form textarea, .guard-form input').first().fill(s.texts.tested);
      await s.in('.guard-form button[type=submit]').click();
      await s.in('.guard-hits li').first().waitFor();
    },
  },
  rules: {
    title: 'Settings of a site, for its admins',
    text: 'Changes take effect immediately.',
    as: 'ingrid',
    act: async s => {
      await s.moderation(4);
      const group = s.in('.guard-settings fieldset').first();
      await group.waitFor();
      await group.evaluate(one => one.scrollIntoView({ block: 'start' }));
    },
  },
  record: {
    title: 'The record',
    text: 'Every action of a moderator, with its reason.',
    as: 'ingrid',
    act: async s => {
      await s.moderation(3);
      await s.in('.audit-entry').first().waitFor();
    },
  },
  check: {
    title: 'Before a call',
    whole: true,
    text: 'A check of microphone, camera and network.',
    act: async s => {
      await s.tab('me');
      await s.in('.me .choices').last().waitFor();
      await s.in('.me .choice:not([role]):not([aria-haspopup]):not(:has(.icon-shield))').last().click();
      await s.in('.check-verdict').waitFor();
    },
  },
  ring: {
    title: 'An incoming call',
    text: 'It rings in all tabs and on all devices, until one of them answers.',
    callers: ['raj'],
    whole: true,
    act: async s => {
      await s.show();
      await s.call();
      await s.in('.call-card').waitFor();
    },
    after: s => s.hangUp(),
  },
  call: {
    title: 'A call',
    text: 'The line below the name says whether the call is direct or relayed. A relay hides addresses.',
    callers: ['raj'],
    whole: true,
    act: async s => {
      await s.show();
      await s.call();
      await s.in('.call-card .call-yes').last().click();
      await until(async () => /[:：]/.test(await s.in('.call-line').textContent()), 'they talk');
      await s.in('.call-own').waitFor();
    },
    after: s => s.hangUp(),
  },
  roomCall: {
    title: 'A call in a room',
    text: 'The room shows who is in the call and how to join. It does not ring.',
    callers: ['tom', 'ingrid'],
    act: s => s.roomCall(),
    after: s => s.leaveRoomCall(),
  },
  groupCall: {
    title: 'A group call',
    text: 'Up to six members, each connected to each other.',
    callers: ['tom', 'ingrid'],
    whole: true,
    act: async s => {
      await s.roomCall();
      await s.in('.room-call button').click();
      await until(
        async () => (await s.in('.call-tile:not(.is-dark) .call-tile-picture').count()) === 3,
        'all are seen',
      );
    },
    after: s => s.leaveRoomCall(),
  },
  bar: {
    title: 'The bar',
    text: 'Chats side by side at the bottom of the page. Chats without space become heads ([how to turn it on](embed.md#the-bar)).',
    mode: 'bar',
    whole: true,
    looks: WIDE,
    act: async s => {
      await s.in('.bar-strip').waitFor();
      for (const user of ['tom', 'mei', 'raj']) {
        await s.page.evaluate(user => globalThis.Kith.open(user), user);
        await s.in(`.window[data-chat="@${user}"] .composer-field`).waitFor();
      }
      await s.in('.bar-chats').click();
      await s.in('.chat-row').nth(3).waitFor();
    },
  },
  inbox: {
    title: 'The full page',
    text: 'The messenger as a page of its own ([how to turn it on](embed.md)).',
    mode: 'inbox',
    whole: true,
    looks: WIDE,
    act: async s => {
      await s.chat('raj');
      await s.pictures();
    },
  },
  embed: {
    title: 'In the page',
    text: 'The room of a page, inside the page ([how to turn it on](embed.md)).',
    mode: 'embed',
    whole: true,
    act: async s => {
      await s.in('[data-message]').nth(2).waitFor();
    },
  },
};

/** Opens a screen on a freshly loaded page. `callers`: pages of the members who call, if the screen has a call. */
export async function look(page, name, of, community, callers) {
  const { as = 'anna', mode = 'bubble', act } = SCREENS[name];
  await page.goto(community.page(of.language, as, { mode, theme: of.theme }));
  await untilIn(page, () => globalThis.Kith !== undefined, 'the loader is there');
  const sight = new Sight(page, of, community);
  sight.callers = callers;
  await act(sight);
  await page.evaluate(settled);
  return sight;
}

/** Shows the member's portrait as the camera's picture, with a silent microphone. */
export async function inFront(context, member) {
  await context.addInitScript(name => {
    if (!navigator.mediaDevices) return;
    navigator.mediaDevices.getUserMedia = async wanted => {
      if (wanted.audio) return new AudioContext().createMediaStreamDestination().stream;
      const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 360 });
      const portrait = Object.assign(new Image(), { src: `/avatar/${name}.svg` });
      await portrait.decode();
      const scene = canvas.getContext('2d');
      setInterval(() => {
        scene.fillStyle = '#cfe3d6';
        scene.fillRect(0, 0, 640, 360);
        scene.drawImage(portrait, 140, 10, 360, 360);
      }, 100);
      return canvas.captureStream(10);
    };
  }, member);
}

/** A picture like a member's photo: garden beds in the morning light. */
export async function painted(browser) {
  const page = await browser.newPage();
  const data = await page.evaluate(() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 960, height: 640 });
    const draw = canvas.getContext('2d');
    const fade = (from, to, ...stops) => {
      const made = draw.createLinearGradient(0, from, 0, to);
      for (const [at, colour] of stops.entries()) made.addColorStop(at / (stops.length - 1), colour);
      return made;
    };
    const fill = (style, points) => {
      draw.fillStyle = style;
      draw.beginPath();
      for (const [x, y] of points) draw.lineTo(x, y);
      draw.fill();
    };
    draw.fillStyle = fade(0, 330, '#9fc9e8', '#fbe3bd', '#f9cf9a');
    draw.fillRect(0, 0, 960, 640);
    const sun = draw.createRadialGradient(690, 235, 8, 690, 235, 210);
    for (const [at, colour] of [
      [0, '#fffbe6'],
      [0.14, '#fff3c4'],
      [1, '#fff3c400'],
    ])
      sun.addColorStop(at, colour);
    draw.fillStyle = sun;
    draw.fillRect(0, 0, 960, 640);
    const hill = (y, height, wave, colour) => {
      const points = [[0, 640]];
      for (let x = 0; x <= 960; x += 8) points.push([x, y - height * Math.sin(x / wave + wave)]);
      fill(colour, [...points, [960, 640]]);
    };
    hill(290, 34, 170, '#8fb39a');
    hill(330, 26, 120, '#6f9c7c');
    hill(368, 10, 260, fade(350, 640, '#7da25a', '#4d7a3c'));
    // Beds that run towards the viewer, with rows of leaves.
    for (let bed = 0; bed < 5; bed++) {
      const [near, far] = [bed * 250 - 140, 330 + bed * 62];
      fill(fade(380, 640, '#7a5638', '#4f3524'), [
        [far, 382],
        [far + 44, 382],
        [near + 190, 640],
        [near, 640],
      ]);
      for (let row = 0; row < 16; row++) {
        const t = (row / 15) ** 1.7;
        const y = 386 + t * 250;
        const size = 4 + t * 22;
        for (const side of [0.25, 0.5, 0.75]) {
          const x = far + 44 * side + (near + 190 * side - far - 44 * side) * t;
          for (const [dx, dy, colour] of [
            [-0.5, 0, '#3f7d3a'],
            [0.5, -0.1, '#5a9a46'],
            [0, -0.5, '#79b85a'],
          ]) {
            draw.fillStyle = colour;
            draw.beginPath();
            draw.ellipse(x + dx * size, y + dy * size, size * 0.62, size * 0.38, dx, 0, 7);
            draw.fill();
          }
          if ((row + bed) % 3 === 0) {
            draw.fillStyle = ['#e0523f', '#f2b134', '#c94f8a'][bed % 3];
            draw.beginPath();
            draw.arc(x, y - size * 0.7, size * 0.24, 0, 7);
            draw.fill();
          }
        }
      }
    }
    // A shed at the edge of the meadow.
    fill('#8c4a3a', [
      [120, 300],
      [230, 300],
      [230, 378],
      [120, 378],
    ]);
    fill('#6b3529', [
      [108, 302],
      [175, 258],
      [242, 302],
    ]);
    fill('#f3e3c2', [
      [160, 330],
      [188, 330],
      [188, 378],
      [160, 378],
    ]);
    return canvas.toDataURL('image/jpeg', 0.86).split(',')[1];
  });
  await page.close();
  return Buffer.from(data, 'base64');
}
