//! Users of other servers: their sessions of the domain, which the stanzas of their servers drive.
//!
//! A user has a *base session*, with the code of an app's session, and one session for each available resource, which only carries
//! presence and requests. None of them has a connection: what they send goes to the link of their domain.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use chat::presence::{Announced, Availability, Event as PresenceEvent};
use chat::session::Event as SessionEvent;
use chat::{
    Agent, Credential, Delivery, DeviceId, Event, Hello, Position, Refusal, SessionHandle, SessionId, SiteId,
    Sub, Welcome,
};
use edge::{Conns, Handle, Now, Slab};
use rand::Rng;
use ring::digest::{SHA256, digest};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::hints::Hints;
use xmpp_proto::payload::receipts::Receipt;
use xmpp_proto::stanza::{Condition, StanzaError, StanzaKind, write_error};
use xmpp_proto::xml::{Element, document};

use super::initiator::Pair;
use super::link::Failure;
use super::{Content, Ensured, Letter, address, domain_of, server_iq};
use crate::address::Site;
use crate::config::timestamp;
use crate::gateway::{Conn, Gateway, State};
use crate::session::{Session, Turn, availability};
use crate::transport::{Io, Receiver};

/// The resource of base sessions. They are never available, so nobody sees it.
pub(crate) const BASE: &str = "link";
/// The resource of a program that is available without one. No JID has a control character.
pub(crate) const NO_RESOURCE: &str = "\u{1}";
/// Available resources of one user.
const MOST_RESOURCES: usize = 8;
/// Members who see one resource; with more, its end for one of them is its end.
const MOST_SEEING: usize = 512;
/// Stanzas that wait until the user has a session, or until a look-up is done.
const MOST_UNREAD: usize = 64;
const MOST_UNREAD_BYTES: usize = 512 * 1024;
/// Members' streams that wait for one user.
const MOST_ASKERS: usize = 64;
/// Sign-ins of known users at the same time.
const MOST_STARTING: usize = 64;
/// A sign-in that was refused for the load of the node is repeated after this time.
const RETRY_MS: u64 = 5_000;
/// All presence is sent again at most so often.
const RENEW_MS: u64 = 10_000;

/// Handles of these sessions have both bits in their slot. Sessions of BOSH have the first alone, and connections none.
const OWN_BITS: u32 = 1 << 31 | 1 << 23;

pub(crate) fn is_session(handle: Handle) -> bool {
    handle.slot() & OWN_BITS == OWN_BITS
}

#[derive(Default)]
pub(super) struct RemoteUsers {
    sessions: Slab<Entry>,
    /// Base sessions.
    by_user: HashMap<(SiteId, Sub), Handle>,
    /// Known users without a session, and the time of their next sign-in.
    waiting: VecDeque<(u64, SiteId, Sub)>,
    starting: usize,
    has_begun: bool,
    /// The numbers of the worker and of this gateway.
    pub(super) place: Option<(usize, usize)>,
    /// The times of this turn, in milliseconds: the wall clock, and the steady one.
    pub(super) unix_ms: u64,
    pub(super) steady_ms: u64,
}

struct Entry {
    site: Site,
    user: Sub,
    role: Role,
    stage: Stage,
    /// None: it is being handled, or has not begun.
    session: Option<Box<Session>>,
    /// Stanzas that wait.
    unread: VecDeque<Box<[u8]>>,
    /// When all presence was sent last.
    renewed: u64,
}

enum Role {
    Base { resources: Vec<Resource> },
    Resource { name: Box<str>, availability: Arc<Availability> },
}

/// An available resource.
struct Resource {
    name: Box<str>,
    handle: Handle,
    availability: Arc<Availability>,
    /// The members to whom the other server has shown it.
    seeing: HashSet<Box<str>>,
}

enum Stage {
    Starting {
        is_known: bool,
        /// Of a session that continues.
        position: Option<Position>,
        /// Streams of members, and fronts, that wait.
        askers: Vec<Ensured>,
    },
    Live,
}

/// What a session of a remote user writes.
pub(crate) struct Outlet {
    handle: Handle,
    now: Now,
    stanzas: Vec<Vec<u8>>,
}

