//! Room requests: pending ones, the effects of their end, and the changes that a device receives.

use chat::{
    AddAs, AddMember, AddRule, ConversationId, LinkRule, MOST_ROOM_REQUESTS, MemberAction, MessageRequest,
    NewRoom, Refusal, RoomKind, RoomLimits, RoomName, Standing, Store, UserId,
};

use crate::asking::{NOW, add_site, ask, put, snapshot};
use crate::two_users;

const LIMITS: RoomLimits = RoomLimits { members: 0, per_user: 0, owned: 0 };
const CONTACT: AddRule = AddRule { how: AddAs::Member, per_day: None };
const STRANGER: AddRule = AddRule { how: AddAs::Request(LinkRule::Refused), per_day: Some(1_000) };

fn create(store: &dyn Store, owner: UserId) -> ConversationId {
    let room =
        NewRoom { name: "Bikers".into(), kind: RoomKind::Private, topic: Some("Wheels".into()), alias: None };
    ask(|done| store.create_room(owner, room, LIMITS, NOW, done)).expect("it is allowed").row.id
}

/// Returns whether the user is a member now, and whether a request was sent.
fn add(
    store: &dyn Store,
    room: ConversationId,
    by: UserId,
    user: UserId,
    rule: AddRule,
) -> Result<(bool, bool), Refusal> {
    let add = AddMember { room, by, user, rule, time: NOW };
    let changed = ask(|done| store.add_member(add, LIMITS, done))?;
    assert!(!changed.requested || changed.member.standing == Standing::Out);
    Ok((changed.member.standing.role().is_some(), changed.requested))
}

const ADDED: Result<(bool, bool), Refusal> = Ok((true, false));
const ASKED: Result<(bool, bool), Refusal> = Ok((false, true));

/// Rooms into which the user is invited, with the askers, from the lists.
fn pending(store: &dyn Store, user: UserId) -> Vec<(ConversationId, UserId)> {
    let rows = snapshot(store, user, None).conversations.rows;
    let asked = rows.iter().filter_map(|row| {
        let by = row.requested_by.as_ref()?;
        assert_eq!((row.request, row.last.is_none(), row.unread), (Some(MessageRequest::Received), true, 0));
        assert_eq!(ask(|done| store.conversation(user, row.id, done)).as_ref(), Some(row));
        Some((row.id, by.id))
    });
    asked.collect()
}

fn join(store: &dyn Store, room: ConversationId, user: UserId) -> Result<(), Refusal> {
    ask(|done| store.join_room(RoomName::Id(room), user, LIMITS, NOW, done)).map(drop)
}

pub(crate) fn a_request_opens_the_room_until_it_is_declined(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let room = create(store, ann);
    assert_eq!(join(store, room, bob), Err(Refusal::NoSuchConversation));
    assert_eq!(add(store, room, bob, ann, STRANGER), Err(Refusal::NoSuchConversation), "no member asks");
    assert_eq!(add(store, room, ann, bob, STRANGER), ASKED);
    assert_eq!(add(store, room, ann, bob, STRANGER), ASKED, "twice is once");
    assert_eq!(pending(store, bob), [(room, ann)]);
    let listed = |list| {
        let page = ask(|done| store.conversations(bob, list, None, 9, done));
        page.rows.iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(chat::ConversationList::Waiting), [room]);
    assert_eq!(listed(chat::ConversationList::Unread), []);
    let members = ask(|done| store.members(room, ann, None, None, 9, done)).expect("a member").rows;
    assert_eq!(members.len(), 1);
    assert!(ask(|done| store.decline_room_request(room, bob, done)).is_some());
    assert!(ask(|done| store.decline_room_request(room, bob, done)).is_none(), "none is left");
    assert_eq!(join(store, room, bob), Err(Refusal::NoSuchConversation));
    assert_eq!((add(store, room, ann, bob, CONTACT), pending(store, bob)), (ASKED, vec![]));
}

