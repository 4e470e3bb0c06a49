//! Messages of blocked authors in rooms of both users: one rule for everything except the room's timeline.

use crate::ConversationId;

/// Unread messages of one answer that are checked for blocked authors, the newest of each room or thread
/// first. The others count as unread. The bound keeps a list of rooms as cheap as one room.
pub const MOST_BLOCKED_LOOKED_AT: u32 = 1_000;

/// Whether unread counts, mentions, notices and search leave a message out. The timeline of the room still
/// shows it, because others answer it. A direct conversation is never filtered: it belongs to the reader.
pub fn is_left_out(conversation: ConversationId, has_blocked_author: bool) -> bool {
    conversation.is_room() && has_blocked_author
}
