//! The cost of each command for a room: bytes down to each member, for the bytes up of the command. `SECURITY.md` has
//! the table.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use chat::token::{Claims, sign};
use chat::{
    Agent, CallConfig, Command, ConversationId, Delivery, DeviceId, Event, FileType, GroupAction, Hello,
    Limits, Media, MemberAction, MessageChange, Mode, Moderate, NewPoll, NewPreview, NewRich, NewSticker,
    Node, NodeConfig, Outbox, Reaction, ReportOf, Request, Role, RoomChange, RoomKind, Secret, SecretKind,
    SendSticker, Seq, SessionHandle, SessionId, Site, SiteId, SiteStore, Sticker, StickerId, StickerStore,
    Sub, Timestamp, To, account, calls, contacts, messages, moderation, notifications, presence, rooms,
    session, sign_in,
};
use store::Sqlite;

use crate::files::Links;
use crate::wire;

const START: u64 = 1_800_000_000_000;
const BODY_BYTES: u32 = 8_192;
/// A frame has names, ids and a position, whatever the command says.
const FRAME_BYTES: usize = 640;
/// Bytes down to each member for each byte up.
const FACTOR: usize = 8;
/// Of a message with everything that it may have: words, twenty reactions with their names, a poll.
const MESSAGE_BYTES: usize = 64 * 1_024;

/// Members that a command reaches beside the session that says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// One's own devices, the other one of a pair, or those who watch one; never a room.
    NoRoom,
    /// All members, with an event of the command's own size.
    Words,
    /// All members, with a whole message or all that a room says of itself: counted as a message, or once, or for those who
    /// keep order in the room only. Edits, forwards and pins are bounded in bytes per room, too.
    Whole,
}

/// Names each command, and says where it goes. The match has no wildcard, and the test asks for a probe of each name: a new
/// command needs both.
macro_rules! commands {
    ($($name:literal, $reach:ident: $pattern:pat,)*) => {
        const COMMANDS: &[&str] = &[$($name),*];

        fn reach(command: &Command) -> (&'static str, Reach) {
            match command {
                $($pattern => ($name, Reach::$reach),)*
            }
        }
    };
}

