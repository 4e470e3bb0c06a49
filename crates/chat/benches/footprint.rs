//! The cost of the domain alone: memory per idle session, time per sign-in and per message, without sockets
//! and without a disk. `cargo bench -p chat` (Linux: memory is read from /proc).

#![allow(clippy::disallowed_methods, reason = "it measures time")]
#![allow(clippy::print_stdout, reason = "a bench reports")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use chat::items::{
    ItemList, ItemListChange, ItemReader, ItemsOf, ItemsPage, LatestItems, LatestPage, PutItem,
};
use chat::token::{Claims, sign};
use chat::*;

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const SESSIONS: u32 = 200_000;
const TALKERS: u32 = 1_000;
const MESSAGES: u32 = 1_000_000;
const CHANGES: u32 = 20_000;
const CALLS: u32 = 50_000;
const CONTACTS: u32 = 150;
/// Connected contacts of each user.
const HERE: u32 = 30;

fn main() {
    let told = Arc::new(Counted::default());
    let node = Node::new(config(), Arc::new(Blank::default()), told.clone(), [1; 32]);
    let tokens: Vec<String> = (1..=SESSIONS).map(token).collect();

    for (number, token) in (1..=TALKERS).zip(&tokens) {
        sign_in(&node, number, token);
    }
    let begin = Instant::now();
    for number in 0..MESSAGES {
        let from = 1 + number % TALKERS;
        let group = from / 10 * 10;
        let to = 1 + (group + (from + 1 + number / TALKERS % 9) % 10) % TALKERS;
        if from == to {
            continue;
        }
        let command = messages::Command::Send {
            client_id: format!("m{number}").into(),
            to: To::User(sub(to)),
            body: "x".repeat(100).into(),
            extension: None,
            reply_to: None,
            files: Vec::new(),
            rich: None,
        };
        node.command(session(from), command.into(), NOW);
    }
    let stats = node.stats();
    let per_message = begin.elapsed().as_nanos() as f64 / stats.messages as f64;
    assert!(stats.deliveries == stats.messages && stats.messages > u64::from(MESSAGES) * 8 / 10);
    println!("message, accepted to delivered: {:.2} µs", per_message / 1000.0);

    let before = resident_bytes();
    let begin = Instant::now();
    for (number, token) in (TALKERS + 1..=SESSIONS).zip(&tokens[TALKERS as usize..]) {
        sign_in(&node, number, token);
    }
    let per_sign_in = begin.elapsed().as_nanos() as f64 / f64::from(SESSIONS - TALKERS);
    node.tick(NOW);
    assert_eq!(node.stats().sessions, u64::from(SESSIONS));
    let held = resident_bytes() - before;
    println!("sign-in, HS256 and all: {:.2} µs", per_sign_in / 1000.0);
    println!("memory per idle session: {:.0} bytes", held as f64 / f64::from(SESSIONS - TALKERS));

    contacts(&node, &told);
    calls(&node, &told);

    let begin = Instant::now();
    for ms in (0..10_000).step_by(100) {
        node.tick(Timestamp(NOW.0 + ms));
    }
    println!("tick with nothing due: {:.1} µs", begin.elapsed().as_nanos() as f64 / 100.0 / 1000.0);

    for number in 1..=SESSIONS {
        node.disconnected(session(number), false, NOW);
    }
    (0..100).for_each(|tick| node.tick(Timestamp(NOW.0 + 20_000 + tick * 100)));
    // The freed memory is either returned to the system or reused for the next crowd; the allocator decides.
    for (number, token) in (1..=SESSIONS).zip(&tokens) {
        sign_in(&node, number, token);
    }
    let again = resident_bytes().saturating_sub(before);
    println!("memory after all left and came again: {:.0} bytes each", again as f64 / f64::from(SESSIONS));
}

/// All sessions watch 150 contacts, of whom 30 are connected; then some change their presence.
fn contacts(node: &Node, told: &Counted) {
    let later = Timestamp(NOW.0 + 1_000);
    node.tick(later);
    let (before, begin) = (resident_bytes(), cpu_nanos());
    for number in 1..=SESSIONS {
        node.command(
            session(number),
            presence::Command::Watch { contacts: true, users: Vec::new() }.into(),
            later,
        );
    }
    let each = |nanos: u64, count: u64| nanos as f64 / count as f64 / 1000.0;
    println!("watch of all contacts: {:.2} µs CPU", each(cpu_nanos() - begin, SESSIONS.into()));
    let held = resident_bytes() as f64 - before as f64;
    println!("memory of that: {:.1} bytes per session", held / f64::from(SESSIONS));

    told.presences.store(0, Ordering::Relaxed);
    let begin = cpu_nanos();
    for number in 1..=CHANGES {
        node.command(session(number), presence::Command::Set(SetPresence::Away).into(), later);
    }
    node.tick(Timestamp(later.0 + 1_000));
    let nanos = cpu_nanos() - begin;
    let count = told.presences.load(Ordering::Relaxed);
    assert_eq!(count, u64::from(CHANGES) * u64::from(HERE));
    println!(
        "presence, per delivery: {:.3} µs CPU; per change: {:.2} µs CPU",
        each(nanos, count),
        each(nanos, CHANGES.into())
    );
}

