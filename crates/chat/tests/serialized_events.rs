//! Every event is unchanged after serialization: a front on another node receives the same as one in this
//! process.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::sync::Arc;

use chat::*;

/// Lists the variants of each part. A new variant does not compile until it is listed, and then the test
/// requires an example.
macro_rules! variants {
    ($($part:ident $event:ident: $($variant:ident)+;)+) => {
        const VARIANTS: &[&str] = &[$($(concat!(stringify!($part), "::", stringify!($variant)),)+)+];

        fn variant(event: &Event) -> &'static str {
            match event {
                $(Event::$event(event) => match event {
                    $($part::Event::$variant { .. } => concat!(stringify!($part), "::", stringify!($variant)),)+
                },)+
            }
        }
    };
}

variants! {
    session Session: Welcome Bye ByeWith Refused SendRefused Changes TokenOk Behind;
    presence Presence: Presence Watching Sessions Relayed RelayDone;
    contacts Contacts: Contact Contacts Changed People Profiles;
    notifications Notifications: Settings AppPush;
    moderation Moderation: Reported Reports Report Moderated Audit Notices Notice Site Settings NotSet FilterTested;
    calls Calls: Call GroupCall Servers;
    rooms Rooms: Room MemberCount Left Member Members Link Links Invitation Rooms Entered Occupant
        Occupants Names;
    messages Messages: Ack Message Requested Update Counts Marker Typing Conversations Conversation History Pins Thread Threads Stickers
        Found Held File;
    account Account: Renamed Profile Devices AppPasswords AppPassword Exported Items Picture Card;
}

#[test]
fn every_event_round_trips() {
    let mut seen = BTreeSet::new();
    for delivery in deliveries() {
        let name = variant(&delivery.event);
        let written = serde_json::to_string(&delivery).unwrap();
        let read: Delivery = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(serde_json::to_string(&read).unwrap(), written, "{name}");
        assert_eq!(variant(&read.event), name);
        seen.insert(name);
    }
    assert_eq!(seen, VARIANTS.iter().copied().collect(), "an example of each");
}

#[test]
fn a_position_or_a_number_in_the_wrong_place_is_not_read() {
    for delivery in deliveries() {
        let Delivery { re, position, event } = delivery;
        let other = match position {
            Some(_) => None,
            None => Some(Position { epoch: 1, number: 2 }),
        };
        let wrong = serde_json::to_string(&Delivery { re, position: other, event }).unwrap();
        assert!(serde_json::from_str::<Delivery>(&wrong).is_err(), "{wrong}");
    }
    let answer = Event::from(account::Event::Devices(vec![]));
    let wrong = serde_json::to_string(&Delivery { re: None, position: None, event: answer }).unwrap();
    assert!(serde_json::from_str::<Delivery>(&wrong).is_err(), "an answer without a number");
}

#[test]
fn bodies_drafts_and_tokens_stay_out_of_logs() {
    for delivery in deliveries() {
        let logged = format!("{delivery:?}");
        assert!(!logged.contains("secret"), "{logged}");
    }
}

const SITE: SiteId = SiteId(1);
const AT: Timestamp = Timestamp(1_800_000_000_000);

fn direct() -> ConversationId {
    ConversationId::direct(user(1), user(2)).unwrap()
}

fn room_id() -> ConversationId {
    ConversationId::room(SITE, 7)
}

fn user(num: u32) -> UserId {
    UserId { site: SITE, num }
}

fn sub(name: &str) -> Sub {
    Sub::parse(name).unwrap()
}

fn person() -> Person {
    Person {
        id: user(2),
        sub: sub("ann"),
        name: "Ann".into(),
        avatar: Some("https://example.org/a.png".into()),
        guest: false,
        presence: Some(Presence::Away),
    }
}

fn contact() -> Contact {
    let note = ContactNote { name: Some("Annie".into()), groups: vec!["Friends".into()] };
    let change = Some(ContactChange { was: Side::SEES, by_other: true });
    Contact { change, ..Contact::new(person(), Side::CONTACT, Some(Box::new(note))) }
}

