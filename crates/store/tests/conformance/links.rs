//! Invite links of rooms.

use std::thread;

use chat::{
    By, ConversationId, Joined, LinkCode, MOST_LINKS, MOST_LINKS_EACH, MemberAction, MessagesAfterErasure,
    ModeratorAct, NewErasure, NewLink, NewRoom, Profile, Refusal, Role, RoomChange, RoomKind, RoomLimits,
    RoomLink, RoomName, Sanction, SanctionKind, Settings, Store, Timestamp, UserId,
};

use crate::asking::{NOW, add_site, ask, put, sub};
use crate::two_users;

const LIMITS: RoomLimits = RoomLimits { members: 0, per_user: 0, owned: 0 };
const LATER: Timestamp = Timestamp(NOW.0 + 1_000);

fn room(store: &dyn Store, owner: UserId, kind: RoomKind) -> ConversationId {
    let new = NewRoom { name: "Bikers".into(), kind, topic: None, alias: None };
    ask(|done| store.create_room(owner, new, LIMITS, NOW, done)).expect("it is made").row.id
}

fn code(number: u8) -> LinkCode {
    LinkCode::of([number; 16])
}

fn make_with(
    store: &dyn Store,
    room: ConversationId,
    by: UserId,
    number: u8,
    uses: Option<u32>,
) -> Result<RoomLink, Refusal> {
    let new = NewLink { code: code(number), until: LATER, uses };
    ask(|done| store.make_link(room, by, new, NOW, done))
}

fn make(store: &dyn Store, room: ConversationId, by: UserId, number: u8) -> Result<RoomLink, Refusal> {
    make_with(store, room, by, number, None)
}

fn join(store: &dyn Store, user: UserId, number: u8) -> Result<Joined, Refusal> {
    ask(|done| store.join_link(code(number), user, LIMITS, NOW, done))
}

fn opens(store: &dyn Store, user: UserId, number: u8) -> Result<bool, Refusal> {
    ask(|done| store.open_link(code(number), user, NOW, done)).map(|invited| invited.is_member)
}

fn links(
    store: &dyn Store,
    room: ConversationId,
    asker: UserId,
    now: Timestamp,
) -> Result<Vec<(u8, u32)>, Refusal> {
    let links = ask(|done| store.links(room, asker, now, done));
    links.map(|links| links.iter().map(|link| (link.code.bytes()[0], link.used)).collect())
}

fn act(store: &dyn Store, room: ConversationId, by: UserId, user: UserId, action: MemberAction) {
    ask(|done| store.change_member(room, by, user, action, LIMITS, NOW, done)).expect("one may");
}

