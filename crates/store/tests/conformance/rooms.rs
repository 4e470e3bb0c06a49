//! Rooms: joins, unread counts, and the changes that a returning device receives.

use std::sync::Arc;
use std::thread;

use chat::{
    By, ConversationId, ConversationOf, Joined, LeftReason, MOST_SEEN_BY, MemberAction, MemberRow,
    MemberSanction, Naming, NewRoom, Nickname, PageKey, Post, Posted, Refusal, Role, RoomChange, RoomKind,
    RoomLimits, RoomName, RoomSanction, RoomSanctionKind, Seq, Standing, Store, Timestamp, UserId,
};

use crate::asking::{NOW, add_site, ask, put, put_named, say, snapshot};
use crate::two_users;

const LIMITS: RoomLimits = RoomLimits { members: 0, per_user: 0, owned: 0 };

fn create(store: &dyn Store, owner: UserId, kind: RoomKind) -> ConversationId {
    let room = NewRoom { name: "Bikers".into(), kind, topic: Some("Two wheels".into()), alias: None };
    ask(|done| store.create_room(owner, room, LIMITS, NOW, done)).expect("it is allowed").row.id
}

fn join(store: &dyn Store, room: ConversationId, user: UserId) -> Result<Joined, Refusal> {
    ask(|done| store.join_room(RoomName::Id(room), user, LIMITS, NOW, done))
}

fn post_in(store: &dyn Store, room: RoomName, from: UserId, id: &str, body: &str) -> Result<Posted, Refusal> {
    let post = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room,
        from,
        client_id: id.into(),
        body: body.into(),
        extension: None,
        time: NOW,
        reply_to: None,
        files: Vec::new(),
        rich: None,
    };
    ask(|done| store.post(post, LIMITS, done))
}

fn post(
    store: &dyn Store,
    room: ConversationId,
    from: UserId,
    id: &str,
    body: &str,
) -> Result<Posted, Refusal> {
    post_in(store, RoomName::Id(room), from, id, body)
}

fn enter(
    store: &dyn Store,
    room: ConversationId,
    user: UserId,
    nick: Option<&str>,
) -> Result<(Arc<str>, bool), Refusal> {
    let nickname = nick.map(|nick| Nickname::parse(nick).expect("one line"));
    let entered = ask(|done| store.enter_room(room, user, nickname, LIMITS, NOW, done));
    entered.map(|entered| (entered.nick, entered.joined.before))
}

pub(crate) fn members_enter_under_nicknames(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let room = create(store, ann, RoomKind::Public);
    let own = enter(store, room, bob, None).expect("it is allowed");
    assert!(!own.1, "entering joins the room");
    assert_eq!(enter(store, room, ann, Some(&own.0)), Err(Refusal::UserExists), "a member's display name");
    assert_eq!(enter(store, room, bob, Some("Bobby")), Ok(("Bobby".into(), true)));
    assert_eq!(enter(store, room, ann, Some("bobby")), Err(Refusal::UserExists));
    assert_eq!(
        enter(store, room, ann, Some(&own.0)).expect("it is allowed").0,
        own.0,
        "nobody uses it any more"
    );
    assert_eq!(enter(store, room, bob, None).expect("it is allowed").0, "Bobby".into(), "it is kept");
    let sub = |user: UserId| ask(|done| store.users_by_id(vec![user], done))[0].profile.sub.clone();
    let named = |users: &[UserId], asker| {
        let subs = users.iter().map(|user| sub(*user)).collect();
        ask(|done| store.nicknames(room, asker, subs, Naming::Shown, done)).expect("it is allowed")
    };
    assert_eq!(named(&[bob, ann], ann), [(sub(bob), "Bobby".into()), (sub(ann), own.0.clone())]);
    ask(|done| store.leave_room(room, bob, done)).expect("it is allowed");
    assert_eq!(named(&[bob], ann), [(sub(bob), own.0)], "the nickname has ended");
    assert_eq!(ask(|done| store.room(room, bob, done)).map(|room| room.members), Ok(1));

    let hidden = create(store, ann, RoomKind::Private);
    enter(store, hidden, ann, Some("Boss")).expect("it is allowed");
    for nick in [None, Some("Boss"), Some("Other")] {
        assert_eq!(enter(store, hidden, bob, nick), Err(Refusal::NoSuchConversation));
    }
    assert_eq!(ask(|done| store.room(hidden, bob, done)), Err(Refusal::NoSuchConversation));
    let subs = vec![sub(ann)];
    assert_eq!(
        ask(|done| store.nicknames(hidden, bob, subs, Naming::Shown, done)),
        Err(Refusal::NoSuchConversation)
    );
}