fn file() -> File {
    File {
        id: FileId { site: SITE, number: 9 },
        name: "a.ogg".into(),
        kind: FileType::named("audio/ogg"),
        bytes: 5,
        picture: Some(Picture { width: 4, height: 3, blurhash: "LE".into(), has_thumbnail: true }),
        duration_ms: Some(3_000),
        voice: true,
        peaks: Peaks::parse("0az9"),
    }
}

fn sticker() -> Sticker {
    Sticker {
        id: StickerId { site: SITE, number: 7 },
        series: "Hikers".into(),
        words: "hello".into(),
        kind: FileType::named("image/png"),
        width: 160,
        height: 120,
    }
}

fn rich() -> Rich {
    let choice = Choice { text: "yes".into(), votes: 2, users: vec![sub("ann")], mine: true };
    Rich {
        poll: Some(Poll {
            choices: vec![choice],
            multiple: true,
            anonymous: false,
            ends: Some(AT),
            closed: false,
            voters: 2,
        }),
        forwarded: Some(Forwarded { from: Some((user(2), sub("ann"))) }),
        thread: Some(InThread { root: Seq(1), number: 2 }),
        replies: Some(Replies { count: 3, last: AT }),
        preview: Some(Preview {
            url: "https://example.org".into(),
            title: "T".into(),
            description: "D".into(),
            site: "S".into(),
            picture: Some(file()),
        }),
        sticker: Some(sticker()),
    }
}

fn message() -> Arc<Message> {
    let thumb = Reaction::parse("👍").unwrap();
    Arc::new(Message {
        conversation: room_id(),
        seq: Seq(4),
        from: sub("ann"),
        to: Some(sub("bob")),
        kind: MessageKind::Text,
        client_id: "c1".into(),
        body: "a secret body".into(),
        extension: Some("a secret extension".into()),
        position: 8,
        time: AT,
        reply_to: Some(Seq(2)),
        version: 3,
        edited: Some(AT),
        deleted: false,
        pinned: true,
        reactions: vec![Reactions { reaction: thumb, count: 1, users: vec![sub("ann")], mine: true }],
        files: vec![file()],
        rich: Some(Box::new(rich())),
    })
}

fn room() -> Arc<Room> {
    Arc::new(Room {
        name: "Hikers".into(),
        kind: RoomKind::Public,
        topic: Some("Hills".into()),
        avatar: Some(RoomAvatar::Upload(FileId { site: SITE, number: 8 })),
        page: Some("/hills".into()),
        alias: Some("hikers".into()),
        slow_ms: 1_000,
        frozen: true,
        members: 3,
        max_members: 100,
        nicknames: 9,
    })
}

fn conversation() -> Conversation {
    Conversation {
        id: room_id(),
        with: With::Room(room(), Role::Moderator),
        last: Some(message()),
        received: Seq(4),
        read: Seq(3),
        their_received: Seq(2),
        their_read: Seq(1),
        unread: 1,
        mentions: 1,
        muted_until: AT,
        pinned: true,
        archived: false,
        request: Some(MessageRequest::Received),
        requested_by: Some(person()),
        marked_unread: true,
        draft: Some("a secret draft".into()),
        active: AT,
    }
}

fn member() -> Member {
    Member {
        person: person(),
        standing: Standing::In(Role::Muted),
        requested: false,
        markers: Some((Seq(4), Seq(3))),
        sanction: Some(MemberSanction { until: AT, reason: "spam".into() }),
    }
}

fn link() -> RoomLink {
    let code = LinkCode::parse("AAECAwQFBgcICQoLDA0ODw").unwrap();
    RoomLink { code, by: sub("ann"), until: AT, uses: Some(5), used: 1 }
}

fn held() -> Box<Held> {
    Box::new(Held {
        from: user(1),
        conversation: direct(),
        other: Some(sub("ann")),
        client_id: "c2".into(),
        body: "a secret body".into(),
        extension: Some("a secret extension".into()),
        time: AT,
        reply_to: Some(Seq(1)),
        files: vec![FileId { site: SITE, number: 9 }],
        thread: Some(Seq(1)),
        state: HeldState::Shadow,
        reason: "words".into(),
    })
}

