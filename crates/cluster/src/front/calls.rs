//! The calls of the home, for the TURN server of a front.
//!
//! Credentials name a user and a call. A relay must end with its call, so the home sends each change of a user's call to every front
//! with a TURN server. The copy is in the order of the link: a front knows a call before its clients have credentials for it.

use std::collections::HashMap;

use chat::{CallId, CallServers, Event, Timestamp, UserId};

use super::{Front, State};
use crate::wire::ToHome;

/// After a change of the link or of the list, calls of before count for so long, until the new list has come. It is the interval at which
/// a TURN server asks about each relay.
const BEFORE_MS: u64 = 5_000;
/// Calls count for so long without a link: the home keeps the place of a lost session for 20 s, so a longer outage ends the call.
const WITHOUT_LINK_MS: u64 = 25_000;

/// The TURN server of a front.
pub(super) struct Relays {
    pub(super) servers: CallServers,
    /// See [`ToHome::Relays`].
    pub(super) proof: Box<str>,
}

/// A copy of the home's table.
#[derive(Default)]
pub(super) struct Calls {
    /// The home sends its calls on this link.
    is_known: bool,
    now: HashMap<UserId, CallId>,
    before: HashMap<UserId, CallId>,
    before_until: Timestamp,
}

impl Calls {
    pub(super) fn is_known(&self) -> bool {
        self.is_known
    }

    /// A link has begun. Its home may be another one, or of a version that sends no calls.
    pub(super) fn link_begins(&mut self, now: Timestamp) {
        self.is_known = false;
        self.end_list(now);
    }

    pub(super) fn take(&mut self, begins: bool, users: Vec<(UserId, Option<CallId>)>, now: Timestamp) {
        if begins {
            self.is_known = true;
            self.end_list(now);
        }
        if !self.is_known {
            return;
        }
        for (user, call) in users {
            match call {
                Some(call) => self.now.insert(user, call),
                None => {
                    self.before.remove(&user);
                    self.now.remove(&user)
                }
            };
        }
    }

    fn end_list(&mut self, now: Timestamp) {
        if !self.now.is_empty() {
            self.before = std::mem::take(&mut self.now);
            self.before_until = Timestamp(now.0.saturating_add(BEFORE_MS));
        }
    }

    /// `without_link`: time since the end of the link, in milliseconds; None while it exists.
    pub(super) fn tick(&mut self, without_link: Option<u64>, now: Timestamp) {
        if without_link.is_some_and(|ms| ms >= WITHOUT_LINK_MS) {
            *self = Calls::default();
        } else if now >= self.before_until && !self.before.is_empty() {
            self.before = HashMap::new();
        }
    }

    /// `call`: None for any.
    fn has(&self, user: UserId, call: Option<CallId>) -> bool {
        let found = self.now.get(&user).or_else(|| self.before.get(&user));
        found.is_some_and(|own| call.is_none_or(|call| call == *own))
    }
}

impl Front {
    /// This front has a TURN server. From now on its members get `servers` in place of the home's, if the home has the secret of `proof`.
    pub fn offer_relays(&self, servers: CallServers, proof: Box<str>) {
        let mut state = self.lock();
        state.relays = Some(Relays { servers, proof });
        state.ask_for_calls();
        drop(state);
        (self.shared.wake)();
    }

    /// Whether the user is in this call, by what the home has sent last. None: in any call.
    pub fn is_in_call(&self, user: UserId, call: Option<CallId>) -> bool {
        self.calls().has(user, call)
    }

    /// Members connect with the relay of their own front: it is as near as their session, and fails together with it.
    pub(super) fn offer_own_servers(&self, state: &State, event: &mut Event) {
        if let (Some(relays), Event::Calls(event)) = (&state.relays, event)
            && self.calls().is_known()
            && let Some(ice) = event.ice_mut()
        {
            ice.offer(&relays.servers);
        }
    }

    /// The servers for members of this front. None: those of the home.
    pub fn call_servers(&self) -> Option<CallServers> {
        if !self.calls().is_known() {
            return None;
        }
        self.lock().relays.as_ref().map(|relays| relays.servers.clone())
    }
}

impl State {
    /// On each new link, and when the TURN server has started.
    pub(super) fn ask_for_calls(&mut self) {
        if let Some(Relays { proof, .. }) = &self.relays {
            let item = ToHome::Relays { proof: proof.clone() };
            self.push(&item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::SiteId;

    fn user(num: u32) -> UserId {
        UserId { site: SiteId(1), num }
    }

    #[test]
    fn a_new_list_replaces_the_old_one_after_a_moment() {
        let mut calls = Calls::default();
        calls.take(false, vec![(user(1), Some(CallId(7)))], Timestamp(0));
        assert!(!calls.has(user(1), None), "the home has not begun to send calls on this link");
        calls.take(true, vec![(user(1), Some(CallId(7))), (user(2), Some(CallId(8)))], Timestamp(0));
        assert!(calls.has(user(1), Some(CallId(7))) && calls.has(user(1), None));
        assert!(!calls.has(user(1), Some(CallId(8))) && !calls.has(user(3), None));
        // The link was lost and is back: relays live on while the list comes.
        calls.link_begins(Timestamp(1_000));
        assert!(!calls.is_known() && calls.has(user(1), Some(CallId(7))));
        calls.take(true, vec![(user(1), Some(CallId(7)))], Timestamp(1_100));
        calls.take(false, vec![(user(2), None)], Timestamp(1_200));
        assert!(!calls.has(user(2), None), "a user who has left a call is in none, also by the old list");
        calls.take(false, vec![(user(1), Some(CallId(9)))], Timestamp(1_200));
        assert!(!calls.has(user(1), Some(CallId(7))), "the newer call counts");
        calls.link_begins(Timestamp(2_000));
        calls.tick(None, Timestamp(2_000 + BEFORE_MS - 1));
        assert!(calls.has(user(1), None));
        calls.tick(None, Timestamp(2_000 + BEFORE_MS));
        assert!(!calls.has(user(1), None), "the new home does not know the call");
    }

    #[test]
    fn without_a_home_calls_end() {
        let mut calls = Calls::default();
        calls.take(true, vec![(user(1), Some(CallId(7)))], Timestamp(0));
        calls.tick(Some(WITHOUT_LINK_MS - 1), Timestamp(30_000));
        assert!(calls.has(user(1), None));
        calls.tick(Some(WITHOUT_LINK_MS), Timestamp(30_001));
        assert!(!calls.has(user(1), None) && !calls.is_known());
    }
}
