//! The commands that make, list and revoke a user's app passwords, and the credentials for gateways.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::account::app_passwords::{
    AppCredentials, AppPassword, AppPasswordRow, KnownAppPassword, NewAppPassword, StoredCredentials,
    app_password_name, are_allowed,
};
use crate::account::{Account, Event};
use crate::command::AnswerTo;
use crate::session::{Asker, Completion, SignedInBy};
use crate::site::live::LiveSite;
use crate::store::unavailable;
use crate::{By, Refusal, SessionId, SiteId, Sub, Timestamp, UserId};
use rand::Rng as _;

/// A new app password. Only this answer contains it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppPasswordShown {
    pub row: AppPasswordRow,
    pub password: AppPassword,
}

impl Account {
    /// Answers with the password. Its keys are derived on a thread of the store.
    pub(crate) fn create_app_password(self: &Arc<Self>, asker: &Asker, re: u64, name: &str, now: Timestamp) {
        let SessionId { user, handle } = asker.session;
        let to = AnswerTo::Request(re);
        let may = match () {
            () if asker.guest => Err(Refusal::NotAllowed),
            () => are_allowed(&asker.site.site.settings),
        };
        let name = may.and_then(|()| app_password_name(name).ok_or(Refusal::BadValue));
        let name = match name {
            Ok(name) => name,
            Err(refusal) => return self.sessions.refuse(handle, to, refusal),
        };
        let this = self.clone();
        self.app_credentials(user.site, asker.sub.clone(), move |credentials| match credentials {
            Ok(credentials) => {
                let password = AppPassword::random(&mut this.rng.lock());
                let new = NewAppPassword { name, keys: credentials.keys_of(&password), time: now };
                let done = this.on_accepted(handle, to, move |this, row: AppPasswordRow| {
                    let shown = AppPasswordShown { row, password };
                    this.sessions.answer(handle, re, Event::AppPassword(Box::new(shown)));
                });
                this.store.add_app_password(user, new, By::User(user), done);
            }
            Err(refusal) => this.sessions.refuse(handle, to, refusal),
        });
    }

