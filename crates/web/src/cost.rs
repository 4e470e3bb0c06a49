//! What one command may cost a room: bytes down to each member, for the bytes up of the command. `SECURITY.md` has the table.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use chat::memory::MemoryStore;
use chat::token::{Claims, sign};
use chat::{
    Agent, CallConfig, Command, ConversationId, DeviceId, Event, GroupAction, Hello, Limits, Media,
    MemberAction, MessageChange, Mode, NewPoll, NewRich, Node, NodeConfig, Outbox, Reaction, Role,
    RoomChange, RoomKind, RoomLimits, Secret, SecretKind, Seq, SessionHandle, SessionId, Site, SiteId, Store,
    Sub, Timestamp, To,
};

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

/// Whom a command reaches beside the session that says it.
#[derive(Debug, PartialEq, Eq)]
enum Reach {
    /// One's own devices, the other one of a pair, or those who watch one; never a room.
    NoRoom,
    /// All members, with an event of the command's own size.
    Words,
    /// All members, with a whole message or all that a room says of itself: counted as a message, or once, or for those who
    /// keep order in the room only.
    Whole,
}

/// No wildcard: who adds a command says whom it reaches.
fn reach(command: &Command) -> Reach {
    match command {
        Command::Send { .. }
        | Command::Sticker(_)
        | Command::Typing { .. }
        | Command::GroupCall { .. }
        | Command::ChangeMessage {
            change: MessageChange::React { .. } | MessageChange::Vote(_) | MessageChange::Delete,
            ..
        } => Reach::Words,
        Command::Forward { .. }
        | Command::ChangeRoom { .. }
        | Command::ChangeMessage {
            change:
                MessageChange::Edit(_)
                | MessageChange::Pin(_)
                | MessageChange::ClosePoll
                | MessageChange::Preview(_),
            ..
        } => Reach::Whole,
        Command::Marker { .. }
        | Command::Call { .. }
        | Command::SetPresence(_)
        | Command::Watch { .. }
        | Command::Contact { .. }
        | Command::Contacts { .. }
        | Command::People { .. }
        | Command::Profiles { .. }
        | Command::Profile { .. }
        | Command::ChangeProfile { .. }
        | Command::Conversations { .. }
        | Command::Conversation { .. }
        | Command::Search { .. }
        | Command::Pins { .. }
        | Command::History { .. }
        | Command::HistorySince { .. }
        | Command::Thread { .. }
        | Command::Threads { .. }
        | Command::Stickers { .. }
        | Command::CreateRoom { .. }
        | Command::Join { .. }
        | Command::Leave { .. }
        | Command::Member { .. }
        | Command::SanctionMember { .. }
        | Command::Members { .. }
        | Command::MakeLink { .. }
        | Command::Links { .. }
        | Command::TakeBackLink { .. }
        | Command::OpenLink { .. }
        | Command::JoinLink { .. }
        | Command::Rooms { .. }
        | Command::AnswerRequest { .. }
        | Command::Report { .. }
        | Command::Reports { .. }
        | Command::Moderate { .. }
        | Command::Audit { .. }
        | Command::Notices { .. }
        | Command::Settings { .. }
        | Command::Configure { .. }
        | Command::TestFilter { .. }
        | Command::Notifications { .. }
        | Command::Devices { .. }
        | Command::SignOut { .. }
        | Command::Export { .. }
        | Command::RemoveAccount { .. }
        | Command::Resume { .. }
        | Command::Token { .. } => Reach::NoRoom,
    }
}

#[derive(Default)]
struct Inbox(Mutex<HashMap<SessionHandle, Vec<Event>>>);

impl Outbox for Inbox {
    fn deliver(&self, to: SessionHandle, event: Event) {
        self.0.lock().expect("no test panics here").entry(to).or_default().push(event);
    }
}

struct Room {
    node: Node,
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
    let limits = Limits {
        body_bytes: BODY_BYTES,
        page: 50,
        watch: 100,
        contacts: 1_000,
        sessions_per_user: 8,
        sessions_per_site: 0,
        send_burst: 0,
        send_per_minute: 0,
        command_burst: 0,
        command_per_minute: 0,
        site_sends_per_second: 0,
        guest_burst: 0,
        guest_per_minute: 0,
        requests: chat::RequestRates::UNLIMITED,
        rooms: RoomLimits::default(),
    };
    NodeConfig {
        limits,
        presence_grace_ms: 10_000,
        presence_coalesce_ms: 500,
        clock_skew_ms: 60_000,
        calls: CallConfig { burst: 0, per_minute: 0, ..CallConfig::default() },
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
            settings: chat::Settings::default(),
            created: Timestamp(START),
        };
        let store = Arc::new(MemoryStore::new());
        store.add_site(&site).expect("an empty store").expect("a free key");
        let inbox = Arc::new(Inbox::default());
        let node = Node::new(config(), store, inbox.clone(), [7; 32]);
        let links = Links::new([1; 32], "", 1_000, || Timestamp(START));
        let id = ConversationId { site: SiteId(1), key: 0 };
        let mut room = Room { node, inbox, links, now: START, id, members: Vec::new(), sent: 0 };
        for number in 0..members {
            let session = room.sign_in(number);
            room.members.push(session);
            let command = match number {
                0 => {
                    let topic = Some("t".repeat(200));
                    Command::CreateRoom { re: 1, name: "Bikers".into(), kind: RoomKind::Public, topic }
                }
                _ => Command::Join { re: 1, to: To::Conversation(room.id) },
            };
            let answer = room.say(number, command);
            if let [Event::Conversation { conversation, .. }] = &answer[..] {
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
            ..Claims::default()
        };
        let token = sign(&claims, &secret()).expect("a sound claim");
        let handle = SessionHandle(number as u64 + 1);
        let hello = Hello {
            site_key: "forum",
            token: Some(&token),
            device: DeviceId::parse("d").expect("a device"),
            position: None,
            origin: Some("https://forum.example"),
            address: None,
            agent: Agent::parse(b"x"),
        };
        self.node.sign_in(hello, handle, Timestamp(START));
        match self.take(handle).into_iter().next() {
            Some(Event::Welcome(welcome)) => welcome.session,
            other => panic!("no welcome: {other:?}"),
        }
    }