impl Outlet {
    pub(crate) fn handle(&self) -> Handle {
        self.handle
    }

    pub(crate) fn now(&self) -> Now {
        self.now
    }

    pub(crate) fn into_stanzas(self) -> Vec<Vec<u8>> {
        self.stanzas
    }

    pub(crate) fn send(&mut self, stanza: &[u8]) {
        if !stanza.is_empty() {
            self.stanzas.push(stanza.to_vec());
        }
    }
}

impl RemoteUsers {
    fn entry(&mut self, handle: Handle) -> Option<&mut Entry> {
        self.sessions.get_mut(handle.slot() & !OWN_BITS, handle.generation())
    }

    fn insert(&mut self, entry: Entry) -> Option<Handle> {
        let (worker, gateway) = self.place?;
        let (slot, generation) = self.sessions.insert(entry);
        Some(Handle::of_gateway(worker, gateway, slot | OWN_BITS, generation))
    }

    fn remove(&mut self, handle: Handle) -> Option<Entry> {
        self.entry(handle)?;
        self.sessions.remove(handle.slot() & !OWN_BITS)
    }

    fn base(&self, site: SiteId, user: &Sub) -> Option<Handle> {
        self.by_user.get(&(site, user.clone())).copied()
    }

    fn resources(&mut self, base: Handle) -> Option<&mut Vec<Resource>> {
        match &mut self.entry(base)?.role {
            Role::Base { resources } => Some(resources),
            Role::Resource { .. } => None,
        }
    }

    fn resource(&mut self, base: Handle, name: &str) -> Option<Handle> {
        self.resources(base)?.iter().find(|one| &*one.name == name).map(|one| one.handle)
    }
}

impl Entry {
    fn new(site: Site, user: Sub, role: Role, stage: Stage) -> Entry {
        Entry { site, user, role, stage, session: None, unread: VecDeque::new(), renewed: 0 }
    }

    fn resource(&self) -> &str {
        match &self.role {
            Role::Base { .. } => BASE,
            Role::Resource { name, .. } => name,
        }
    }

    /// The address of what it receives, outside.
    fn outside(&self) -> String {
        let bare = self.user.remote_address().unwrap_or_default();
        match &self.role {
            Role::Base { .. } => bare.to_owned(),
            Role::Resource { name, .. } if &**name == NO_RESOURCE => bare.to_owned(),
            Role::Resource { name, .. } => format!("{bare}/{name}"),
        }
    }

    fn pair(&self) -> Pair {
        Pair { local: (*self.site.domain).into(), remote: domain_of(&self.user).unwrap_or_default().into() }
    }

    fn session_id(&self, session: &Session, handle: Handle) -> SessionId {
        SessionId { user: session.user, handle: SessionHandle(handle.to_bits()) }
    }
}

/// The device of a session: the same after a restart, so that it replaces its predecessor.
fn device(user: &Sub, resource: &str) -> DeviceId {
    let hash = digest(&SHA256, format!("{user}/{resource}").as_bytes());
    let hex: String = hash.as_ref()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    DeviceId::parse(&format!("s2s-{hex}")).expect("letters, digits and a hyphen are a device")
}