pub(crate) fn members_choose_nicknames(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let room = create(store, ann, RoomKind::Public);
    let set = |user, nick: Option<&str>| {
        let nickname = nick.map(|nick| Nickname::parse(nick).expect("one line"));
        ask(|done| store.set_nickname(room, user, nickname, done))
    };
    let number = || ask(|done| store.room(room, ann, done)).expect("it is hers").nicknames;
    assert_eq!(set(bob, Some("Bobby")).err(), Some(Refusal::NotAMember));
    let own = enter(store, room, bob, None).expect("it is allowed").0;
    assert_eq!((set(bob, None).expect("it is allowed").change, number()), (None, 0), "nothing has changed");
    assert_eq!(set(bob, Some(&own)).expect("it is allowed").change, None, "the display name is no nickname");
    let seen = snapshot(store, ann, None).position;

    let named = set(bob, Some("Bobby")).expect("it is allowed");
    let change = named.change.expect("it has changed");
    assert_eq!(
        (&*named.nick, named.is_chosen, change.room.nicknames),
        ("Bobby", true, change.position.number)
    );
    let mut members = change.members.to_vec();
    members.sort_unstable();
    assert_eq!(members, [ann.num.min(bob.num), ann.num.max(bob.num)]);
    let difference = snapshot(store, ann, Some(seen));
    assert_eq!(difference.conversations.rows.len(), 1, "a member who was away learns of it");
    assert_eq!(set(bob, Some("Bobby")).expect("it is allowed").change, None);
    assert_eq!(set(ann, Some("BOBBY")).err(), Some(Refusal::UserExists));
    let sub = |user: UserId| ask(|done| store.users_by_id(vec![user], done))[0].profile.sub.clone();
    let chosen = |asker| {
        let subs = vec![sub(ann), sub(bob)];
        ask(|done| store.nicknames(room, asker, subs, Naming::Chosen, done)).expect("it is allowed")
    };
    assert_eq!(chosen(ann), [(sub(bob), "Bobby".into())]);

    let before = number();
    let ended = set(bob, None).expect("it is allowed");
    assert_eq!((ended.nick, ended.is_chosen), (own, false));
    assert!(number() > before && chosen(ann).is_empty());
    enter(store, room, ann, Some("Bobby")).expect("it is free");
    assert!(enter(store, room, ann, Some("Boss")).is_ok() && number() > before, "an app changes it, too");
}

pub(crate) fn a_post_names_its_author_on_request(store: &dyn Store) {
    let (_, ann, _) = two_users(store);
    let room = create(store, ann, RoomKind::Public);
    enter(store, room, ann, Some("Boss")).expect("it is allowed");
    assert_eq!(post(store, room, ann, "1", "x").expect("it is allowed").author, None);
    let asked = Post {
        names_author: true,
        kind: chat::MessageKind::Text,
        room: RoomName::Id(room),
        from: ann,
        client_id: "2".into(),
        body: "x".into(),
        extension: None,
        time: NOW,
        reply_to: None,
        files: Vec::new(),
        rich: None,
    };
    let author =
        ask(|done| store.post(asked, LIMITS, done)).expect("it is allowed").author.expect("it is allowed");
    assert_eq!((&*author.nick, author.role), ("Boss", Role::Owner));
}

fn act(
    store: &dyn Store,
    room: ConversationId,
    by: UserId,
    user: UserId,
    action: MemberAction,
) -> Result<Standing, Refusal> {
    let changed = ask(|done| store.change_member(room, by, user, action, LIMITS, NOW, done));
    changed.map(|changed| changed.member.standing)
}

fn unread(store: &dyn Store, room: ConversationId, user: UserId) -> (u64, u64) {
    let row = ask(|done| store.conversation(user, room, done)).expect("a member");
    (row.unread, row.mentions)
}

pub(crate) fn a_message_counts_for_each_member_and_touches_none(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let room = create(store, ann, RoomKind::Public);
    assert!(join(store, room, bob).is_ok() && join(store, room, carl).is_ok());
    let first = post(store, room, ann, "1", "hello @bob").expect("an owner writes");
    let mut told = first.members.to_vec();
    told.sort_unstable();
    assert_eq!((first.appended.seq, told), (Seq(1), vec![ann.num, bob.num, carl.num]));
    assert_eq!(post(store, room, ann, "2", "@room: news").map(|posted| posted.appended.seq), Ok(Seq(2)));
    assert_eq!(post(store, room, bob, "1", "@room is nothing here").map(|p| p.appended.seq), Ok(Seq(3)));
    assert_eq!(unread(store, room, ann), (1, 0));
    assert_eq!(unread(store, room, bob), (0, 0), "who writes has read all before");
    assert_eq!(unread(store, room, carl), (3, 1));
    let marked = ask(|done| store.mark(room, carl, Seq(0), Seq(2), done));
    assert_eq!((marked.moved, marked.unread), (true, 1));
    assert_eq!(unread(store, room, carl), (1, 0));
    let again = post(store, room, ann, "1", "other words").expect("it was stored");
    assert!(again.appended.repeated && again.members.is_empty());
    assert_eq!(again.appended.seq, Seq(1));
}

pub(crate) fn the_first_author_creates_the_room_of_a_page(store: &dyn Store) {
    let (site, ..) = two_users(store);
    let page = || RoomName::Page(site, PageKey::parse("/thread/42").expect("one line"));
    let users: Vec<UserId> = (0..8).map(|number| put(store, site, &format!("user{number}"))).collect();
    let looked = ask(|done| store.room_history(page(), users[0], None, None, 10, done)).expect("all may");
    assert_eq!((looked.0, looked.1.messages.len()), (None, 0));
    let posted: Vec<Posted> = thread::scope(|scope| {
        let post = |user: &UserId| {
            let user = *user;
            scope.spawn(move || post_in(store, page(), user, "1", "first!").expect("all may write"))
        };
        let threads: Vec<_> = users.iter().map(post).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let mut seqs: Vec<u64> = posted.iter().map(|posted| posted.appended.seq.0).collect();
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=8).collect::<Vec<_>>());
    let room = posted[0].appended.conversation;
    assert!(posted.iter().all(|posted| posted.appended.conversation == room && posted.joined.is_some()));
    assert!(ask(|done| store.rooms(site, None, None, 10, done)).rows.is_empty(), "in no directory");
    let members = ask(|done| store.members(room, users[0], None, None, 20, done)).expect("a member");
    assert!(members.rows.iter().all(|row| row.standing == Standing::In(Role::Member)));
    assert_eq!(members.rows.len(), 8);
}

