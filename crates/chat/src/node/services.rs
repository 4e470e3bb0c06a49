//! Calls from the rest of the process: push, mail, the log of sign-ins, previews, TURN, files, and requests that belong to no session.
//! Each one goes to its part.

use std::net::IpAddr;
use std::sync::Arc;

use crate::{
    CallId, FileFound, FileId, FileLimits, FileRow, FileType, Ice, Identified, Mailer, NewPreview, Node,
    Notifier, PreviewWanted, Previewer, Refusal, SignInLog, SiteId, Stats, StickerId, StoreError, Timestamp,
    Told, UserId, Wish,
};

impl Node {
    /// From now on, absent users get notices through this. Reads the users with a subscription from the store, and
    /// may block.
    pub fn notify_by(&self, notifier: Arc<dyn Notifier>) -> Result<(), StoreError> {
        self.inner.notifications.notify_by(notifier)
    }

    /// From now on those who have missed something get a digest by way of this. Reads the store, and may block.
    pub fn mail_by(&self, mailer: Arc<dyn Mailer>) -> Result<(), StoreError> {
        self.inner.notifications.mail_by(mailer)
    }

    /// A member wants no digests any more, and says so without being signed in; who may say it is the caller's to know.
    pub fn end_mail(&self, user: UserId) {
        self.inner.notifications.end_mail(user);
    }

    /// The site of this key, if it is here.
    pub fn site_id(&self, site_key: &str) -> Option<SiteId> {
        self.inner.sites.by_key(site_key).map(|live| live.site.id)
    }

    /// A push service says that there is no such browser any more.
    pub fn push_device_is_gone(&self, user: UserId, endpoint: &str) {
        // Where that fails, the service says it again.
        self.inner.notifications.forget_push_device(user, endpoint.into(), drop);
    }

    /// Does any site want to know its members' devices? Else a gateway need not look what a client says of itself.
    pub fn keeps_devices(&self) -> bool {
        self.inner.sites.keep_devices()
    }

    /// May a page of this origin talk to this site at all? For CORS, before a hello. Err: no such site.
    pub fn origin_allowed(&self, site_key: &str, origin: &str) -> Result<bool, Refusal> {
        self.inner.sites.by_key(site_key).map(|live| live.allows_origin(origin)).ok_or(Refusal::NoSuchSite)
    }

    /// Does any site let pages of this origin connect? For CORS where the site is not known.
    pub fn origin_known(&self, origin: &str) -> bool {
        self.inner.sites.know_origin(origin)
    }

    pub fn stats(&self) -> Stats {
        self.inner
            .counters
            .read([self.inner.sites.count(), self.inner.sites.unreadable()], self.inner.calls.count())
    }

    /// Records sign-ins from now on. Without it, gateways need not look up a client's address.
    pub fn log_sign_ins_to(&self, log: Arc<dyn SignInLog>) {
        self.inner.records.begin(log);
    }

    pub fn logs_sign_ins(&self) -> bool {
        self.inner.records.is_on()
    }

    /// STUN and TURN servers with credentials for the user of a token, who must have been here before. `then` is called once,
    /// here or on a thread of the store.
    pub fn ice(
        &self,
        site_key: &str,
        token: &str,
        address: Option<IpAddr>,
        now: Timestamp,
        then: impl FnOnce(Result<Ice, Refusal>) + Send + 'static,
    ) {
        self.inner.sign_in.ice(site_key, token, address, now, then);
    }

    /// Is the user in this call? Asked by a TURN server, for each relay every few seconds.
    pub fn is_in_call(&self, user: UserId, call: CallId) -> bool {
        self.inner.calls.is_in_call(user, call)
    }

    /// From now on links are previewed by way of this, on sites that want it.
    pub fn preview_by(&self, previewer: Arc<dyn Previewer>) {
        self.inner.messages.preview_by(previewer);
    }

    /// Whether this address may be asked what it is for a message of the site.
    pub fn may_preview(&self, site: SiteId, url: &str) -> bool {
        self.inner.messages.may_preview(site, url)
    }

    /// Puts a preview on a message. Does nothing if the message is gone or its author is not a member any more;
    /// `then` gets whether the preview is there now.
    pub fn put_preview(
        &self,
        of: PreviewWanted,
        preview: NewPreview,
        now: Timestamp,
        then: impl FnOnce(bool) + Send + 'static,
    ) {
        self.inner.messages.put_preview(of, preview, now, then);
    }

    /// For everybody who knows its id.
    pub fn sticker_picture(&self, id: StickerId, told: Told<(FileType, Vec<u8>)>) {
        self.inner.messages.sticker_picture(id, told);
    }

    /// Whether a site is there.
    pub fn has_site(&self, site: SiteId) -> bool {
        self.inner.sites.by_id(site).is_some()
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
        self.inner.sign_in.identify(site, token, origin, address, now, then);
    }

    /// Takes room for a file: may one post there, is there room. The bytes come later, see [`Blobs`](crate::Blobs).
    pub fn create_file(
        &self,
        who: &Identified,
        wish: Wish,
        limits: FileLimits,
        now: Timestamp,
        then: impl FnOnce(Result<FileId, Refusal>) + Send + 'static,
    ) {
        self.inner.messages.create_file(who, wish, limits, now, then);
    }

    /// Looks up a file; [`Refusal::NoSuchFile`] if it does not exist (any more).
    pub fn file(&self, id: FileId, then: impl FnOnce(Result<FileRow, Refusal>) + Send + 'static) {
        self.inner.messages.file(id, then);
    }

    /// May this user see the file? Its owner may, and who may read the conversation once it is posted there;
    /// [`Refusal::NoSuchFile`] to all others.
    pub fn may_see_file(
        &self,
        who: &Identified,
        row: &FileRow,
        then: impl FnOnce(Result<(), Refusal>) + Send + 'static,
    ) {
        self.inner.messages.may_see_file(who, row, then);
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
        self.inner.messages.grow_file(who, id, arrived, limits, then);
    }

    /// All bytes of a file have come, and this is what they are.
    pub fn complete_file(
        &self,
        id: FileId,
        found: FileFound,
        then: impl FnOnce(Result<FileRow, Refusal>) + Send + 'static,
    ) {
        self.inner.messages.complete_file(id, found, then);
    }

    /// Gives up a file that is in no message. What is posted goes with its message.
    pub fn remove_file(&self, id: FileId, then: impl FnOnce(Result<(), Refusal>) + Send + 'static) {
        self.inner.messages.remove_file(id, then);
    }
}