commands! {
    "send", Words: Command::Messages(messages::Command::Send { .. }),
    "sticker", Words: Command::Messages(messages::Command::SendSticker(_)),
    "forward", Whole: Command::Messages(messages::Command::Forward { .. }),
    "typing", Words: Command::Messages(messages::Command::Typing { .. }),
    "group_call", Words: Command::Calls(calls::Command::Group { .. }),
    "edit", Whole: Command::Messages(messages::Command::Change { change: MessageChange::Edit { .. }, .. }),
    "delete", Words: Command::Messages(messages::Command::Change { change: MessageChange::Delete, .. }),
    "react", Words: Command::Messages(messages::Command::Change { change: MessageChange::React { .. }, .. }),
    "vote", Words: Command::Messages(messages::Command::Change { change: MessageChange::Vote(_), .. }),
    "close_poll", Words: Command::Messages(messages::Command::Change { change: MessageChange::ClosePoll, .. }),
    "pin", Whole: Command::Messages(messages::Command::Change { change: MessageChange::Pin(true), .. }),
    "unpin", Words: Command::Messages(messages::Command::Change { change: MessageChange::Pin(false), .. }),
    "drop_preview", Words: Command::Messages(messages::Command::Change { change: MessageChange::Preview(None), .. }),
    "preview", Whole: Command::Messages(messages::Command::Change { change: MessageChange::Preview(Some(_)), .. }),
    "change_room", Whole: Command::Rooms(rooms::Command::Change { .. }),
    "marker", NoRoom: Command::Messages(messages::Command::Mark { .. }),
    "call", NoRoom: Command::Calls(calls::Command::Direct { .. }),
    "call_servers", NoRoom: Command::Calls(calls::Command::Servers),
    "presence", NoRoom: Command::Presence(presence::Command::Set(_)),
    "watch", NoRoom: Command::Presence(presence::Command::Watch { .. }),
    "announce", NoRoom: Command::Presence(presence::Command::Announce(_)),
    "relay", NoRoom: Command::Presence(presence::Command::Relay { .. }),
    "undelivered", NoRoom: Command::Presence(presence::Command::Undelivered { .. }),
    "contact", NoRoom: Command::Contacts(contacts::Command::Change { .. }),
    "subscribe", NoRoom: Command::Contacts(contacts::Command::Subscribe { .. }),
    "keep", NoRoom: Command::Contacts(contacts::Command::Keep { .. }),
    "rename", NoRoom: Command::Contacts(contacts::Command::Rename { .. }),
    "contacts", NoRoom: Command::Contacts(contacts::Command::List { .. }),
    "changed_contacts", NoRoom: Command::Contacts(contacts::Command::Changed { .. }),
    "people", NoRoom: Command::Contacts(contacts::Command::ListPeople { .. }),
    "profiles", NoRoom: Command::Contacts(contacts::Command::Profiles { .. }),
    "profile", NoRoom: Command::Account(account::Command::Profile { .. }),
    "change_profile", NoRoom: Command::Account(account::Command::ChangeProfile { .. }),
    "items", NoRoom: Command::Account(account::Command::Items(_)),
    // Sessions of the web publish no items.
    "follow_picture", NoRoom: Command::Account(account::Command::FollowPicture { .. }),
    "make_picture", NoRoom: Command::Account(account::Command::MakePicture(_)),
    "conversations", NoRoom: Command::Messages(messages::Command::ListConversations { .. }),
    "conversation", NoRoom: Command::Messages(messages::Command::ChangeConversation { .. }),
    "search", NoRoom: Command::Messages(messages::Command::Search { .. }),
    "pins", NoRoom: Command::Messages(messages::Command::ListPins { .. }),
    "history", NoRoom: Command::Messages(messages::Command::History { .. }),
    "history_since", NoRoom: Command::Messages(messages::Command::HistorySince { .. }),
    "archive", NoRoom: Command::Messages(messages::Command::Archive(_)),
    "at_positions", NoRoom: Command::Messages(messages::Command::AtPositions { .. }),
    "find", NoRoom: Command::Messages(messages::Command::Find { .. }),
    "reserve_file", NoRoom: Command::Messages(messages::Command::ReserveFile(_)),
    "find_file", NoRoom: Command::Messages(messages::Command::FindFile { .. }),
    "thread", NoRoom: Command::Messages(messages::Command::ChangeThread { .. }),
    "threads", NoRoom: Command::Messages(messages::Command::ListThreads { .. }),
    "stickers", NoRoom: Command::Messages(messages::Command::ListStickers),
    "create_room", NoRoom: Command::Rooms(rooms::Command::Create { .. }),
    "join", NoRoom: Command::Rooms(rooms::Command::Join { .. }),
    "leave", NoRoom: Command::Rooms(rooms::Command::Leave { .. }),
    // Members of the widget learn only that the room is closed.
    "close", NoRoom: Command::Rooms(rooms::Command::Close { .. }),
    // Sessions of the web enter no room, so nobody here hears of those who do.
    "enter", NoRoom: Command::Rooms(rooms::Command::Enter { .. }),
    "exit", NoRoom: Command::Rooms(rooms::Command::Exit { .. }),
    "occupants", NoRoom: Command::Rooms(rooms::Command::ListOccupants { .. }),
    "nickname", NoRoom: Command::Rooms(rooms::Command::SetNickname { .. }),
    "names", NoRoom: Command::Rooms(rooms::Command::ListNames { .. }),
    "show_room", NoRoom: Command::Rooms(rooms::Command::Show { .. }),
    "find_room", NoRoom: Command::Rooms(rooms::Command::Find { .. }),
    "member", NoRoom: Command::Rooms(rooms::Command::ChangeMember { .. }),
    "sanction", NoRoom: Command::Rooms(rooms::Command::SanctionMember { .. }),
    "members", NoRoom: Command::Rooms(rooms::Command::ListMembers { .. }),
    "make_link", NoRoom: Command::Rooms(rooms::Command::MakeLink { .. }),
    "links", NoRoom: Command::Rooms(rooms::Command::ListLinks { .. }),
    "take_back_link", NoRoom: Command::Rooms(rooms::Command::RevokeLink { .. }),
    "open_link", NoRoom: Command::Rooms(rooms::Command::OpenLink { .. }),
    "join_link", NoRoom: Command::Rooms(rooms::Command::JoinByLink { .. }),
    "rooms", NoRoom: Command::Rooms(rooms::Command::List { .. }),
    "request", NoRoom: Command::Contacts(contacts::Command::AnswerRequest { .. })
        | Command::Rooms(rooms::Command::AnswerRequest { .. }),
    "report", NoRoom: Command::Moderation(moderation::Command::Report { .. }),
    "reports", NoRoom: Command::Moderation(moderation::Command::ListReports { .. }),
    "moderate", Words: Command::Moderation(moderation::Command::Act(_)),
    "audit", NoRoom: Command::Moderation(moderation::Command::ListAudit { .. }),
    "notices", NoRoom: Command::Moderation(moderation::Command::Notices { .. }),
    "settings", NoRoom: Command::Moderation(moderation::Command::Settings),
    "configure", Words: Command::Moderation(moderation::Command::Configure { .. }),
    "test_filter", NoRoom: Command::Moderation(moderation::Command::TestFilter { .. }),
    "notifications", NoRoom: Command::Notifications(notifications::Command::Change(_)),
    // Only apps have a push service of their own, and tell that they rest.
    "push_app", NoRoom: Command::Notifications(notifications::Command::PushApp(_)),
    "end_app_push", NoRoom: Command::Notifications(notifications::Command::EndAppPush { .. }),
    "set_idle", NoRoom: Command::Notifications(notifications::Command::SetIdle(_)),
    "devices", NoRoom: Command::Account(account::Command::ListDevices),
    "sign_out", NoRoom: Command::Account(account::Command::SignOutDevice { .. }),
    "app_passwords", NoRoom: Command::Account(account::Command::ListAppPasswords),
    "create_app_password", NoRoom: Command::Account(account::Command::CreateAppPassword { .. }),
    "revoke_app_password", NoRoom: Command::Account(account::Command::RevokeAppPassword { .. }),
    // Only apps change theirs: a session of the web has signed in with a token.
    "change_app_password", NoRoom: Command::Account(account::Command::ChangeAppPassword { .. }),
    "export", NoRoom: Command::Account(account::Command::Export { .. }),
    "remove_account", Words: Command::Account(account::Command::Erase { .. }),
    "resume", NoRoom: Command::SignIn(sign_in::Command::Resume { .. }),
    "token", NoRoom: Command::SignIn(sign_in::Command::RenewToken { .. }),
}