pub(crate) fn a_private_room_does_not_exist_for_outsiders(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let room = create(store, ann, RoomKind::Private);
    let none = Refusal::NoSuchConversation;
    assert_eq!(join(store, room, bob), Err(none));
    assert_eq!(post(store, room, bob, "1", "x").map(|_| ()), Err(none));
    let history = |user| {
        ask(|done| store.room_history(RoomName::Id(room), user, None, None, 9, done)).map(|page| page.0)
    };
    assert_eq!(history(bob), Err(none));
    assert_eq!(ask(|done| store.members(room, bob, None, None, 9, done)).map(|_| ()), Err(none));
    assert_eq!(act(store, room, ann, bob, MemberAction::Invite), Ok(Standing::In(Role::Member)));
    assert_eq!(act(store, room, bob, carl, MemberAction::Invite), Err(Refusal::NotAllowed));
    assert_eq!(history(bob), Ok(Some(room)));
    let other = put(store, add_site(store, "other"), "ann");
    let elsewhere = ConversationId { site: other.site, key: room.key };
    assert_eq!(join(store, elsewhere, other), Err(none), "sites never meet");
    assert_eq!(join(store, room, other), Err(none));
    assert_eq!(post(store, room, other, "1", "x").map(|_| ()), Err(none));
}

pub(crate) fn roles_slow_mode_and_freeze_hold_from_the_next_message_on(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let room = create(store, ann, RoomKind::Public);
    assert!(join(store, room, bob).is_ok());
    let change = |change| ask(|done| store.change_room(room, ann, change, NOW, done)).expect("an owner may");
    let try_post = |id: &str, time| {
        let (room, body) = (RoomName::Id(room), "x".into());
        let post = Post {
            names_author: false,
            kind: chat::MessageKind::Text,
            room,
            from: bob,
            client_id: id.into(),
            body,
            extension: None,
            time: Timestamp(time),
            reply_to: None,
            files: Vec::new(),
            rich: None,
        };
        ask(|done| store.post(post, LIMITS, done)).map(|posted| posted.appended.seq.0)
    };
    change(RoomChange { slow_ms: Some(1_000), ..RoomChange::default() });
    assert_eq!(try_post("1", 10_000), Ok(1));
    assert_eq!(try_post("2", 10_400), Err(Refusal::SlowMode { retry_after_ms: 600 }));
    assert_eq!(try_post("1", 10_400), Ok(1), "a repeated one is answered as then");
    assert_eq!(try_post("2", 11_000), Ok(2));
    let told = change(RoomChange { slow_ms: Some(0), frozen: Some(true), ..RoomChange::default() });
    assert_eq!(told.members.len(), 2);
    assert_eq!(try_post("3", 20_000), Err(Refusal::Frozen));
    assert!(change(RoomChange { frozen: Some(true), ..RoomChange::default() }).members.is_empty());
    change(RoomChange { frozen: Some(false), kind: Some(RoomKind::Announcement), ..RoomChange::default() });
    assert_eq!(try_post("3", 30_000), Err(Refusal::ReadOnly));
    assert_eq!(act(store, room, ann, bob, MemberAction::SetRole(Role::Muted)), Ok(Standing::In(Role::Muted)));
    assert_eq!(try_post("3", 40_000), Err(Refusal::Muted));
    assert_eq!(act(store, room, ann, bob, MemberAction::SetRole(Role::Moderator)).map(|_| ()), Ok(()));
    assert_eq!(try_post("3", 50_000), Ok(3));
    assert_eq!(act(store, room, bob, ann, MemberAction::Remove), Err(Refusal::NotAllowed));
    assert_eq!(ask(|done| store.leave_room(room, ann, done)), Err(Refusal::LastOwner));
}

pub(crate) fn a_removed_member_is_notified_and_a_banned_one_stays_out(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let room = create(store, ann, RoomKind::Public);
    assert!(join(store, room, bob).is_ok());
    assert!(post(store, room, ann, "1", "x").is_ok());
    let before = snapshot(store, bob, None);
    assert_eq!(before.conversations.rows.len(), 1);
    assert_eq!(act(store, room, ann, bob, MemberAction::Ban), Ok(Standing::Banned));
    let left = |position| snapshot(store, bob, Some(position)).left;
    assert_eq!(left(before.position), [(room, LeftReason::Banned)]);
    assert!(snapshot(store, bob, None).conversations.rows.is_empty());
    assert_eq!(join(store, room, bob), Err(Refusal::RoomBanned));
    assert_eq!(act(store, room, ann, bob, MemberAction::Invite), Err(Refusal::RoomBanned));
    assert_eq!(post(store, room, bob, "1", "x").map(|_| ()), Err(Refusal::RoomBanned));
    assert_eq!(act(store, room, ann, bob, MemberAction::Unban), Ok(Standing::Out));
    let joined = join(store, room, bob).expect("everybody may");
    assert_eq!((joined.before, joined.row.unread), (false, 0));
    let position = joined.position;
    assert!(ask(|done| store.leave_room(room, bob, done)).is_ok());
    assert_eq!(left(position), [(room, LeftReason::Left)]);
    let posted = post(store, room, ann, "2", "x").expect("an owner writes");
    assert_eq!(*posted.members, [ann.num]);
    let carl = put(store, site, "carl");
    assert!(join(store, room, carl).is_ok());
    assert_eq!(ask(|done| store.leave_room(room, bob, done)), Err(Refusal::NotAMember));
}

