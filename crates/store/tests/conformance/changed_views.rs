//! Which of many views have changed since a position: all that a snapshot would show, and nobody else.

use chat::{
    AddAs, AddMember, AddRule, ChangeMessage, ContactNote, ConversationChange, ConversationId, LinkRule,
    MemberAction, MessageChange, MessageKind, MessagesAfterErasure, NewRich, NewRoom, Position, Post,
    Reaction, Role, RoomChange, RoomKind, RoomLimits, RoomName, Seq, Side, SiteId, Store, UserId,
};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use crate::asking::{NOW, add_site, ask, changed_views, direct, put, say, since, snapshot};
use crate::merge::{guest, merge};
use crate::{FRIENDS, STRANGERS, erase, relate, state};

const LIMITS: RoomLimits = RoomLimits { members: 0, per_user: 0, owned: 0 };
const NAMES: [&str; 6] = ["ann", "bob", "carl", "dora", "eve", "finn"];

struct World<'s> {
    store: &'s dyn Store,
    site: SiteId,
    users: Vec<UserId>,
    /// Of a second site, with the numbers of the first one.
    others: Vec<UserId>,
    rooms: Vec<ConversationId>,
    /// Makes client ids and names unique.
    made: u64,
}

impl<'s> World<'s> {
    fn new(store: &'s dyn Store) -> World<'s> {
        let [(site, users), (_, others)] = ["forum", "other"].map(|key| {
            let site = add_site(store, key);
            (site, NAMES.iter().map(|name| put(store, site, name)).collect::<Vec<_>>())
        });
        World { store, site, users, others, rooms: Vec::new(), made: 0 }
    }

    fn id(&mut self) -> String {
        self.made += 1;
        format!("m{:06}", self.made)
    }

    fn position(&self) -> Position {
        snapshot(self.store, self.others[0], None).position
    }

    fn create(&mut self, owner: UserId, kind: RoomKind) -> ConversationId {
        let room = NewRoom { name: "Bikers".into(), kind, topic: None, alias: None };
        let made = ask(|done| self.store.create_room(owner, room, LIMITS, NOW, done)).expect("it is allowed");
        self.rooms.push(made.row.id);
        made.row.id
    }

    fn join(&self, room: ConversationId, user: UserId) -> bool {
        ask(|done| self.store.join_room(RoomName::Id(room), user, LIMITS, NOW, done)).is_ok()
    }

    fn post(&mut self, room: ConversationId, from: UserId, thread: Option<Seq>) -> bool {
        let post = Post {
            names_author: false,
            kind: MessageKind::Text,
            room: RoomName::Id(room),
            from,
            client_id: self.id().into(),
            body: "hello @bob".into(),
            extension: None,
            time: NOW,
            reply_to: None,
            files: Vec::new(),
            rich: NewRich { thread, ..NewRich::default() }.boxed(),
        };
        ask(|done| self.store.post(post, LIMITS, done)).is_ok()
    }

    fn act(&self, room: ConversationId, by: UserId, user: UserId, action: MemberAction) -> bool {
        ask(|done| self.store.change_member(room, by, user, action, LIMITS, NOW, done)).is_ok()
    }

    /// Invites a user who has to answer.
    fn ask_into(&self, room: ConversationId, by: UserId, user: UserId) -> bool {
        let rule = AddRule { how: AddAs::Request(LinkRule::Refused), per_day: Some(1_000) };
        ask(|done| self.store.add_member(AddMember { room, by, user, rule, time: NOW }, LIMITS, done)).is_ok()
    }

    fn change(&self, conversation: ConversationId, by: UserId, seq: u64, change: MessageChange) -> bool {
        let change = ChangeMessage { conversation, seq: Seq(seq), by, change, time: NOW };
        ask(|done| self.store.change_message(change, done)).is_ok_and(|changed| changed.changed)
    }

    fn keep(&self, conversation: ConversationId, user: UserId, change: ConversationChange) -> bool {
        ask(|done| self.store.change_conversation(conversation, user, change, done)).is_ok()
    }

    fn mark(&self, conversation: ConversationId, user: UserId) -> bool {
        ask(|done| self.store.mark(conversation, user, Seq(u64::MAX), Seq(u64::MAX), done)).moved
    }

    fn note(&self, user: UserId, other: UserId, name: &str) {
        let note = ContactNote { name: Some(name.into()), groups: Vec::new() };
        let relation = ask(|done| self.store.relation(user, other, done));
        ask(|done| self.store.put_contact_note(user, other, relation, note, 100, NOW, done));
    }
}

fn react(on: bool) -> MessageChange {
    MessageChange::React { reaction: Reaction::parse("👍").expect("one"), on }
}

/// Checks that `changes` is seen by these users, and by nobody else.
fn seen_by(world: &mut World<'_>, wanted: &[UserId], what: &str, changes: impl FnOnce(&mut World<'_>)) {
    let before = world.position();
    changes(world);
    let all: Vec<UserId> = world.users.iter().chain(&world.others).copied().collect();
    let views: Vec<_> = all.iter().map(|user| (*user, before)).collect();
    let (changed, now) = changed_views(world.store, &views);
    assert!(now > before, "{what}");
    let found: Vec<UserId> =
        all.iter().zip(changed).filter(|(_, changed)| *changed).map(|(user, _)| *user).collect();
    assert_eq!(found, wanted, "{what}");
    for user in &all {
        snapshot(world.store, *user, Some(before)); // which compares
    }
    let views: Vec<_> = all.iter().map(|user| (*user, now)).collect();
    assert_eq!(changed_views(world.store, &views), (vec![false; all.len()], now), "{what}");
}

