//! The port between gateways and the domain: everything that a gateway passes can be serialized and read
//! again, and stays out of logs.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::collections::BTreeSet;

use chat::*;
use scene::{Scene, event, sub};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Part of every text of every command.
const TEXT: &str = "hush \"🤫\"\n";

/// A pattern and examples for each command. The `match` has no wildcard, so a new command does not compile without a row.
macro_rules! commands {
    ($($pattern:pat => [$($example:expr),+ $(,)?],)*) => {
        fn row(command: &Command) -> &'static str {
            match command {
                $($pattern => stringify!($pattern),)*
            }
        }

        fn examples() -> Vec<(&'static str, Command)> {
            vec![$($((stringify!($pattern), Command::from($example)),)+)*]
        }
    };
}

commands! {
    Command::Account(account::Command::Profile { .. }) => [
        account::Command::Profile { user: None },
        account::Command::Profile { user: Some(sub("ann")) },
    ],
    Command::Account(account::Command::ChangeProfile { .. }) => [
        account::Command::ChangeProfile { change: Box::default() },
        account::Command::ChangeProfile { change: Box::new(profile_change()) },
        account::Command::ChangeProfile {
            change: Box::new(ProfileChange { status: Some(None), ..ProfileChange::default() }),
        },
    ],
    Command::Account(account::Command::ListDevices) => [account::Command::ListDevices],
    Command::Account(account::Command::SignOutDevice { .. }) => [
        account::Command::SignOutDevice { device: u64::MAX },
    ],
    Command::Account(account::Command::CreateAppPassword { .. }) => [
        account::Command::CreateAppPassword { name: TEXT.into() },
    ],
    Command::Account(account::Command::ListAppPasswords) => [account::Command::ListAppPasswords],
    Command::Account(account::Command::RevokeAppPassword { .. }) => [
        account::Command::RevokeAppPassword { number: u32::MAX },
    ],
    Command::Account(account::Command::ChangeAppPassword { .. }) => [
        account::Command::ChangeAppPassword { password: AppPassword::chosen("a chosen password").unwrap() },
    ],
    Command::Account(account::Command::Export { .. }) => [account::Command::Export { page: page() }],
    Command::Account(account::Command::Erase { .. }) => [
        account::Command::Erase { messages: MessagesAfterErasure::Kept },
        account::Command::Erase { messages: MessagesAfterErasure::Erased },
    ],
    Command::Account(account::Command::Items(_)) => [
        items::Command::Put(items::PutItem {
            list: TEXT.into(),
            id: TEXT.into(),
            payload: TEXT.into(),
            requires: items::ItemListChange { most: Some(7), ..items::ItemListChange::default() },
            default: items::ItemAccess::Everybody,
        }),
        items::Command::Delete { list: TEXT.into(), id: TEXT.into(), notify: true },
        items::Command::Empty { list: TEXT.into() },
        items::Command::DeleteList { list: TEXT.into() },
        items::Command::Configure {
            list: TEXT.into(),
            creates: true,
            change: items::ItemListChange {
                access: Some(items::ItemAccess::Everybody),
                most: None,
                persists: Some(true),
                sends_latest: Some(false),
            },
        },
        items::Command::Read {
            user: Some(sub("ann")),
            list: TEXT.into(),
            of: items::ItemsOf::Ids(vec![TEXT.into()]),
        },
        items::Command::Read { user: None, list: TEXT.into(), of: items::ItemsOf::After(TEXT.into(), Some(3)) },
        items::Command::ReadLists { user: None },
        items::Command::ReadLatest(items::LatestItems {
            lists: vec![TEXT.into()],
            only: Some(7),
            after: None,
        }),
    ],
    Command::Account(account::Command::FollowPicture { .. }) => [
        account::Command::FollowPicture { source: picture_source() },
    ],
    Command::Account(account::Command::MakePicture(_)) => [
        account::Command::MakePicture(Box::new(PublishedPicture { source: picture_source(), bytes: [0, 255].into() })),
    ],
    Command::Calls(calls::Command::Direct { .. }) => [
        calls::Command::Direct {
            action: CallAction::Invite { user: sub("ann"), media: Media::Video, offer: TEXT.into() },
        },
        step(CallStep::Accept { answer: TEXT.into() }),
        step(CallStep::Decline { busy: true }),
        step(CallStep::HangUp),
        step(CallStep::Offer(TEXT.into())),
        step(CallStep::Answer(TEXT.into())),
        step(CallStep::Candidate(TEXT.into())),
        step(CallStep::Hold(true)),
        step(CallStep::Rejoin { ticket: CallTicket::of(u128::MAX - 7), offer: TEXT.into() }),
    ],
    Command::Calls(calls::Command::Group { .. }) => [
        group(GroupAction::Look),
        group(GroupAction::Join { media: Media::Audio }),
        group(GroupAction::Leave),
        group(GroupAction::Signal { to: Place(7), signal: GroupSignal::Offer(TEXT.into()) }),
        group(GroupAction::Signal { to: Place(7), signal: GroupSignal::Answer(TEXT.into()) }),
        group(GroupAction::Signal { to: Place(7), signal: GroupSignal::Candidate(TEXT.into()) }),
    ],
    Command::Calls(calls::Command::Servers) => [calls::Command::Servers],
    Command::Contacts(contacts::Command::Change { .. }) => [
        contacts::Command::Change { action: ContactAction::Request, user: sub("ann") },
        contacts::Command::Change { action: ContactAction::Unblock, user: sub("ann") },
    ],
    Command::Contacts(contacts::Command::Subscribe { .. }) => [
        contacts::Command::Subscribe { action: SubscriptionAction::Ask, user: sub("ann") },
        contacts::Command::Subscribe { action: SubscriptionAction::Refuse, user: sub("ann") },
    ],
    Command::Contacts(contacts::Command::Keep { .. }) => [
        contacts::Command::Keep {
            user: sub("ann"),
            note: ContactNote { name: Some(TEXT.into()), groups: vec![TEXT.into()] },
        },
    ],
    Command::Contacts(contacts::Command::Rename { .. }) => [
        contacts::Command::Rename { user: sub("ann"), name: Some(TEXT.into()) },
        contacts::Command::Rename { user: sub("ann"), name: None },
    ],
    Command::Contacts(contacts::Command::Changed { .. }) => [
        contacts::Command::Changed { since: Position { epoch: 3, number: 4 } },
    ],
    Command::Contacts(contacts::Command::List { .. }) => [contacts::Command::List { page: page() }],
    Command::Contacts(contacts::Command::ListPeople { .. }) => [
        contacts::Command::ListPeople { query: Some(TEXT.into()), page: page() },
    ],
    Command::Contacts(contacts::Command::Profiles { .. }) => [
        contacts::Command::Profiles { users: vec![sub("ann"), sub("zoë")] },
    ],
    Command::Contacts(contacts::Command::AnswerRequest { .. }) => [
        Command::answer_request(direct(), RequestAnswer::Accept),
    ],
    Command::Messages(messages::Command::Send { .. }) => [
        send(None),
        send(NewRich { thread: Some(Seq(1)), ..NewRich::default() }.boxed()),
        send(NewRich { poll: Some(poll()), forwarded: Some(forwarded()), ..NewRich::default() }.boxed()),
        send(NewRich { sticker: Some(sticker()), ..NewRich::default() }.boxed()),
    ],
    Command::Messages(messages::Command::Forward { .. }) => [
        messages::Command::Forward { client_id: TEXT.into(), to: user(), conversation: room(), seq: Seq(1) },
    ],
    Command::Messages(messages::Command::SendSticker(_)) => [
        messages::Command::SendSticker(SendSticker {
            client_id: TEXT.into(),
            to: To::Page(PageKey::parse("/hush/1").unwrap()),
            number: 7,
            reply_to: Some(Seq(1)),
            thread: None,
        }),
    ],
    Command::Messages(messages::Command::ListStickers) => [messages::Command::ListStickers],
    Command::Messages(messages::Command::Mark { .. }) => [
        messages::Command::Mark { conversation: direct(), set: MarkerSet::Received(Seq(3)) },
        messages::Command::Mark { conversation: direct(), set: MarkerSet::Read(Seq::MAX) },
    ],
    Command::Messages(messages::Command::Typing { .. }) => [messages::Command::Typing { to: user(), on: true }],
    Command::Messages(messages::Command::ListConversations { .. }) => [
        messages::Command::ListConversations { list: ConversationList::Mentions, page: page() },
    ],
    Command::Messages(messages::Command::ChangeConversation { .. }) => [
        messages::Command::ChangeConversation {
            conversation: direct(),
            change: ConversationChange {
                muted_until: Some(Timestamp::MAX),
                pinned: Some(true),
                archived: None,
                marked_unread: Some(false),
                draft: Some(TEXT.into()),
            },
        },
    ],
    Command::Messages(messages::Command::Search { .. }) => [
        messages::Command::Search { query: TEXT.into(), conversation: Some(room()), page: page() },
    ],
    Command::Messages(messages::Command::Change { .. }) => [
        change(MessageChange::Edit { body: TEXT.into(), extension: Some(TEXT.into()) }),
        change(MessageChange::Delete),
        change(MessageChange::React { reaction: Reaction::parse(":party:").unwrap(), on: true }),
        change(MessageChange::Pin(true)),
        change(MessageChange::Vote(vec![0, 2])),
        change(MessageChange::ClosePoll),
        change(MessageChange::Preview(None)),
        change(MessageChange::Preview(Some(Box::new(preview())))),
    ],
    Command::Messages(messages::Command::ListPins { .. }) => [
        messages::Command::ListPins { conversation: room() },
    ],
    Command::Messages(messages::Command::History { .. }) => [
        messages::Command::History {
            to: To::Conversation(room()),
            before: Some(Seq(9)),
            after: None,
            thread: Some(Seq(1)),
            limit: Some(20),
        },
    ],
    Command::Messages(messages::Command::HistorySince { .. }) => [
        messages::Command::HistorySince { to: user(), time: Timestamp(7), limit: None },
    ],
    Command::Messages(messages::Command::Archive(_)) => [
        messages::Command::Archive(messages::ArchiveQuery {
            of: messages::ArchiveOf::One(user()),
            start: Some(Timestamp(7)),
            end: None,
            after: Some(1),
            before: None,
            from: messages::ArchiveEnd::Newest,
            limit: Some(20),
        }),
    ],
    Command::Messages(messages::Command::AtPositions { .. }) => [
        messages::Command::AtPositions { positions: vec![1, 2] },
    ],
    Command::Messages(messages::Command::Find { .. }) => [
        messages::Command::Find { to: user(), name: messages::MessageName::Theirs("m1".into()) },
    ],
    Command::Messages(messages::Command::ReserveFile(_)) => [
        messages::Command::ReserveFile(Reserve {
            name: TEXT.into(),
            bytes: 10,
            limits: FileLimits { file_bytes: 10, user_bytes: 0, guest_bytes: 0, site_bytes: 0 },
        }),
    ],
    Command::Messages(messages::Command::FindFile { .. }) => [messages::Command::FindFile { id: file() }],
    Command::Messages(messages::Command::ChangeThread { .. }) => [
        messages::Command::ChangeThread {
            conversation: room(),
            root: Seq(1),
            change: ThreadChange { follow: Some(true), read: Some(3) },
        },
    ],
    Command::Messages(messages::Command::ListThreads { .. }) => [
        messages::Command::ListThreads { conversation: room() },
    ],
    Command::Moderation(moderation::Command::Report { .. }) => [
        report(ReportOf::Message(room(), Seq(1))),
        report(ReportOf::User(sub("ann"))),
        report(ReportOf::Room(room())),
    ],
    Command::Moderation(moderation::Command::ListReports { .. }) => [
        moderation::Command::ListReports { state: Some(ReportState::Taken), page: page() },
    ],
    Command::Moderation(moderation::Command::Act(_)) => [
        moderation::Command::Act(Moderate::Sanction {
            user: sub("ann"),
            room: Some(room()),
            kind: SanctionKind::Mute,
            until: Timestamp(7),
            reason: TEXT.into(),
        }),
        moderation::Command::Act(Moderate::SetRole { user: sub("ann"), role: SiteRole::Moderator }),
        moderation::Command::Act(Moderate::SetLevel { user: sub("ann"), level: Some(Level::Basic) }),
        moderation::Command::Act(Moderate::Configure { patch: Box::new(patch()) }),
    ],
    Command::Moderation(moderation::Command::ListAudit { .. }) => [
        moderation::Command::ListAudit { page: page() },
    ],
    Command::Moderation(moderation::Command::Notices { .. }) => [moderation::Command::Notices { seen: true }],
    Command::Moderation(moderation::Command::Settings) => [moderation::Command::Settings],
    Command::Moderation(moderation::Command::Configure { .. }) => [
        moderation::Command::Configure { patch: Box::new(patch()) },
    ],
    Command::Moderation(moderation::Command::TestFilter { .. }) => [
        moderation::Command::TestFilter { body: TEXT.into() },
    ],
    Command::Notifications(notifications::Command::Change(_)) => [
        notifications::Command::Change(Box::default()),
        notifications::Command::Change(Box::new(NotifyChange {
            subscribe: Some(push_device()),
            unsubscribe: Some(TEXT.into()),
            quiet: Some(QuietHours::new(1_320, 420, -60)),
            bodies: Some(false),
            mail: Some(60),
        })),
        notifications::Command::Change(Box::new(NotifyChange { quiet: Some(None), ..NotifyChange::default() })),
    ],
    Command::Notifications(notifications::Command::PushApp(_)) => [
        notifications::Command::PushApp(Box::new(AppPush {
            service: TEXT.into(),
            node: TEXT.into(),
            options: TEXT.into(),
        })),
    ],
    Command::Notifications(notifications::Command::EndAppPush { .. }) => [
        notifications::Command::EndAppPush { service: TEXT.into(), node: Some(TEXT.into()) },
        notifications::Command::EndAppPush { service: TEXT.into(), node: None },
    ],
    Command::Notifications(notifications::Command::SetIdle(_)) => [notifications::Command::SetIdle(true)],
    Command::Presence(presence::Command::Set(_)) => [presence::Command::Set(SetPresence::Invisible)],
    Command::Presence(presence::Command::Watch { .. }) => [
        presence::Command::Watch { contacts: true, users: vec![sub("ann")] },
    ],
    Command::Presence(presence::Command::Announce(_)) => [
        presence::Command::Announce(None),
        presence::Command::Announce(Some(presence::Availability { status: TEXT.into(), ..Default::default() }.into())),
    ],
    Command::Presence(presence::Command::Undelivered { .. }) => [
        presence::Command::Undelivered { to: sub("ann"), payload: TEXT.into() },
    ],
    Command::Presence(presence::Command::Relay { .. }) => [
        presence::Command::Relay { to: sub("ann"), resource: TEXT.into(), payload: TEXT.into(), is_answer: true },
    ],
    Command::Rooms(rooms::Command::Create { .. }) => [
        rooms::Command::Create { name: TEXT.into(), kind: RoomKind::Announcement, topic: Some(TEXT.into()), alias: Alias::parse(TEXT.trim()) },
    ],
    Command::Rooms(rooms::Command::Change { .. }) => [
        rooms::Command::Change { conversation: room(), change: Box::new(RoomChange::default()) },
        rooms::Command::Change { conversation: room(), change: Box::new(RoomChange {
                name: Some(TEXT.into()),
                topic: Some(TEXT.into()),
                avatar: Some(AvatarChange::Upload(file())),
                kind: Some(RoomKind::Private),
                slow_ms: Some(500),
                frozen: Some(true),
                max_members: Some(0),
            }) },
    ],
    Command::Rooms(rooms::Command::List { .. }) => [
        rooms::Command::List { query: Some(TEXT.into()), page: page() },
    ],
    Command::Rooms(rooms::Command::Join { .. }) => [
        rooms::Command::Join { to: To::Page(PageKey::parse("/hush/1").unwrap()) },
    ],
    Command::Rooms(rooms::Command::Leave { .. }) => [rooms::Command::Leave { conversation: room() }],
    Command::Rooms(rooms::Command::Close { .. }) => [
        rooms::Command::Close { conversation: room(), closing: Box::default() },
        rooms::Command::Close { conversation: room(), closing: Box::new(closing()) },
    ],
    Command::Rooms(rooms::Command::Find { .. }) => [rooms::Command::Find { alias: Alias::parse(TEXT.trim()).unwrap() }],
    Command::Rooms(rooms::Command::Enter { .. }) => [
        rooms::Command::Enter { conversation: room(), nickname: Nickname::parse(TEXT) },
        rooms::Command::Enter { conversation: room(), nickname: None },
    ],
    Command::Rooms(rooms::Command::Exit { .. }) => [rooms::Command::Exit { conversation: room() }],
    Command::Rooms(rooms::Command::ListOccupants { .. }) => [
        rooms::Command::ListOccupants { conversation: room() },
    ],
    Command::Rooms(rooms::Command::ListNames { .. }) => [
        rooms::Command::ListNames { conversation: room(), users: vec![sub("ann")], naming: Naming::Chosen },
    ],
    Command::Rooms(rooms::Command::SetNickname { .. }) => [
        rooms::Command::SetNickname { conversation: room(), nickname: Nickname::parse(TEXT) },
        rooms::Command::SetNickname { conversation: room(), nickname: None },
    ],
    Command::Rooms(rooms::Command::Show { .. }) => [rooms::Command::Show { conversation: room() }],
    Command::Rooms(rooms::Command::AnswerRequest { .. }) => [
        Command::answer_request(room(), RequestAnswer::Dismiss),
    ],
    Command::Rooms(rooms::Command::ChangeMember { .. }) => [
        member(MemberAction::Invite),
        member(MemberAction::SetRole(Role::Owner)),
    ],
    Command::Rooms(rooms::Command::SanctionMember { .. }) => [
        rooms::Command::SanctionMember {
            conversation: room(),
            user: sub("ann"),
            sanction: RoomSanction {
                kind: RoomSanctionKind::Ban,
                until: Timestamp::MAX,
                reason: TEXT.into(),
                shows_reason: true,
            },
        },
    ],
    Command::Rooms(rooms::Command::ListMembers { .. }) => [
        rooms::Command::ListMembers {
            conversation: room(),
            list: MemberList::Sanctioned,
            query: Some(TEXT.into()),
            page: page(),
        },
    ],
    Command::Rooms(rooms::Command::MakeLink { .. }) => [
        rooms::Command::MakeLink { conversation: room(), hours: Some(1), uses: None },
    ],
    Command::Rooms(rooms::Command::ListLinks { .. }) => [rooms::Command::ListLinks { conversation: room() }],
    Command::Rooms(rooms::Command::RevokeLink { .. }) => [
        rooms::Command::RevokeLink { conversation: room(), code: code() },
    ],
    Command::Rooms(rooms::Command::OpenLink { .. }) => [rooms::Command::OpenLink { code: code() }],
    Command::Rooms(rooms::Command::JoinByLink { .. }) => [rooms::Command::JoinByLink { code: code() }],
    Command::SignIn(sign_in::Command::Resume { .. }) => [
        sign_in::Command::Resume { position: None },
        sign_in::Command::Resume { position: Some(Position { epoch: 7, number: u64::MAX }) },
    ],
    Command::SignIn(sign_in::Command::RenewToken { .. }) => [sign_in::Command::RenewToken { token: TEXT.into() }],
}