pub(crate) fn a_difference_has_rooms_that_changed_and_their_messages(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let (one, other) = (create(store, ann, RoomKind::Public), create(store, ann, RoomKind::Private));
    assert!(join(store, one, bob).is_ok());
    let before = snapshot(store, bob, None).position;
    say(store, ann, bob, "d", "direct");
    for number in 0..30 {
        assert!(post(store, one, ann, &number.to_string(), "x").is_ok());
    }
    assert!(post(store, other, ann, "p", "not for bob").is_ok());
    let view = snapshot(store, bob, Some(before));
    assert!(!view.reset);
    assert_eq!(view.conversations.rows.len(), 2);
    assert_eq!((view.gaps[0].conversation, view.gaps[0].first), (one, Seq(11)));
    let of_room: Vec<u64> =
        view.messages.iter().filter(|message| message.conversation == one).map(|m| m.seq.0).collect();
    assert_eq!(of_room, (11..=30).collect::<Vec<_>>());
    let after = view.position;
    assert!(snapshot(store, bob, Some(after)).conversations.rows.is_empty());
    let change = RoomChange { topic: Some("New".into()), ..RoomChange::default() };
    assert!(ask(|done| store.change_room(one, ann, change, NOW, done)).is_ok());
    let view = snapshot(store, bob, Some(after));
    let [row] = &view.conversations.rows[..] else { panic!("{view:?}") };
    assert!(matches!(&row.of, ConversationOf::Room { room, .. } if room.topic.as_deref() == Some("New")));
    assert!(view.messages.is_empty());
}

pub(crate) fn there_are_only_so_many_members_and_rooms(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let limits = RoomLimits { members: 2, per_user: 2, owned: 1 };
    let new = || NewRoom { name: "x".into(), kind: RoomKind::Public, topic: None, alias: None };
    let room = ask(|done| store.create_room(ann, new(), limits, NOW, done)).expect("the first").row.id;
    assert_eq!(
        ask(|done| store.create_room(ann, new(), limits, NOW, done)).map(|_| ()),
        Err(Refusal::TooManyRooms)
    );
    let join = |user| ask(|done| store.join_room(RoomName::Id(room), user, limits, NOW, done)).map(|_| ());
    assert_eq!(join(bob), Ok(()));
    assert_eq!(join(carl), Err(Refusal::RoomFull));
    assert_eq!(join(bob), Ok(()), "a member already");
    for page in ["/1", "/2"] {
        let name = RoomName::Page(site, PageKey::parse(page).expect("one line"));
        let joined = ask(|done| store.join_room(name, bob, limits, NOW, done)).map(|_| ());
        assert_eq!(joined, if page == "/1" { Ok(()) } else { Err(Refusal::TooManyRooms) });
    }
    let name = RoomName::Page(site, PageKey::parse("/2").expect("one line"));
    let looked = ask(|done| store.room_history(name, bob, None, None, 1, done)).expect("all may");
    assert_eq!(looked.0, None, "who cannot join does not make it");
}

pub(crate) fn a_closed_room_exists_for_nobody(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let (carl, dora) = (put(store, site, "carl"), put(store, site, "dora"));
    let alias = |text: &str| chat::Alias::parse(text).expect("a name");
    let new = |text: &str| NewRoom {
        name: text.into(),
        kind: RoomKind::Public,
        topic: None,
        alias: Some(alias(text).as_str().into()),
    };
    let create = |owner, text: &str| ask(|done| store.create_room(owner, new(text), LIMITS, NOW, done));
    let room = create(ann, "bikers").expect("it is allowed").row.id;
    assert_eq!(create(bob, "bikers").map(|_| ()), Err(Refusal::UserExists));
    let find = |user| {
        ask(|done| store.find_room(alias("bikers"), user, NOW, done))
            .map(|(id, room)| (id, room.alias.is_some()))
    };
    assert_eq!(find(bob), Ok((room, true)));
    assert!(join(store, room, bob).is_ok());
    post(store, room, bob, "1", "hello").expect("a member");
    assert!(act(store, room, ann, bob, MemberAction::SetRole(Role::Moderator)).is_ok());
    let rule = chat::AddRule { how: chat::AddAs::Request(chat::LinkRule::Refused), per_day: None };
    let add = chat::AddMember { room, by: ann, user: carl, rule, time: NOW };
    assert!(ask(|done| store.add_member(add, LIMITS, done)).expect("he is asked").requested);
    let code = chat::LinkCode::of([7; 16]);
    let link = chat::NewLink { code, until: Timestamp(NOW.0 + 1_000), uses: None };
    ask(|done| store.make_link(room, ann, link, NOW, done)).expect("it is hers");
    let before = snapshot(store, bob, None).position;

    let close = |by| ask(|done| store.close_room(room, by, Some("Moved".into()), NOW, done));
    assert_eq!(close(bob).map(|_| ()), Err(Refusal::NotAllowed), "a moderator is no owner");
    assert_eq!(close(dora).map(|_| ()), Err(Refusal::NotAMember));
    let closed = close(ann).expect("it is hers");
    assert_eq!((&closed.members[..], closed.more), (&[bob.num, ann.num][..], false));

    for user in [ann, bob, carl, dora] {
        assert_eq!(join(store, room, user).map(|_| ()), Err(Refusal::NoSuchConversation));
        assert_eq!(post(store, room, user, "2", "x").map(|_| ()), Err(Refusal::NoSuchConversation));
        let history = ask(|done| store.room_history(RoomName::Id(room), user, None, None, 9, done));
        assert_eq!(history.map(|_| ()), Err(Refusal::NoSuchConversation));
        assert_eq!(find(user), Err(Refusal::NoSuchConversation));
        assert!(snapshot(store, user, None).conversations.rows.iter().all(|row| row.id != room));
    }
    let by_link = ask(|done| store.join_link(code, dora, LIMITS, NOW, done));
    assert_eq!(by_link.map(|_| ()), Err(Refusal::BadInvitation));
    assert_eq!(close(ann).map(|_| ()), Err(Refusal::NoSuchConversation), "twice");
    assert_eq!(snapshot(store, bob, Some(before)).left, [(room, LeftReason::Closed)]);
    assert_eq!(create(dora, "bikers").map(|_| ()), Err(Refusal::UserExists), "its address is not free");
    assert!(ask(|done| store.rooms(site, None, None, 9, done)).rows.is_empty(), "it is not in the directory");
    assert_eq!(ask(|done| store.rooms_made(ann, NOW, done)), 1, "it still counts");
    assert_eq!(ask(|done| store.rooms_made(bob, NOW, done)), 0);
}

