// The modules that are downloaded together: one bundle for each task of a member. `client` and `app` contain the
// modules that their entries import at their start. Every other module belongs to the bundle with the longest prefix of
// its path. Bundles may import each other, but not in a circle. The build checks both rules.

const BUNDLES = {
  // Push and calls need this module, which is too small to be fetched alone.
  client: ['client/src/do_not_disturb.ts'],
  // Read and answer the first chat: its header, formatted text, announcements to screen readers, focus keys.
  // Apart from `app`: the panel is drawn without it, and the shell would be above its budget by 5 kB.
  chat: [
    'app/src/features/chat/chat_header.tsx',
    'app/src/features/chat/direct_chat_header.tsx',
    'app/src/features/message_text/',
    'app/src/features/profile/open_profile.ts',
    'app/src/shell/focus.ts',
    'app/src/shell/live_region/',
    'app/src/ui/close_button/',
    'app/src/ui/header_bar/',
    'app/src/ui/styles/',
  ],
  // The modules that calls share with all bundles below.
  // Apart: in `chat` they would exceed the budget of the first chat by 2 kB, in `conversation` that of a call by 31 kB.
  base: [
    'app/src/features/call_log/call_duration.ts',
    'app/src/features/calls/call_preferences.ts',
    'app/src/features/group_calls/room_id.ts',
    'app/src/features/toasts/sound_preference.ts',
    'app/src/ui/icon/call_shapes.ts',
    'app/src/ui/icon/lazy_shapes.ts',
    'app/src/ui/request/use_request.ts',
    'app/src/ui/use_effect_event/',
    'app/src/wording/late_words.ts',
    'client/src/stored_group_call.ts',
  ],
  // Open a room: the header and the foot of its chat.
  // Apart from `conversation`: a page with an embedded room would wait for another 32 kB.
  room: [
    'app/src/features/chats/row_menu.ts',
    'app/src/features/group_calls/room_call_',
    'app/src/features/rooms/room.',
    'app/src/features/rooms/room_errors.ts',
    'app/src/features/rooms/room_names.ts',
  ],
  // Work in a chat or a thread: menus, dialogs, search, polls, reactions, toasts, and everything else that one touch
  // opens from a chat or from the list of chats.
  conversation: [
    'app/src/features/',
    'app/src/features/contacts/contact_actions.ts',
    'app/src/features/contacts/use_directory.ts',
    'app/src/features/contacts/use_presences.ts',
    'app/src/features/files/blurhash.ts',
    'app/src/features/files/file_url.ts',
    'app/src/features/files/picture.tsx',
    'app/src/features/files/prepare_upload.ts',
    'app/src/features/files/upload_host.ts',
    'app/src/features/moderation/moderator_warning.',
    'app/src/features/moderation/open_report.ts',
    'app/src/features/moderation/sanction_terms.tsx',
    'app/src/ui/',
    'client/src/',
  ],
  // Add something to a message: files, voice, pictures, emoji, stickers.
  // Apart from `conversation`: menus and dialogs would wait for another 17 kB.
  compose: [
    'app/src/features/emoji/',
    'app/src/features/files/',
    'app/src/features/stickers/sticker_picker.tsx',
  ],
  // The tabs Contacts, Rooms and Me with their sheets: profile, devices, notifications, members, invite links, a room's
  // settings.
  // Apart from `conversation`: a page with one embedded room needs none of it.
  tabs: [
    'app/src/features/contacts/',
    'app/src/features/invite_links/',
    'app/src/features/me/',
    'app/src/features/profile/',
    'app/src/features/push_settings/',
    'app/src/features/rooms/',
    'client/src/rooms.ts',
  ],
  // Addresses and passwords of a member's XMPP apps, with the maker of QR codes. Apart from `tabs`: few members open it.
  apps: ['app/src/features/app_passwords/', 'node_modules/lean-qr/'],
  // Reports, sanctions and the settings of a site. Apart from `tabs`: most members never need these 7 kB.
  moderation: ['app/src/features/moderation/', 'app/src/features/site_settings/'],
  // A call of two.
  calls: ['app/src/features/calls/', 'client/src/calls.ts'],
  // A call of a room. Apart from `calls`, which would be above its budget by 6 kB.
  group_calls: ['app/src/features/group_calls/', 'client/src/group_calls.ts'],
  // The row of open chats at the bottom of a page. Apart: each page of a site with the bar fetches it at once.
  bar: ['app/src/shell/bar/'],
  // For pages that only show the button: notifications, the unread number in title and icon, and the client's
  // transports for networks that block WebSockets.
  background: [
    'client/src/http.ts',
    'client/src/poll.ts',
    'client/src/stream.ts',
    'loader/src/background.ts',
    'loader/src/fields_of.ts',
    'loader/src/icon_dot.ts',
    'loader/src/page_badge.ts',
    'loader/src/push/',
    'loader/src/title_counter.ts',
  ],
};

/** The bundle of a module, or undefined if it has none. `path` is relative to the folder of the widget. */
export function bundleOf(path) {
  const [best] = Object.entries(BUNDLES)
    .flatMap(([name, starts]) => starts.map(start => ({ name, start })))
    .filter(({ start }) => path.startsWith(start))
    .sort((a, b) => b.start.length - a.start.length);
  return best?.name;
}

/** The names of the first circle of imports among `chunks`, if there is one. */
export function circle(chunks) {
  const imports = new Map(chunks.map(one => [one.fileName, one.imports]));
  const done = new Set();
  const visit = (name, path) => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return undefined;
    for (const next of imports.get(name) ?? []) {
      const found = visit(next, [...path, name]);
      if (found) return found;
    }
    done.add(name);
    return undefined;
  };
  for (const name of imports.keys()) {
    const found = visit(name, []);
    if (found) return found;
  }
  return undefined;
}