impl Gateway {
    /// Mail of other workers and of the look-up of names.
    pub(crate) fn server_mail(&mut self, letter: Letter, conns: &mut Conns<'_, Conn>) {
        let now = conns.now();
        self.federation_turn(conns);
        match letter.0 {
            Content::Ensure { site, user, is_known, asker } => self.ensure(site, user, is_known, asker, now),
            Content::Ensured { to, is_there } => {
                self.with_stream(to, conns, |gateway, state, io| {
                    if let State::Live(session) = state {
                        Turn { gateway, session, io }.remote_user_ensured(is_there);
                    }
                });
            }
            Content::FindComponents { site, answer } => answer(self.shared.components_of(site)),
            Content::ComponentsFound { to, components } => {
                self.with_stream(to, conns, |gateway, state, io| {
                    if let State::Live(session) = state {
                        Turn { gateway, session, io }.components_found(&components);
                    }
                });
            }
            Content::Stanza { pair, document } => self.stanza_arrived(&pair, &document, now),
            Content::Carries { pair, by } => self.link_is_offered(&pair, by),
            Content::CarriesNoMore { pair, by } => self.link_is_closed(&pair, by),
            Content::Carry { to, pair, stanzas } => self.carry(to, &pair, stanzas, conns),
            Content::ComponentArrived { host, by } => self.component_arrived(host, by),
            Content::ComponentAnswered { to, is_first } => {
                if let Some((conn, mut io)) = conns.get(to) {
                    self.component_answered(&mut conn.state, is_first, &mut io);
                }
            }
            Content::ComponentLeft { host, by } => self.component_left(&host, by),
            Content::Wake(wake) => self.wake_app(wake, now),
            Content::Found { dial, addresses } => self.addresses_found(dial, addresses, conns),
            Content::Checked { to, pair, verdict } => {
                if let Some((conn, mut io)) = conns.get(to) {
                    self.key_checked(&mut conn.state, &pair, verdict, &mut io);
                }
            }
        }
    }

    /// Notes place and time.
    pub(crate) fn federation_turn(&mut self, conns: &Conns<'_, Conn>) {
        self.federation.users.place = Some((conns.worker(), conns.gateway()));
        let now = conns.now();
        (self.federation.users.unix_ms, self.federation.users.steady_ms) = (now.unix_ms, now.steady_ms);
    }

    /// Signs in known users, a few at the same time.
    pub(crate) fn tick_federation(&mut self, conns: &mut Conns<'_, Conn>) {
        let Some(servers) = &self.shared.config.servers else { return };
        let (now, known) = (conns.now(), Arc::clone(&servers.known));
        self.federation_turn(conns);
        if !std::mem::replace(&mut self.federation.users.has_begun, true) {
            let workers = self.shared.mailboxes.workers();
            let is_ours = |user: &Sub| {
                domain_of(user).is_some_and(|domain| super::owner(domain, workers) == conns.worker())
            };
            let ours = known.iter().filter(|(_, user)| is_ours(user));
            self.federation.users.waiting.extend(ours.map(|(site, user)| (0, *site, user.clone())));
        }
        while self.federation.users.starting < MOST_STARTING
            && let Some((due, ..)) = self.federation.users.waiting.front()
            && *due <= now.steady_ms
            && let Some((_, site, user)) = self.federation.users.waiting.pop_front()
        {
            self.ensure(site, user, true, None, now);
        }
        self.tick_links(now.steady_ms);
    }

    /// Makes sure that a remote user has a base session.
    fn ensure(&mut self, site: SiteId, user: Sub, is_known: bool, asker: Option<Ensured>, now: Now) {
        if let Some(base) = self.federation.users.base(site, &user) {
            let Some(entry) = self.federation.users.entry(base) else { return };
            return match (&mut entry.stage, asker) {
                (Stage::Starting { askers, .. }, Some(asker)) if askers.len() < MOST_ASKERS => {
                    askers.push(asker)
                }
                (Stage::Starting { .. }, Some(asker)) => asker(false),
                (Stage::Live, Some(asker)) => asker(true),
                (_, None) => {}
            };
        }
        let begun = self.begin(site, user, is_known, now);
        let stage =
            begun.and_then(|handle| self.federation.users.entry(handle)).map(|entry| &mut entry.stage);
        match (stage, asker) {
            (Some(Stage::Starting { askers, .. }), Some(asker)) => askers.push(asker),
            (_, Some(asker)) => asker(false),
            (_, None) => {}
        }
    }

    /// Begins the base session of a user. None: it cannot exist.
    fn begin(&mut self, id: SiteId, user: Sub, is_known: bool, now: Now) -> Option<Handle> {
        let domain = domain_of(&user)?;
        if !self.shared.reaches(id, &user) || !is_known && !self.shared.remote_users.has_room(id, domain) {
            return None;
        }
        let site = Site::of_domain(&self.shared.node, &self.shared.node.domain(id)?)?;
        let stage = Stage::Starting { is_known, position: None, askers: Vec::new() };
        let entry = Entry::new(site, user.clone(), Role::Base { resources: Vec::new() }, stage);
        let handle = self.federation.users.insert(entry)?;
        self.federation.users.by_user.insert((id, user), handle);
        self.sign_in_remote(handle, now);
        Some(handle)
    }