pub(crate) fn a_large_room_is_closed_in_slices(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let room = create(store, ann, RoomKind::Public);
    assert!(join(store, room, bob).is_ok());
    assert!(act(store, room, ann, bob, MemberAction::SetRole(Role::Owner)).is_ok());
    for number in 0..chat::MOST_CLOSED_AT_ONCE {
        assert!(join(store, room, put(store, site, &format!("member-{number}"))).is_ok());
    }
    let close = || ask(|done| store.close_room(room, ann, None, NOW, done)).expect("it is hers");
    let first = close();
    assert_eq!((first.members.len() as u32, first.more), (chat::MOST_CLOSED_AT_ONCE, true));
    assert!(
        first.members.contains(&bob.num) && !first.members.contains(&ann.num),
        "owners first, but the closer"
    );
    let newcomer = put(store, site, "newcomer");
    assert_eq!(join(store, room, newcomer).map(|_| ()), Err(Refusal::NoSuchConversation));
    let record = || {
        let page = ask(|done| store.audit(site, By::Site, None, 9, done)).expect("the site may");
        page.rows.iter().filter(|row| &*row.act == "close_room").count()
    };
    assert_eq!(record(), 1, "the first slice is recorded");
    let last = close();
    assert_eq!((last.members.len(), last.members.last(), last.more), (2, Some(&ann.num), false));
    assert_eq!(record(), 1);
}

pub(crate) fn a_closing_that_was_interrupted_can_be_finished(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let [large, open] = [(); 2].map(|()| create(store, ann, RoomKind::Public));
    for number in 0..2 * chat::MOST_CLOSED_AT_ONCE {
        assert!(join(store, large, put(store, site, &format!("member-{number}"))).is_ok());
    }
    assert!(join(store, open, bob).is_ok());
    let unfinished = || ask(|done| store.unfinished_closings(done));
    assert_eq!(unfinished(), []);
    assert!(ask(|done| store.close_room(large, ann, None, NOW, done)).expect("it is hers").more);
    assert_eq!(unfinished(), [large]);
    let rest = |room| {
        let closed = ask(|done| store.close_rest(room, done));
        (closed.members.len() as u32, closed.more)
    };
    assert_eq!(rest(large), (chat::MOST_CLOSED_AT_ONCE, true));
    assert_eq!(rest(large), (1, false), "the owner is one of them");
    assert_eq!((unfinished(), rest(large)), (vec![], (0, false)));
    assert_eq!(ask(|done| store.rooms_made(ann, NOW, done)), 2, "both still count");
    assert_eq!(rest(open), (0, false), "an open room stays");
    assert!(post(store, open, bob, "1", "hello").is_ok());
}

pub(crate) fn an_owner_who_leaves_as_the_last_member_closes_the_room(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let leave = |room, user| ask(|done| store.leave_room(room, user, done)).map(|_| ());
    let room = create(store, ann, RoomKind::Public);
    assert!(join(store, room, bob).is_ok());
    assert_eq!(leave(room, ann), Err(Refusal::LastOwner));
    assert_eq!(leave(room, bob), Ok(()));
    let before = snapshot(store, ann, None).position;
    assert_eq!(leave(room, ann), Ok(()));
    assert_eq!(snapshot(store, ann, Some(before)).left, [(room, LeftReason::Left)]);
    for user in [ann, bob] {
        assert_eq!(join(store, room, user).map(|_| ()), Err(Refusal::NoSuchConversation));
    }
    assert_eq!(ask(|done| store.rooms_made(ann, NOW, done)), 1, "it still counts");
    assert_eq!(ask(|done| store.unfinished_closings(done)), []);
}