fn report() -> ReportRow {
    ReportRow {
        number: 3,
        state: ReportState::Taken,
        about: ReportAbout::Message(room_id(), Seq(4)),
        user: Some(sub("ann")),
        by: Some(sub("bob")),
        reason: ReportReason::Spam,
        text: "look".into(),
        lines: vec![ReportLine { seq: Seq(4), from: sub("ann"), time: AT, body: "a secret line".into() }],
        former: vec![Revision { until: AT, body: "a secret revision".into() }],
        time: AT,
        moderator: Some(sub("mod")),
        note: "seen".into(),
    }
}

fn notice() -> Notice {
    Notice { kind: NoticeKind::Mute, room: Some(room_id()), until: Some(AT), reason: "spam".into() }
}

fn renamed() -> Renamed {
    let now = chat::Profile { sub: sub("deleted-1"), name: "".into(), avatar: None, guest: false };
    Renamed { former: sub("ann"), now, erased: true }
}

fn changes() -> Changes {
    Changes {
        reset: true,
        conversations: vec![conversation()],
        conversations_next: Some("n".into()),
        messages: vec![message()],
        updates: vec![message()],
        gaps: vec![Gap { conversation: room_id(), first: Seq(3), forget: true }],
        left: vec![(room_id(), LeftReason::Banned)],
        contacts: [contact()].into_iter().collect(),
        contacts_next: None,
        threads: vec![ThreadCount {
            conversation: room_id(),
            root: Seq(1),
            replies: Replies { count: 1, last: AT },
        }],
        renamed: vec![renamed()],
        position: Position { epoch: 1, number: 9 },
    }
}

fn welcome() -> Welcome {
    let session = SessionId { user: user(1), handle: SessionHandle(5) };
    Welcome {
        session,
        me: person(),
        presence: SetPresence::Busy,
        guest_token: Some("a secret token".into()),
        open: true,
        role: SiteRole::Moderator,
        calls: CallsFrom::Contacts,
        site: state(),
        limits: Limits {
            body_bytes: 1,
            extension_bytes: 1,
            page: 2,
            watch: 3,
            contacts: 4,
            sessions_per_user: 5,
            sessions_per_site: 6,
            send_burst: 7,
            send_per_minute: 8,
            command_burst: 9,
            command_per_minute: 10,
            site_sends_per_second: 11,
            guest_burst: 12,
            guest_per_minute: 13,
            requests: RequestRates::UNLIMITED,
            rooms: RoomLimits::default(),
        },
        expires: AT,
        changes: changes(),
        waiting: Waiting { contact_requests: true, conversations: false, items: true },
        record: SessionRecord {
            session,
            device: 1,
            seen: Position { epoch: 1, number: 9 },
            ends: AT,
            key: "k".into(),
            app_password: Some(7),
            watches_contacts: true,
            announced: Some(chat::presence::Announced {
                resource: "phone".into(),
                availability: Some(Default::default()),
            }),
            watched: vec![user(2)],
            is_behind: false,
            has_entered: true,
        },
    }
}

fn state() -> SiteState {
    SiteState { access: chat::settings::Access::ReadOnly, text: "soon".into(), raid_until: Some(AT) }
}

fn ice() -> Option<Ice> {
    let turn = IceTurn {
        urls: Arc::new(["turn:example.org".into()]),
        username: "u".into(),
        credential: "a secret credential".into(),
        expires: AT,
    };
    Some(Ice { stun: Arc::new(["stun:example.org".into()]), turn: Some(turn) })
}

fn call_news() -> Vec<CallNews> {
    let ticket = CallTicket::parse(&"0123456789abcdef".repeat(2)).unwrap();
    let sdp: Arc<str> = "a secret description".into();
    vec![
        CallNews::Calling { user: sub("ann"), media: Media::Video, ticket },
        CallNews::Ring { from: sub("ann"), media: Media::Audio, offer: sdp.clone(), glare: true },
        CallNews::Joined { ticket },
        CallNews::Accepted { answer: sdp.clone() },
        CallNews::Elsewhere,
        CallNews::Offer(sdp.clone()),
        CallNews::Answer(sdp.clone()),
        CallNews::Candidate(sdp.clone()),
        CallNews::Hold(true),
        CallNews::Away,
        CallNews::Back { offer: sdp },
        CallNews::Rejoined { media: Media::Audio, hold: true, away: false, ms: Some(4) },
        CallNews::Done,
        CallNews::Over { outcome: Outcome::Missed, ms: 0 },
    ]
}