    fn sign_in_remote(&mut self, handle: Handle, now: Now) {
        let Some(entry) = self.federation.users.entry(handle) else { return };
        let Stage::Starting { is_known, position, .. } = &entry.stage else { return };
        let availability = match &entry.role {
            Role::Base { .. } => None,
            Role::Resource { availability, .. } => Some(Arc::clone(availability)),
        };
        let resource = entry.resource();
        let hello = Hello {
            site_key: entry.site.key.to_string().into(),
            credential: Credential::Remote { sub: entry.user.clone(), is_known: *is_known },
            device: device(&entry.user, resource),
            position: *position,
            origin: None,
            address: None,
            agent: Agent::default(),
            announced: Some(Announced { resource: resource.into(), availability }),
        };
        self.federation.users.starting += 1;
        self.shared.node.sign_in(hello, SessionHandle(handle.to_bits()), timestamp(now));
    }

    /// An event for a session of a remote user.
    pub(crate) fn deliver_to_remote(&mut self, handle: Handle, delivery: &Delivery, now: Now) {
        let Some(entry) = self.federation.users.entry(handle) else {
            return self.nobody_takes(delivery, now);
        };
        let is_live = matches!(entry.stage, Stage::Live);
        let is_base = matches!(entry.role, Role::Base { .. });
        match (&delivery.event, is_live) {
            (Event::Session(SessionEvent::Welcome(welcome)), false) => {
                self.remote_welcome(handle, welcome, now)
            }
            (event, false) => {
                if let Some(refusal) = event.farewell() {
                    self.not_signed_in(handle, refusal, now);
                }
            }
            (event, true) if event.farewell().is_some() => self.remote_ended(handle),
            (Event::Session(SessionEvent::Behind), true) => self.begin_again(handle, now),
            (event, true) => {
                let is_for_resource =
                    delivery.re.is_some() || matches!(event, Event::Presence(PresenceEvent::Relayed { .. }));
                if is_base || is_for_resource {
                    self.with_remote(handle, now, |mut turn| {
                        // Only a slow client has an end here, and this session has none.
                        let _ = turn.deliver(delivery);
                    });
                }
            }
        }
    }

    fn remote_welcome(&mut self, handle: Handle, welcome: &Welcome, now: Now) {
        let stream: u32 = self.rng.random();
        let Some(entry) = self.federation.users.entry(handle) else { return };
        let stage = std::mem::replace(&mut entry.stage, Stage::Live);
        let Stage::Starting { position, askers, .. } = stage else { return };
        let is_base = matches!(entry.role, Role::Base { .. });
        // Inside of this gateway, a program without a resource has one that a JID can have.
        let resource = Some(entry.resource()).filter(|one| *one != NO_RESOURCE).unwrap_or("none");
        let Some(jid) = address::inside(&entry.user, &entry.site.domain, resource) else { return };
        let session = Session::of_remote(Receiver::None, jid, welcome, stream, now, is_base);
        entry.session = Some(Box::new(session));
        let (site, user) = (entry.site.id, entry.user.clone());
        self.federation.users.starting -= 1;
        self.shared.counters.sessions.add(1);
        if is_base {
            self.shared.remote_users.add(site, &user);
            askers.into_iter().for_each(|asker| asker(true));
        }
        self.with_remote(handle, now, |mut turn| {
            if is_base {
                turn.watch_contacts();
                if let Some(since) = position {
                    turn.changes(&welcome.changes, since);
                }
            }
        });
    }

