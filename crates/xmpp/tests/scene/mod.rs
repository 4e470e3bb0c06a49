//! A node with both gateways on one worker, without sockets: virtual time, mail carried by hand.

pub(crate) mod http;
pub(crate) mod scram;
pub(crate) mod tls;
pub(crate) mod web_client;
pub(crate) mod xmpp_client;

use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::Router;
use chat::token::{Claims, sign};
use chat::{
    ConversationId, Delivery, FileFound, FileId, FileLimits, FileType, MadePicture, Mode, Node, NodeConfig,
    Outbox, PictureMaker, Port, PublishedPicture, Refusal, RemoteNode, Secret, SecretKind, SessionHandle,
    SessionId, Site, SiteId, SiteStore, Store, Sub, Timestamp, To, UserId, UserStore, Wish,
};
use edge::testing::{Harness, START_UNIX_MS};
use edge::{EdgeConfig, Handle, Inbox};
use store::Sqlite;
use web::{OtherGateway, SessionKeys, WebConfig, WebOutbox};
use xmpp::{FileSlot, ListenerRole, Peers, WebTransports, XmppConfig, XmppOutbox};

/// The key of the site, and so its domain.
pub(crate) const SITE: &str = "forum";
/// Another site, with which the first one federates.
pub(crate) const OTHER: &str = "garden";
const PAGE: &str = "https://forum.example";

/// The numbers of the gateways.
const WEB: usize = 0;
const XMPP: usize = 1;
/// The number of the listener for servers.
const FOR_SERVERS: usize = 1;
/// And of that for components.
pub(crate) const FOR_COMPONENTS: usize = 2;

pub(crate) struct Scene {
    pub(crate) web: Harness<web::Gateway>,
    pub(crate) xmpp: Harness<xmpp::Gateway>,
    web_inbox: Inbox<web::Mail>,
    xmpp_inbox: Inbox<xmpp::Mail>,
    pub(crate) node: Arc<Node>,
    store: Arc<Sqlite>,
    counters: Arc<xmpp::Counters>,
    pub(crate) certificate: tls::Certificate,
    /// The users whose tokens have this role.
    pub(crate) moderators: Vec<String>,
    /// Connections of the node to itself as another server: the outgoing end, and the incoming one.
    between: Vec<(Handle, Handle)>,
    runtime: tokio::runtime::Runtime,
    now_ms: u64,
}

#[derive(Debug)]
struct FilesHere;

/// Addresses of files of slots begin so.
const SLOTS: &str = "https://files.example/slot/";
const FILE_LIMITS: FileLimits = FileLimits { file_bytes: 100, user_bytes: 0, guest_bytes: 0, site_bytes: 0 };

impl xmpp::FileLinks for FilesHere {
    fn link(&self, file: &chat::File) -> String {
        format!("https://files.example/{}", file.name)
    }

    fn slot(&self, id: FileId, name: &str) -> FileSlot {
        let get = format!("{SLOTS}{:016x}/{name}", id.number);
        FileSlot { put: get.replace("https", "put"), get, authorization: format!("Bearer {name}") }
    }

    fn named(&self, url: &str) -> Option<FileId> {
        let (number, _) = url.strip_prefix(SLOTS)?.split_once('/')?;
        Some(FileId { site: SiteId(1), number: u64::from_str_radix(number, 16).ok()? })
    }

    fn limits(&self) -> FileLimits {
        FILE_LIMITS
    }
}

/// Takes the first bytes of a PNG for a picture, and gives them back as they are.
struct Painter(Weak<Node>);

impl PictureMaker for Painter {
    fn wanted(&self, by: UserId, picture: PublishedPicture) -> Result<(), Refusal> {
        let PublishedPicture { source, bytes } = picture;
        let kind = FileType::named("image/png");
        let made = bytes.starts_with(b"\x89PNG").then(|| MadePicture { kind, bytes: bytes.into() });
        self.0.upgrade().unwrap().own_picture_made(by, source, made, |_| ());
        Ok(())
    }
}

struct Outboxes {
    web: WebOutbox,
    xmpp: XmppOutbox,
}

impl Outbox for Outboxes {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        let is_web = |to: &&SessionHandle| Handle::from_bits(to.0).gateway() == WEB;
        let (web, xmpp): (Vec<SessionHandle>, Vec<SessionHandle>) = to.iter().partition(is_web);
        self.web.deliver(&web, delivery.clone());
        self.xmpp.deliver(&xmpp, delivery);
    }
}