fn group_news() -> Vec<GroupNews> {
    let (place, who) =
        (Place(2), Participant { user: sub("ann"), place: Place(2), away: true, apart: false });
    let call = GroupUnderWay { media: Media::Video, since: AT, here: vec![sub("ann")] };
    let sdp: Arc<str> = "a secret description".into();
    let signal = |signal| GroupNews::Signal { from: Place(1), signal };
    vec![
        GroupNews::Standing(GroupStanding { most: 8, call: Some(call) }),
        GroupNews::Joined { place, media: Media::Audio, since: AT, most: 8, here: vec![who.clone()] },
        GroupNews::Came(who),
        GroupNews::Went { place },
        GroupNews::Away { place },
        GroupNews::Apart { place },
        signal(GroupSignal::Offer(sdp.clone())),
        signal(GroupSignal::Answer(sdp.clone())),
        signal(GroupSignal::Candidate(sdp)),
        GroupNews::Elsewhere,
        GroupNews::Left,
        GroupNews::Done,
    ]
}

/// Each delivery has the number and the position that its event requires.
fn deliveries() -> Vec<Delivery> {
    let live = events_for_sessions().into_iter().map(|event| Delivery { re: None, position: None, event });
    let answers = answers().into_iter().map(|event| Delivery { re: Some(9), position: None, event });
    let position = Some(Position { epoch: 1, number: 8 });
    let stored = stored_events().into_iter().map(|event| Delivery { re: None, position, event });
    live.chain(answers).chain(stored).collect()
}

fn events_for_sessions() -> Vec<Event> {
    let call = |news| {
        let call = CallId::parse("0123456789abcdef").unwrap();
        calls::Event::Call(Arc::new(CallEvent { call, news, ice: ice() })).into()
    };
    let group =
        |news| calls::Event::GroupCall(Arc::new(GroupEvent { room: room_id(), news, ice: ice() })).into();
    let events = vec![
        session::Event::Welcome(Box::new(welcome())).into(),
        session::Event::Bye(Refusal::GoingAway { retry_after_ms: 5 }).into(),
        session::Event::ByeWith { refusal: Refusal::Banned, until: Some(AT), reason: "spam".into() }.into(),
        session::Event::Refused(Refusal::SlowMode { retry_after_ms: 5 }).into(),
        session::Event::SendRefused { client_id: "c1".into(), refusal: Refusal::Muted }.into(),
        session::Event::Behind.into(),
        presence::Event::Presence { user: sub("ann"), presence: Presence::Offline, last_seen: Some(AT) }
            .into(),
        presence::Event::Sessions(vec![presence::UserSessions {
            user: sub("ann"),
            sessions: [presence::SessionShown { resource: Some("phone".into()), availability: None }].into(),
        }])
        .into(),
        presence::Event::Relayed { from: sub("ann"), resource: "phone".into(), payload: "x".into() }.into(),
        account::Event::Items(items::Event::Changed(item_news(items::ItemChange::Deleted {
            id: "i".into(),
        })))
        .into(),
        account::Event::Card(Arc::new(person())).into(),
        presence::Event::Watching { here: vec![(sub("ann"), Presence::Busy)], more: true }.into(),
        moderation::Event::Report(Box::new(report())).into(),
        moderation::Event::Notice(Box::new(notice())).into(),
        moderation::Event::Site(Arc::new(state())).into(),
        rooms::Event::MemberCount { conversation: room_id(), members: 3, joined: Arc::new([person()]) }
            .into(),
        rooms::Event::Occupant {
            conversation: room_id(),
            occupant: Box::new(occupant()),
            change: OccupantChange::Renamed { from: "Ann".into() },
        }
        .into(),
        rooms::Event::Occupant {
            conversation: room_id(),
            occupant: Box::new(occupant()),
            change: OccupantChange::Closed(Arc::new(Closing {
                reason: Some("Moved".into()),
                successor: None,
            })),
        }
        .into(),
        messages::Event::Typing { conversation: direct(), user: sub("ann"), on: true }.into(),
        messages::Event::Held(held()).into(),
    ];
    let calls = call_news().into_iter().map(call).chain(group_news().into_iter().map(group));
    events.into_iter().chain(calls).collect()
}