pub(crate) fn each_kind_of_change_is_found_for_those_who_see_it(store: &dyn Store) {
    let mut world = World::new(store);
    let [ann, bob, carl, dora, eve, _] = world.users[..] else { panic!("six") };
    let with_bob = direct(ann, bob);
    let mut seen_by = |wanted: &[UserId], what: &str, changes: &mut dyn FnMut(&mut World<'_>)| {
        seen_by(&mut world, wanted, what, changes);
    };
    seen_by(&[ann, bob], "a first message", &mut |world| {
        say(world.store, ann, bob, "1", "hello");
    });
    seen_by(&[ann, bob], "a message, whose row is late", &mut |world| {
        say(world.store, bob, ann, "2", "hello");
        say(world.store, ann, bob, "3", "hello");
    });
    seen_by(&[ann, bob], "a marker", &mut |world| assert!(world.mark(with_bob, bob)));
    seen_by(&[ann, bob], "a reaction", &mut |world| assert!(world.change(with_bob, bob, 1, react(true))));
    seen_by(&[ann, bob], "an edit", &mut |world| {
        assert!(world.change(with_bob, ann, 1, MessageChange::edit("hallo")));
    });
    seen_by(&[ann, bob], "a pinned message", &mut |world| {
        assert!(world.change(with_bob, ann, 1, MessageChange::Pin(true)));
    });
    seen_by(&[ann, bob], "a deleted message", &mut |world| {
        assert!(world.change(with_bob, ann, 1, MessageChange::Delete));
    });
    for (what, change) in [
        ("a pinned conversation", ConversationChange { pinned: Some(true), ..Default::default() }),
        ("an archived one", ConversationChange { archived: Some(true), ..Default::default() }),
        ("a muted one", ConversationChange { muted_until: Some(NOW), ..Default::default() }),
        ("an unread one", ConversationChange { marked_unread: Some(true), ..Default::default() }),
        ("a draft", ConversationChange { draft: Some("half".into()), ..Default::default() }),
        ("a later draft", ConversationChange { draft: Some("half a".into()), ..Default::default() }),
    ] {
        seen_by(&[bob], what, &mut |world| assert!(world.keep(with_bob, bob, change.clone())));
    }

    seen_by(&[ann, carl], "a contact request", &mut |world| {
        relate(world.store, ann, carl, state(Side::REQUESTED, Side::ASKS));
    });
    seen_by(&[ann, carl], "its answer", &mut |world| {
        relate(world.store, ann, carl, FRIENDS);
    });
    seen_by(&[carl], "an own name of a contact", &mut |world| world.note(carl, ann, "Annie"));
    seen_by(&[ann, carl], "the end of a contact", &mut |world| {
        relate(world.store, ann, carl, STRANGERS);
    });
    seen_by(&[dora], "a block", &mut |world| {
        relate(world.store, dora, carl, state(Side::BLOCKED, Side::NONE));
    });

    let mut room = with_bob;
    seen_by(&[ann], "a room", &mut |world| room = world.create(ann, RoomKind::Public));
    seen_by(&[bob], "a member who joins", &mut |world| assert!(world.join(room, bob)));
    seen_by(&[ann, bob], "a message in a room", &mut |world| assert!(world.post(room, bob, None)));
    seen_by(&[ann, bob], "a reply in a thread", &mut |world| assert!(world.post(room, ann, Some(Seq(1)))));
    seen_by(&[bob], "a marker in a room", &mut |world| assert!(world.mark(room, bob)));
    seen_by(&[bob], "a room that is pinned", &mut |world| {
        assert!(world.keep(room, bob, ConversationChange { pinned: Some(true), ..Default::default() }));
    });
    seen_by(&[ann, bob], "a reaction in a room", &mut |world| {
        assert!(world.change(room, ann, 1, react(true)))
    });
    seen_by(&[ann, bob], "a new name of a room", &mut |world| {
        let change = RoomChange { name: Some("Cyclists".into()), ..Default::default() };
        ask(|done| world.store.change_room(room, ann, change, NOW, done)).expect("an owner may");
    });
    seen_by(&[bob], "a new role", &mut |world| {
        assert!(world.act(room, ann, bob, MemberAction::SetRole(Role::Moderator)));
    });
    seen_by(&[dora], "an invitation with a question", &mut |world| assert!(world.ask_into(room, ann, dora)));
    seen_by(&[dora], "its refusal", &mut |world| {
        ask(|done| world.store.decline_room_request(room, dora, done)).expect("it waits");
    });
    seen_by(&[carl], "an invitation of another", &mut |world| assert!(world.ask_into(room, ann, carl)));
    seen_by(&[carl], "its withdrawal", &mut |world| {
        assert!(world.act(room, ann, carl, MemberAction::Remove))
    });
    seen_by(&[bob], "a member who is removed", &mut |world| {
        assert!(world.act(room, ann, bob, MemberAction::Remove));
    });
    seen_by(&[eve], "one who comes", &mut |world| assert!(world.join(room, eve)));
    seen_by(&[eve], "and is banned", &mut |world| assert!(world.act(room, ann, eve, MemberAction::Ban)));
    seen_by(&[ann], "a message without former members", &mut |world| assert!(world.post(room, ann, None)));
    seen_by(&[bob], "one who joins again", &mut |world| assert!(world.join(room, bob)));
    seen_by(&[bob], "and leaves", &mut |world| {
        ask(|done| world.store.leave_room(room, bob, done)).expect("a member may");
    });
    seen_by(&[ann], "a closed room", &mut |world| {
        ask(|done| world.store.close_room(room, ann, None, NOW, done)).expect("an owner may");
    });

    let mut other = room;
    seen_by(&[eve], "a room for a user who goes", &mut |world| other = world.create(eve, RoomKind::Public));
    seen_by(&[carl], "with a member", &mut |world| assert!(world.join(other, carl)));
    seen_by(&[dora, eve], "and a conversation", &mut |world| {
        say(world.store, eve, dora, "e1", "hello");
    });
}