#[derive(Default)]
struct Inbox(Mutex<HashMap<SessionHandle, Vec<Delivery>>>);

impl Outbox for Inbox {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        let mut events = self.0.lock().expect("no test panics here");
        for handle in to {
            events.entry(*handle).or_default().push(delivery.clone());
        }
    }
}

struct Room {
    node: Node,
    store: Arc<Sqlite>,
    inbox: Arc<Inbox>,
    links: Links,
    now: u64,
    id: ConversationId,
    members: Vec<SessionId>,
    sent: usize,
}

fn secret() -> Secret {
    let bytes = b"a secret of this site".to_vec();
    Secret::new(SecretKind::Hs256, bytes, Timestamp(START))
}

fn config() -> NodeConfig {
    let limits = Limits { body_bytes: BODY_BYTES, ..Limits::without_rates() };
    NodeConfig {
        limits,
        presence_grace_ms: 10_000,
        presence_coalesce_ms: 500,
        clock_skew_ms: 60_000,
        calls: CallConfig { burst: 0, per_minute: 0, ..CallConfig::default() },
        app_passwords: true,
    }
}

impl Room {
    /// The first member owns it.
    fn of(members: usize) -> Room {
        let site = Site {
            id: SiteId(0),
            key: "forum".into(),
            name: "Forum".into(),
            mode: Mode::Open,
            guests: false,
            origins: vec!["*".into()],
            secrets: vec![secret()],
            guest_keys: vec![],
            public_url: None,
            domain: None,
            settings: chat::Settings::default(),
            created: Timestamp(START),
        };
        let store = Arc::new(Sqlite::in_memory());
        store.add_site(&site).expect("an empty store").expect("a free key");
        let inbox = Arc::new(Inbox::default());
        let node = Node::new(config(), store.clone(), inbox.clone(), [7; 32]);
        let links = Links::new([1; 32], "", 1_000, || Timestamp(START));
        let id = ConversationId { site: SiteId(1), key: 0 };
        let mut room = Room { node, store, inbox, links, now: START, id, members: Vec::new(), sent: 0 };
        for number in 0..members {
            let session = room.sign_in(number);
            room.members.push(session);
            let command = match number {
                0 => {
                    let topic = Some("t".repeat(200));
                    Request::new(
                        1,
                        rooms::Command::Create {
                            name: "Bikers".into(),
                            kind: RoomKind::Public,
                            topic,
                            alias: None,
                        },
                    )
                }
                _ => Request::new(1, rooms::Command::Join { to: To::Conversation(room.id) }),
            };
            let answer = room.say(number, command);
            if let [Delivery { event: Event::Messages(messages::Event::Conversation(conversation)), .. }] =
                &answer[..]
            {
                room.id = conversation.id;
            }
        }
        assert!(room.id.is_room());
        room
    }