    fn not_signed_in(&mut self, handle: Handle, refusal: Refusal, now: Now) {
        self.federation.users.starting -= 1;
        let Some(mut entry) = self.forget(handle) else { return };
        let Stage::Starting { is_known, askers, .. } = &mut entry.stage else { return };
        let (is_known, askers) = (*is_known, std::mem::take(askers));
        askers.into_iter().for_each(|asker| asker(false));
        let pair = entry.pair();
        let is_busy = matches!(
            refusal,
            Refusal::Overloaded { .. } | Refusal::Unavailable | Refusal::GoingAway { .. } | Refusal::Full
        );
        if is_known && is_busy && matches!(entry.role, Role::Base { .. }) {
            let due = now.steady_ms + RETRY_MS;
            self.federation.users.waiting.push_back((due, entry.site.id, entry.user));
        }
        let condition = if is_busy { Condition::ResourceConstraint } else { Condition::ServiceUnavailable };
        for stanza in entry.unread {
            self.refuse_arrived(&pair, &stanza, condition, now);
        }
    }

    /// The domain has ended a session.
    fn remote_ended(&mut self, handle: Handle) {
        if self.forget(handle).is_some_and(|entry| entry.session.is_some()) {
            self.shared.counters.sessions.take(1);
        }
    }

    /// Removes a session from all tables. The resources of a base session end with it.
    fn forget(&mut self, handle: Handle) -> Option<Entry> {
        let entry = self.federation.users.remove(handle)?;
        match &entry.role {
            Role::Base { resources } => {
                self.federation.users.by_user.remove(&(entry.site.id, entry.user.clone()));
                self.shared.remote_users.remove(entry.site.id, &entry.user);
                let handles: Vec<Handle> = resources.iter().map(|one| one.handle).collect();
                handles.into_iter().for_each(|handle| self.end_resource(handle));
            }
            Role::Resource { name, .. } => {
                if let Some(base) = self.federation.users.base(entry.site.id, &entry.user)
                    && let Some(resources) = self.federation.users.resources(base)
                {
                    resources.retain(|one| one.name != *name);
                }
            }
        }
        Some(entry)
    }

    /// Nobody of this domain is available any more.
    pub(super) fn end_resources_of(&mut self, domain: &str) {
        let users = &self.federation.users.by_user;
        let bases = users.iter().filter(|((_, user), _)| domain_of(user) == Some(domain));
        for base in bases.map(|(_, base)| *base).collect::<Vec<Handle>>() {
            let resources = self.federation.users.resources(base);
            let handles: Vec<Handle> = resources.into_iter().flatten().map(|one| one.handle).collect();
            handles.into_iter().for_each(|handle| self.end_resource(handle));
        }
    }

    /// A resource is not available any more.
    fn end_resource(&mut self, handle: Handle) {
        let Some(entry) = self.forget(handle) else { return };
        let Some(session) = &entry.session else {
            // Its welcome comes to nobody, and ends the session then.
            self.federation.users.starting -= usize::from(matches!(entry.stage, Stage::Starting { .. }));
            return;
        };
        self.shared.counters.sessions.take(1);
        let now = chat::Timestamp(self.federation.users.unix_ms);
        self.shared.node.disconnected(entry.session_id(session, handle), true, now);
    }

    /// Events were dropped: the session begins again at its position.
    pub(crate) fn begin_again(&mut self, handle: Handle, now: Now) {
        let Some(entry) = self.federation.users.entry(handle) else { return };
        let Some(session) = entry.session.take() else { return };
        let position = Some(session.resume_position());
        entry.stage = Stage::Starting { is_known: true, position, askers: Vec::new() };
        let id = entry.session_id(&session, handle);
        self.shared.counters.sessions.take(1);
        self.shared.node.disconnected(id, false, timestamp(now));
        self.sign_in_remote(handle, now);
    }

    /// A panic has lost the session.
    pub(crate) fn lose_remote(&mut self, handle: Handle) {
        if let Some(entry) = self.federation.users.entry(handle)
            && entry.session.is_none()
            && matches!(entry.stage, Stage::Live)
        {
            self.forget(handle);
            self.shared.counters.sessions.take(1);
        }
    }