/// Pairs call each other and hang up; then all are in a call at once.
fn calls(node: &Node, told: &Counted) {
    let invite = |caller: u32| {
        let action = CallAction::Invite {
            user: sub(caller + 1),
            media: Media::Audio,
            offer: "x".repeat(2_500).into(),
        };
        node.command(session(caller), Request::new(1, calls::Command::Direct { action }), NOW);
        told.ring.lock().expect("nobody panics with it").take().expect("it rings")
    };
    let step = |who: u32, call: CallId, step: CallStep| {
        node.command(
            session(who),
            Request::new(2, calls::Command::Direct { action: CallAction::Of(call, step) }),
            NOW,
        );
    };
    let accept = || CallStep::Accept { answer: "x".repeat(2_500).into() };
    let callers = || (1..2 * CALLS).step_by(2);
    let begin = cpu_nanos();
    for caller in callers() {
        let call = invite(caller);
        step(caller + 1, call, accept());
        step(caller, call, CallStep::HangUp);
    }
    let nanos = cpu_nanos() - begin;
    println!("call, invited, accepted and hung up: {:.2} µs CPU", nanos as f64 / f64::from(CALLS) / 1000.0);
    assert_eq!(node.stats().calls, 0);
    let before = resident_bytes();
    let held: Vec<CallId> = callers()
        .map(|caller| {
            let call = invite(caller);
            step(caller + 1, call, accept());
            call
        })
        .collect();
    assert_eq!(node.stats().calls, u64::from(CALLS));
    let grown = (resident_bytes() as f64 - before as f64) / f64::from(CALLS);
    println!("memory per held call: {grown:.0} bytes");
    callers().zip(held).for_each(|(caller, call)| step(caller, call, CallStep::HangUp));
}

fn sign_in(node: &Node, number: u32, token: &str) {
    let hello = Hello {
        site_key: "bench".into(),
        credential: chat::Credential::Token(token.into()),
        device: DeviceId::parse("device").expect("it is one"),
        position: None,
        origin: None,
        address: None,
        agent: Agent::default(),
        announced: None,
    };
    node.sign_in(hello, SessionHandle(number.into()), NOW);
}

fn session(num: u32) -> SessionId {
    SessionId { user: UserId { site: SiteId(1), num }, handle: SessionHandle(num.into()) }
}

fn sub(number: u32) -> Sub {
    Sub::parse(&format!("user-{number}")).expect("it is one")
}

fn token(number: u32) -> String {
    let claims = Claims {
        sub: format!("user-{number}"),
        name: Some(format!("User {number}")),
        exp: (NOW.0 / 1000 + 3600) as f64,
        ..Claims::default()
    };
    sign(&claims, &secret()).expect("HS256 signs")
}

fn secret() -> Secret {
    Secret::new(SecretKind::Hs256, b"a secret".to_vec(), NOW)
}

fn config() -> NodeConfig {
    NodeConfig {
        limits: Limits {
            send_burst: 1_000_000,
            send_per_minute: 1_000_000,
            command_burst: 20,
            command_per_minute: 600,
            ..Limits::without_rates()
        },
        presence_grace_ms: 10_000,
        presence_coalesce_ms: 500,
        clock_skew_ms: 60_000,
        calls: CallConfig { from: CallsFrom::Everyone, burst: 0, per_minute: 0, ..CallConfig::default() },
        app_passwords: false,
    }
}

/// CPU time of this thread (proc(5), schedstat): other load on the machine does not count.
fn cpu_nanos() -> u64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    schedstat.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0)
}

/// Resident set, from its second field (proc(5), statm), in pages of 4 KB.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

/// Delivers nothing, and counts presence events.
#[derive(Default)]
struct Counted {
    presences: AtomicU64,
    /// The last ringing call.
    ring: Mutex<Option<CallId>>,
}

impl Outbox for Counted {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        if let Event::Calls(calls::Event::Call(event)) = &delivery.event
            && matches!(event.news, CallNews::Ring { .. })
        {
            *self.ring.lock().expect("nobody panics with it") = Some(event.call);
        }
        let presences =
            u64::from(matches!(delivery.event, Event::Presence(presence::Event::Presence { .. })));
        self.presences.fetch_add(presences * to.len() as u64, Ordering::Relaxed);
    }
}

