//! A member's marks of a conversation: pinned, marked as unread, has a draft. They are bits of a column of the view, so
//! that a conversation without marks costs nothing. Only the bit of a draft leads to another row.

use crate::engine::{Connection, OptionalExtension, params};
use chat::{ConversationChange, ConversationId, MemberState, Refusal, UserId, may_pin};

use crate::fault::Outcome;
use crate::late::Settled;
use crate::{conversation, room};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks(pub(crate) u8);

const PINNED: u8 = 1;
const UNREAD: u8 = 2;
const DRAFT: u8 = 4;
/// In a direct conversation: this member has blocked the other. Repeats `contact.state`, so that a list need not read
/// that table.
const BLOCKING: u8 = 8;

impl Marks {
    pub(crate) fn is_blocking(self) -> bool {
        self.0 & BLOCKING != 0
    }

    pub(crate) fn blocking(self, on: bool) -> Marks {
        self.with(BLOCKING, Some(on))
    }

    pub(crate) fn is_pinned(self) -> bool {
        self.0 & PINNED != 0
    }

    pub(crate) fn is_unread(self) -> bool {
        self.0 & UNREAD != 0
    }

    /// Reading new messages removes the mark as unread.
    pub(crate) fn read(self) -> Marks {
        self.with(UNREAD, Some(false))
    }

    fn with(self, mark: u8, on: Option<bool>) -> Marks {
        match on {
            Some(true) => Marks(self.0 | mark),
            Some(false) => Marks(self.0 & !mark),
            None => self,
        }
    }
}

/// The marks after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marked {
    pub(crate) marks: Marks,
    pub(crate) is_new_draft: bool,
}

/// Writes the draft and returns the new marks, which the caller writes. Pins of the same batch are not on disk yet, so
/// they may exceed the bound.
pub(crate) fn change(
    db: &Connection,
    user: UserId,
    id: ConversationId,
    before: Marks,
    change: &ConversationChange,
) -> Outcome<Result<Marked, Refusal>> {
    if change.pinned == Some(true)
        && !before.is_pinned()
        && let Err(refusal) = may_pin(pinned(&Settled::trust(db), user)?)
    {
        return Ok(Err(refusal));
    }
    let marks = before.with(PINNED, change.pinned).with(UNREAD, change.marked_unread);
    let Some(draft) = &change.draft else { return Ok(Ok(Marked { marks, is_new_draft: false })) };
    let is_new_draft = self::draft(db, user, id, before)?.as_deref().unwrap_or_default() != &**draft;
    if is_new_draft {
        put_draft(db, user, id, draft)?;
    }
    Ok(Ok(Marked { marks: marks.with(DRAFT, Some(!draft.is_empty())), is_new_draft }))
}

/// Pins in late rows, too: messages do not change them.
fn pinned(db: &Settled<'_>, user: UserId) -> Outcome<usize> {
    let mut count = 0;
    conversation::each(db, user, |_, _, side| count += usize::from(side.marks.is_pinned()))?;
    room::each(db, user, |_, mine| {
        count += usize::from(mine.marks.is_pinned() && matches!(mine.state, MemberState::In(_)));
        Ok(())
    })?;
    Ok(count)
}

fn put_draft(db: &Connection, user: UserId, id: ConversationId, draft: &str) -> Outcome<()> {
    let key = params![user.site.0, user.num, id.key as i64];
    if draft.is_empty() {
        db.prepare_cached(sql!("DELETE FROM draft WHERE site = $1 AND user = $2 AND conversation = $3"))?
            .execute(key)?;
        return Ok(());
    }
    let sql = sql!(
        "INSERT INTO draft (site, user, conversation, body) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (site, user, conversation) DO UPDATE SET body = excluded.body"
    );
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, id.key as i64, draft])?;
    Ok(())
}

/// The member's unfinished text.
pub(crate) fn draft(
    db: &Connection,
    user: UserId,
    id: ConversationId,
    marks: Marks,
) -> Outcome<Option<Box<str>>> {
    if marks.0 & DRAFT == 0 {
        return Ok(None);
    }
    let sql = sql!("SELECT body FROM draft WHERE site = $1 AND user = $2 AND conversation = $3");
    let values = params![user.site.0, user.num, id.key as i64];
    Ok(db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?)
}