    fn sign_in(&self, number: usize) -> SessionId {
        let claims = Claims {
            sub: format!("member-{number}"),
            exp: (START / 1_000 + 3_600) as f64,
            role: (number == 0).then(|| "admin".into()),
            ..Claims::default()
        };
        let token = sign(&claims, &secret()).expect("a sound claim");
        let handle = SessionHandle(number as u64 + 1);
        let hello = Hello {
            site_key: "forum".into(),
            credential: chat::Credential::Token((&token).into()),
            device: DeviceId::parse("d").expect("a device"),
            position: None,
            origin: Some("https://forum.example".into()),
            address: None,
            agent: Agent::parse(b"x"),
            announced: None,
        };
        self.node.sign_in(hello, handle, Timestamp(START));
        match self.take(handle).into_iter().next() {
            Some(Delivery { event: Event::Session(session::Event::Welcome(welcome)), .. }) => welcome.session,
            other => panic!("no welcome: {other:?}"),
        }
    }

    fn take(&self, handle: SessionHandle) -> Vec<Delivery> {
        self.inbox.0.lock().expect("no test panics here").remove(&handle).unwrap_or_default()
    }

    fn say(&self, who: usize, command: Request) -> Vec<Delivery> {
        self.node.command(self.members[who], command, Timestamp(self.now));
        self.take(self.members[who].handle)
    }

    fn send(&mut self, who: usize, body: &str, rich: Option<Box<NewRich>>) -> Seq {
        self.sent += 1;
        let client_id = format!("id-{}", self.sent).into();
        let to = To::Conversation(self.id);
        let command = Request::from(messages::Command::Send {
            client_id,
            to,
            body: body.into(),
            extension: None,
            reply_to: None,
            files: Vec::new(),
            rich,
        });
        self.take(self.members[who].handle);
        match &self.say(who, command)[..] {
            [Delivery { event: Event::Messages(messages::Event::Ack { seq, .. }), .. }] => *seq,
            other => panic!("not sent: {} events", other.len()),
        }
    }

    fn add_sticker(&self) {
        let sticker = Sticker {
            id: StickerId { site: SiteId(1), number: 7 },
            series: "Hikers".into(),
            words: "hello".into(),
            kind: FileType::named("image/png"),
            width: 160,
            height: 120,
        };
        let new = NewSticker { sticker, bytes: vec![1], added: Timestamp(START) };
        self.store.add_sticker(new, Box::new(|added| assert_eq!(added, Ok(true))));
    }

    fn change(&self, seq: Seq, change: MessageChange) -> Request {
        Request::new(1, messages::Command::Change { conversation: self.id, seq, change })
    }

    /// Bytes that the others hear within five seconds: the member who hears most, and the one after.
    fn most_heard(&mut self) -> [usize; 2] {
        for _ in 0..50 {
            self.now += 100;
            self.node.tick(Timestamp(self.now));
        }
        let received = self.members[1..].iter().map(|member| {
            let mut bytes = Vec::new();
            for event in self.take(member.handle) {
                wire::write(&event, &self.links, &mut bytes);
            }
            bytes.len()
        });
        let mut received: Vec<usize> = received.collect();
        received.sort_unstable();
        [received[received.len() - 1], received[received.len() - 2]]
    }
}

fn reaction(number: u32) -> Reaction {
    let emoji = char::from_u32(0x1f600 + number).expect("an emoji");
    Reaction::parse(&emoji.to_string()).expect("an emoji")
}