/// Half of the connected contacts are before the user and half after, so that the relation is mutual.
fn contacts_of(user: UserId) -> Vec<UserId> {
    let here = (1..=HERE / 2).flat_map(|n| {
        let step = n * 4_999 % SESSIONS;
        [user.num - 1 + step, user.num - 1 + SESSIONS - step].map(|num| 1 + num % SESSIONS)
    });
    let away = (0..CONTACTS - HERE).map(|n| SESSIONS + 1 + user.num * CONTACTS % 1_000_000 + n);
    here.chain(away).map(|num| UserId { num, ..user }).collect()
}

/// A store that knows every user and keeps nothing.
#[derive(Default)]
struct Blank {
    number: AtomicU64,
}

impl Blank {
    fn position(&self) -> Position {
        Position { epoch: 1, number: self.number.load(Ordering::Relaxed) }
    }

    fn row(&self, site: SiteId, profile: Profile) -> UserRow {
        let num = profile.sub.as_str()["user-".len()..].parse().unwrap_or(0);
        UserRow {
            id: UserId { site, num },
            profile,
            presence: SetPresence::Online,
            banned: false,
            on_site: SiteStanding::default(),
            privacy: Privacy::default(),
            named: false,
            created: NOW,
            last_seen: NOW,
        }
    }

    fn profile(&self, sub: Sub) -> Profile {
        Profile { name: sub.as_str().into(), sub, avatar: None, guest: false }
    }
}