fn occupant() -> Occupant {
    Occupant {
        sub: sub("ann"),
        nick: "Ann".into(),
        role: Role::Member,
        site_role: SiteRole::Moderator,
        is_guest: false,
    }
}

fn answers() -> Vec<Event> {
    let next = || Some("n".to_owned());
    let messages = || vec![message()];
    let thread = || Thread { root: message(), follows: true, unread: 2 };
    let hit = Hit { kind: HitKind::Word, what: "w".into(), act: FilterAct::Hold };
    vec![
        session::Event::Changes(Box::new(changes())).into(),
        session::Event::TokenOk { expires: AT }.into(),
        rooms::Event::Entered {
            conversation: Box::new(conversation()),
            me: Box::new(occupant()),
            occupants: vec![occupant()],
        }
        .into(),
        rooms::Event::Occupants { conversation: room_id(), occupants: vec![occupant()] }.into(),
        rooms::Event::Names { conversation: room_id(), names: vec![(sub("ann"), "Ann".into())] }.into(),
        contacts::Event::Contacts { contacts: Box::new([contact()].into_iter().collect()), next: next() }
            .into(),
        contacts::Event::Changed(Some([contact()].into_iter().collect())).into(),
        contacts::Event::People { people: vec![person()], next: None }.into(),
        contacts::Event::Profiles(vec![person()]).into(),
        notifications::Event::Settings {
            key: Some("k".into()),
            settings: NotifySettings { quiet: QuietHours::new(60, 120, 0), bodies: true },
            devices: 1,
            mail: Some(("ann@example.org".into(), 30)),
        }
        .into(),
        notifications::Event::AppPush.into(),
        moderation::Event::Reported { report: 3 }.into(),
        moderation::Event::Reports { reports: vec![report()], next: next() }.into(),
        moderation::Event::Moderated(Some(Box::new(report()))).into(),
        moderation::Event::Audit {
            entries: vec![AuditEntry {
                number: 1,
                time: AT,
                by: Some(sub("mod")),
                act: "mute".into(),
                user: Some(sub("ann")),
                conversation: Some(room_id()),
                detail: "1 h".into(),
            }],
            next: next(),
        }
        .into(),
        moderation::Event::Notices(vec![notice()]).into(),
        moderation::Event::Settings(Box::new(serde_json::json!({"members": {"devices": true}}))).into(),
        moderation::Event::NotSet("no such setting".into()).into(),
        moderation::Event::FilterTested(Box::new(FilterTest { act: Some(FilterAct::Hold), hits: vec![hit] }))
            .into(),
        rooms::Event::Member(Box::new(member())).into(),
        rooms::Event::Members { members: vec![member()], next: next() }.into(),
        rooms::Event::Link { conversation: room_id(), link: Box::new(link()) }.into(),
        rooms::Event::Links { conversation: room_id(), links: vec![link()] }.into(),
        rooms::Event::Invitation(Box::new(Invitation {
            conversation: Some(room_id()),
            room: room(),
            by: person(),
            until: AT,
        }))
        .into(),
        rooms::Event::Rooms { rooms: vec![(room_id(), (*room()).clone())], next: next() }.into(),
        messages::Event::Conversations { conversations: vec![conversation()], next: next() }.into(),
        messages::Event::History { conversation: Some(room_id()), messages: messages(), more: true }.into(),
        messages::Event::Pins { conversation: room_id(), messages: messages() }.into(),
        messages::Event::Thread(Box::new(thread())).into(),
        messages::Event::Threads { conversation: room_id(), threads: vec![thread()] }.into(),
        messages::Event::Stickers(vec![sticker()]).into(),
        messages::Event::Found { hits: messages(), next: next() }.into(),
        messages::Event::File { id: FileId { site: SITE, number: 9 }, name: "cat.png".into() }.into(),
        account::Event::Profile(Box::new(ProfileCard {
            person: person(),
            status: Some(Status { text: "away".into(), until: Some(AT) }),
            last_seen: Some(AT),
            role: SiteRole::Admin,
            contact: ContactState::Contact,
            own: Some(OwnCard {
                privacy: Privacy::default(),
                may_rename: true,
                may_remove: true,
                devices: true,
                apps: true,
            }),
        }))
        .into(),
        account::Event::Devices(vec![KnownDevice {
            row: DeviceRow { id: 1, agent: Agent::default(), created: AT, used: AT },
            here: true,
            this: false,
        }])
        .into(),
        account::Event::AppPasswords {
            address: Some("ann@forum".into()),
            passwords: vec![KnownAppPassword { row: app_password(), here: true }],
        }
        .into(),
        account::Event::AppPassword(Box::new(AppPasswordShown {
            row: app_password(),
            password: AppPassword::chosen("twelve letters").unwrap(),
        }))
        .into(),
        account::Event::Exported(Box::new(Exported {
            messages: messages(),
            items: vec![ExportedItem { list: "l".into(), item: item() }],
            next: next(),
        }))
        .into(),
        account::Event::Picture { wanted: true }.into(),
        account::Event::Items(items::Event::Done { version: Some(7) }).into(),
        account::Event::Items(items::Event::Items(Box::new(items::ItemsPage {
            list: items::ItemList::default(),
            items: vec![item()],
            index: 1,
            count: 2,
        })))
        .into(),
        account::Event::Items(items::Event::Lists(vec![("l".into(), items::ItemList::default())])).into(),
        account::Event::Items(items::Event::Latest {
            items: vec![item_news(items::ItemChange::Put(item()))],
            next: Some(2),
        })
        .into(),
        presence::Event::RelayDone.into(),
        calls::Event::Servers(Arc::new(ice().unwrap())).into(),
    ]
}