/// Bytes of the smallest frame that says a command: its words, and what names the conversation.
const SMALLEST_FRAME: usize = 64;

#[test]
fn no_command_costs_a_room_more_than_its_words_times_a_bound() {
    for members in [40, 60] {
        let mut room = Room::of(members);
        let long = room.send(0, &"x".repeat(BODY_BYTES as usize), None);
        let choices = (0..10).map(|number| format!("{number}{}", "y".repeat(198)).into()).collect();
        let poll = NewPoll { choices, multiple: true, anonymous: false, ends: None };
        let poll = NewRich { poll: Some(poll), ..NewRich::default() }.boxed();
        let poll = room.send(0, &"q".repeat(BODY_BYTES as usize), poll);
        for who in 1..members {
            for number in 0..8 {
                room.say(
                    who,
                    room.change(long, MessageChange::React { reaction: reaction(number), on: true }),
                );
            }
            room.say(who, room.change(poll, MessageChange::Vote((0..10).collect())));
        }
        room.add_sticker();
        room.most_heard();
        let mut probed = BTreeSet::new();
        let (mut heard_in_all, mut most_in_all) = (0, 0);
        for (words, command) in probes(&room, long, poll) {
            let (name, reach) = reach(&command.command);
            probed.insert(name);
            let answer = room.say(0, command);
            // A refused command costs nothing; a command that reaches a room must have been carried out.
            let refused = matches!(
                answer[..],
                [Delivery { event: Event::Session(session::Event::Refused(_)), .. }
                    | Delivery { event: Event::Session(session::Event::SendRefused { .. }), .. }]
            );
            assert!(!refused || reach == Reach::NoRoom || name == "preview", "{name}: {answer:?}");
            let [first, second] = room.most_heard();
            let (received, most) = match reach {
                // The one whom it is about may hear more.
                Reach::NoRoom => (second, FRAME_BYTES),
                Reach::Words => (first, FACTOR * (SMALLEST_FRAME + words) + FRAME_BYTES),
                Reach::Whole => (first, MESSAGE_BYTES),
            };
            assert!(received <= most, "{name} in a room of {members}: {received} of at most {most} bytes");
            heard_in_all += received;
            most_in_all += most;
        }
        let all: BTreeSet<&str> = COMMANDS.iter().copied().collect();
        assert_eq!(probed, all, "each command has a probe");
        assert!(heard_in_all <= most_in_all, "{heard_in_all} of at most {most_in_all} bytes");
    }
}

