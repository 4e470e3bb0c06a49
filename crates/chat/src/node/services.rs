//! Calls from the rest of the process: push, mail, the log of sign-ins, previews, TURN, files, and requests
//! without a session. Each call goes to its part.

use std::net::IpAddr;
use std::sync::Arc;

use crate::{
    AppWaker, CallId, FileFound, FileId, FileLimits, FileRow, FileType, Ice, Identified, MadePicture, Mailer,
    NewPreview, Node, Notifier, OwnPictureId, PictureMaker, PictureSource, PreviewWanted, Previewer, Refusal,
    Respond, SignInLog, SiteId, Stats, StickerId, StoreError, Timestamp, UserId, Wish,
};

impl Node {
    /// Sends notices to absent users through this from now on. Reads the users with a subscription from the
    /// store, and may block.
    pub fn notify_by(&self, notifier: Arc<dyn Notifier>) -> Result<(), StoreError> {
        self.inner.notifications.notify_by(notifier)
    }

    /// Wakes apps of absent users through this from now on. Reads the users with one from the store, and may block.
    pub fn wake_by(&self, waker: Arc<dyn AppWaker>) -> Result<(), StoreError> {
        self.inner.notifications.wake_by(waker)
    }

    /// Removes the push service of an app, which the service itself refuses.
    pub fn app_push_is_gone(&self, user: UserId, service: &str, node: &str) {
        self.inner.notifications.app_push_is_gone(user, service.into(), node.into());
    }

    /// Sends digests of missed messages through this from now on. Reads the store, and may block.
    pub fn mail_by(&self, mailer: Arc<dyn Mailer>) -> Result<(), StoreError> {
        self.inner.notifications.mail_by(mailer)
    }

    /// Ends a member's digests, without a sign-in. The caller must have checked that the request may do so.
    pub fn end_mail(&self, user: UserId) {
        self.inner.notifications.end_mail(user);
    }

    /// The site of this key, if this node has it.
    pub fn site_id(&self, site_key: &str) -> Option<SiteId> {
        self.inner.sites.by_key(site_key).map(|live| live.site.id)
    }

    /// Removes a browser's subscription, which its push service reports as gone.
    pub fn push_device_is_gone(&self, user: UserId, endpoint: &str) {
        // If that fails, the push service will report it again.
        self.inner.notifications.forget_push_device(user, endpoint.into(), drop);
    }

    /// Whether any site keeps its members' devices. If none does, gateways need not read the `User-Agent`.
    pub fn keeps_devices(&self) -> bool {
        self.inner.sites.keep_devices()
    }

    /// Whether pages of this origin may connect to this site. For CORS, before a hello. Err: the site does
    /// not exist.
    pub fn origin_allowed(&self, site_key: &str, origin: &str) -> Result<bool, Refusal> {
        self.inner.sites.by_key(site_key).map(|live| live.allows_origin(origin)).ok_or(Refusal::NoSuchSite)
    }

    /// Whether any site lets pages of this origin connect. For CORS, if the site is unknown.
    pub fn origin_known(&self, origin: &str) -> bool {
        self.inner.sites.know_origin(origin)
    }

    pub fn stats(&self) -> Stats {
        let super::Inner { counters, sign_in, sites, calls, .. } = &*self.inner;
        counters.read(sign_in.adopting(), [sites.count(), sites.unreadable()], calls.count())
    }

    /// Records sign-ins from now on. Without it, gateways need not look up a client's address.
    pub fn log_sign_ins_to(&self, log: Arc<dyn SignInLog>) {
        self.inner.records.begin(log);
    }

    pub fn logs_sign_ins(&self) -> bool {
        self.inner.records.is_on()
    }

    /// STUN and TURN servers with credentials for the user of a token, who must have signed in before. `then`
    /// is called once, here or on a thread of the store.
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

    /// Whether the user is in this call; None: in any. A TURN server asks every few seconds for each relay.
    pub fn is_in_call(&self, user: UserId, call: Option<CallId>) -> bool {
        self.inner.calls.is_in_call(user, call)
    }

    /// `observer` gets each change of a user's call from now on; None: the user has left it. It is called under the lock of the table of
    /// calls, so it must neither block nor call the node. Only the first observer counts.
    pub fn observe_calls(&self, observer: impl Fn(UserId, Option<CallId>) + Send + Sync + 'static) {
        self.inner.calls.observe(observer);
    }