/// Members of the conversations of a user learn of the erasure as long as it lasts, and afterwards from the changed conversations.
pub(crate) fn an_erasure_is_found_by_those_who_share_a_conversation(store: &dyn Store) {
    let mut world = World::new(store);
    let [ann, bob, carl, dora, eve, finn] = world.users[..] else { panic!("six") };
    say(store, eve, dora, "e1", "hello");
    let room = world.create(eve, RoomKind::Public);
    assert!(world.join(room, carl) && world.join(room, bob));
    ask(|done| store.leave_room(room, bob, done)).expect("a member may");
    say(store, ann, finn, "a1", "not with her");
    let before = world.position();
    erase::begin(store, eve, MessagesAfterErasure::Kept).expect("she exists");
    let changed = |since: Position| {
        let all = [ann, bob, carl, dora, finn, world.others[3]];
        let views: Vec<_> = all.iter().map(|user| (*user, since)).collect();
        all.iter().for_each(|user| drop(snapshot(store, *user, Some(since)))); // which compares
        changed_views(store, &views).0
    };
    let sharing = vec![false, true, true, true, false, false];
    assert_eq!(changed(before), sharing, "former members of her rooms, too");
    say(store, ann, finn, "a2", "a later position");
    let during = snapshot(store, bob, None).position;
    say(store, ann, finn, "a3", "a later one");
    assert_eq!(changed(during)[1..4], [true; 3], "her former id may still be shown");
    while ask(|done: chat::Done<chat::EraseSlice>| store.erase_some(NOW, 1, done)).more {}
    assert_eq!(changed(during)[1..], [false, true, true, true, false], "the conversations have changed");
    let after = snapshot(store, bob, None).position;
    say(store, ann, finn, "a4", "the last one");
    assert_eq!(changed(after), [true, false, false, false, true, false]);
}