pub(crate) fn members_and_rooms_are_listed_by_name(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let room = create(store, ann, RoomKind::Public);
    let zoe = put_named(store, site, "u1", "Zoe Álvarez");
    for user in [zoe, bob, put_named(store, site, "u2", "Émile Zola")] {
        assert!(join(store, room, user).is_ok());
    }
    assert!(act(store, room, ann, zoe, MemberAction::SetRole(Role::Moderator)).is_ok());
    let subs = |query: Option<&str>| {
        let query = query.map(str::to_owned);
        let page = ask(|done| store.members(room, bob, query, None, 9, done)).expect("a member");
        let names = page.rows.iter().map(|row| row.user.profile.sub.to_string());
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(subs(None), "ann u1 bob u2");
    assert_eq!(subs(Some("ZO")), "u1 u2");
    put_named(store, site, "bob", "Éva");
    assert_eq!(subs(None), "ann u1 u2 bob");
    for (name, kind) in [("Alpha", RoomKind::Announcement), ("Beta", RoomKind::Private)] {
        let new = NewRoom { name: name.into(), kind, topic: None, alias: None };
        assert!(ask(|done| store.create_room(ann, new, LIMITS, NOW, done)).is_ok());
    }
    let names = |query: Option<&str>, limit| {
        let page = ask(|done| store.rooms(site, query.map(str::to_owned), None, limit, done));
        let names: Vec<Arc<str>> = page.rows.iter().map(|(_, room)| room.name.clone()).collect();
        (names.join(" "), page.next.is_some())
    };
    assert_eq!(names(None, 9), ("Alpha Bikers".into(), false));
    assert_eq!(names(None, 1), ("Alpha".into(), true));
    assert_eq!(names(Some("bI"), 9), ("Bikers".into(), false));
}

pub(crate) fn members_of_small_rooms_see_how_far_the_others_are(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let room = create(store, ann, RoomKind::Public);
    assert!(join(store, room, bob).is_ok());
    for id in ["1", "2", "3"] {
        assert!(post(store, room, ann, id, "x").is_ok());
    }
    let moved = ask(|done| store.mark(room, bob, Seq(3), Seq(2), done));
    assert!(moved.moved);
    let markers = |asker: UserId| {
        let page = ask(|done| store.members(room, asker, None, None, 99, done)).expect("it is public");
        assert!(page.markers.is_empty() || page.markers.len() == page.rows.len());
        let of = |wanted: UserId| page.rows.iter().position(|row| row.user.id == wanted);
        [ann, bob].map(|user| of(user).and_then(|at| page.markers.get(at).copied()))
    };
    let expected = [Some((Seq(3), Seq(3))), Some((Seq(3), Seq(2)))];
    assert_eq!((markers(ann), markers(bob)), (expected, expected));
    let carl = put(store, site, "carl");
    let of_carl = ask(|done| store.members(room, carl, None, None, 99, done)).map(|_| ());
    assert_eq!(of_carl, Err(Refusal::NotAMember), "the room is public, its members are not");
    for number in 2..MOST_SEEN_BY {
        assert!(join(store, room, put(store, site, &format!("member{number}"))).is_ok());
    }
    assert_eq!(markers(ann), expected, "as large as it may be");
    assert!(join(store, room, carl).is_ok());
    assert_eq!(markers(ann), [None, None], "too large");
}

pub(crate) fn an_archived_room_comes_back_with_the_next_message(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let room = create(store, ann, RoomKind::Public);
    assert!(join(store, room, bob).is_ok());
    let change = chat::ConversationChange { archived: Some(true), ..Default::default() };
    let (row, _) = ask(|done| store.change_conversation(room, bob, change, done)).expect("a member");
    assert!(row.archived);
    let listed = |archived| {
        let list = if archived { chat::ConversationList::Archived } else { chat::ConversationList::Main };
        ask(|done| store.conversations(bob, list, None, 9, done)).rows.len()
    };
    assert_eq!((listed(false), listed(true)), (0, 1));
    assert!(post(store, room, ann, "1", "x").is_ok());
    assert_eq!((listed(false), listed(true)), (1, 0));
}

fn later(ms: u64) -> Timestamp {
    Timestamp(NOW.0 + ms)
}

fn sanction(
    store: &dyn Store,
    room: ConversationId,
    [by, user]: [UserId; 2],
    kind: RoomSanctionKind,
    until: Timestamp,
) -> Result<Standing, Refusal> {
    let wanted = RoomSanction { kind, until, reason: "Spam".into(), shows_reason: true };
    let changed = ask(|done| store.sanction_member(room, by, user, wanted, NOW, done));
    changed.map(|changed| changed.member.standing)
}

fn post_at(
    store: &dyn Store,
    room: ConversationId,
    from: UserId,
    id: &str,
    time: Timestamp,
) -> Option<Refusal> {
    let (room, client_id, body) = (RoomName::Id(room), id.into(), "hello".into());
    let post = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room,
        from,
        client_id,
        body,
        extension: None,
        time,
        reply_to: None,
        files: Vec::new(),
        rich: None,
    };
    ask(|done| store.post(post, LIMITS, done)).err()
}

fn join_at(store: &dyn Store, room: ConversationId, user: UserId, now: Timestamp) -> Result<Role, Refusal> {
    let joined = ask(|done| store.join_room(RoomName::Id(room), user, LIMITS, now, done))?;
    match joined.row.of {
        ConversationOf::Room { role, .. } => Ok(role),
        ConversationOf::Direct(_) => panic!("no room"),
    }
}

pub(crate) fn a_mute_and_a_ban_end_by_themselves(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let room = create(store, ann, RoomKind::Public);
    assert!(join(store, room, bob).is_ok() && join(store, room, carl).is_ok());
    let muted = sanction(store, room, [ann, bob], RoomSanctionKind::Mute, later(1_000));
    assert_eq!(muted, Ok(Standing::In(Role::Muted)));
    let banned = sanction(store, room, [ann, carl], RoomSanctionKind::Ban, later(2_000));
    assert_eq!(banned, Ok(Standing::Banned));
    let not_allowed = sanction(store, room, [bob, ann], RoomSanctionKind::Mute, later(1_000));
    assert_eq!(not_allowed, Err(Refusal::NotAllowed));
    assert_eq!(post_at(store, room, bob, "1", later(999)), Some(Refusal::Muted));
    assert_eq!(post_at(store, room, bob, "2", later(1_000)), None, "over, though nobody has lifted it yet");
    assert_eq!(join_at(store, room, carl, later(1_999)), Err(Refusal::RoomBanned));
    let (ended, next) = ask(|done| store.end_sanctions(later(1_000), done));
    let [ended] = ended.try_into().expect("one is over");
    assert_eq!((ended.user.id, ended.room, next), (bob, Some(room), Some(later(2_000))));
    assert_eq!(ended.member.map(|member| member.member.standing), Some(Standing::In(Role::Member)));
    assert_eq!(join_at(store, room, carl, later(2_000)), Ok(Role::Member));
    let (ended, next) = ask(|done| store.end_sanctions(later(2_000), done));
    assert_eq!((ended.len(), next), (1, None));
    assert!(ended[0].member.is_none(), "carl is in already, and stays so");
    assert_eq!(act(store, room, ann, carl, MemberAction::Remove), Ok(Standing::Out));
}