    /// Calls `each` with every user who is in a call. No change of these users reaches the observer meanwhile, and `each` must keep the
    /// rules for the observer. It costs a walk over all calls.
    pub fn each_in_call(&self, each: impl FnMut(UserId, CallId)) {
        self.inner.calls.each_in_call(each);
    }

    /// Makes previews of links through this from now on, on sites that enable them.
    pub fn preview_by(&self, previewer: Arc<dyn Previewer>) {
        self.inner.messages.preview_by(previewer);
    }

    /// Whether the node may request this address for a preview of a message of the site.
    pub fn may_preview(&self, site: SiteId, url: &str) -> bool {
        self.inner.messages.may_preview(site, url)
    }

    /// Adds a preview to a message. Does nothing if the message is gone or its author is no longer a member.
    /// `then` gets whether the preview exists now.
    pub fn put_preview(
        &self,
        of: PreviewWanted,
        preview: NewPreview,
        now: Timestamp,
        then: impl FnOnce(bool) + Send + 'static,
    ) {
        self.inner.messages.put_preview(of, preview, now, then);
    }

    /// Makes own pictures of members through this from now on. Without a maker there are none.
    pub fn pictures_by(&self, maker: Arc<dyn PictureMaker>) {
        self.inner.account.pictures_by(maker);
    }

    /// The outcome of the [`PictureMaker`]. `made`: None if the picture cannot be read. `then` gets whether others see another picture
    /// now.
    pub fn own_picture_made(
        &self,
        user: UserId,
        source: PictureSource,
        made: Option<MadePicture>,
        then: impl FnOnce(bool) + Send + 'static,
    ) {
        self.inner.account.own_picture_made(user, source, made, then);
    }

    /// An own picture, for everybody who knows its id, unless the site shows none.
    pub fn own_picture(&self, id: OwnPictureId, respond: Respond<(FileType, Vec<u8>)>) {
        self.inner.account.own_picture(id, respond);
    }

    /// The picture of a sticker, for everybody who knows its id.
    pub fn sticker_picture(&self, id: StickerId, respond: Respond<(FileType, Vec<u8>)>) {
        self.inner.messages.sticker_picture(id, respond);
    }

    /// Whether the site exists.
    pub fn has_site(&self, site: SiteId) -> bool {
        self.inner.sites.by_id(site).is_some()
    }

    /// The user of this token, on a page of this origin, checked like a `hello`. The user must have sent a
    /// hello before. A one-time token is used up.
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

    /// The owner of a file, for an upload that the gateway has authorized without a token. Checks the user and the site like
    /// [`identify`](Self::identify), and counts the request.
    pub fn file_owner(
        &self,
        row: &FileRow,
        now: Timestamp,
        then: impl FnOnce(Result<Identified, Refusal>) + Send + 'static,
    ) {
        self.inner.sign_in.file_owner(row.owner, now, then);
    }

    /// Creates a file, after a check of the right to post and of the quotas. The bytes come later, see
    /// [`Blobs`](crate::Blobs).
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

    /// Looks up a file. [`Refusal::NoSuchFile`]: it does not exist, or was removed.
    pub fn file(&self, id: FileId, then: impl FnOnce(Result<FileRow, Refusal>) + Send + 'static) {
        self.inner.messages.file(id, then);
    }

    /// Whether this user may see the file: its owner, and readers of the conversation once it is posted
    /// there. All others get [`Refusal::NoSuchFile`].
    pub fn may_see_file(
        &self,
        who: &Identified,
        row: &FileRow,
        then: impl FnOnce(Result<(), Refusal>) + Send + 'static,
    ) {
        self.inner.messages.may_see_file(who, row, then);
    }

    /// Counts the arrived bytes of an upload. Refused if they exceed a quota.
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

    /// Stores the detected properties of a complete upload.
    pub fn complete_file(
        &self,
        id: FileId,
        found: FileFound,
        then: impl FnOnce(Result<FileRow, Refusal>) + Send + 'static,
    ) {
        self.inner.messages.complete_file(id, found, then);
    }

    /// Removes a file that is in no message. A posted file is deleted with its message.
    pub fn remove_file(&self, id: FileId, then: impl FnOnce(Result<(), Refusal>) + Send + 'static) {
        self.inner.messages.remove_file(id, then);
    }
}
