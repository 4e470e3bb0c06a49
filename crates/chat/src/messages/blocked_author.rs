//! Messages of authors whom a reader has blocked, in rooms that both are in: one rule for everything but the room's own timeline.

use crate::ConversationId;

/// So many unread messages of one answer are looked at, the newest of each room or thread first, to see whether the reader has blocked
/// their authors. The others count as unread. So a list of rooms costs no more than one room.
pub const MOST_BLOCKED_LOOKED_AT: u32 = 1_000;

/// Whether unread counts, mentions, notices and search leave a message out. In the timeline of the room it keeps its place, because
/// others answer it. A direct conversation is the reader's own, whatever happened since.
pub fn is_left_out(conversation: ConversationId, has_blocked_author: bool) -> bool {
    conversation.is_room() && has_blocked_author
}
