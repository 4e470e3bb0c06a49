//! Files, for gateways: who may bring one, and who may see it.

use crate::messages::files::remove::{EMPTY_LIFE_MS, ROUND, is_removed};
use crate::session::Asker;
use crate::sign_in::log::SignInAttempt;
use crate::site::settings::Access;
use crate::store::unavailable;
use crate::users::peer::may_write;
use crate::{
    Blobs, ConversationId, Door, FileId, FileLimits, FilePlace, FileRow, Identified, Node, Refusal,
    RequestKind, SessionHandle, SessionId, SiteId, SiteRole, StoreError, Timestamp, To, UserRow, Visibility,
    Wish,
};
use std::net::IpAddr;
use std::sync::Arc;

impl Node {
    /// Whether a site is there.
    pub fn has_site(&self, site: SiteId) -> bool {
        self.inner().sites.by_id(site).is_some()
    }

    /// The user of this token, on a page of this origin, checked as in a `hello`. The user must have sent a hello
    /// once. A one-time token is used up.
    pub fn identify(
        &self,
        site: SiteId,
        token: &str,
        origin: Option<&str>,
        address: Option<IpAddr>,
        now: Timestamp,
        then: impl FnOnce(Result<Identified, Refusal>) + Send + 'static,
    ) {
        let inner = self.inner();
        let logging = inner.clone();
        let shown = SignInAttempt { door: Door::Files, site: None, user: None, address };
        let then = move |outcome: Result<Identified, Refusal>| {
            if let Err(refusal) = outcome {
                logging.records.record_refused_at(site, shown, refusal, now);
            }
            then(outcome);
        };
        let Some(live) = inner.sites.by_id(site) else { return then(Err(Refusal::NoSuchSite)) };
        if origin.is_some_and(|origin| !live.allows_origin(origin)) {
            return then(Err(Refusal::BadOrigin));
        }
        let ticket = match inner.tokens.check_token(&live, token, now) {
            Ok(ticket) => ticket,
            Err(refusal) => return then(Err(refusal)),
        };
        let (node, sub, expires) = (inner.clone(), ticket.profile.sub.clone(), ticket.expires);
        let (guest, once) = (ticket.profile.guest, ticket.once.clone());
        let limits = inner.clone();
        let found = move |row: Result<Option<Arc<UserRow>>, Refusal>| {
            then(row.and_then(|row| row.ok_or(Refusal::NoSession)).and_then(|row| {
                ticket.opens(&row)?;
                if row.banned {
                    return Err(Refusal::Banned);
                }
                limits.requests.count_request(RequestKind::Files, row.id, guest, now)?;
                let role = row.on_site.role;
                if live.site.settings.access == Access::Closed && role < SiteRole::Moderator {
                    return Err(Refusal::SiteClosed);
                }
                // Nobody answers to it: no session has this handle.
                let session = SessionId { user: row.id, handle: SessionHandle(u64::MAX) };
                let asker = Asker {
                    session,
                    sub: row.profile.sub.clone(),
                    guest,
                    role,
                    level: row.on_site.level,
                    recent: false,
                    shadowed: row.on_site.shadowed,
                    visibility: Visibility { privacy: row.privacy, chosen: row.presence },
                    site: live,
                };
                Ok(Identified { asker, is_muted: row.on_site.muted })
            }));
        };
        let look = move |checked: Result<(), Refusal>| {
            if let Err(refusal) = checked {
                return found(Err(refusal));
            }
            if let Some(row) = node.users.recent().user_by_sub(site, &sub) {
                return found(Ok(Some(row)));
            }
            let done = move |row: Result<Option<UserRow>, StoreError>| {
                found(row.map(|row| row.map(Arc::new)).map_err(unavailable));
            };
            node.store.user(site, sub, Box::new(done));
        };
        match once {
            None => look(Ok(())),
            Some(jti) => inner.tokens.use_token(site, &jti, expires, now, look),
        }
    }

    /// Takes room for a file: may one post there, is there room. The bytes come later, see [`Blobs`](crate::messages::files::Blobs).
    pub fn create_file(
        &self,
        who: &Identified,
        wish: Wish,
        limits: FileLimits,
        now: Timestamp,
        then: impl FnOnce(Result<FileId, Refusal>) + Send + 'static,
    ) {
        let inner = self.inner();
        if wish.bytes == 0 {
            return then(Err(Refusal::BadValue));
        }
        if wish.bytes > limits.file_bytes {
            return then(Err(Refusal::FileTooLarge));
        }
        let limits = limits.for_user(who.is_guest());
        let asker = who.asker.clone();
        if who.is_muted {
            return then(Err(Refusal::Muted));
        }
        if asker.site.site.settings.access != Access::Open && asker.role < SiteRole::Moderator {
            return then(Err(Refusal::SiteReadOnly));
        }
        if let Err(refusal) = asker.may_publish_text(&wish.name, now) {
            return then(Err(refusal));
        }
        match wish.to.clone().room(asker.session.user.site) {
            Ok(room) => inner.messages.take_room(&asker, FilePlace::Room(room), &wish, limits, now, then),
            Err(To::User(sub)) if sub == asker.sub => then(Err(Refusal::NotAllowed)),
            Err(to) => {
                let node = inner.clone();
                inner.users.find_peer(asker, to, move |asker, peer| {
                    let direct = peer.and_then(|peer| {
                        let id = ConversationId::direct(asker.session.user, peer.id);
                        let may = may_write(asker.site.site.mode, peer.is_banned, peer.relation);
                        id.filter(|_| may).ok_or(Refusal::NotAllowed)
                    });
                    match direct {
                        Ok(id) => {
                            node.messages.take_room(&asker, FilePlace::Direct(id), &wish, limits, now, then)
                        }
                        Err(refusal) => then(Err(refusal)),
                    }
                });
            }
        }
    }