/// Also with many views at once, and views of one user from several positions.
pub(crate) fn strange_positions_count_as_changed(store: &dyn Store) {
    let world = World::new(store);
    let [ann, bob, ..] = world.users[..] else { panic!("six") };
    let old = world.position();
    say(store, ann, bob, "1", "hello");
    let now = world.position();
    let strange = Position { epoch: now.epoch.wrapping_add(1), ..now };
    let ahead = Position { number: now.number + 1, ..now };
    let far = Position { number: u64::MAX, ..now };
    let gone = UserId { num: 99, ..ann };
    let views = [
        (ann, now),
        (ann, old),
        (bob, strange),
        (world.users[2], old),
        (ann, ahead),
        (gone, old),
        (bob, far),
    ];
    let wanted = [false, true, true, false, true, false, true];
    assert_eq!(changed_views(store, &views), (wanted.to_vec(), now));
    assert_eq!(changed_views(store, &[]), (vec![], now));
    let many: Vec<_> =
        (0..700).map(|at| (world.users[at % 6], if at % 7 == 0 { now } else { old })).collect();
    let wanted: Vec<bool> = (0..700).map(|at| at % 6 < 2 && at % 7 != 0).collect();
    assert_eq!(changed_views(store, &many), (wanted, now));
}

/// Random histories, and views of random users at random positions of them.
pub(crate) fn no_view_with_a_change_passes_for_unchanged(store: &dyn Store) {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(11);
    let mut rng = StdRng::seed_from_u64(seed);
    let mut world = World::new(store);
    let mut positions = vec![world.position()];
    let (mut unchanged, mut changed, mut needless) = (0, 0, 0);
    for step in 0..250 {
        happens(&mut world, &mut rng);
        if rng.random_bool(0.5) {
            positions.push(world.position());
        }
        if step % 5 > 0 {
            continue;
        }
        let all: Vec<UserId> = world.users.iter().chain(&world.others[..2]).copied().collect();
        let recent = &positions[positions.len().saturating_sub(6)..];
        let views: Vec<(UserId, Position)> = (0..12)
            .map(|_| {
                let of = if rng.random_bool(0.7) { recent } else { &positions };
                (*all.choose(&mut rng).expect("some"), *of.choose(&mut rng).expect("some"))
            })
            .collect();
        let (answers, now) = changed_views(store, &views);
        for ((user, seen), answer) in views.into_iter().zip(answers) {
            let snapshot = ask(|done| store.snapshot(user, since(Some(seen)), done));
            assert_eq!(snapshot.position, now, "nobody else writes");
            assert!(
                answer || snapshot.is_empty(),
                "SEED={seed} step {step}: {user:?} since {seen:?} {snapshot:?}"
            );
            unchanged += u32::from(!answer);
            changed += u32::from(!snapshot.is_empty());
            needless += u32::from(answer && snapshot.is_empty());
        }
    }
    assert!(unchanged > 100 && changed > 100, "{unchanged} and {changed} are too few to tell anything");
    assert!(needless * 50 < unchanged, "{needless} of {unchanged} sessions would load nothing");
}

