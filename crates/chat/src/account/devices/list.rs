//! The commands that list a user's devices, and sign one out.

use crate::account::Event;
use std::sync::Arc;

use crate::account::Account;
use crate::account::devices::{DeviceRow, KnownDevice, NewDevice};
use crate::command::AnswerTo;
use crate::session::{Asker, Completion};
use crate::{Agent, Refusal, SessionId, Timestamp, UserId};

impl Account {
    pub(crate) fn devices(self: &Arc<Self>, asker: &Asker, re: u64) {
        if !asker.keeps_devices() {
            return self.sessions.refuse(asker.session.handle, AnswerTo::Request(re), Refusal::NotAllowed);
        }
        let session = asker.session;
        let to = AnswerTo::Request(re);
        let done = self.on_loaded(session.handle, to, move |this, rows: Vec<DeviceRow>| {
            let (own, here) = this.sessions.devices_here(session);
            let device =
                |row: DeviceRow| KnownDevice { here: here.contains(&row.id), this: own == Some(row.id), row };
            let devices = rows.into_iter().map(device).collect();
            this.sessions.answer(session.handle, re, Event::Devices(devices));
        });
        self.store.devices(session.user, done);
    }

    /// Answers with the remaining devices. Signing out the own device ends the session instead.
    pub(crate) fn sign_out(self: &Arc<Self>, asker: Asker, re: u64, device: u64, now: Timestamp) {
        if !asker.keeps_devices() {
            return self.sessions.refuse(asker.session.handle, AnswerTo::Request(re), Refusal::NotAllowed);
        }
        let user = asker.session.user;
        let ends = self.session_of(user, device).map_or(0, |(_, ends)| u64::from(ends) * 1_000);
        let (handle, to) = (asker.session.handle, AnswerTo::Request(re));
        let done = self.on_loaded(handle, to, move |this, has_browser: Option<bool>| match has_browser {
            Some(has_browser) => {
                if !has_browser {
                    this.notifications.lose(user);
                }
                let gone = this.session_of(user, device).map(|(session, _)| session);
                if let Some(session) = gone {
                    this.sessions.end_session(session, Refusal::SignedOut, now);
                }
                if gone != Some(asker.session) {
                    this.devices(&asker, re);
                }
            }
            None => this.sessions.refuse(handle, AnswerTo::Request(re), Refusal::NoSuchDevice),
        });
        self.store.sign_out(user, device, Timestamp(ends), now, done);
    }

    /// Stores the sign-in of a device.
    pub(crate) fn remember_device(
        &self,
        user: UserId,
        id: u64,
        agent: Agent,
        expires: Timestamp,
        time: Timestamp,
    ) {
        self.store.put_device(user, NewDevice { id, agent, expires, time });
    }

    /// The user's session on this device, and the second at which its token expires.
    fn session_of(&self, user: UserId, device: u64) -> Option<(SessionId, u32)> {
        let mut shard = self.sessions.lock(user);
        let session = shard.user(user)?.sessions.iter().find(|session| session.device == device)?;
        Some((SessionId { user, handle: session.handle }, session.by.ends()))
    }
}