    /// Calls `act` with a session, then handles the stanzas that waited for it.
    fn with_remote(&mut self, handle: Handle, now: Now, act: impl FnOnce(Turn<'_, '_>)) {
        let Some(mut session) = self.federation.users.entry(handle).and_then(|entry| entry.session.take())
        else {
            return;
        };
        let mut io = Io::of_remote(Outlet { handle, now, stanzas: Vec::new() });
        act(Turn { gateway: self, session: &mut session, io: &mut io });
        while !session.is_paused()
            && let Some(unread) =
                self.federation.users.entry(handle).and_then(|entry| entry.unread.pop_front())
        {
            let limits = self.shared.config.limits;
            if let Ok(tree) = document(&unread, &limits) {
                let mut turn = Turn { gateway: self, session: &mut session, io: &mut io };
                // An error would end the stream of a client.
                let _ = turn.stanza(tree.root());
            }
        }
        let stanzas = io.into_remote_stanzas();
        let Some(entry) = self.federation.users.entry(handle) else { return };
        let (pair, outside) = (entry.pair(), entry.outside());
        let written: Vec<Vec<u8>> =
            stanzas.iter().filter_map(|one| address::readdressed(one, &session.jid, &outside)).collect();
        let talks = self.shared.talks_with(entry.site.id, &pair.remote);
        entry.session = Some(session);
        for stanza in written {
            match talks {
                true => self.send_to_server(&pair, stanza, now.steady_ms),
                // The site has changed its mind.
                false => self.bounce(&pair, &stanza, Failure::NotFound),
            }
        }
    }

    /// Hands a stanza to a session, at once or after those that wait.
    fn hand(&mut self, handle: Handle, stanza: &[u8], now: Now) {
        let Some(entry) = self.federation.users.entry(handle) else { return };
        let bytes: usize = entry.unread.iter().map(|waiting| waiting.len()).sum();
        if entry.unread.len() >= MOST_UNREAD || bytes + stanza.len() > MOST_UNREAD_BYTES {
            let pair = entry.pair();
            return self.refuse_arrived(&pair, stanza, Condition::ResourceConstraint, now);
        }
        entry.unread.push_back(stanza.into());
        if matches!(entry.stage, Stage::Live) {
            self.with_remote(handle, now, |_| ());
        }
    }

    /// A stanza of another server, which has proved `pair.remote`; or an error that this gateway gives in its place.
    pub(super) fn stanza_arrived(&mut self, pair: &Pair, stanza: &[u8], now: Now) {
        let limits = self.shared.config.limits;
        let Ok(tree) = document(stanza, &limits) else { return };
        let root = tree.root();
        let address = |name: &str| root.attr(name).and_then(|jid| Jid::parse(jid).ok());
        let (Some(from), Some(to), Some(kind)) = (address("from"), address("to"), StanzaKind::of(root))
        else {
            return;
        };
        let Some(site) = Site::of_domain(&self.shared.node, &pair.local) else { return };
        let is_of_pair = from.domain() == &*pair.remote && to.domain() == &*pair.local;
        if !is_of_pair || !self.shared.talks_with(site.id, &pair.remote) {
            return;
        }
        let Some(local) = to.local() else {
            if self.is_of_service(pair, root, now) {
                return;
            }
            if let Some(answer) = server_iq::answer(root) {
                self.send_to_server(pair, answer, now.steady_ms);
            }
            return;
        };
        let is_service = from.local().is_none() && self.shared.component(&pair.remote).is_some();
        let user = Sub::remote(from.bare()).filter(|_| from.local().is_some() || is_service);
        // An address that only this gateway uses inside is nobody's.
        let member = Sub::of_address_local(local).filter(|sub| sub.remote_address().is_none());
        let (Some(user), Some(member)) = (user, member) else {
            return self.refuse_arrived(pair, stanza, Condition::ServiceUnavailable, now);
        };
        let parts = Arrived { site, user, member, from: &from, to: &to, element: root, stanza };
        match kind {
            StanzaKind::Presence => self.presence_arrived(parts, now),
            StanzaKind::Message => self.message_arrived(pair, parts, now),
            StanzaKind::Iq => self.request_arrived(pair, parts, now),
        }
    }