/// Each command, with the length of its words.
fn probes(room: &Room, long: Seq, poll: Seq) -> Vec<(usize, Request)> {
    let (id, re) = (room.id, 1);
    let missing = ConversationId::room(id.site, 999);
    let to = || To::Conversation(id);
    let page = chat::PageOf::default;
    let sub = |name: &str| Sub::parse(name).expect("a sub");
    let code = chat::LinkCode::parse("AAAAAAAAAAAAAAAAAAAAAA").expect("22 letters");
    let topic = RoomChange { frozen: Some(false), topic: Some("u".repeat(200)), ..RoomChange::default() };
    let send = |client_id: &str, to| {
        Request::from(messages::Command::Send {
            client_id: client_id.into(),
            to,
            body: "words".into(),
            extension: None,
            reply_to: None,
            files: Vec::new(),
            rich: None,
        })
    };
    let sticker =
        SendSticker { client_id: "sticker".into(), to: to(), number: 7, reply_to: None, thread: None };
    let preview = NewPreview {
        url: "https://example.com".into(),
        title: "t".into(),
        description: "".into(),
        site: "".into(),
        picture: None,
    };
    let join = GroupAction::Join { media: Media::Audio };
    let report = ReportOf::Message(id, poll);
    let delete = Moderate::DeleteMessage { conversation: id, seq: poll };
    let set_role = MemberAction::SetRole(Role::Owner);
    let mute = chat::RoomSanction {
        kind: chat::RoomSanctionKind::Mute,
        until: Timestamp(START + 86_400_000),
        reason: "".into(),
        shows_reason: false,
    };
    vec![
        (5, send("probe", to())),
        (5, send("to-a-member", To::User(sub("member-2")))),
        (30, Request::from(messages::Command::SendSticker(sticker))),
        (
            0,
            Request::from(messages::Command::Forward {
                client_id: "again".into(),
                to: to(),
                conversation: id,
                seq: long,
            }),
        ),
        (0, Request::from(messages::Command::Typing { to: to(), on: true })),
        (0, Request::new(1, calls::Command::Group { conversation: id, action: join })),
        (0, room.change(long, MessageChange::React { reaction: reaction(9), on: true })),
        (0, room.change(long, MessageChange::React { reaction: reaction(9), on: false })),
        (0, room.change(poll, MessageChange::Vote(vec![1]))),
        (0, room.change(long, MessageChange::Pin(true))),
        (0, room.change(long, MessageChange::Pin(false))),
        (0, room.change(long, MessageChange::Preview(Some(Box::new(preview))))),
        (0, room.change(long, MessageChange::Preview(None))),
        (1, room.change(long, MessageChange::edit("z"))),
        (0, room.change(poll, MessageChange::ClosePoll)),
        (0, Request::new(re, rooms::Command::Change { conversation: id, change: Box::new(topic) })),
        (0, Request::from(messages::Command::Mark { conversation: id, set: chat::MarkerSet::Read(poll) })),
        (0, Request::new(1, calls::Command::Direct { action: invite(sub("member-3")) })),
        (0, Request::new(1, calls::Command::Servers)),
        (0, Request::from(presence::Command::Set(chat::SetPresence::Away))),
        (0, Request::from(presence::Command::Watch { contacts: true, users: vec![sub("member-3")] })),
        (0, Request::from(presence::Command::Announce(None))),
        // No client of the web sends it. Its changes go to sessions with a resource.
        (
            0,
            Request::new(re, chat::items::Command::Delete { list: "l".into(), id: "i".into(), notify: true }),
        ),
        (0, Request::new(re, account::Command::FollowPicture { source: picture_source() })),
        (
            0,
            Request::new(
                re,
                account::Command::MakePicture(Box::new(chat::PublishedPicture {
                    source: picture_source(),
                    bytes: [0; 100].into(),
                })),
            ),
        ),
        (
            0,
            Request::new(
                re,
                presence::Command::Relay {
                    to: sub("member-3"),
                    resource: "r".into(),
                    payload: "x".into(),
                    is_answer: false,
                },
            ),
        ),
        (0, Request::from(presence::Command::Undelivered { to: sub("member-3"), payload: "x".into() })),
        (
            0,
            Request::new(
                re,
                contacts::Command::Change { action: chat::ContactAction::Request, user: sub("member-3") },
            ),
        ),
        (
            0,
            Request::new(
                re,
                contacts::Command::Subscribe { action: chat::SubscriptionAction::Ask, user: sub("member-3") },
            ),
        ),
        (
            0,
            Request::new(
                re,
                contacts::Command::Keep { user: sub("member-3"), note: chat::ContactNote::default() },
            ),
        ),
        (0, Request::new(re, contacts::Command::Rename { user: sub("member-3"), name: None })),
        (0, Request::new(re, contacts::Command::List { page: page() })),
        (0, Request::new(re, contacts::Command::Changed { since: chat::Position::default() })),
        (0, Request::new(re, contacts::Command::ListPeople { query: None, page: page() })),
        (0, Request::new(re, contacts::Command::Profiles { users: vec![sub("member-3")] })),
        (0, Request::new(re, account::Command::Profile { user: Some(sub("member-3")) })),
        (0, Request::new(re, account::Command::ChangeProfile { change: Box::default() })),
        (
            0,
            Request::new(
                re,
                messages::Command::ListConversations { list: chat::ConversationList::Main, page: page() },
            ),
        ),
        (
            0,
            Request::new(
                re,
                messages::Command::ChangeConversation {
                    conversation: id,
                    change: chat::ConversationChange::default(),
                },
            ),
        ),
        (
            0,
            Request::new(
                re,
                messages::Command::Search { query: "words".into(), conversation: None, page: page() },
            ),
        ),
        (0, Request::new(re, messages::Command::ListPins { conversation: id })),
        (
            0,
            Request::new(
                re,
                messages::Command::History { to: to(), before: None, after: None, thread: None, limit: None },
            ),
        ),
        (
            0,
            Request::new(
                re,
                messages::Command::HistorySince { to: to(), time: Timestamp(START), limit: None },
            ),
        ),
        (
            0,
            Request::new(
                re,
                messages::Command::ChangeThread {
                    conversation: id,
                    root: long,
                    change: chat::ThreadChange::default(),
                },
            ),
        ),
        (
            0,
            Request::new(
                re,
                messages::Command::Archive(messages::ArchiveQuery {
                    of: messages::ArchiveOf::All,
                    start: None,
                    end: None,
                    after: None,
                    before: None,
                    from: messages::ArchiveEnd::Newest,
                    limit: None,
                }),
            ),
        ),
        (0, Request::new(re, messages::Command::AtPositions { positions: vec![1] })),
        (
            0,
            Request::new(
                re,
                messages::Command::Find { to: to(), name: messages::MessageName::Mine("1".into()) },
            ),
        ),
        // Gateways of apps make files for their clients; this one refuses a file of the smallest size.
        (
            0,
            Request::new(
                re,
                messages::Command::ReserveFile(chat::Reserve {
                    name: "a".into(),
                    bytes: 0,
                    limits: chat::FileLimits { file_bytes: 0, user_bytes: 0, guest_bytes: 0, site_bytes: 0 },
                }),
            ),
        ),
        (0, Request::new(re, messages::Command::FindFile { id: chat::FileId { site: id.site, number: 1 } })),
        (0, Request::new(re, messages::Command::ListThreads { conversation: id })),
        (0, Request::new(re, messages::Command::ListStickers)),
        (
            0,
            Request::new(
                re,
                rooms::Command::Create {
                    name: "Other".into(),
                    kind: RoomKind::Public,
                    topic: None,
                    alias: None,
                },
            ),
        ),
        (
            0,
            Request::new(
                re,
                rooms::Command::ListMembers {
                    conversation: id,
                    list: chat::MemberList::Members,
                    query: None,
                    page: page(),
                },
            ),
        ),
        (0, Request::new(re, rooms::Command::MakeLink { conversation: id, hours: None, uses: None })),
        (0, Request::new(re, rooms::Command::ListLinks { conversation: id })),
        (0, Request::new(re, rooms::Command::RevokeLink { conversation: id, code })),
        (0, Request::new(re, rooms::Command::OpenLink { code })),
        (0, Request::new(re, rooms::Command::JoinByLink { code })),
        (0, Request::new(re, rooms::Command::List { query: None, page: page() })),
        (0, Request::new(re, Command::answer_request(id, chat::RequestAnswer::Accept))),
        (
            0,
            Request::new(
                re,
                moderation::Command::Report {
                    of: report,
                    reason: chat::ReportReason::Spam,
                    text: String::new(),
                },
            ),
        ),
        (0, Request::new(re, moderation::Command::ListReports { state: None, page: page() })),
        (0, Request::new(re, moderation::Command::ListAudit { page: page() })),
        (0, Request::new(re, moderation::Command::Notices { seen: true })),
        (0, Request::new(re, moderation::Command::Settings)),
        (
            0,
            Request::new(
                re,
                moderation::Command::Configure {
                    patch: Box::new(serde_json::json!({"access": "read_only"})),
                },
            ),
        ),
        (
            0,
            Request::new(
                re,
                moderation::Command::Configure {
                    patch: Box::new(serde_json::json!({"access": "open", "members": {"remove": true}})),
                },
            ),
        ),
        (0, Request::new(re, moderation::Command::TestFilter { body: "words".into() })),
        (0, Request::new(re, notifications::Command::Change(Box::default()))),
        (
            0,
            Request::new(
                re,
                notifications::Command::PushApp(Box::new(chat::AppPush {
                    service: "push.example".into(),
                    node: "n".into(),
                    options: "".into(),
                })),
            ),
        ),
        (
            0,
            Request::new(
                re,
                notifications::Command::EndAppPush { service: "push.example".into(), node: None },
            ),
        ),
        (0, Request::new(re, notifications::Command::SetIdle(true))),
        (0, Request::new(re, account::Command::ListDevices)),
        (0, Request::new(re, account::Command::SignOutDevice { device: 9 })),
        (0, Request::new(re, account::Command::ListAppPasswords)),
        (0, Request::new(re, account::Command::CreateAppPassword { name: "Phone".into() })),
        (0, Request::new(re, account::Command::RevokeAppPassword { number: 9 })),
        (
            0,
            Request::new(
                re,
                account::Command::ChangeAppPassword {
                    password: chat::AppPassword::chosen("a chosen password").expect("it is long enough"),
                },
            ),
        ),
        (0, Request::new(re, account::Command::Export { page: page() })),
        (0, Request::new(re, sign_in::Command::Resume { position: None })),
        (0, Request::new(re, sign_in::Command::RenewToken { token: "x".into() })),
        (0, room.change(long, MessageChange::Delete)),
        (0, Request::new(re, moderation::Command::Act(delete))),
        (
            0,
            Request::new(
                re,
                rooms::Command::ChangeMember { conversation: id, user: sub("member-3"), action: set_role },
            ),
        ),
        (
            0,
            Request::new(
                re,
                rooms::Command::SanctionMember { conversation: id, user: sub("member-4"), sanction: mute },
            ),
        ),
        (0, Request::new(re, rooms::Command::Enter { conversation: missing, nickname: None })),
        (0, Request::from(rooms::Command::Exit { conversation: id })),
        (0, Request::new(re, rooms::Command::ListOccupants { conversation: id })),
        (0, Request::new(re, rooms::Command::SetNickname { conversation: missing, nickname: None })),
        (
            0,
            Request::new(
                re,
                rooms::Command::ListNames {
                    conversation: missing,
                    users: Vec::new(),
                    naming: chat::Naming::Chosen,
                },
            ),
        ),
        (0, Request::new(re, rooms::Command::Show { conversation: id })),
        (0, Request::new(re, rooms::Command::Find { alias: chat::Alias::parse("bikers").unwrap() })),
        (0, Request::new(re, rooms::Command::Close { conversation: missing, closing: Box::default() })),
        (0, Request::new(re, rooms::Command::Leave { conversation: id })),
        (0, Request::new(re, rooms::Command::Join { to: to() })),
        (0, Request::new(re, account::Command::Erase { messages: chat::MessagesAfterErasure::Erased })),
    ]
}