/// Values without `PartialEq` are compared in serialized form, which contains every field.
fn round_trip<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).unwrap();
    let read: T = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    read
}

#[test]
fn every_command_round_trips() {
    for (pattern, command) in examples() {
        assert_eq!(row(&command), pattern);
        for re in [None, Some(0), Some(u64::MAX)] {
            let read = round_trip(&Request { re, command: command.clone() });
            assert_eq!((read.re, row(&read.command)), (re, pattern));
        }
    }
}

#[test]
fn removing_a_value_differs_from_no_change() {
    let changed = |status| {
        let change = Box::new(ProfileChange { status, ..ProfileChange::default() });
        match round_trip(&account::Command::ChangeProfile { change }) {
            account::Command::ChangeProfile { change } => change.status,
            other => panic!("{other:?}"),
        }
    };
    let status = Some(Some(Status { text: TEXT.into(), until: Some(Timestamp(7)) }));
    assert_eq!(changed(status.clone()), status);
    assert_eq!((changed(Some(None)), changed(None)), (Some(None), None));
    let change = NotifyChange { quiet: Some(None), ..NotifyChange::default() };
    assert_eq!(round_trip(&change), change);
}

#[test]
fn names_are_checked_again_when_they_are_read() {
    fn read<T: DeserializeOwned>(text: &str) -> bool {
        serde_json::from_str::<T>(text).is_ok()
    }
    assert!(read::<Sub>(r#""ann""#) && !read::<Sub>(r#""""#) && !read::<Sub>(r#""a\u0000b""#));
    assert!(read::<DeviceId>(r#""d-1""#) && !read::<DeviceId>(r#""a b""#));
    assert!(read::<PageKey>(r#""/a""#) && !read::<PageKey>(r#""a\nb""#));
    assert!(read::<Reaction>(r#"":ok:""#) && !read::<Reaction>(r#""words""#));
    assert!(!read::<LinkCode>(r#""short""#) && !read::<CallTicket>(r#""12""#));
    assert!(read::<QuietHours>("[0,1,0]") && !read::<QuietHours>("[0,0,0]"));
    assert!(!read::<PushDevice>(r#"["http://push.example","","",""]"#));
}

#[test]
fn a_hello_round_trips() {
    let hello = |credential| Hello {
        site_key: TEXT.into(),
        credential,
        device: DeviceId::parse("d-1").unwrap(),
        position: Some(Position { epoch: 1, number: 2 }),
        origin: Some(TEXT.into()),
        address: Some(scene::ADDRESS.into()),
        agent: Agent::parse(b"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Firefox/128.0"),
        announced: None,
    };
    let password = Credential::AppPassword { sub: sub("ann"), number: u32::MAX };
    let remote = Credential::Remote { sub: sub("xmpp:romeo@b.example"), is_known: true };
    for credential in [Credential::Guest, Credential::Token(TEXT.into()), password, remote] {
        let text = serde_json::to_string(&hello(credential)).unwrap();
        let read: Hello<'_> = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
    let text = serde_json::to_string(&hello(Credential::Token(TEXT.into()))).unwrap();
    let read: Hello<'_> = serde_json::from_str(&text).unwrap();
    let hello = hello(Credential::Guest);
    assert!(matches!(read.credential, Credential::Token(token) if token == TEXT));
    assert_eq!((read.site_key, read.origin), (hello.site_key, hello.origin));
    assert_eq!((read.device, read.position, read.address), (hello.device, hello.position, hello.address));
    assert_eq!(read.agent, hello.agent);
}

#[test]
fn sessions_round_trip() {
    let user = UserId { site: SiteId(1), num: 7 };
    let record = SessionRecord {
        session: SessionId { user, handle: SessionHandle(u64::MAX) },
        device: u64::MAX,
        seen: Position { epoch: 1, number: 2 },
        ends: Timestamp(3),
        key: "k".into(),
        app_password: Some(7),
        watches_contacts: true,
        announced: Some(chat::presence::Announced {
            resource: "phone".into(),
            availability: Some(Default::default()),
        }),
        watched: vec![UserId { num: 8, ..user }],
        is_behind: true,
        has_entered: true,
    };
    assert_eq!(round_trip(&record), record);
}

#[test]
fn logs_contain_only_the_name_of_a_command() {
    let mut names = BTreeSet::new();
    for (pattern, command) in examples() {
        let shown = format!("{:?}", Request { re: Some(7), command });
        assert!(!shown.contains("hush"), "{shown}");
        names.insert((pattern, shown));
    }
    let patterns: BTreeSet<&str> = names.iter().map(|(pattern, _)| *pattern).collect();
    let shown: BTreeSet<&str> = names.iter().map(|(_, shown)| &**shown).collect();
    assert_eq!((names.len(), shown.len()), (patterns.len(), patterns.len()), "each has a name of its own");
}

/// A gateway that forgets the number gets a refusal, instead of an answer that no client can assign.
#[test]
fn a_command_that_is_answered_by_its_number_is_refused_without_one() {
    let scene = Scene::new(Mode::Open);
    for (pattern, command) in examples() {
        let ann = scene.sign_in("ann", "a");
        let needs_none = matches!(
            command,
            Command::Calls(_)
                | Command::Presence(_)
                | Command::Notifications(notifications::Command::SetIdle(_))
                | Command::Rooms(rooms::Command::Exit { .. })
                | Command::Messages(
                    messages::Command::Send { .. }
                        | messages::Command::Forward { .. }
                        | messages::Command::SendSticker(_)
                        | messages::Command::Mark { .. }
                        | messages::Command::Typing { .. }
                )
        );
        let heard = scene.ask(&ann, command);
        let is_refused = matches!(&heard[..], [event!(None, session::Refused(Refusal::BadValue))]);
        assert!(needs_none || is_refused, "{pattern}: {heard:?}");
        assert!(heard.iter().all(|delivery| delivery.re.is_none()), "{pattern}: {heard:?}");
    }
}

fn page() -> PageOf {
    PageOf { after: Some(TEXT.into()), limit: Some(7) }
}

fn closing() -> Closing {
    Closing { reason: Some(TEXT.into()), successor: Some(TEXT.into()) }
}

fn room() -> ConversationId {
    ConversationId::room(SiteId(1), 7)
}

fn direct() -> ConversationId {
    let user = |num| UserId { site: SiteId(1), num };
    ConversationId::direct(user(1), user(2)).unwrap()
}

fn user() -> To {
    To::User(sub("ann"))
}

fn file() -> FileId {
    FileId { site: SiteId(1), number: u64::MAX }
}

fn code() -> LinkCode {
    LinkCode::of([0xff; 16])
}

fn patch() -> serde_json::Value {
    serde_json::json!({ "filters": { "words": [TEXT], "links": null }, "members": { "rename": true } })
}

fn step(step: CallStep) -> calls::Command {
    calls::Command::Direct { action: CallAction::Of(CallId(u64::MAX), step) }
}

fn group(action: GroupAction) -> calls::Command {
    calls::Command::Group { conversation: room(), action }
}

fn change(change: MessageChange) -> messages::Command {
    messages::Command::Change { conversation: direct(), seq: Seq(1), change }
}

fn member(action: MemberAction) -> rooms::Command {
    rooms::Command::ChangeMember { conversation: room(), user: sub("ann"), action }
}

fn report(of: ReportOf) -> moderation::Command {
    moderation::Command::Report { of, reason: ReportReason::Fraud, text: TEXT.into() }
}

fn send(rich: Option<Box<NewRich>>) -> messages::Command {
    messages::Command::Send {
        client_id: TEXT.into(),
        to: To::Conversation(room()),
        body: TEXT.into(),
        extension: Some(TEXT.into()),
        reply_to: Some(Seq(1)),
        files: vec![file()],
        rich,
    }
}

fn poll() -> NewPoll {
    NewPoll { choices: vec![TEXT.into()], multiple: true, anonymous: false, ends: Some(Timestamp(7)) }
}

fn forwarded() -> NewForward {
    let author = UserId { site: SiteId(1), num: 7 };
    NewForward { author: Some((author, sub("ann"))), files: vec![file()] }
}

fn sticker() -> Sticker {
    Sticker {
        id: StickerId { site: SiteId(1), number: 7 },
        series: TEXT.into(),
        words: TEXT.into(),
        kind: FileType::named("image/png"),
        width: 160,
        height: 120,
    }
}

fn preview() -> NewPreview {
    let picture = Picture { width: 1, height: 2, blurhash: TEXT.into(), has_thumbnail: true };
    NewPreview {
        url: TEXT.into(),
        title: TEXT.into(),
        description: TEXT.into(),
        site: TEXT.into(),
        picture: Some(NewPicture { id: file(), kind: FileType::named("image/png"), bytes: 3, picture }),
    }
}

fn profile_change() -> ProfileChange {
    ProfileChange {
        status: Some(Some(Status { text: TEXT.into(), until: Some(Timestamp(7)) })),
        name: Some(NameChange::Own(TEXT.into())),
        write: Some(Audience::Nobody),
        presence: Some(Audience::Contacts),
        last_seen: Some(Audience::Everybody),
    }
}

fn push_device() -> PushDevice {
    let key = "A".repeat(87);
    PushDevice::parse("https://push.example/hush", &key, &"A".repeat(22), "de").unwrap()
}

fn picture_source() -> PictureSource {
    PictureSource { list: TEXT.into(), version: u64::MAX }
}