    fn presence_arrived(&mut self, arrived: Arrived<'_>, now: Now) {
        let Arrived { site, user, member, from, element, stanza, .. } = arrived;
        let base = self.federation.users.base(site.id, &user);
        match (element.attr("type"), base) {
            (Some("subscribe"), None) => {
                if let Some(base) = self.begin(site.id, user, false, now) {
                    self.hand(base, stanza, now);
                }
            }
            (Some("subscribe" | "subscribed" | "unsubscribe" | "unsubscribed"), Some(base)) => {
                self.hand(base, stanza, now);
            }
            // RFC 6121 §4.3.2. A stranger gets no answer.
            (Some("probe"), Some(base)) => {
                let Some(entry) = self.federation.users.entry(base) else { return };
                if now.steady_ms >= entry.renewed + RENEW_MS {
                    entry.renewed = now.steady_ms;
                    self.with_remote(base, now, |mut turn| turn.renew_presence());
                }
            }
            (None, Some(base)) => {
                // A program may be available without a resource.
                let resource = from.resource().unwrap_or(NO_RESOURCE);
                if let Some(availability) = availability(element)
                    && availability.check().is_ok()
                {
                    self.resource_is_available(base, resource, Arc::new(availability), &member, now);
                }
            }
            (Some("unavailable"), Some(base)) => self.resource_is_unavailable(base, from.resource(), &member),
            _ => {}
        }
    }

    /// The other server shows the resource to one member. The domain shows it to all contacts of the user.
    fn resource_is_available(
        &mut self,
        base: Handle,
        name: &str,
        availability: Arc<Availability>,
        member: &Sub,
        now: Now,
    ) {
        if !matches!(self.federation.users.entry(base).map(|entry| &entry.stage), Some(Stage::Live)) {
            return;
        }
        let Some(resources) = self.federation.users.resources(base) else { return };
        if let Some(known) = resources.iter_mut().find(|one| &*one.name == name) {
            if known.seeing.len() < MOST_SEEING {
                known.seeing.insert(member.as_str().into());
            }
            if known.availability == availability {
                return;
            }
            known.availability = Arc::clone(&availability);
            let handle = known.handle;
            let Some(entry) = self.federation.users.entry(handle) else { return };
            if let Role::Resource { availability: current, .. } = &mut entry.role {
                current.clone_from(&availability);
            }
            return self.with_remote(handle, now, |mut turn| {
                turn.command(chat::presence::Command::Announce(Some(availability)));
            });
        }
        if resources.len() >= MOST_RESOURCES || name == BASE {
            return;
        }
        let Some(entry) = self.federation.users.entry(base) else { return };
        let role = Role::Resource { name: name.into(), availability: Arc::clone(&availability) };
        let stage = Stage::Starting { is_known: true, position: None, askers: Vec::new() };
        let entry = Entry::new(entry.site.clone(), entry.user.clone(), role, stage);
        let Some(handle) = self.federation.users.insert(entry) else { return };
        let seeing = HashSet::from([member.as_str().into()]);
        if let Some(resources) = self.federation.users.resources(base) {
            resources.push(Resource { name: name.into(), handle, availability, seeing });
        }
        self.sign_in_remote(handle, now);
    }

    /// A server tells each member that a user has gone. A user who has left one member only is still there for the others.
    fn resource_is_unavailable(&mut self, base: Handle, name: Option<&str>, member: &Sub) {
        let Some(resources) = self.federation.users.resources(base) else { return };
        let mut ended = Vec::new();
        for one in resources.iter_mut().filter(|one| name.is_none_or(|name| &*one.name == name)) {
            let is_full = one.seeing.len() >= MOST_SEEING;
            one.seeing.remove(member.as_str());
            if one.seeing.is_empty() || is_full {
                ended.push(one.handle);
            }
        }
        ended.into_iter().for_each(|handle| self.end_resource(handle));
    }

