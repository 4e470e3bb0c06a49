//! Requests of an erasure: by the member, if the site allows it, or by the site.

use crate::contacts;
use std::sync::Arc;

use crate::account::Account;
use crate::account::erasure::{Erased, MessagesAfterErasure, NewErasure};
use crate::command::AnswerTo;
use crate::moderation::EVIDENCE_AFTER_ERASURE_MS;
use crate::rng::random_letters;
use crate::session::{Asker, Completion};
use crate::store::unavailable;
use crate::{By, Caller, Contact, Presence, Refusal, Side, Sub, Timestamp, UserId, UserRow};

/// Called once, perhaps on a thread of the store.
type Then = Box<dyn FnOnce(Result<(), Refusal>) + Send>;

impl Account {
    /// Removes a member's own account. All the member's sessions end, including this one.
    pub(crate) fn remove_account(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        messages: MessagesAfterErasure,
        now: Timestamp,
    ) {
        let (handle, user) = (asker.session.handle, asker.session.user);
        if !asker.site.site.settings.members.remove {
            return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::NotAllowed);
        }
        let this = self.clone();
        let then = move |outcome| {
            if let Err(refusal) = outcome {
                this.sessions.refuse(handle, AnswerTo::Request(re), refusal);
            }
        };
        self.begin_erasure(user, By::User(user), messages, now, Box::new(then));
    }

    pub(crate) fn erase(
        self: &Arc<Self>,
        caller: &Caller,
        sub: Sub,
        messages: MessagesAfterErasure,
        now: Timestamp,
        then: Then,
    ) {
        let by = caller.by();
        let found = self.then::<Option<UserRow>>(move |this, row| match row {
            Ok(Some(row)) => this.begin_erasure(row.id, by, messages, now, then),
            Ok(None) => then(Err(Refusal::NoSuchUser)),
            Err(error) => then(Err(unavailable(error))),
        });
        self.store.user(caller.site(), sub, found);
    }

    pub(super) fn begin_erasure(
        self: &Arc<Self>,
        user: UserId,
        by: By,
        messages: MessagesAfterErasure,
        now: Timestamp,
        then: Then,
    ) {
        let Some(live) = self.sites.by_id(user.site) else { return then(Err(Refusal::NoSuchSite)) };
        let letters = random_letters(&mut self.rng.lock(), 16);
        let alias = Sub::parse(&format!("deleted-{letters}")).expect("letters and a hyphen are a sub");
        let name = live.site.settings.members.deleted_name.as_str().into();
        let erasure = NewErasure { user, alias, name, messages, by, time: now };
        if messages == MessagesAfterErasure::Erased {
            self.moderation.ends_at(Timestamp(now.0.saturating_add(EVIDENCE_AFTER_ERASURE_MS)));
        }
        let done = self.then(move |this, erased| match erased {
            Ok(Ok(erased)) => {
                this.erased(&erased);
                then(Ok(()));
            }
            Ok(Err(refusal)) => then(Err(refusal)),
            Err(error) => then(Err(unavailable(error))),
        });
        self.store.begin_erasure(erasure, done);
    }

    /// Updates the contact lists of others, and ends the user's sessions.
    fn erased(self: &Arc<Self>, erased: &Erased) {
        let Erased { before, parted, position, .. } = erased;
        self.users.recent().clear();
        let person = crate::users::person(before, Some(Presence::Offline));
        for other in parted {
            let contact = Contact::new(person.clone(), Side::NONE, None);
            self.sessions.publish(*other, *position, None, contacts::Event::Contact(Box::new(contact)));
        }
        self.sessions.end_user(before.id, Refusal::Removed);
        self.erasing.begin();
    }
}