impl Scene {
    pub(crate) fn new() -> Scene {
        Scene::with(WebTransports {
            pages: WEB,
            trusted_proxies: "".parse().unwrap(),
            allows_plain: true,
            public_url: None,
        })
    }

    /// With a trusted proxy on this machine, which ends TLS.
    pub(crate) fn behind_a_proxy() -> Scene {
        Scene::with(WebTransports {
            pages: WEB,
            trusted_proxies: "127.0.0.1".parse().unwrap(),
            allows_plain: false,
            public_url: None,
        })
    }

    fn with(transports: WebTransports) -> Scene {
        Scene::with_port(transports, |node| Arc::clone(node).into())
    }

    /// The XMPP gateway asks another node, in place of the one of the scene.
    pub(crate) fn of_remote(node: Arc<dyn RemoteNode>) -> Scene {
        let transports = WebTransports {
            pages: WEB,
            trusted_proxies: "".parse().unwrap(),
            allows_plain: true,
            public_url: None,
        };
        Scene::with_port(transports, |_| Port::There(node))
    }

    fn with_port(transports: WebTransports, port: impl FnOnce(&Arc<Node>) -> Port) -> Scene {
        let store = Arc::new(Sqlite::in_memory());
        store.add_site(&site(SITE)).unwrap();
        store.add_site(&site(OTHER)).unwrap();
        let (web_mailboxes, web_inboxes) = edge::mailboxes(1);
        let (xmpp_mailboxes, xmpp_inboxes) = edge::mailboxes(1);
        let limits = chat::Limits::without_rates();
        let for_streams = OtherGateway { number: XMPP, takes_path: xmpp::is_xmpp_path };
        let web_config = WebConfig { xmpp: Some(for_streams), ..WebConfig::default() };
        let outbox = Outboxes {
            web: WebOutbox::new(web_mailboxes.clone(), &limits, &web_config, || Timestamp(START_UNIX_MS)),
            xmpp: XmppOutbox::new(xmpp_mailboxes.clone()),
        };
        let config = NodeConfig {
            limits,
            presence_grace_ms: 10_000,
            presence_coalesce_ms: 100,
            clock_skew_ms: 60_000,
            calls: chat::CallConfig {
                stun: [Box::from("stun:im.example:3478")].into(),
                turn: Some(chat::Turn {
                    urls: [Box::from("turn:im.example:3478?transport=udp")].into(),
                    secret: (*b"0123456789abcdef").into(),
                    life_ms: 3_600_000,
                }),
                ..chat::CallConfig::default()
            },
            app_passwords: true,
        };
        let node =
            Arc::new(Node::new(config, Arc::clone(&store) as Arc<dyn Store>, Arc::new(outbox), [7; 32]));
        node.wake_by(Arc::new(xmpp::AppPushes::new(xmpp_mailboxes.clone()))).unwrap();
        node.pictures_by(Arc::new(Painter(Arc::downgrade(&node))));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let for_web = Arc::new(web::Shared {
            node: Arc::clone(&node).into(),
            mailboxes: web_mailboxes,
            config: web_config,
            assets: web::Assets::default(),
            counters: Arc::default(),
            router: Router::new(),
            runtime: runtime.handle().clone(),
            keys: SessionKeys::new([9; 32]),
        });
        let counters = Arc::<xmpp::Counters>::default();
        let certificate = tls::Certificate::new();
        let role =
            ListenerRole { tls: Some(certificate.acceptor()), allows_plain: true, ..ListenerRole::default() };
        let for_servers = ListenerRole {
            peers: Peers::Servers,
            tls: Some(certificate.acceptor_of_servers()),
            allows_plain: false,
        };
        let for_components = ListenerRole { peers: Peers::Components, ..ListenerRole::default() };
        let for_xmpp = Arc::new(xmpp::Shared {
            node: port(&node),
            mailboxes: xmpp_mailboxes,
            config: XmppConfig {
                listeners: vec![role, for_servers, for_components],
                servers: Some(certificate.servers()),
                web: Some(transports),
                files: Some(Arc::new(FilesHere)),
                ..XmppConfig::default()
            },
            counters: Arc::clone(&counters),
            streams: Arc::default(),
            remote_users: xmpp::RemoteUsers::default(),
        });
        let gateway = xmpp::Gateway::new(for_xmpp, [5; 32]);
        Scene {
            web: Harness::of_gateway(EdgeConfig::default(), 0, 1, WEB, web::Gateway::new(0, for_web)),
            xmpp: Harness::of_gateway(for_both(&certificate), 0, 1, XMPP, gateway),
            web_inbox: web_inboxes.into_iter().next().unwrap(),
            xmpp_inbox: xmpp_inboxes.into_iter().next().unwrap(),
            node,
            store,
            counters,
            certificate,
            moderators: Vec::new(),
            between: Vec::new(),
            runtime,
            now_ms: START_UNIX_MS,
        }
    }