    /// Looks up a file; [`Refusal::NoSuchFile`] if it does not exist (any more).
    pub fn file(&self, id: FileId, then: impl FnOnce(Result<FileRow, Refusal>) + Send + 'static) {
        if !self.has_site(id.site) {
            return then(Err(Refusal::NoSuchFile));
        }
        let done = move |row: Result<Option<FileRow>, StoreError>| {
            then(row.map_err(unavailable).and_then(|row| row.ok_or(Refusal::NoSuchFile)));
        };
        self.inner().store.file(id, Box::new(done));
    }

    /// May this user see the file? Its owner may, and who may read the conversation once it is posted there;
    /// [`Refusal::NoSuchFile`] to all others.
    pub fn may_see_file(
        &self,
        who: &Identified,
        row: &FileRow,
        then: impl FnOnce(Result<(), Refusal>) + Send + 'static,
    ) {
        let me = who.user();
        if row.owner == me {
            return then(Ok(()));
        }
        if !row.is_posted || row.conversation.site != me.site {
            return then(Err(Refusal::NoSuchFile));
        }
        let places = row.copies.iter().chain([&row.conversation]);
        let (rooms, direct): (Vec<_>, Vec<_>) = places.copied().partition(|id| id.is_room());
        if direct.iter().any(|id| id.other(me).is_some()) {
            return then(Ok(()));
        }
        self.inner().messages.may_read_one_of(me, rooms, Box::new(then));
    }

    /// So many bytes of an upload have arrived: they count from now on. Refused where there is no room for them.
    pub fn grow_file(
        &self,
        who: &Identified,
        id: FileId,
        arrived: u64,
        limits: FileLimits,
        then: impl FnOnce(Result<(), Refusal>) + Send + 'static,
    ) {
        let done = move |outcome: Result<Result<(), Refusal>, StoreError>| {
            then(outcome.map_err(unavailable).and_then(|grown| grown));
        };
        self.inner().store.grow_file(id, arrived, limits.for_user(who.is_guest()), Box::new(done));
    }

    /// All bytes of a file have come, and this is what they are.
    pub fn complete_file(
        &self,
        id: FileId,
        found: crate::messages::files::FileFound,
        then: impl FnOnce(Result<FileRow, Refusal>) + Send + 'static,
    ) {
        let done = move |row: Result<Option<FileRow>, StoreError>| {
            then(row.map_err(unavailable).and_then(|row| row.ok_or(Refusal::NoSuchFile)));
        };
        self.inner().store.complete_file(id, found, Box::new(done));
    }

    /// Gives up a file that is in no message. What is posted goes with its message.
    pub fn remove_file(&self, id: FileId, then: impl FnOnce(Result<(), Refusal>) + Send + 'static) {
        let done = move |removed: Result<Vec<FileId>, StoreError>| {
            let removed = removed.map_err(unavailable);
            then(removed.and_then(|files| if files.is_empty() { Err(Refusal::NoSuchFile) } else { Ok(()) }));
        };
        self.inner().store.remove_files(vec![id], Box::new(done));
    }
}

impl Node {
    /// Removes the bytes and then the rows of files that are not needed any more: removed ones, those that are in no message
    /// `life_ms` after they were begun, and those of which no byte has arrived in ten minutes. Blocks: call it now and then from a housekeeping thread. Answers how many went; where that
    /// is many, there are more.
    ///
    /// Should the node die in between, the next round finds the row and removes what is left.
    pub fn remove_stale_files(
        &self,
        blobs: &dyn Blobs,
        life_ms: u64,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let store = &self.inner().store;
        let before = Timestamp(now.0.saturating_sub(life_ms));
        let empty_before = Timestamp(now.0.saturating_sub(EMPTY_LIFE_MS.min(life_ms)));
        let stale = store.stale_files(before, empty_before, ROUND)?;
        if stale.is_empty() {
            return Ok(0);
        }
        // First nobody can post them any more.
        store.remove_files(stale.clone(), Box::new(|_| ()));
        store.flush()?;
        let gone: Vec<FileId> = stale.into_iter().filter(|file| is_removed(blobs, *file)).collect();
        store.forget_files(&gone)?;
        Ok(gone.len())
    }

    /// Removes the bytes of sites that are gone. Blocks.
    pub fn remove_files_of_lost_sites(&self, blobs: &dyn Blobs) -> Result<(), StoreError> {
        let sites: Vec<_> = self.inner().store.sites()?.into_iter().map(|site| site.id).collect();
        blobs.remove_other_sites(&sites).map_err(|error| StoreError::Failed(error.to_string().into()))
    }
}
