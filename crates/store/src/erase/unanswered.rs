//! Users of other servers whom nobody has answered.

use crate::engine::{Connection, params};
use chat::{SiteId, Timestamp, UserId};

use crate::fault::Outcome;

/// Flags of `contact.state` that count as an answer: one of both sees the other (1, 2), the member blocks the user (4), or has the user on a
/// list (64). A block must outlast the silence, and a list is its owner's.
const UNANSWERED: &str = sql!(
    "SELECT num FROM user u WHERE site = $1 AND sub >= 'xmpp:' AND sub < 'xmpp;' AND created < $2 AND banned = 0 \
     AND NOT EXISTS (SELECT 1 FROM contact mine JOIN contact theirs \
         ON theirs.site = $1 AND theirs.user = mine.other AND theirs.other = mine.user \
         WHERE mine.site = $1 AND mine.user = u.num AND ((mine.state & 3) <> 0 OR (theirs.state & 71) <> 0)) \
     AND NOT EXISTS (SELECT 1 FROM conversation WHERE site = $1 AND key >= (u.num << 32) \
         AND key < ((u.num + 1) << 32) AND request NOT IN (1, 3)) \
     AND NOT EXISTS (SELECT 1 FROM conversation WHERE site = $1 AND (key & 4294967295) = u.num \
         AND request NOT IN (2, 4)) \
     AND NOT EXISTS (SELECT 1 FROM sanction WHERE site = $1 AND user = u.num) \
     ORDER BY sub LIMIT $3"
);

/// Those who are older than `before`: their requests for contact and their message requests are all without an answer. A message
/// of a member to them is one.
pub(super) fn users(db: &Connection, site: SiteId, before: Timestamp, limit: u32) -> Outcome<Vec<UserId>> {
    let mut statement = db.prepare_cached(UNANSWERED)?;
    let rows = statement.query_map(params![site.0, before.0 as i64, limit], |row| row.get(0))?;
    Ok(rows.map(|num| num.map(|num| UserId { site, num })).collect::<Result<_, _>>()?)
}