fn invite(user: Sub) -> chat::CallAction {
    chat::CallAction::Invite { user, media: Media::Audio, offer: "v=0".into() }
}

#[test]
fn edits_forwards_and_pins_of_a_room_are_bounded_in_bytes() {
    // The last member says nothing, and hears all.
    let mut room = Room::of(11);
    let long = room.send(0, &"x".repeat(BODY_BYTES as usize), None);
    let own: Vec<Seq> = (0..10).map(|who| room.send(who, "short", None)).collect();
    room.most_heard();
    let mut received = 0;
    for round in 0..60 {
        for (who, seq) in own.iter().enumerate() {
            let body = format!("{round}{}", "y".repeat(BODY_BYTES as usize - 8));
            room.say(who, room.change(*seq, MessageChange::edit(body)));
            let client_id = format!("f-{round}-{who}").into();
            let to = To::Conversation(room.id);
            room.say(
                who,
                Request::from(messages::Command::Forward { client_id, to, conversation: room.id, seq: long }),
            );
        }
        room.say(0, room.change(long, MessageChange::Pin(round % 2 == 0)));
        let now = room.now;
        received += room.most_heard()[0];
        room.now = now + 1_000;
    }
    let most = 2 * (256 + 60 * 32) * 1_024;
    assert!(received <= most, "{received} of at most {most} bytes in a minute");
    assert!(received >= most / 8, "{received}: something is let through");
}

#[test]
fn a_flood_of_reactions_costs_a_room_less_than_its_own_bytes() {
    let mut room = Room::of(60);
    let seqs: Vec<Seq> = (0..20).map(|_| room.send(0, &"x".repeat(BODY_BYTES as usize), None)).collect();
    room.most_heard();
    let mut up = 0;
    for round in 0..10 {
        for seq in &seqs {
            let on = round % 2 == 0;
            room.say(0, room.change(*seq, MessageChange::React { reaction: reaction(1), on }));
            up += SMALLEST_FRAME;
        }
        room.now += 1_000;
        room.node.tick(Timestamp(room.now));
    }
    let [down, _] = room.most_heard();
    assert!(down <= up, "{down} bytes down to each member for {up} up");
}

fn picture_source() -> chat::PictureSource {
    chat::PictureSource { list: "l".into(), version: 1 }
}