pub(crate) fn a_member_who_left_is_invited_by_other_members_only(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let room = create(store, ann);
    assert_eq!(add(store, room, ann, carl, CONTACT), ADDED);
    let moderator = MemberAction::SetRole(chat::Role::Moderator);
    ask(|done| store.change_member(room, ann, carl, moderator, LIMITS, NOW, done)).expect("an owner");
    assert_eq!(add(store, room, ann, bob, STRANGER), ASKED);
    assert_eq!(join(store, room, bob), Ok(()));
    assert_eq!(
        (pending(store, bob), add(store, room, carl, bob, CONTACT)),
        (vec![], ADDED),
        "a member is one"
    );
    ask(|done| store.leave_room(room, bob, done)).expect("a member leaves");
    assert_eq!((add(store, room, ann, bob, CONTACT), pending(store, bob)), (ASKED, vec![]));
    assert_eq!((add(store, room, carl, bob, CONTACT), pending(store, bob)), (ASKED, vec![(room, carl)]));
    assert_eq!(join(store, room, bob), Ok(()));
    let remove = MemberAction::Remove;
    ask(|done| store.change_member(room, ann, bob, remove, LIMITS, NOW, done)).expect("an owner");
    assert_eq!(add(store, room, ann, bob, CONTACT), ADDED, "bob came back on his own, and did not leave");
}

pub(crate) fn requests_end_with_blocks_withdrawals_and_bans(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let (first, second) = (create(store, ann), create(store, ann));
    for room in [first, second] {
        assert_eq!(add(store, room, ann, carl, CONTACT), ADDED);
        let moderator = MemberAction::SetRole(chat::Role::Moderator);
        ask(|done| store.change_member(room, ann, carl, moderator, LIMITS, NOW, done)).expect("an owner");
        assert_eq!(add(store, room, ann, bob, STRANGER), ASKED);
    }
    assert_eq!(add(store, second, carl, bob, STRANGER), ASKED);
    let before = snapshot(store, bob, None).position;
    let (ended, _) = ask(|done| store.decline_room_requests_by(bob, ann, done));
    assert_eq!((ended, pending(store, bob)), (vec![first], vec![(second, carl)]), "carl still asks");
    let left = snapshot(store, bob, Some(before)).left;
    assert_eq!(left.into_iter().map(|(room, _)| room).collect::<Vec<_>>(), [first]);
    ask(|done| store.set_banned(carl, true, done));
    assert_eq!(pending(store, bob), []);
    assert_eq!(join(store, second, bob), Err(Refusal::NoSuchConversation));
    ask(|done| store.set_banned(carl, false, done));
    let remove = MemberAction::Remove;
    let changed = ask(|done| store.change_member(second, ann, bob, remove, LIMITS, NOW, done));
    assert_eq!((changed.expect("an owner").left.is_some(), pending(store, bob)), (true, vec![]));
    assert_eq!((add(store, second, carl, bob, STRANGER), pending(store, bob)), (ASKED, vec![(second, carl)]));
}

pub(crate) fn a_user_is_asked_so_often_and_a_member_asks_so_often(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let room = create(store, ann);
    let two_a_day = AddRule { per_day: Some(2), ..STRANGER };
    let [carl, dora, emil] = ["carl", "dora", "emil"].map(|name| put(store, site, name));
    let outcomes = [carl, dora, emil].map(|user| add(store, room, ann, user, two_a_day));
    assert_eq!(outcomes, [ASKED, ASKED, Err(Refusal::TooManyRequests)]);
    assert_eq!(add(store, room, ann, carl, two_a_day), ASKED, "what changes nothing is not counted");
    for _ in 0..MOST_ROOM_REQUESTS {
        assert_eq!(add(store, create(store, ann), ann, bob, STRANGER), ASKED);
    }
    assert_eq!(add(store, room, ann, bob, STRANGER), Err(Refusal::NotAllowed));
    assert_eq!(add(store, room, ann, bob, CONTACT), ADDED);
    let other = add_site(store, "other");
    let stranger = put(store, other, "bob");
    assert_eq!(add(store, room, ann, stranger, STRANGER), Err(Refusal::NoSuchUser));
}