    /// A member uploads a text of ten bytes, for a user or for a conversation by its id on the wire. Returns the id of the file.
    pub(crate) fn upload(&mut self, by: &str, name: &str, to: &str) -> String {
        let limits = FILE_LIMITS;
        let (node, now, token) = (Arc::clone(&self.node), Timestamp(self.now_ms), self.token(by));
        let to = match u64::from_str_radix(to, 16).ok().filter(|_| to.len() == 16) {
            Some(key) => To::Conversation(ConversationId { site: SiteId(1), key }),
            None => To::User(Sub::parse(to).unwrap()),
        };
        let wish = Wish { to, name: name.into(), bytes: 10, voice: false, duration_ms: None, peaks: None };
        let (sender, created) = std::sync::mpsc::channel();
        let maker = Arc::clone(&node);
        node.identify(SiteId(1), &token, None, None, now, move |who| {
            maker.create_file(&who.unwrap(), wish, limits, now, move |id| sender.send(id.unwrap()).unwrap());
        });
        self.settle();
        let id = created.try_recv().unwrap();
        self.complete(id);
        format!("{:016x}", id.number)
    }

    /// The bytes of a file of a slot arrive. `url`: the address of the slot for downloads.
    pub(crate) fn upload_to(&mut self, url: &str) {
        let id = xmpp::FileLinks::named(&FilesHere, url).unwrap();
        self.complete(id);
    }

    fn complete(&mut self, id: FileId) {
        let found = FileFound { kind: FileType::OTHER, bytes: 10, kept_bytes: 10, picture: None };
        self.node.complete_file(id, found, |row| assert!(row.is_ok()));
        self.settle();
    }

    /// Carries mail, and bytes between servers, until nothing moves.
    pub(crate) fn settle(&mut self) {
        self.carry_mail();
        while self.carry_between() {
            self.carry_mail();
        }
    }

    fn carry_mail(&mut self) {
        loop {
            self.runtime.block_on(tokio::task::yield_now());
            let (for_web, for_xmpp) = (self.web_inbox.drain(), self.xmpp_inbox.drain());
            if for_web.is_empty() && for_xmpp.is_empty() {
                return;
            }
            for_web.into_iter().for_each(|mail| self.web.mail(mail));
            for_xmpp.into_iter().for_each(|mail| self.xmpp.mail(mail));
        }
    }

    /// True: bytes have moved.
    fn carry_between(&mut self) -> bool {
        for (out, _) in self.xmpp.dialed() {
            let into = self.xmpp.connect_silent(FOR_SERVERS);
            self.between.push((out, into));
        }
        let mut has_moved = false;
        for (out, into) in self.between.clone() {
            for (from, to) in [(out, into), (into, out)] {
                let bytes = self.xmpp.output(from);
                if !bytes.is_empty() {
                    has_moved = true;
                    self.xmpp.feed(to, &bytes);
                }
            }
        }
        has_moved
    }

    /// The connections between servers that are open now.
    pub(crate) fn connections_between(&self) -> usize {
        self.between.iter().filter(|(out, _)| self.xmpp.closed(*out).is_none()).count()
    }

    /// The users of other servers whom the site knows.
    pub(crate) fn remote_users(&self) -> usize {
        let users = self.store.list_users(SiteId(1), None, 1_000).unwrap();
        users.iter().filter(|row| row.profile.sub.remote_address().is_some()).count()
    }

    /// The record of the site: acts and their authors, newest first. None: the site or the node.
    pub(crate) fn acts(&self) -> Vec<(String, Option<Sub>)> {
        let (sender, read) = std::sync::mpsc::channel();
        let done = Box::new(move |page| sender.send(page).unwrap());
        chat::ModerationStore::audit(&*self.store, SiteId(1), chat::By::Site, None, 100, done);
        let page: chat::AuditPage = read.recv().unwrap().unwrap().unwrap();
        page.rows.into_iter().map(|row| (row.act.to_string(), row.by)).collect()
    }