/// One random change, which may be refused.
fn happens(world: &mut World<'_>, rng: &mut StdRng) {
    let store = world.store;
    let [a, b] = [0; 2].map(|_| *world.users.choose(rng).expect("some"));
    let room = world.rooms.choose(rng).copied();
    let pair = ConversationId::direct(a, b);
    let seq = rng.random_range(1..6);
    match (rng.random_range(0..22), pair, room) {
        (0..4, Some(_), _) => {
            let id = world.id();
            say(store, a, b, &id, "hello");
        }
        (4 | 5, Some(pair), _) => _ = world.mark(pair, a),
        (6, Some(pair), _) => {
            let change = ConversationChange {
                archived: Some(rng.random()),
                pinned: Some(rng.random()),
                ..Default::default()
            };
            world.keep(pair, a, change);
        }
        (7, Some(pair), _) => _ = world.change(pair, a, seq, react(rng.random())),
        (8, Some(_), _) => {
            let sides = [Side::NONE, Side::REQUESTED, Side::ASKS, Side::CONTACT, Side::BLOCKED];
            let [of_a, of_b] = [0; 2].map(|_| *sides.choose(rng).expect("some"));
            relate(store, a, b, state(of_a, of_b));
        }
        (9, Some(_), _) => world.note(a, b, &format!("n{}", rng.random_range(0..3))),
        (10, ..) if world.rooms.len() < 4 => _ = world.create(a, RoomKind::Public),
        (10 | 11, _, Some(room)) => _ = world.join(room, a),
        (12 | 13, _, Some(room)) => _ = world.post(room, a, rng.random_bool(0.3).then_some(Seq(seq))),
        (14, _, Some(room)) => match rng.random_range(0..3) {
            0 => _ = world.mark(room, a),
            1 => _ = world.change(room, a, seq, react(rng.random())),
            _ => {
                let change = ConversationChange { marked_unread: Some(rng.random()), ..Default::default() };
                world.keep(room, a, change);
            }
        },
        (15, _, Some(room)) => {
            let change =
                RoomChange { topic: Some(format!("t{}", rng.random_range(0..3))), ..Default::default() };
            _ = ask(|done| store.change_room(room, a, change, NOW, done));
        }
        (16, _, Some(room)) => {
            let actions = [
                MemberAction::Remove,
                MemberAction::Ban,
                MemberAction::Unban,
                MemberAction::SetRole(Role::Owner),
            ];
            world.act(room, a, b, *actions.choose(rng).expect("some"));
        }
        (17, _, Some(room)) => _ = world.ask_into(room, a, b),
        (18, _, Some(room)) => match rng.random_range(0..4) {
            0 => _ = ask(|done| store.decline_room_request(room, b, done)),
            1 => _ = ask(|done| store.decline_room_requests_by(b, a, done)),
            2 => _ = ask(|done| store.leave_room(room, a, done)),
            _ => _ = ask(|done| store.leave_rooms_of(a, b, done)),
        },
        (19, _, Some(room)) if rng.random_bool(0.2) => {
            _ = ask(|done| store.close_room(room, a, None, NOW, done));
        }
        (20, ..) if world.users.len() < 9 => {
            let name = world.id();
            let is_guest = rng.random_bool(0.5);
            let new = if is_guest { guest(store, world.site, &name) } else { put(store, world.site, &name) };
            say(store, new, a, "first", "hello");
            if is_guest && rng.random_bool(0.5) {
                _ = merge(store, world.site, &name, &format!("{name}-member"));
            }
            world.users.push(new);
        }
        (20, ..) if world.users.len() > 6 => {
            let gone = world.users.pop().expect("some");
            let alias = world.id();
            let messages = [MessagesAfterErasure::Kept, MessagesAfterErasure::Erased][rng.random_range(0..2)];
            _ = ask(|done| store.begin_erasure(erase::of(gone, &alias, messages), done));
        }
        _ => _ = ask(|done: chat::Done<chat::EraseSlice>| store.erase_some(NOW, 2, done)),
    }
}