    /// The domain at which members' apps can sign in now. None: the node or the site accepts no apps, or the site has no domain.
    pub(crate) fn app_domain<'a>(&self, live: &'a LiveSite) -> Option<&'a str> {
        let is_open = self.config.app_passwords && are_allowed(&live.site.settings).is_ok();
        live.site.domain().filter(|_| is_open)
    }

    pub(crate) fn list_app_passwords(self: &Arc<Self>, asker: &Asker, re: u64) {
        let handle = asker.session.handle;
        let domain = self.app_domain(&asker.site).filter(|_| !asker.guest);
        let address = domain.map(|domain| format!("{}@{domain}", asker.sub.address_local()).into());
        let user = asker.session.user;
        let done = self.on_loaded(handle, AnswerTo::Request(re), move |this, rows: Vec<AppPasswordRow>| {
            let connected = this.connected_app_passwords(user);
            let known = |row: AppPasswordRow| KnownAppPassword { here: connected.contains(&row.number), row };
            let passwords = rows.into_iter().map(known).collect();
            this.sessions.answer(handle, re, Event::AppPasswords { address, passwords });
        });
        self.store.app_passwords(user, done);
    }

    /// The numbers of the passwords with which apps are connected.
    fn connected_app_passwords(&self, user: UserId) -> Vec<u32> {
        let mut shard = self.sessions.lock(user);
        let here = shard.user(user);
        here.map_or(Vec::new(), |here| here.sessions.iter().filter_map(|one| one.by.password()).collect())
    }

    /// Ends the sessions of the password, and answers with the remaining ones. If the asker has signed in with it, its session
    /// ends instead.
    pub(crate) fn revoke_app_password(self: &Arc<Self>, asker: &Asker, re: u64, number: u32, now: Timestamp) {
        let SessionId { user, handle } = asker.session;
        let asker = asker.clone();
        let done = self.on_accepted(handle, AnswerTo::Request(re), move |this, _: bool| {
            this.end_app_password(user, number, Refusal::SignedOut, now);
            this.list_app_passwords(&asker, re);
        });
        self.store.revoke_app_password(user, number, By::User(user), now, done);
    }

    /// Answers with the list. The password gets a new number, so a sign-in with the old one that is under way finds none.
    pub(crate) fn change_app_password(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        password: AppPassword,
        now: Timestamp,
    ) {
        let SessionId { user, handle } = asker.session;
        let to = AnswerTo::Request(re);
        let by = self.sessions.lock(user).session(user, handle).and_then(|session| session.by.password());
        let allowed = are_allowed(&asker.site.site.settings);
        let number = match allowed.and_then(|()| by.ok_or(Refusal::NotAllowed)) {
            Ok(number) => number,
            Err(refusal) => return self.sessions.refuse(handle, to, refusal),
        };
        let (this, asker) = (self.clone(), asker.clone());
        self.app_credentials(user.site, asker.sub.clone(), move |credentials| match credentials {
            Ok(credentials) => {
                let keys = credentials.keys_of(&password);
                let done = this.on_accepted(handle, to, move |this, changed: u32| {
                    if let Some(session) = this.sessions.lock(user).session(user, handle) {
                        session.by = SignedInBy::app_password(changed);
                    }
                    this.end_app_password(user, number, Refusal::SignedOut, now);
                    this.list_app_passwords(&asker, re);
                });
                this.store.change_app_password(user, number, keys, now, done);
            }
            Err(refusal) => this.sessions.refuse(handle, to, refusal),
        });
    }

    /// Ends the sessions that have signed in with the password.
    pub(crate) fn end_app_password(&self, user: UserId, number: u32, why: Refusal, now: Timestamp) {
        let mut shard = self.sessions.lock(user);
        let sessions = shard.user(user).map(|here| {
            let of_password = here.sessions.iter().filter(|session| session.by.password() == Some(number));
            of_password.map(|session| SessionId { user, handle: session.handle }).collect::<Vec<_>>()
        });
        drop(shard);
        for session in sessions.unwrap_or_default() {
            self.sessions.end_session(session, why, now);
        }
    }

    /// Ends the sessions of those passwords that do not exist any more.
    pub(crate) fn end_missing_app_passwords(self: &Arc<Self>, of: Vec<(UserId, u32)>, now: Timestamp) {
        if of.is_empty() {
            return;
        }
        let all = of.clone();
        let done = self.then::<Vec<(UserId, u32)>>(move |this, missing| {
            // Without an answer it is not known which exist: the clients sign in again.
            let (gone, why) = match missing {
                Ok(missing) => (missing, Refusal::SignedOut),
                Err(error) => (all, unavailable(error)),
            };
            for (user, number) in gone {
                this.end_app_password(user, number, why, now);
            }
        });
        self.store.missing_app_passwords(of, done);
    }

    /// The keys of the user with this id; `then` is called once, perhaps on a thread of the store.
    pub(crate) fn app_credentials(
        self: &Arc<Self>,
        site: SiteId,
        sub: Sub,
        then: impl FnOnce(Result<AppCredentials, Refusal>) + Send + 'static,
    ) {
        let done = self.then::<StoredCredentials>({
            let sub = sub.clone();
            move |this, stored| match stored {
                Ok(StoredCredentials { salt_key: Some(key), passwords }) => {
                    then(Ok(AppCredentials::new(&key, &sub, passwords)));
                }
                // The first time that the site is asked. Nobody has a password.
                Ok(StoredCredentials { salt_key: None, .. }) => {
                    let fresh = this.rng.lock().random();
                    let done = this.then::<[u8; 32]>(move |_, key| {
                        let credentials = key.map(|key| AppCredentials::new(&key, &sub, Vec::new()));
                        then(credentials.map_err(unavailable));
                    });
                    this.store.salt_key(site, fresh, done);
                }
                Err(error) => then(Err(unavailable(error))),
            }
        });
        self.store.app_credentials(site, sub, done);
    }
}