pub(crate) fn a_link_is_used_up_to_its_limit(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let id = room(store, ann, RoomKind::Private);
    let made = make_with(store, id, ann, 1, Some(3)).expect("an owner may");
    let expected = RoomLink { code: code(1), by: sub("ann"), until: LATER, uses: Some(3), used: 0 };
    assert_eq!(made, expected);
    let invited = ask(|done| store.open_link(code(1), bob, NOW, done)).expect("it stands");
    assert_eq!((invited.conversation, invited.is_member, invited.until), (id, false, LATER));
    assert_eq!((&*invited.room.name, invited.room.members, invited.by.id), ("Bikers", 1, ann));
    assert_eq!(join(store, bob, 1).map(|joined| (joined.row.id, joined.before)), Ok((id, false)));
    let position = join(store, bob, 1).expect("he is in").position;
    assert_eq!(join(store, bob, 1).map(|joined| (joined.before, joined.position)), Ok((true, position)));
    assert_eq!(opens(store, bob, 1), Ok(true));
    assert_eq!(links(store, id, ann, NOW), Ok(vec![(1, 1)]), "who asks again uses nothing up");

    let users: Vec<UserId> = (0..8).map(|number| put(store, site, &format!("user{number}"))).collect();
    let outcomes: Vec<Result<Joined, Refusal>> = thread::scope(|scope| {
        let threads: Vec<_> = users.iter().map(|user| scope.spawn(|| join(store, *user, 1))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 2, "two places were left");
    for (user, outcome) in users.iter().zip(&outcomes) {
        let again = join(store, *user, 1).map(|joined| joined.before);
        match outcome {
            Ok(_) => assert_eq!(again, Ok(true), "who is in may ask again"),
            Err(refusal) => {
                assert_eq!((*refusal, again), (Refusal::BadInvitation, Err(Refusal::BadInvitation)))
            }
        }
    }
    assert_eq!(links(store, id, ann, NOW), Ok(vec![]), "it is used up");
    act(store, id, ann, bob, MemberAction::Ban);
    assert_eq!(opens(store, bob, 1), Err(Refusal::BadInvitation));
    make(store, id, ann, 2).expect("an owner may");
    assert_eq!(opens(store, bob, 2), Err(Refusal::RoomBanned));
    assert_eq!(join(store, bob, 2).map(drop), Err(Refusal::RoomBanned));
}

pub(crate) fn who_keeps_order_has_all_of_them(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let (carl, mia) = (put(store, site, "carl"), put(store, site, "mia"));
    let role = ModeratorAct::SetRole(mia, chat::SiteRole::Moderator);
    ask(|done| store.moderate(site, By::Site, role, NOW, done)).expect("the site may");
    let id = room(store, ann, RoomKind::Public);
    act(store, id, ann, bob, MemberAction::Invite);
    for (by, number) in [(ann, 1), (bob, 2), (ann, 3)] {
        make(store, id, by, number).expect("they may invite");
    }
    for (asker, seen) in [(ann, vec![3, 2, 1]), (mia, vec![3, 2, 1]), (bob, vec![2])] {
        let seen = seen.into_iter().map(|number| (number, 0)).collect();
        assert_eq!(links(store, id, asker, NOW), Ok(seen));
    }
    assert_eq!(links(store, id, carl, NOW), Err(Refusal::NotAMember));
    let take_back = |by, number| {
        let left = ask(|done| store.take_back_link(id, by, code(number), NOW, done));
        left.map(|links| links.iter().map(|link| link.code.bytes()[0]).collect::<Vec<_>>())
    };
    assert_eq!(take_back(carl, 1), Err(Refusal::NotAMember));
    assert_eq!(take_back(bob, 1), Ok(vec![2]));
    assert_eq!(opens(store, carl, 1), Ok(false), "it is not his");
    assert_eq!(take_back(mia, 1), Ok(vec![3, 2]));
    assert_eq!(opens(store, carl, 1), Err(Refusal::BadInvitation));
    assert_eq!(take_back(ann, 1), Ok(vec![3, 2]), "it is gone");
    let other = room(store, ann, RoomKind::Public);
    let elsewhere = ask(|done| store.take_back_link(other, ann, code(3), NOW, done));
    assert_eq!(elsewhere, Ok(vec![]));
    assert_eq!(opens(store, carl, 3), Ok(false), "it is of another room");
}

pub(crate) fn what_ends_by_time_or_number_makes_room(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let id = room(store, ann, RoomKind::Public);
    make_with(store, id, ann, 1, Some(1)).expect("one may");
    for number in 2..=MOST_LINKS as u8 {
        make(store, id, ann, number).expect("there is room");
    }
    assert_eq!(make(store, id, ann, 99).err(), Some(Refusal::TooManyInvitations));
    assert!(join(store, bob, 1).is_ok());
    make(store, id, ann, 99).expect("one is used up");
    assert_eq!(make(store, id, ann, 100).err(), Some(Refusal::TooManyInvitations));
    assert_eq!(links(store, id, ann, NOW).map(|links| links.len()), Ok(MOST_LINKS as usize));
    assert_eq!(links(store, id, ann, LATER), Ok(vec![]));
    let late = ask(|done| store.join_link(code(2), bob, LIMITS, LATER, done));
    assert_eq!(late.map(drop), Err(Refusal::BadInvitation), "who is in, too");
    let until = Timestamp(LATER.0 + 1);
    let new = NewLink { code: code(101), until, uses: None };
    ask(|done| store.make_link(id, ann, new, LATER, done)).expect("all others have ended");
    assert_eq!(links(store, id, ann, NOW), Ok(vec![(101, 0)]), "they are gone for good");
}

pub(crate) fn a_member_has_a_share_of_a_rooms_links(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let id = room(store, ann, RoomKind::Public);
    make(store, id, ann, 200).expect("one may");
    assert!(join(store, bob, 200).is_ok());
    for number in 0..MOST_LINKS_EACH as u8 {
        make(store, id, bob, number).expect("there is room");
    }
    assert_eq!(make(store, id, bob, 100).err(), Some(Refusal::TooManyInvitations));
    make(store, id, ann, 101).expect("others are not kept from it");
    ask(|done| store.take_back_link(id, bob, code(0), NOW, done)).expect("it is one's own");
    make(store, id, bob, 100).expect("there is room again");
}

pub(crate) fn a_link_ends_when_its_author_loses_the_right(store: &dyn Store) {
    use MemberAction::{Ban, Invite, Remove, SetRole, Unban};
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let id = room(store, ann, RoomKind::Public);
    make(store, id, ann, 1).expect("an owner may");
    let ended = |number, why: &str| {
        assert_eq!(opens(store, carl, number), Err(Refusal::BadInvitation), "{why}");
        assert_eq!(opens(store, carl, 1), Ok(false), "another's stands: {why}");
    };
    act(store, id, ann, bob, Invite);
    for (ends, back) in
        [(&[Remove][..], Invite), (&[Ban, Unban], Invite), (&[SetRole(Role::Muted)], SetRole(Role::Member))]
    {
        make(store, id, bob, 2).expect("a member may");
        ends.iter().for_each(|action| act(store, id, ann, bob, *action));
        ended(2, "out or muted");
        act(store, id, ann, bob, back);
        ended(2, "nothing brings it back");
    }
    make(store, id, bob, 2).expect("a member may");
    act(store, id, ann, bob, SetRole(Role::Moderator));
    act(store, id, ann, bob, SetRole(Role::Member));
    assert_eq!(opens(store, carl, 2), Ok(false), "a plain member may invite here");
    ask(|done| store.leave_room(id, bob, done)).expect("he may");
    ended(2, "left");

    act(store, id, ann, bob, Invite);
    let sanction = |kind| {
        let (room, until, reason) = (Some(id), Timestamp(NOW.0 + 5), "".into());
        let act = ModeratorAct::Sanction(Sanction { user: bob, room, kind, until, reason, notified: true });
        ask(|done| store.moderate(site, By::Site, act, NOW, done)).expect("the site may");
    };
    make(store, id, bob, 2).expect("a member may");
    sanction(SanctionKind::Mute);
    ended(2, "muted by a moderator of the site");
    act(store, id, ann, bob, SetRole(Role::Member));
    make(store, id, bob, 2).expect("a member may");
    let change = |change| ask(|done| store.change_room(id, ann, change, NOW, done)).expect("an owner may");
    change(RoomChange { frozen: Some(true), ..RoomChange::default() });
    assert_eq!(opens(store, carl, 2), Ok(false), "a room that is frozen takes members");
    change(RoomChange { kind: Some(RoomKind::Announcement), ..RoomChange::default() });
    change(RoomChange { kind: Some(RoomKind::Public), ..RoomChange::default() });
    ended(2, "another kind of room");

    let site_has = |moderators_only| {
        let mut settings = Settings::default();
        settings.invitations.moderators_only = moderators_only;
        assert_eq!(store.set_settings(site, &settings), Ok(true));
    };
    make(store, id, bob, 2).expect("a member may");
    site_has(true);
    ended(2, "the site has others make them");
    assert_eq!(make(store, id, bob, 2).err(), Some(Refusal::NotAllowed));
    act(store, id, ann, bob, SetRole(Role::Moderator));
    make(store, id, bob, 2).expect("he keeps order");
    act(store, id, ann, bob, SetRole(Role::Member));
    ended(2, "no more");
    site_has(false);
    ended(2, "nothing brings it back");
    make(store, id, bob, 2).expect("a member may");
    let patch =
        |value| ModeratorAct::Configure(Box::new(Settings::patch("invitations.moderators_only", value)));
    for value in ["true", "false"] {
        ask(|done| store.moderate(site, By::Site, patch(value), NOW, done)).expect("the site may");
        ended(2, "the same by a patch");
    }

    make(store, id, bob, 2).expect("a member may");
    assert!(ask(|done| store.set_banned(bob, true, done)));
    ask(|done| store.set_banned(bob, false, done));
    ended(2, "banned from the site");
    make(store, id, bob, 2).expect("a member may");
    let (alias, name, messages) = (sub("deleted-1"), "Deleted user".into(), MessagesAfterErasure::Kept);
    let erasure = NewErasure { user: bob, alias, name, messages, by: By::Site, time: NOW };
    ask(|done| store.begin_erasure(erasure, done)).expect("he is there");
    ended(2, "erased");
    let page = RoomName::Page(site, chat::PageKey::parse("/thread/42").expect("one line"));
    let of_page = ask(|done| store.join_room(page, ann, LIMITS, NOW, done)).expect("all may").row.id;
    assert_eq!(make(store, of_page, ann, 9).err(), Some(Refusal::BadValue), "found by its page");
}

pub(crate) fn a_link_belongs_to_one_site_and_is_removed_with_it(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let other = add_site(store, "other");
    let stranger = put(store, other, "ann");
    let id = room(store, ann, RoomKind::Public);
    make(store, id, ann, 1).expect("an owner may");
    assert_eq!(opens(store, stranger, 1), Err(Refusal::BadInvitation));
    assert_eq!(join(store, stranger, 1).map(drop), Err(Refusal::BadInvitation));
    assert_eq!(make(store, id, stranger, 2).err(), Some(Refusal::NoSuchConversation));
    assert_eq!(links(store, id, stranger, NOW), Err(Refusal::NoSuchConversation));
    let theirs = room(store, stranger, RoomKind::Public);
    make(store, theirs, stranger, 1).expect("a code of another site's is free");
    assert!(store.remove_site(site).expect("the store works"));
    assert_eq!(opens(store, ann, 1), Err(Refusal::BadInvitation));
    assert_eq!(opens(store, stranger, 1), Ok(true));
}

pub(crate) fn it_goes_by_the_name_of_now(store: &dyn Store) {
    let site = add_site(store, "forum");
    let (ann, carl) = (put(store, site, "ann"), put(store, site, "carl"));
    let guest = Profile { sub: sub("guest-1"), name: "Guest".into(), avatar: None, guest: true };
    let guest = ask(|done| store.put_user(site, guest, NOW, done)).id;
    let id = room(store, ann, RoomKind::Public);
    act(store, id, ann, guest, MemberAction::Invite);
    make(store, id, guest, 1).expect("a member may");
    crate::merge::merge(store, site, "guest-1", "gus").expect("a guest may become a member");
    let links = ask(|done| store.links(id, ann, NOW, done)).expect("an owner may");
    assert_eq!(links.iter().map(|link| link.by.as_str()).collect::<Vec<_>>(), ["gus"]);
    let invited = ask(|done| store.open_link(code(1), carl, NOW, done)).expect("it stands");
    assert_eq!(invited.by.profile.sub, sub("gus"));
}
