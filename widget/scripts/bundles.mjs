// Which modules are downloaded together. `client` and `app` are what their entries import at their start. Every other
// module belongs to the bundle with the longest beginning of its path. Bundles may import each other, but not in a circle; the
// build checks both.

const BUNDLES = {
  // Needed by push and by calls; too small to be fetched alone.
  client: ['client/src/do_not_disturb.ts'],
  // What the first chat fetches while it is drawn: header, formatted text, announcements to screen readers, focus keys.
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
  // Small things that most of the bundles below need.
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
  // The header and the foot of a room's chat.
  room: [
    'app/src/features/chats/row_menu.ts',
    'app/src/features/group_calls/room_call_',
    'app/src/features/rooms/room.',
    'app/src/features/rooms/room_errors.ts',
  ],
  // What several of the bundles below need.
  shared: [
    'app/src/features/call_log/call_menu_items.ts',
    'app/src/features/connection/wait_until_online.ts',
    'app/src/features/contacts/contact_actions.ts',
    'app/src/features/contacts/use_directory.ts',
    'app/src/features/contacts/use_presences.ts',
    'app/src/features/files/blurhash.ts',
    'app/src/features/files/file_url.ts',
    'app/src/features/files/picture.tsx',
    'app/src/features/files/prepare_upload.ts',
    'app/src/features/files/upload_host.ts',
    'app/src/features/moderation/open_report.ts',
    'app/src/features/moderation/sanction_terms.tsx',
    'app/src/ui/',
    'client/src/moderation.ts',
    'client/src/upload.ts',
  ],
  emoji: ['app/src/features/emoji/', 'app/src/features/stickers/sticker_picker.tsx'],
  files: ['app/src/features/files/'],
  calls: ['app/src/features/calls/', 'client/src/calls.ts'],
  group_calls: ['app/src/features/group_calls/', 'client/src/group_calls.ts'],
  moderation: ['app/src/features/moderation/', 'app/src/features/site_settings/'],
  rooms: ['app/src/features/rooms/', 'app/src/features/invite_links/', 'client/src/rooms.ts'],
  people: [
    'app/src/features/contacts/',
    'app/src/features/me/',
    'app/src/features/profile/',
    'app/src/features/push_settings/',
  ],
  // The row of open chats at the bottom of a page.
  bar: ['app/src/shell/bar/'],
  push: ['loader/src/push/', 'loader/src/fields_of.ts'],
  // The unread number in the title and on the icon of the page.
  badge: ['loader/src/icon_dot.ts', 'loader/src/page_badge.ts', 'loader/src/title_counter.ts'],
  // For networks that let no WebSocket through.
  transports: ['client/src/http.ts', 'client/src/poll.ts', 'client/src/stream.ts'],
  // Everything else that is one touch away from a chat or from the list of chats.
  chat_extras: ['app/src/features/', 'app/src/features/moderation/moderator_warning.', 'client/src/'],
};

/** Undefined: of no bundle. `path` is below the folder of the widget. */
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
