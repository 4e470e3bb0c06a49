//! The end of a key: closes the sessions that it opened, and their users sign in again.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::session::SignedInBy;
use crate::sign_in::SignIn;
use crate::site::live::LiveSite;
use crate::{Refusal, SessionId, Timestamp};

/// Effect of a key change on the sessions of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// The sessions end now.
    End,
    /// The sessions end at this second at the latest.
    Until(u32),
}

impl SignIn {
    /// Whether a key of `site` has ended since then, or its holders were signed out.
    pub(crate) fn key_is_over(&self, site: &LiveSite, kid: &str, now: Timestamp) -> bool {
        let Some(live) = self.sites.by_id(site.site.id) else { return false };
        // The site is unchanged. Sessions end by themselves with the end of their key.
        if std::ptr::eq(&*live, site) {
            return false;
        }
        let Some(before) = site.key(kid) else { return false };
        let Some(key) = live.key(kid) else { return true };
        key.not_before > before.not_before || key.expires.is_some_and(|end| end <= now)
    }

    /// Applies a change of a site's keys to its sessions. Visits each session of the site if keys have
    /// changed; costs nothing otherwise.
    pub(crate) fn end_keys(self: &Arc<Self>, before: &LiveSite, after: &LiveSite) {
        let now = self.sessions.last_tick();
        let changes = changes(before, after, now);
        if changes.is_empty() {
            return;
        }
        for mut shard in self.sessions.each() {
            let (mut over, mut next) = (Vec::new(), shard.next_end);
            for user in shard.users().filter(|user| user.id.site == after.site.id) {
                for session in &mut user.sessions {
                    match changes.iter().find(|(slot, _)| *slot == session.by.slot()) {
                        Some((_, Change::End)) => {
                            over.push(SessionId { user: user.id, handle: session.handle })
                        }
                        Some((_, Change::Until(second))) => {
                            session.by = SignedInBy::token(session.by.ends().min(*second), session.by.slot());
                            next = next.min(*second);
                        }
                        None => {}
                    }
                }
            }
            shard.next_end = next;
            drop(shard);
            for session in over {
                self.sessions.end_session(session, Refusal::KeyEnded, now);
            }
        }
    }
}

/// The changes by slot.
fn changes(before: &LiveSite, after: &LiveSite, now: Timestamp) -> SmallVec<[(u8, Change); 2]> {
    let of = |kid: &str, slot: u8| {
        let (old, new) = (before.key(kid)?, after.key(kid));
        let change = match new {
            None => Change::End,
            Some(new) if new.not_before > old.not_before => Change::End,
            Some(new) => match new.expires.filter(|_| new.expires != old.expires)? {
                end if end <= now => Change::End,
                end => Change::Until(u32::try_from(end.0.div_ceil(1000)).unwrap_or(u32::MAX)),
            },
        };
        Some((slot, change))
    };
    before.slots().filter_map(|(kid, slot)| of(kid, slot)).collect()
}