pub(crate) fn a_mute_outlasts_leaving(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let room = create(store, ann, RoomKind::Public);
    assert!(join(store, room, bob).is_ok() && join(store, room, carl).is_ok());
    sanction(store, room, [ann, bob], RoomSanctionKind::Mute, later(1_000)).expect("it is hers");
    act(store, room, ann, carl, MemberAction::SetRole(Role::Muted)).expect("it is hers");
    for user in [bob, carl] {
        ask(|done| store.leave_room(room, user, done)).expect("a member leaves");
        assert_eq!(join_at(store, room, user, later(999)), Ok(Role::Muted));
        ask(|done| store.leave_room(room, user, done)).expect("a member leaves");
    }
    assert_eq!(join_at(store, room, bob, later(1_000)), Ok(Role::Member));
    act(store, room, ann, carl, MemberAction::Remove).expect("nothing changes");
    assert_eq!(join_at(store, room, carl, later(9_000)), Ok(Role::Muted));
    act(store, room, ann, carl, MemberAction::SetRole(Role::Member)).expect("it is hers");
    ask(|done| store.leave_room(room, carl, done)).expect("a member leaves");
    assert_eq!(join_at(store, room, carl, later(9_000)), Ok(Role::Member));

    // In a page's room, an author becomes a member.
    let page = RoomName::Page(site, PageKey::parse("/a").expect("one line"));
    let id = ask(|done| store.join_room(page.clone(), ann, LIMITS, NOW, done)).expect("anybody").row.id;
    assert!(post_in(store, page.clone(), bob, "p", "hello").is_ok());
    let mute = chat::Sanction {
        user: bob,
        room: Some(id),
        kind: chat::SanctionKind::Mute,
        until: later(1_000),
        reason: "Spam".into(),
        notified: true,
    };
    let muted =
        ask(|done| store.moderate(site, chat::By::Site, chat::ModeratorAct::Sanction(mute), NOW, done));
    assert!(muted.is_ok());
    ask(|done| store.leave_room(id, bob, done)).expect("a member leaves");
    assert_eq!(post_in(store, page, bob, "q", "hello").err(), Some(Refusal::Muted));
}

pub(crate) fn a_reason_is_for_the_member_and_the_record(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let room = create(store, ann, RoomKind::Public);
    assert!(join(store, room, bob).is_ok());
    sanction(store, room, [ann, bob], RoomSanctionKind::Mute, later(1_000)).expect("it is hers");
    let notices = ask(|done| store.notices(bob, done));
    assert_eq!(notices.len(), 1);
    assert_eq!((notices[0].room, notices[0].until), (Some(room), Some(later(1_000))));
    assert_eq!(&*notices[0].reason, "Spam");
    let row = |user| ask(|done| store.users_by_id(vec![user], done)).remove(0);
    assert!(
        row(bob).on_site.noticed && !row(bob).on_site.muted,
        "told at the next sign-in; muted here alone"
    );
    // A user who was never a member gets no notice.
    sanction(store, room, [ann, carl], RoomSanctionKind::Ban, later(1_000)).expect("it is hers");
    assert_eq!(ask(|done| store.notices(carl, done)), []);
    assert!(!row(carl).on_site.noticed);
    let audit = ask(|done| store.audit(site, chat::By::Site, None, 9, done)).expect("the site may").rows;
    let recorded: Vec<_> = audit.iter().map(|entry| (&*entry.act, &*entry.detail)).collect();
    let detail = format!("until {} Spam", later(1_000).0);
    assert_eq!(recorded, [("ban", &*detail), ("mute", &*detail)]);
    act(store, room, ann, bob, MemberAction::SetRole(Role::Member)).expect("it is hers");
    assert_eq!(ask(|done| store.notices(bob, done)), []);
    assert!(!row(bob).on_site.noticed);
    let (ended, _) = ask(|done| store.end_sanctions(later(1_000), done));
    assert_eq!(ended.len(), 1, "what was taken back does not end once more");
}

pub(crate) fn a_room_takes_no_more_than_its_own_limit(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let [carl, dora] = ["carl", "dora"].map(|name| put(store, site, name));
    let room = create(store, ann, RoomKind::Public);
    assert!(join(store, room, bob).is_ok() && join(store, room, carl).is_ok());
    let limit = |max_members| {
        let change = RoomChange { max_members: Some(max_members), ..RoomChange::default() };
        let changed = ask(|done| store.change_room(room, ann, change, NOW, done)).expect("it is hers");
        match changed.row.of {
            ConversationOf::Room { room, .. } => (room.max_members, room.members),
            ConversationOf::Direct(_) => panic!("no room"),
        }
    };
    assert_eq!(limit(2), (2, 3), "members stay");
    assert!(post(store, room, carl, "1", "hello").is_ok());
    assert_eq!(join(store, room, dora).err(), Some(Refusal::RoomFull));
    let link = chat::NewLink { code: chat::LinkCode::of([7; 16]), until: later(1_000), uses: None };
    ask(|done| store.make_link(room, ann, link, NOW, done)).expect("it is hers");
    let by_link = || ask(|done| store.join_link(chat::LinkCode::of([7; 16]), dora, LIMITS, NOW, done));
    assert_eq!(by_link().err(), Some(Refusal::RoomFull));
    let add = |how| {
        let rule = chat::AddRule { how, per_day: None };
        let add = chat::AddMember { room, by: ann, user: dora, rule, time: NOW };
        ask(|done| store.add_member(add, LIMITS, done))
    };
    assert_eq!(add(chat::AddAs::Member).err(), Some(Refusal::RoomFull));
    limit(4);
    assert!(add(chat::AddAs::Request(chat::LinkRule::Refused)).expect("there is room for one").requested);
    limit(3);
    assert_eq!(join(store, room, dora).err(), Some(Refusal::RoomFull), "a request is not a place");
    limit(0);
    assert!(by_link().is_ok());
}

