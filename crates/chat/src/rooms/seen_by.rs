//! "Seen by": how far the members of a small room have received and read.

use std::sync::Arc;

use crate::privacy::Signal;
use crate::rooms::{MembersPage, Rooms};
use crate::session::Asker;
use crate::users::visibility;
use crate::{Seq, UserId};

/// Members of larger rooms do not see the markers of others.
pub const MOST_SEEN_BY: u32 = 50;

/// The last received and the last read message of a member.
pub type Markers = (Seq, Seq);

impl Rooms {
    /// The markers of a page of members, in the order of the page; only those that the asker may see.
    pub(crate) fn with_markers(
        self: &Arc<Self>,
        asker: &Asker,
        page: MembersPage,
        then: impl FnOnce(MembersPage, Vec<Option<Markers>>) + Send + 'static,
    ) {
        let (me, mode) = (asker.session.user, asker.site.site.mode);
        let rows = page.rows.iter().zip(&page.markers);
        let mut shown = vec![None; page.rows.len()];
        let mut others = Vec::new();
        for (place, (row, markers)) in rows.enumerate() {
            match row.user.id == me {
                true => shown[place] = Some(*markers),
                false => others.push((place, row.user.id, visibility(&row.user), *markers)),
            }
        }
        if others.is_empty() {
            return then(page, shown);
        }
        let asked: Vec<UserId> = others.iter().map(|(_, user, ..)| *user).collect();
        self.users.with_relations(me, &asked, move |relations| {
            // Unknown after a failed read: show nothing.
            for ((place, _, of, markers), relation) in others.into_iter().zip(relations.unwrap_or_default()) {
                shown[place] = of.sends(Signal::RoomMarker, mode, relation.a_views_b()).then_some(markers);
            }
            then(page, shown);
        });
    }
}