    fn take(&self, handle: SessionHandle) -> Vec<Event> {
        self.inbox.0.lock().expect("no test panics here").remove(&handle).unwrap_or_default()
    }

    fn say(&self, who: usize, command: Command) -> Vec<Event> {
        self.node.command(self.members[who], command, Timestamp(self.now));
        self.take(self.members[who].handle)
    }

    fn send(&mut self, who: usize, body: &str, rich: Option<Box<NewRich>>) -> Seq {
        self.sent += 1;
        let client_id = format!("id-{}", self.sent).into();
        let to = To::Conversation(self.id);
        let command =
            Command::Send { client_id, to, body: body.into(), reply_to: None, files: Vec::new(), rich };
        match &self.say(who, command)[..] {
            [Event::Ack { seq, .. }] => *seq,
            other => panic!("not sent: {other:?}"),
        }
    }

    fn change(&self, seq: Seq, change: MessageChange) -> Command {
        Command::ChangeMessage { re: 1, conversation: self.id, seq, change }
    }

    /// Bytes that the others hear within five seconds: the member who hears most, and the one after.
    fn most_heard(&mut self) -> [usize; 2] {
        for _ in 0..50 {
            self.now += 100;
            self.node.tick(Timestamp(self.now));
        }
        let heard = self.members[1..].iter().map(|member| {
            let mut bytes = Vec::new();
            for event in self.take(member.handle) {
                wire::write(&event, &self.links, &mut bytes);
            }
            bytes.len()
        });
        let mut heard: Vec<usize> = heard.collect();
        heard.sort_unstable();
        [heard[heard.len() - 1], heard[heard.len() - 2]]
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
        room.most_heard();
        let (id, to) = (room.id, || To::Conversation(room.id));
        let topic = RoomChange { frozen: Some(false), topic: Some("u".repeat(200)), ..RoomChange::default() };
        let user = Sub::parse("member-3").expect("a sub");
        let probes = [
            (
                5,
                Command::Send {
                    client_id: "probe".into(),
                    to: to(),
                    body: "words".into(),
                    reply_to: None,
                    files: Vec::new(),
                    rich: None,
                },
            ),
            (0, Command::Forward { client_id: "again".into(), to: to(), conversation: id, seq: long }),
            (0, Command::Typing { to: to(), on: true }),
            (
                0,
                Command::GroupCall {
                    re: Some(1),
                    conversation: id,
                    action: GroupAction::Join { media: Media::Audio },
                },
            ),
            (0, room.change(long, MessageChange::React { reaction: reaction(9), on: true })),
            (0, room.change(long, MessageChange::React { reaction: reaction(9), on: false })),
            (0, room.change(poll, MessageChange::Vote(vec![1]))),
            (0, room.change(long, MessageChange::Pin(true))),
            (0, room.change(long, MessageChange::Pin(false))),
            (1, room.change(long, MessageChange::Edit("z".into()))),
            (0, room.change(poll, MessageChange::ClosePoll)),
            (0, room.change(long, MessageChange::Delete)),
            (0, Command::ChangeRoom { re: 1, conversation: id, change: topic }),
            (0, Command::Marker { conversation: id, set: chat::MarkerSet::Read(poll) }),
            (0, Command::Members { re: 1, conversation: id, query: None, page: chat::PageOf::default() }),
            (0, Command::MakeLink { re: 1, conversation: id, hours: None, uses: None }),
            (
                0,
                Command::Member { re: 1, conversation: id, user, action: MemberAction::SetRole(Role::Owner) },
            ),
            (0, Command::Leave { re: 1, conversation: id }),
            (0, Command::Join { re: 1, to: to() }),
        ];
        for (words, command) in probes {
            let (name, reach) = (format!("{command:?}"), reach(&command));
            let answer = room.say(0, command);
            assert!(!matches!(answer[..], [Event::Refused { .. } | Event::SendRefused { .. }]), "{answer:?}");
            let [first, second] = room.most_heard();
            let (heard, most) = match reach {
                // The one whom it is about may hear more.
                Reach::NoRoom => (second, FRAME_BYTES),
                Reach::Words => (first, FACTOR * (SMALLEST_FRAME + words) + FRAME_BYTES),
                Reach::Whole => (first, MESSAGE_BYTES),
            };
            assert!(heard <= most, "{name} in a room of {members}: {heard} of at most {most} bytes");
        }
    }
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