impl Store for Blank {
    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl ItemStore for Blank {
    fn put_item(&self, _: UserId, _: PutItem, done: Done<Result<(ItemList, u64), Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn delete_item(&self, _: UserId, _: Box<str>, _: Box<str>, done: Done<Result<ItemList, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn empty_item_list(&self, _: UserId, _: Box<str>, done: Done<Result<ItemList, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn delete_item_list(&self, _: UserId, _: Box<str>, done: Done<Result<ItemList, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn configure_item_list(
        &self,
        _: UserId,
        _: Box<str>,
        _: bool,
        _: ItemListChange,
        done: Done<Result<ItemList, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn items(
        &self,
        _: UserId,
        _: ItemReader,
        _: Box<str>,
        _: ItemsOf,
        done: Done<Result<ItemsPage, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn item_lists(&self, _: UserId, _: ItemReader, done: Done<Vec<(Box<str>, ItemList)>>) {
        done(Err(StoreError::Overloaded));
    }
    fn latest_items(&self, _: UserId, _: Mode, _: LatestItems, done: Done<LatestPage>) {
        done(Err(StoreError::Overloaded));
    }
}

impl OwnPictureStore for Blank {
    fn follow_picture(&self, _: UserId, _: PictureSource, done: Done<OwnPictureChange>) {
        done(Err(StoreError::Overloaded));
    }
    fn put_own_picture(&self, _: UserId, _: NewOwnPicture, done: Done<OwnPictureChange>) {
        done(Err(StoreError::Overloaded));
    }
    fn own_picture(&self, _: OwnPictureId, done: Done<Option<(FileType, Vec<u8>)>>) {
        done(Err(StoreError::Overloaded));
    }
}

impl SiteStore for Blank {
    fn use_token(&self, _: SiteId, _: &str, _: Timestamp, _: Timestamp, done: Done<bool>) {
        done(Err(StoreError::Overloaded));
    }
    fn sites(&self) -> Result<Vec<Site>, StoreError> {
        Ok(vec![Site {
            id: SiteId(1),
            key: "bench".into(),
            name: "Bench".into(),
            mode: Mode::Open,
            guests: false,
            origins: vec![],
            secrets: vec![secret()],
            guest_keys: vec![],
            public_url: None,
            domain: None,
            settings: chat::Settings::default(),
            created: NOW,
        }])
    }
    fn revision(&self) -> Result<u64, StoreError> {
        Ok(1)
    }
    fn add_site(&self, _: &Site) -> Result<Option<SiteId>, StoreError> {
        Ok(None)
    }
    fn update_site(&self, _: &Site) -> Result<(), StoreError> {
        Ok(())
    }
    fn change_site(
        &self,
        _: SiteId,
        _: SiteChange,
        _: SiteAuthor,
        _: Timestamp,
    ) -> Result<Result<Site, SiteNotChanged>, StoreError> {
        Err(StoreError::Overloaded)
    }
    fn set_settings(&self, _: SiteId, _: &Settings) -> Result<bool, StoreError> {
        Ok(false)
    }
    fn remove_site(&self, _: SiteId) -> Result<bool, StoreError> {
        Ok(false)
    }
    fn add_secret(&self, _: SiteId, _: &Secret) -> Result<(), StoreError> {
        Ok(())
    }
}

impl UserStore for Blank {
    fn put_user(&self, _: SiteId, _: Profile, _: Timestamp, done: Done<UserRow>) {
        done(Err(StoreError::Overloaded));
    }
    fn set_banned(&self, _: UserId, _: bool, done: Done<bool>) {
        done(Err(StoreError::Overloaded));
    }
    fn user(&self, site: SiteId, sub: Sub, done: Done<Option<UserRow>>) {
        done(Ok(Some(self.row(site, self.profile(sub)))));
    }
    fn users(&self, _: SiteId, _: Vec<Sub>, done: Done<Vec<UserRow>>) {
        done(Err(StoreError::Overloaded));
    }
    fn users_by_id(&self, _: Vec<UserId>, done: Done<Vec<UserRow>>) {
        done(Err(StoreError::Overloaded));
    }
    fn relation(&self, _: UserId, _: UserId, done: Done<Relation>) {
        done(Ok(Relation::NONE));
    }
    fn relations(&self, _: Vec<[UserId; 2]>, done: Done<Vec<Relation>>) {
        done(Err(StoreError::Overloaded));
    }
    fn contacts_of(&self, users: Vec<UserId>, done: Done<Vec<ContactIds>>) {
        let list = |user| contacts_of(user).into_iter().map(|id| (id, Side::CONTACT)).collect();
        done(Ok(users.into_iter().map(list).collect()));
    }
    fn conversation(&self, _: UserId, _: ConversationId, done: Done<Option<ConversationRow>>) {
        done(Err(StoreError::Overloaded));
    }
    fn few_members(&self, _: ConversationId, _: UserId, _: u32, done: Done<Result<Vec<UserId>, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn banned(&self) -> Result<Vec<UserId>, StoreError> {
        Ok(vec![])
    }
    fn list_users(&self, _: SiteId, _: Option<Sub>, _: u32) -> Result<Vec<UserRow>, StoreError> {
        Ok(vec![])
    }
}

impl PresenceStore for Blank {
    fn put_presence(&self, _: UserId, _: SetPresence, _: Timestamp) {}
}

impl ContactStore for Blank {
    fn put_relation(
        &self,
        _: UserId,
        _: UserId,
        _: Relation,
        _: u32,
        _: Timestamp,
        done: Done<Option<Position>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn contact_pair(&self, _: UserId, _: UserId, done: Done<ContactPair>) {
        done(Err(StoreError::Overloaded));
    }
    fn put_contact_note(
        &self,
        _: UserId,
        _: UserId,
        _: Relation,
        _: ContactNote,
        _: u32,
        _: Timestamp,
        done: Done<Option<Position>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn changed_contacts(&self, _: UserId, _: Position, _: u32, done: Done<Option<ContactList>>) {
        done(Err(StoreError::Overloaded));
    }
    fn contacts(&self, _: UserId, _: Option<String>, _: u32, done: Done<ContactsPage>) {
        done(Err(StoreError::Overloaded));
    }
    fn people(&self, _: SiteId, _: Option<String>, _: Option<String>, _: u32, done: Done<PeoplePage>) {
        done(Err(StoreError::Overloaded));
    }
}

impl MessageStore for Blank {
    fn append(&self, append: Append, done: Done<Appended>) {
        self.number.fetch_add(1, Ordering::Relaxed);
        done(Ok(Appended {
            conversation: append.conversation,
            seq: Seq(1),
            time: append.time,
            position: self.position(),
            repeated: false,
        }));
    }
    fn post(&self, _: Post, _: RoomLimits, done: Done<Result<Posted, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn change_message(&self, _: ChangeMessage, done: Done<Result<ChangedMessage, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn publish_gathered(&self, _: ConversationId, _: Seq, done: Done<Option<ChangedMessage>>) {
        done(Ok(None));
    }
    fn unpublished(&self, _: UnpublishedPage, done: Done<Vec<(ConversationId, Seq)>>) {
        done(Ok(Vec::new()));
    }
    fn mark(&self, _: ConversationId, _: UserId, _: Seq, _: Seq, done: Done<MarkerRow>) {
        done(Err(StoreError::Overloaded));
    }
    fn change_conversation(
        &self,
        _: ConversationId,
        _: UserId,
        _: ConversationChange,
        done: Done<Result<(ConversationRow, Position), Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn conversations(
        &self,
        _: UserId,
        _: ConversationList,
        _: Option<String>,
        _: u32,
        done: Done<ConversationsPage>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn history(
        &self,
        _: UserId,
        _: ConversationId,
        _: Option<Seq>,
        _: Option<Seq>,
        _: u32,
        done: Done<HistoryPage>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn room_history(
        &self,
        _: RoomName,
        _: UserId,
        _: Option<Seq>,
        _: Option<Seq>,
        _: u32,
        done: Done<Result<(Option<ConversationId>, HistoryPage), Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn history_since(
        &self,
        _: UserId,
        _: ConversationId,
        _: Timestamp,
        _: u32,
        done: Done<Result<HistoryPage, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn archive(&self, _: ArchiveRead, done: Done<Result<ArchivePage, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn messages_at(&self, _: UserId, _: Vec<u64>, done: Done<Result<Vec<StoredMessage>, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn find_message(
        &self,
        _: UserId,
        _: ConversationId,
        _: messages::MessageName,
        done: Done<Result<StoredMessage, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn message(&self, _: UserId, _: ConversationId, _: Seq, done: Done<Result<StoredMessage, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn pins(&self, _: UserId, _: ConversationId, done: Done<Result<Vec<StoredMessage>, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn search(&self, _: Search, done: Done<Result<FoundPage, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn revisions(&self, _: ConversationId, _: Seq, done: Done<Vec<Revision>>) {
        done(Err(StoreError::Overloaded));
    }
}

impl SignInStore for Blank {
    fn renew_user(&self, _: SiteId, _: TokenUser, _: Timestamp, done: Done<UserRow>) {
        done(Err(StoreError::Overloaded));
    }
    fn sign_in_with_app_password(
        &self,
        _: AppPasswordUser,
        _: ResumeFrom,
        _: Timestamp,
        _: Met,
        done: Done<Option<(UserRow, Snapshot)>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn sign_in(
        &self,
        site: SiteId,
        user: TokenUser,
        _: ResumeFrom,
        _: Timestamp,
        met: Met,
        done: Done<(UserRow, Snapshot)>,
    ) {
        let row = self.row(site, user.profile);
        if met(&row) {
            let snapshot = Snapshot {
                reset: true,
                conversations: ConversationsPage { rows: vec![], next: None },
                messages: vec![],
                updates: vec![],
                gaps: vec![],
                left: vec![],
                contacts: ContactsPage { rows: chat::ContactList::default(), next: None },
                threads: vec![],
                renamed: vec![],
                waiting: Waiting::default(),
                position: self.position(),
            };
            done(Ok((row, snapshot)));
        }
    }
    fn snapshot(&self, _: UserId, _: ResumeFrom, done: Done<Snapshot>) {
        done(Err(StoreError::Overloaded));
    }
    fn changed_views(&self, _: Vec<(UserId, Position)>, done: Done<(Vec<bool>, Position)>) {
        done(Err(StoreError::Overloaded));
    }
}

impl CallStore for Blank {
    fn append_call(&self, entry: NewCallEntry, done: Done<Appended>) {
        self.append(entry.message(), done);
    }
    fn post_call(&self, _: NewCallEntry, _: RoomLimits, done: Done<Result<PostedCall, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
}

impl HeldStore for Blank {
    fn hold(&self, _: NewHeld, done: Done<Result<Kept, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn held_by(&self, _: UserId, done: Done<Vec<Held>>) {
        done(Ok(vec![]));
    }
    fn held_of_report(&self, _: SiteId, _: By, _: u64, done: Done<Result<Held, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
}

impl RoomRequestStore for Blank {
    fn add_member(&self, _: AddMember, _: RoomLimits, done: Done<Result<MemberChanged, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn decline_room_request(&self, _: ConversationId, _: UserId, done: Done<Option<Position>>) {
        done(Err(StoreError::Overloaded));
    }
    fn decline_room_requests_by(&self, _: UserId, _: UserId, done: Done<(Vec<ConversationId>, Position)>) {
        done(Err(StoreError::Overloaded));
    }
}

/// No user is in a room.
impl RequestStore for Blank {
    fn append_request(&self, _: Append, _: RequestRules, done: Done<Result<Requested, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn answer_request(
        &self,
        _: ConversationId,
        _: UserId,
        _: RequestAnswer,
        done: Done<Result<RequestAnswered, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
}

impl ModerationStore for Blank {
    fn report(&self, _: NewReport, done: Done<Result<(ReportRow, bool), Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn reports(
        &self,
        _: SiteId,
        _: By,
        _: Option<ReportState>,
        _: Option<String>,
        _: u32,
        done: Done<Result<ReportsPage, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn moderate(
        &self,
        _: SiteId,
        _: By,
        _: ModeratorAct,
        _: Timestamp,
        done: Done<Result<Moderated, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn audit(&self, _: SiteId, _: By, _: Option<String>, _: u32, done: Done<Result<AuditPage, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn moderators(&self, _: SiteId, done: Done<Vec<UserId>>) {
        done(Ok(vec![]));
    }
    fn notices(&self, _: UserId, done: Done<Vec<Notice>>) {
        done(Ok(vec![]));
    }
    fn notices_seen(&self, _: UserId, done: Done<()>) {
        done(Ok(()));
    }
    fn end_sanctions(&self, _: Timestamp, done: Done<(Vec<Ended>, Option<Timestamp>)>) {
        done(Ok((vec![], None)));
    }
    fn device_bans(&self, done: Done<Vec<DeviceBan>>) {
        done(Ok(vec![]));
    }
    fn written(&self, _: UserId, _: u32, done: Done<u32>) {
        done(Ok(0));
    }
    fn keep_level(&self, _: UserId, _: Level, done: Done<Option<UserRow>>) {
        done(Ok(None));
    }
    fn standings(&self) -> Result<Vec<UserRow>, StoreError> {
        Ok(vec![])
    }
    fn next_sanction_end(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(None)
    }
}

impl RoomStore for Blank {
    fn create_room(
        &self,
        _: UserId,
        _: NewRoom,
        _: RoomLimits,
        _: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn change_room(
        &self,
        _: ConversationId,
        _: UserId,
        _: RoomChange,
        _: Timestamp,
        done: Done<Result<RoomChanged, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn join_room(
        &self,
        _: RoomName,
        _: UserId,
        _: RoomLimits,
        _: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn enter_room(
        &self,
        _: ConversationId,
        _: UserId,
        _: Option<Nickname>,
        _: RoomLimits,
        _: Timestamp,
        done: Done<Result<Entered, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn room(&self, _: ConversationId, _: UserId, done: Done<Result<Room, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn set_nickname(
        &self,
        _: ConversationId,
        _: UserId,
        _: Option<Nickname>,
        done: Done<Result<chat::Nicknamed, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn nicknames(
        &self,
        _: ConversationId,
        _: UserId,
        _: Vec<Sub>,
        _: chat::Naming,
        done: Done<Result<Vec<Named>, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn close_room(
        &self,
        _: ConversationId,
        _: UserId,
        _: Option<Arc<str>>,
        _: Timestamp,
        done: Done<Result<RoomClosed, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn unfinished_closings(&self, done: Done<Vec<ConversationId>>) {
        done(Err(StoreError::Overloaded));
    }
    fn close_rest(&self, _: ConversationId, done: Done<RoomClosed>) {
        done(Err(StoreError::Overloaded));
    }
    fn find_room(
        &self,
        _: Alias,
        _: UserId,
        _: Timestamp,
        done: Done<Result<(ConversationId, Room), Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn leave_room(&self, _: ConversationId, _: UserId, done: Done<Result<Position, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn leave_rooms_of(&self, _: UserId, _: UserId, done: Done<(Vec<ConversationId>, Position)>) {
        done(Err(StoreError::Overloaded));
    }
    fn change_member(
        &self,
        _: ConversationId,
        _: UserId,
        _: UserId,
        _: MemberAction,
        _: RoomLimits,
        _: Timestamp,
        done: Done<Result<MemberChanged, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn room_members(&self, _: ConversationId, _: Vec<UserId>, done: Done<RoomMembers>) {
        done(Err(StoreError::Overloaded));
    }
    fn sanction_member(
        &self,
        _: ConversationId,
        _: UserId,
        _: UserId,
        _: RoomSanction,
        _: Timestamp,
        done: Done<Result<MemberChanged, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn members(
        &self,
        _: ConversationId,
        _: UserId,
        _: Option<String>,
        _: Option<String>,
        _: u32,
        done: Done<Result<MembersPage, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn sanctioned(
        &self,
        _: ConversationId,
        _: UserId,
        _: Option<String>,
        _: u32,
        _: Timestamp,
        done: Done<Result<SanctionedPage, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn rooms(&self, _: SiteId, _: Option<String>, _: Option<String>, _: u32, done: Done<RoomsPage>) {
        done(Err(StoreError::Overloaded));
    }
    fn rooms_made(&self, _: UserId, _: Timestamp, done: Done<u32>) {
        done(Ok(0));
    }
}

impl FileStore for Blank {
    fn create_file(&self, _: NewFile, _: FileLimits, done: Done<Result<(), Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn file(&self, _: FileId, done: Done<Option<FileRow>>) {
        done(Err(StoreError::Overloaded));
    }
    fn open_file(&self, _: UserId, _: FileId, done: Done<Result<File, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn complete_file(&self, _: FileId, _: FileFound, done: Done<Option<FileRow>>) {
        done(Err(StoreError::Overloaded));
    }
    fn remove_files(&self, _: Vec<FileId>, done: Done<Vec<FileId>>) {
        done(Err(StoreError::Overloaded));
    }
    fn append_with_files(
        &self,
        _: Append,
        _: Vec<FileId>,
        done: Done<Result<(Appended, Vec<File>), Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn grow_file(&self, _: FileId, _: u64, _: FileLimits, done: Done<Result<(), Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn stale_files(
        &self,
        _: Timestamp,
        _: Timestamp,
        _: Timestamp,
        _: u32,
    ) -> Result<Vec<FileId>, StoreError> {
        Err(StoreError::Overloaded)
    }
    fn forget_files(&self, _: &[FileId]) -> Result<(), StoreError> {
        Err(StoreError::Overloaded)
    }
}

/// No room has threads.
impl ThreadStore for Blank {
    fn thread_history(
        &self,
        _: UserId,
        _: ConversationId,
        _: Seq,
        _: Option<Seq>,
        _: Option<Seq>,
        _: u32,
        done: Done<Result<HistoryPage, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn change_thread(
        &self,
        _: UserId,
        _: ConversationId,
        _: Seq,
        _: ThreadChange,
        done: Done<Result<ThreadRow, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn threads(&self, _: UserId, _: ConversationId, _: u32, done: Done<Result<Vec<ThreadRow>, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
}

impl StickerStore for Blank {
    fn add_sticker(&self, _: NewSticker, done: Done<bool>) {
        done(Err(StoreError::Overloaded));
    }
    fn remove_sticker(&self, _: StickerId, done: Done<bool>) {
        done(Err(StoreError::Overloaded));
    }
    fn stickers(&self, _: SiteId, done: Done<Vec<Sticker>>) {
        done(Err(StoreError::Overloaded));
    }
    fn sticker(&self, _: StickerId, done: Done<Option<Sticker>>) {
        done(Err(StoreError::Overloaded));
    }
    fn sticker_picture(&self, _: StickerId, done: Done<Option<(FileType, Vec<u8>)>>) {
        done(Err(StoreError::Overloaded));
    }
}

impl LinkStore for Blank {
    fn make_link(
        &self,
        _: ConversationId,
        _: UserId,
        _: NewLink,
        _: Timestamp,
        done: Done<Result<RoomLink, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn links(&self, _: ConversationId, _: UserId, _: Timestamp, done: Done<Result<Vec<RoomLink>, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn take_back_link(
        &self,
        _: ConversationId,
        _: UserId,
        _: LinkCode,
        _: Timestamp,
        done: Done<Result<Vec<RoomLink>, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn open_link(&self, _: LinkCode, _: UserId, _: Timestamp, done: Done<Result<Box<Invited>, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn join_link(
        &self,
        _: LinkCode,
        _: UserId,
        _: RoomLimits,
        _: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
}

impl ProfileStore for Blank {
    fn profile(&self, _: UserId, _: Sub, done: Done<Option<ProfileView>>) {
        done(Err(StoreError::Overloaded));
    }
    fn change_profile(&self, _: UserId, _: ProfileChange, done: Done<Option<ProfileView>>) {
        done(Err(StoreError::Overloaded));
    }
}

impl AppPasswordStore for Blank {
    fn app_credentials(&self, _: SiteId, _: Sub, done: Done<StoredCredentials>) {
        done(Err(StoreError::Overloaded));
    }
    fn salt_key(&self, _: SiteId, _: [u8; 32], done: Done<[u8; 32]>) {
        done(Err(StoreError::Overloaded));
    }
    fn app_passwords(&self, _: UserId, done: Done<Vec<AppPasswordRow>>) {
        done(Err(StoreError::Overloaded));
    }
    fn add_app_password(
        &self,
        _: UserId,
        _: NewAppPassword,
        _: By,
        done: Done<Result<AppPasswordRow, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn change_app_password(
        &self,
        _: UserId,
        _: u32,
        _: StoredKeys,
        _: Timestamp,
        done: Done<Result<u32, Refusal>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn revoke_app_password(&self, _: UserId, _: u32, _: By, _: Timestamp, done: Done<Result<bool, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn missing_app_passwords(&self, _: Vec<(UserId, u32)>, done: Done<Vec<(UserId, u32)>>) {
        done(Err(StoreError::Overloaded));
    }
    fn ended_app_passwords(&self) -> Result<Vec<(UserId, u32)>, StoreError> {
        Ok(Vec::new())
    }
}

impl AppTokenStore for Blank {
    fn app_tokens(&self, _: AppDeviceOf, done: Done<Option<AppTokens>>) {
        done(Err(StoreError::Overloaded));
    }
    fn put_app_tokens(&self, _: AppDeviceOf, _: AppTokens, _: Timestamp, done: Done<bool>) {
        done(Err(StoreError::Overloaded));
    }
    fn use_app_token(
        &self,
        _: AppDeviceOf,
        _: AppTokenSecret,
        _: AppToken,
        _: Timestamp,
        done: Done<Option<AppToken>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn remove_app_tokens(&self, _: AppDeviceOf, done: Done<()>) {
        done(Err(StoreError::Overloaded));
    }
}

impl DeviceStore for Blank {
    fn put_device(&self, _: UserId, _: NewDevice) {}
    fn devices(&self, _: UserId, done: Done<Vec<DeviceRow>>) {
        done(Err(StoreError::Overloaded));
    }
    fn sign_out(&self, _: UserId, _: u64, _: Timestamp, _: Timestamp, done: Done<Option<bool>>) {
        done(Err(StoreError::Overloaded));
    }
    fn signed_out(&self, _: SiteId, _: Sub, _: u64, done: Done<Option<SignedOut>>) {
        done(Err(StoreError::Overloaded));
    }
}

impl EraseStore for Blank {
    fn begin_erasure(&self, _: NewErasure, done: Done<Result<Erased, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn unanswered_users(&self, _: SiteId, _: Timestamp, _: u32, done: Done<Vec<UserId>>) {
        done(Err(StoreError::Overloaded));
    }
    fn erase_some(&self, _: Timestamp, _: u32, done: Done<EraseSlice>) {
        done(Ok(EraseSlice::default()));
    }
}

impl MergeStore for Blank {
    fn merge_guest(&self, _: Merge, done: Done<Result<Option<UserRow>, Refusal>>) {
        done(Err(StoreError::Overloaded));
    }
    fn no_guests(&self, _: &[UserId]) -> Result<Vec<UserId>, StoreError> {
        Ok(Vec::new())
    }
}

impl RetentionStore for Blank {
    fn trim(&self, _: SiteId, _: Option<u64>, _: Trim, _: u32, done: Done<Trimmed>) {
        done(Err(StoreError::Overloaded));
    }
}

impl ImportStore for Blank {
    fn import(&self, _: ImportJob, done: Done<Imported>) {
        done(Err(StoreError::Overloaded));
    }
    fn publish_import(&self, _: SiteId, _: bool, done: Done<Position>) {
        done(Err(StoreError::Overloaded));
    }
    fn import_floors(&self) -> Result<Vec<ImportFloor>, StoreError> {
        Ok(Vec::new())
    }
}

impl ExportStore for Blank {
    fn export(&self, _: UserId, _: Option<String>, _: u32, done: Done<ExportPage>) {
        done(Err(StoreError::Overloaded));
    }
}

/// No user has a browser with notifications.
impl NotificationStore for Blank {
    fn put_push_device(
        &self,
        _: UserId,
        _: Option<u64>,
        _: PushDevice,
        _: Timestamp,
        done: Done<Vec<UserId>>,
    ) {
        done(Err(StoreError::Overloaded));
    }
    fn remove_push_device(&self, _: UserId, _: Box<str>, done: Done<bool>) {
        done(Err(StoreError::Overloaded));
    }
    fn change_notify_settings(&self, _: UserId, _: NotifyChange, done: Done<NotifyView>) {
        done(Err(StoreError::Overloaded));
    }
    fn notify_view(&self, _: UserId, done: Done<NotifyView>) {
        done(Err(StoreError::Overloaded));
    }
    fn notify_facts(&self, _: UserId, _: Vec<ConversationId>, done: Done<NotifyFacts>) {
        done(Err(StoreError::Overloaded));
    }
    fn push_key(&self, _: SiteId, _: Vec<u8>, done: Done<Vec<u8>>) {
        done(Err(StoreError::Overloaded));
    }
    fn put_mail_address(&self, _: UserId, _: MailAddress, done: Done<bool>) {
        done(Err(StoreError::Overloaded));
    }
    fn schedule_mail(&self, _: UserId, _: Timestamp, _: u32) {}
    fn mail_due(&self, _: Timestamp, _: u32, done: Done<Vec<MailDue>>) {
        done(Err(StoreError::Overloaded));
    }
    fn settle_mail(&self, _: UserId, _: Option<Timestamp>, done: Done<()>) {
        done(Err(StoreError::Overloaded));
    }
    fn mail_users(&self) -> Result<Vec<UserId>, StoreError> {
        Ok(vec![])
    }
    fn push_users(&self) -> Result<Vec<UserId>, StoreError> {
        Ok(vec![])
    }
    fn put_app_push(&self, _: UserId, _: AppPushRow, _: Timestamp, done: Done<bool>) {
        done(Err(StoreError::Overloaded));
    }
    fn remove_app_push(&self, _: UserId, _: Box<str>, _: Option<Box<str>>, done: Done<Reached>) {
        done(Err(StoreError::Overloaded));
    }
    fn app_push_users(&self) -> Result<Vec<UserId>, StoreError> {
        Ok(vec![])
    }
}
