//! Messages of authors whom a reader has blocked, in rooms that both are in: one rule for everything but the room's own timeline.

use crate::ConversationId;

/// Of the unread messages of a room or a thread the newest are looked at to see whether the reader has blocked their authors. Older
/// ones count as unread, whoever wrote them.
pub const MOST_BLOCKED_LOOKED_AT: u32 = 1_000;

/// Whether unread counts, mentions, notices and search leave a message out. In the timeline of the room it keeps its place, because
/// others answer it. A direct conversation is the reader's own, whatever happened since.
pub fn is_left_out(conversation: ConversationId, has_blocked_author: bool) -> bool {
    conversation.is_room() && has_blocked_author
}