pub(crate) fn members_are_read_with_the_rows_of_those_asked_for(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let [carl, dora] = ["carl", "dora"].map(|name| put(store, site, name));
    let room = create(store, ann, RoomKind::Private);
    for user in [bob, carl] {
        act(store, room, ann, user, MemberAction::Invite).expect("it is hers");
    }
    ask(|done| store.leave_room(room, carl, done)).expect("a member leaves");
    let mut found = ask(|done| store.room_members(room, vec![bob, carl, dora], done));
    found.members.sort_unstable();
    assert_eq!(found.members, [ann, bob]);
    assert_eq!(found.joined.iter().map(|row| row.id).collect::<Vec<_>>(), [bob]);
    let nowhere = ConversationId::room(site, 99);
    assert!(ask(|done| store.room_members(nowhere, vec![bob], done)).members.is_empty());
}

pub(crate) fn a_muted_member_who_rejoins_by_a_link_or_a_request_stays_muted(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let room = create(store, ann, RoomKind::Private);
    for user in [bob, carl] {
        act(store, room, ann, user, MemberAction::Invite).expect("it is hers");
        act(store, room, ann, user, MemberAction::SetRole(Role::Muted)).expect("it is hers");
        ask(|done| store.leave_room(room, user, done)).expect("a member leaves");
    }
    let link = chat::NewLink { code: chat::LinkCode::of([7; 16]), until: later(1_000), uses: None };
    ask(|done| store.make_link(room, ann, link, NOW, done)).expect("it is hers");
    let joined = ask(|done| store.join_link(chat::LinkCode::of([7; 16]), bob, LIMITS, NOW, done));
    assert!(matches!(joined.expect("it holds").row.of, ConversationOf::Room { role: Role::Muted, .. }));
    let rule = chat::AddRule { how: chat::AddAs::Request(chat::LinkRule::Refused), per_day: None };
    let add = chat::AddMember { room, by: ann, user: carl, rule, time: NOW };
    assert!(ask(|done| store.add_member(add, LIMITS, done)).expect("he is asked").requested);
    assert_eq!(join_at(store, room, carl, NOW), Ok(Role::Muted), "accepting is joining");
    for user in [bob, carl] {
        assert_eq!(post(store, room, user, "1", "hello").err(), Some(Refusal::Muted));
    }
}

pub(crate) fn moderators_see_muted_and_banned_users(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let users: Vec<UserId> = ["carl", "dora", "eve", "finn"].map(|name| put(store, site, name)).into();
    let room = create(store, ann, RoomKind::Public);
    for user in users.iter().chain([&bob]) {
        ask(|done| store.join_room(RoomName::Id(room), *user, LIMITS, NOW, done)).expect("it is public");
    }
    let later = Timestamp(NOW.0 + 60_000);
    let sanction = |user, kind, until, reason: &str| {
        let wanted = RoomSanction { kind, until, reason: reason.into(), shows_reason: true };
        ask(|done| store.sanction_member(room, ann, user, wanted, NOW, done)).expect("she owns the room");
    };
    sanction(users[0], RoomSanctionKind::Mute, later, "Too loud");
    sanction(users[1], RoomSanctionKind::Ban, Timestamp::MAX, "Spam");
    let change = |user, action| {
        ask(|done| store.change_member(room, ann, user, action, LIMITS, NOW, done))
            .expect("she owns the room");
    };
    change(users[2], MemberAction::Ban);
    change(users[3], MemberAction::SetRole(Role::Muted));
    let list = |asker, after, limit, now| ask(|done| store.sanctioned(room, asker, after, limit, now, done));
    let seen = |now| -> Vec<(UserId, bool, Timestamp, String)> {
        let rows = list(ann, None, 9, now).expect("she owns the room").rows;
        let row = |(row, sanction): &(MemberRow, MemberSanction)| {
            let is_banned = row.standing == Standing::Banned;
            (row.user.id, is_banned, sanction.until, sanction.reason.to_string())
        };
        rows.iter().map(row).collect()
    };
    let all = [
        (users[0], false, later, "Too loud".to_owned()),
        (users[1], true, Timestamp::MAX, "Spam".to_owned()),
        (users[2], true, Timestamp::MAX, String::new()),
        (users[3], false, Timestamp::MAX, String::new()),
    ];
    assert_eq!(seen(NOW), all);
    assert_eq!(seen(later), all[1..], "the mute is over");
    let (mut pages, mut after) = (Vec::new(), None);
    loop {
        let page = list(ann, after, 3, NOW).expect("she owns the room");
        pages.push(page.rows.len());
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(pages, [3, 1]);
    for (asker, refusal) in
        [(bob, Refusal::NotAllowed), (users[0], Refusal::NotAllowed), (users[1], Refusal::RoomBanned)]
    {
        assert_eq!(list(asker, None, 9, NOW).map(drop), Err(refusal), "{asker:?}");
    }
    change(users[1], MemberAction::Unban);
    change(users[0], MemberAction::SetRole(Role::Member));
    assert_eq!(seen(NOW), all[2..]);
}