    fn message_arrived(&mut self, pair: &Pair, arrived: Arrived<'_>, now: Now) {
        let kind = arrived.element.attr("type").unwrap_or("normal");
        if kind == "error" {
            return self.message_bounced(&arrived, now);
        }
        let Arrived { site, user, element, stanza, .. } = arrived;
        if !matches!(kind, "chat" | "normal") {
            return self.refuse_arrived(pair, stanza, Condition::ServiceUnavailable, now);
        }
        match self.federation.users.base(site.id, &user) {
            Some(base) => self.hand(base, stanza, now),
            // A user begins with a message, not with a notice that they are typing.
            None => {
                let is_message = element.child("body", ns::CLIENT).is_some() || Hints::of(element).store;
                if !is_message || Receipt::of(element).is_some_and(|one| one != Receipt::Request) {
                    return;
                }
                match self.begin(site.id, user, false, now) {
                    Some(base) => self.hand(base, stanza, now),
                    None => self.refuse_arrived(pair, stanza, Condition::ResourceConstraint, now),
                }
            }
        }
    }

    /// A message of a member was not delivered. The app that has sent it learns of it, if it is still there.
    fn message_bounced(&mut self, arrived: &Arrived<'_>, now: Now) {
        let Arrived { site, user, member, element, .. } = arrived;
        let Some(id) = element.attr("id") else { return };
        let condition =
            StanzaError::of(*element).map_or(Condition::UndefinedCondition, |error| error.condition);
        if let Some(base) = self.federation.users.base(site.id, user) {
            self.with_remote(base, now, |mut turn| turn.return_message(member.clone(), id, condition));
        }
    }

    /// Requests go from session to session. An account answers none: strangers learn nothing about it.
    fn request_arrived(&mut self, pair: &Pair, arrived: Arrived<'_>, now: Now) {
        let Arrived { site, user, from, to, stanza, .. } = arrived;
        let base = self.federation.users.base(site.id, &user);
        let session = match from.resource() {
            Some(resource) => base.and_then(|base| self.federation.users.resource(base, resource)),
            None => base.filter(|_| user.is_remote_service()),
        };
        match session.filter(|_| to.resource().is_some()) {
            Some(session) => self.hand(session, stanza, now),
            None => self.refuse_arrived(pair, stanza, Condition::ServiceUnavailable, now),
        }
    }

    /// Answers a stanza of another server by an error. Errors, results and presence get none.
    fn refuse_arrived(&mut self, pair: &Pair, stanza: &[u8], condition: Condition, now: Now) {
        let limits = self.shared.config.limits;
        let Ok(tree) = document(stanza, &limits) else { return };
        let root = tree.root();
        let is_answered =
            root.name() != "presence" && !matches!(root.attr("type"), Some("error" | "result" | "groupchat"));
        if is_answered {
            self.send_to_server(pair, server_iq::refusal(root, condition), now.steady_ms);
        }
    }

    /// A stanza for another server comes back. The sender gets the error that the other server would send.
    pub(super) fn bounce(&mut self, pair: &Pair, stanza: &[u8], failure: Failure) {
        let limits = self.shared.config.limits;
        let Some(declared) = declared(stanza) else { return };
        let Ok(tree) = document(&declared, &limits) else { return };
        let root = tree.root();
        if root.name() == "presence" || matches!(root.attr("type"), Some("error" | "result")) {
            return;
        }
        let condition = match failure {
            Failure::NotFound => Condition::RemoteServerNotFound,
            Failure::Timeout => Condition::RemoteServerTimeout,
        };
        let mut error = Vec::new();
        write_error(&mut error, root, root.attr("to"), root.attr("from"), &StanzaError::new(condition));
        let Some(document) = declared_owned(&error) else { return };
        self.shared.send_to_owner(&pair.remote, Content::Stanza { pair: pair.clone(), document });
    }
}

/// A stanza with its parts.
struct Arrived<'a> {
    site: Site,
    user: Sub,
    member: Sub,
    from: &'a Jid,
    to: &'a Jid,
    element: Element<'a>,
    stanza: &'a [u8],
}

/// A stanza that this gateway has written, as a document of its own.
fn declared(stanza: &[u8]) -> Option<Vec<u8>> {
    let name = stanza.iter().position(|byte| matches!(byte, b' ' | b'/' | b'>'))?;
    Some([&stanza[..name], b" xmlns='jabber:client'", &stanza[name..]].concat())
}

fn declared_owned(stanza: &[u8]) -> Option<Box<[u8]>> {
    declared(stanza).map(Into::into)
}