    /// From now on the domain delivers no stored event to this session of the gateway for apps.
    pub(crate) fn misses_events(&self, user: &str, handle: Handle) {
        self.node.behind(SessionId { user: self.user(user), handle: SessionHandle(handle.to_bits()) });
    }

    /// The domain tells the session that it has missed events.
    pub(crate) fn is_told_to_catch_up(&mut self, handle: Handle) {
        let event = chat::Event::Session(chat::session::Event::Behind);
        let behind = Delivery { re: None, position: None, event };
        self.xmpp.mail(xmpp::Mail::Event(vec![SessionHandle(handle.to_bits())], behind));
        self.settle();
    }

    /// The domain loses all sessions and adopts them, as after the loss of a link.
    pub(crate) fn sessions_move(&mut self) {
        let now = Timestamp(self.now_ms);
        let records = self.node.release_front(0, now);
        assert!(!records.is_empty(), "nobody is here");
        self.node.adopt(records, now);
        self.settle();
    }

    fn user(&self, user: &str) -> UserId {
        let (sender, read) = std::sync::mpsc::channel();
        let done = Box::new(move |row| sender.send(row).unwrap());
        UserStore::user(&*self.store, SiteId(1), Sub::parse(user).unwrap(), done);
        read.recv().unwrap().unwrap().unwrap().id
    }

    /// Sets a setting of a site.
    pub(crate) fn set(&self, site: &str, path: &str, value: &str) {
        let sites = self.store.sites().unwrap();
        let found = sites.into_iter().find(|one| &*one.key == site).unwrap();
        let settings = found.settings.with(path, value).unwrap();
        self.store.set_settings(found.id, &settings).unwrap();
        self.node.refresh_sites().unwrap();
    }

    /// Time passes in ticks, for the node too.
    pub(crate) fn wait(&mut self, time: Duration) {
        let mut left = time;
        while !left.is_zero() {
            let step = left.min(Duration::from_millis(100));
            left -= step;
            self.web.advance(step);
            self.xmpp.advance(step);
            self.now_ms += u64::try_from(step.as_millis()).unwrap();
            self.node.tick(Timestamp(self.now_ms));
            self.settle();
        }
    }

    /// The wall clock moves on at once. No timer ends.
    pub(crate) fn skip(&mut self, ms: u64) {
        self.set_clock(ms as i64);
    }

    /// The wall clock jumps, ahead or back. No timer ends.
    pub(crate) fn set_clock(&mut self, jump_ms: i64) {
        self.now_ms = self.now_ms.saturating_add_signed(jump_ms);
        self.web.set_clock(jump_ms);
        self.xmpp.set_clock(jump_ms);
    }

    /// XMPP sessions of the domain.
    pub(crate) fn sessions(&self) -> u64 {
        self.counters.sessions.read()
    }

    pub(crate) fn token(&self, user: &str) -> String {
        let claims = Claims {
            sub: user.into(),
            name: Some(format!("The {user}")),
            role: self.moderators.iter().any(|one| one == user).then(|| "moderator".into()),
            exp: (self.now_ms / 1000 + 3600) as f64,
            ..Claims::default()
        };
        sign(&claims, &secret()).unwrap()
    }
}

fn secret() -> Secret {
    Secret::new(SecretKind::Hs256, vec![1; 32], Timestamp(START_UNIX_MS))
}

/// Listeners for clients, servers and components.
fn for_both(certificate: &tls::Certificate) -> EdgeConfig {
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let for_servers = edge::Listener::both(address, certificate.acceptor_of_servers());
    let plain = edge::Listener::plain(address);
    EdgeConfig { listeners: vec![plain.clone(), for_servers, plain], ..EdgeConfig::default() }
}

fn site(key: &str) -> Site {
    Site {
        id: SiteId(0),
        key: key.into(),
        name: "Forum".into(),
        mode: Mode::Open,
        guests: true,
        origins: vec![PAGE.into()],
        secrets: vec![secret()],
        guest_keys: vec![Secret::new(SecretKind::Hs256, vec![9; 32], Timestamp(START_UNIX_MS))],
        public_url: None,
        settings: chat::Settings::default(),
        domain: None,
        created: Timestamp(START_UNIX_MS),
    }
}