fn stored_events() -> Vec<Event> {
    let thumb = Reaction::parse("👍").unwrap();
    vec![
        contacts::Event::Contact(Box::new(contact())).into(),
        rooms::Event::Room { conversation: room_id(), room: room() }.into(),
        rooms::Event::Left { conversation: room_id(), reason: LeftReason::Removed }.into(),
        messages::Event::Ack {
            client_id: "c1".into(),
            conversation: direct(),
            seq: Seq(5),
            time: AT,
            request: true,
        }
        .into(),
        messages::Event::Message(message()).into(),
        messages::Event::Requested(message()).into(),
        messages::Event::Update { message: message(), by: sub("ann") }.into(),
        messages::Event::Counts {
            counts: Arc::new(Counts {
                conversation: room_id(),
                seq: Seq(4),
                version: 3,
                reactions: vec![(thumb.clone(), 2)],
                poll: Some(PollCounts { votes: vec![1, 0], voters: 1, closed: true }),
                pinned: true,
                preview: false,
            }),
            by: Some(Box::new(CountedBy {
                user: sub("ann"),
                what: Counted::Reaction { reaction: thumb.clone(), on: true, all: vec![thumb] },
            })),
        }
        .into(),
        messages::Event::Marker {
            conversation: direct(),
            user: sub("ann"),
            received: Seq(5),
            read: Seq(4),
            unread: Some(1),
        }
        .into(),
        messages::Event::Conversation(Box::new(conversation())).into(),
        account::Event::Renamed(Arc::new(renamed())).into(),
    ]
}

fn item() -> items::Item {
    items::Item { id: "i".into(), version: 7, payload: Some("secret".into()) }
}

fn item_news(change: items::ItemChange) -> Arc<items::ItemNews> {
    Arc::new(items::ItemNews { user: sub("ann"), list: "l".into(), change })
}

fn app_password() -> AppPasswordRow {
    AppPasswordRow { number: 7, name: "Phone".into(), created: AT, used: None }
}
