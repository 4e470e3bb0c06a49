//! The writer's caches of rooms change no answer: a store on disk, with threads, answers like one that clears its
//! caches before each request. Messages have numbers without gaps, and a repeated message has its first number.

use crate::asking;
use crate::postgres;

use std::collections::HashMap;
use std::ops::Range;

use asking::{Directory, NOW, add_site, ask, profile, put, since};
use chat::{
    Appended, ChangeMessage, ConversationChange, ConversationId, ConversationsPage, HistoryPage, LinkCode,
    MemberAction, MessageChange, NewLink, NewRoom, PageKey, Position, Post, Reaction, Role, RoomChange,
    RoomKind, RoomLimits, RoomName, RoomSanction, RoomSanctionKind, Seq, Settings, SignInStore, Store,
    Timestamp, UserId,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use store::{Options, Sqlite};

const USERS: [&str; 5] = ["ann", "bob", "carl", "dora.d", "eve"];
const BODIES: [&str; 6] =
    ["hello", "@bob look", "@room all of you", "(@dora.d)", "@ann, @carl! @nobody", "mail@room.example"];
const LIMITS: RoomLimits = RoomLimits { members: 4, per_user: 4, owned: 2 };

/// Both stores, and the model of their messages.
struct Pair {
    /// Clears the writer's caches before each request.
    forgetful: Box<Sqlite>,
    on_disk: Box<Sqlite>,
    posted: Posted,
    users: Vec<UserId>,
    /// A user of another site, who never becomes a member.
    stranger: UserId,
    now: u64,
    position: [Position; 2],
    links: u64,
}

/// The messages of rooms as plain collections.
#[derive(Default)]
struct Posted {
    /// By room: author and client id, in the order of their numbers.
    by_room: HashMap<ConversationId, Vec<(UserId, Box<str>)>>,
}

#[test]
fn two_stores_answer_the_same() {
    let directory = Directory::quick();
    compare(0..12, |seed| {
        let path = directory.path().join(format!("{seed}.db"));
        Sqlite::open(&path, Options::default()).expect("it opens")
    });
}

/// The differential test of the engines: the same random history for SQLite and PostgreSQL.
#[test]
fn two_engines_answer_the_same() {
    compare(100..102, |_| postgres::store());
}

fn compare(seeds: Range<u64>, open: impl Fn(u64) -> Sqlite) {
    let steps = 400;
    let (mut posts, count) = (0, seeds.end - seeds.start);
    for seed in seeds {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut pair = Pair::new(open(seed));
        for step in 0..steps {
            pair.step(&mut rng, &format!("seed {seed} step {step}"));
        }
        posts += pair.posted.by_room.values().map(Vec::len).sum::<usize>();
    }
    assert!(posts as u64 > 16 * count, "{posts} messages are too few to tell anything");
}

impl Posted {
    /// A message was stored, now or before.
    fn put(&mut self, from: UserId, client_id: &str, appended: &Appended, what: &str) {
        let known = self.by_room.iter().find_map(|(room, messages)| {
            let at = messages.iter().position(|(by, id)| *by == from && **id == *client_id)?;
            Some((*room, at as u64 + 1))
        });
        let messages = self.by_room.entry(appended.conversation).or_default();
        let wanted = known.unwrap_or((appended.conversation, messages.len() as u64 + 1));
        if known.is_none() {
            messages.push((from, client_id.into()));
        }
        assert_eq!((appended.conversation, appended.seq.0), wanted, "{what}");
        assert_eq!(appended.repeated, known.is_some(), "{what}");
    }

    /// A member's row has the right numbers of messages and of unread ones.
    fn check_unread(&self, page: &ConversationsPage, what: &str) {
        for row in page.rows.iter().filter(|row| row.requested_by.is_none()) {
            let newest = self.by_room.get(&row.id).map_or(0, Vec::len) as u64;
            assert_eq!(row.last.as_ref().map_or(0, |last| last.seq.0), newest, "{what}");
            assert_eq!(row.unread, newest - row.read.0, "{what}");
        }
    }

    /// Checks a page of a room's history against the model.
    fn check(&self, page: &HistoryPage, what: &str) {
        for message in &page.messages {
            let (from, client_id) = &self.by_room[&message.conversation][message.seq.0 as usize - 1];
            assert_eq!((message.from, &message.client_id), (*from, client_id), "{what}");
        }
        let seqs: Vec<u64> = page.messages.iter().map(|message| message.seq.0).collect();
        assert!(seqs.windows(2).all(|pair| pair[1] == pair[0] + 1), "{what}: {seqs:?}");
    }
}

impl Pair {
    /// `on_disk`: an empty store with threads.
    fn new(on_disk: Sqlite) -> Pair {
        let stores = [Box::new(Sqlite::in_memory()), Box::new(on_disk)];
        let [(users, stranger, forgetful), (same, _, on_disk)] = stores.each_ref().map(|store| {
            let (site, other) = (add_site(&**store, "forum"), add_site(&**store, "other"));
            let users: Vec<_> = USERS.iter().map(|name| put(&**store, site, name)).collect();
            let position = ask(|done| store.snapshot(users[0], since(None), done)).position;
            (users, put(&**store, other, "ann"), position)
        });
        assert_eq!(users, same);
        let position = [forgetful, on_disk];
        let [forgetful, on_disk] = stores;
        let posted = Posted::default();
        Pair { forgetful, on_disk, posted, users, stranger, now: NOW.0, position, links: 0 }
    }

    fn stores(&self) -> [&dyn Store; 2] {
        self.forgetful.crash();
        [&*self.forgetful, &*self.on_disk]
    }

    /// Sends a request to both stores; the answers must be equal except for the epoch.
    fn both(&self, what: &str, mut question: impl FnMut(&dyn Store) -> String) {
        let [forgetful, on_disk] = self.stores().map(|store| without_epoch(&question(store)));
        assert_eq!(forgetful, on_disk, "{what}");
    }

    fn user(&self, rng: &mut StdRng) -> UserId {
        if rng.random_bool(0.02) { self.stranger } else { self.users[rng.random_range(0..self.users.len())] }
    }

    fn room(&self, rng: &mut StdRng) -> ConversationId {
        ConversationId::room(self.users[0].site, rng.random_range(1..6))
    }

    fn name(&self, rng: &mut StdRng) -> RoomName {
        match rng.random_range(0..3) {
            0 => RoomName::Page(self.users[0].site, PageKey::parse("/thread/42").expect("one line")),
            _ => RoomName::Id(self.room(rng)),
        }
    }

    fn step(&mut self, rng: &mut StdRng, what: &str) {
        self.now += rng.random_range(1..2_000);
        let now = Timestamp(self.now);
        let (user, other, room, name) = (self.user(rng), self.user(rng), self.room(rng), self.name(rng));
        match rng.random_range(0..22) {
            20 | 21 => self.sanction(rng, what),
            16..=18 => self.link(rng, what),
            0 => {
                let kind = kind(rng);
                let new =
                    || NewRoom { name: format!("Room {kind:?}").into(), kind, topic: None, alias: None };
                self.both(what, |store| say(ask(|done| store.create_room(user, new(), LIMITS, now, done))));
            }
            1 => {
                let change = change(rng);
                self.both(what, |store| {
                    let changed = ask(|done| store.change_room(room, user, change.clone(), NOW, done));
                    say(changed.map(|changed| (changed.row, changed.position, sorted(&changed.members))))
                });
            }
            2 | 3 => self
                .both(what, |store| say(ask(|done| store.join_room(name.clone(), user, LIMITS, now, done)))),
            4 => self.both(what, |store| say(ask(|done| store.leave_room(room, user, done)))),
            5 | 6 => {
                let action = action(rng);
                self.both(what, |store| {
                    say(ask(|done| store.change_member(room, user, other, action, LIMITS, NOW, done)))
                });
            }
            7..=9 => {
                let post = Post {
                    names_author: false,
                    kind: chat::MessageKind::Text,
                    room: name,
                    from: user,
                    client_id: format!("m{}", rng.random_range(0..300)).into(),
                    body: BODIES[rng.random_range(0..BODIES.len())].into(),
                    extension: rng.random_bool(0.3).then(|| "<x/>".into()),
                    time: now,
                    reply_to: rng.random_bool(0.3).then(|| Seq(rng.random_range(0..20))),
                    files: Vec::new(),
                    rich: None,
                };
                let mut appended = None;
                self.both(what, |store| {
                    let posted = ask(|done| store.post(post.clone(), LIMITS, done));
                    appended = posted.as_ref().ok().map(|posted| posted.appended);
                    say(posted.map(|posted| (posted.appended, posted.joined, sorted(&posted.members))))
                });
                if let Some(appended) = appended {
                    self.posted.put(user, &post.client_id, &appended, what);
                }
            }
            10 => {
                let (received, read) = (Seq(rng.random_range(0..40)), Seq(rng.random_range(0..40)));
                self.both(what, |store| say(ask(|done| store.mark(room, user, received, read, done))));
            }
            11 => {
                let change = ConversationChange {
                    muted_until: rng.random_bool(0.3).then_some(Timestamp(7)),
                    pinned: rng.random_bool(0.5).then(|| rng.random_bool(0.5)),
                    archived: rng.random_bool(0.5).then(|| rng.random_bool(0.5)),
                    marked_unread: rng.random_bool(0.5).then(|| rng.random_bool(0.5)),
                    draft: [None, Some(""), Some("half a")][rng.random_range(0..3)].map(Box::from),
                };
                self.both(what, |store| {
                    let change = change.clone();
                    say(ask(|done| store.change_conversation(room, user, change, done)))
                });
            }
            12 => {
                let renamed = format!("{} {}", USERS[3], rng.random_range(0..3));
                let site = self.users[0].site;
                self.both(what, |store| {
                    let profile = profile(USERS[3], &renamed);
                    say(ask(|done| store.put_user(site, profile, Timestamp(NOW.0), done)).profile.name)
                });
            }
            13 | 14 => {
                let (seq, by) = (Seq(rng.random_range(0..12)), user);
                let change = message_change(rng);
                self.both(what, |store| {
                    let change = change.clone();
                    let wanted = ChangeMessage { conversation: room, seq, by, change, time: now };
                    let changed = ask(|done| store.change_message(wanted, done));
                    say(changed.map(|it| (it.message, it.changed, it.position, sorted(&it.members))))
                });
            }
            _ => self.remember(rng),
        }
        self.look(rng, what);
    }

    /// Mutes or bans a member for a while, or ends sanctions.
    fn sanction(&mut self, rng: &mut StdRng, what: &str) {
        let (user, other, room, now) = (self.user(rng), self.user(rng), self.room(rng), Timestamp(self.now));
        let kinds = [RoomSanctionKind::Mute, RoomSanctionKind::Ban];
        let wanted = RoomSanction {
            kind: kinds[rng.random_range(0..2)],
            until: Timestamp(self.now + rng.random_range(1..20_000)),
            reason: ["", "Spam"][rng.random_range(0..2)].into(),
            shows_reason: rng.random_bool(0.8),
        };
        match rng.random_range(0..3) {
            0 => self.both(what, |store| {
                let (mut ended, next) = ask(|done| store.end_sanctions(now, done));
                ended.sort_by_key(|ended| (ended.user.id, ended.room, ended.kind.word()));
                say((ended, next))
            }),
            _ => self.both(what, |store| {
                say(ask(|done| store.sanction_member(room, user, other, wanted.clone(), now, done)))
            }),
        }
        self.both(what, |store| say(ask(|done| store.notices(other, done)).len()));
    }

    /// Creates, revokes or uses an invite link.
    fn link(&mut self, rng: &mut StdRng, what: &str) {
        let (user, room, now) = (self.user(rng), self.room(rng), Timestamp(self.now));
        let old = LinkCode::of(u128::from(rng.random_range(0..=self.links)).to_be_bytes());
        match rng.random_range(0..9) {
            8 => {
                let mut settings = Settings::default();
                settings.invitations.moderators_only = rng.random_bool(0.3);
                self.both(what, |store| say(store.set_settings(user.site, &settings)));
            }
            0..=3 => {
                self.links += 1;
                let new = NewLink {
                    code: LinkCode::of(u128::from(self.links).to_be_bytes()),
                    until: Timestamp(now.0 + rng.random_range(1..100_000)),
                    uses: rng.random_bool(0.5).then(|| rng.random_range(1..3)),
                };
                self.both(what, |store| say(ask(|done| store.make_link(room, user, new, now, done))));
            }
            4 => self.both(what, |store| say(ask(|done| store.take_back_link(room, user, old, now, done)))),
            _ => self.both(what, |store| say(ask(|done| store.join_link(old, user, LIMITS, now, done)))),
        }
    }

    /// Records the present position for a later resume.
    fn remember(&mut self, rng: &mut StdRng) {
        let user = self.user(rng);
        self.position =
            self.stores().map(|store| ask(|done| store.snapshot(user, since(None), done)).position);
    }

    /// Both stores give equal answers to reads.
    fn look(&self, rng: &mut StdRng, what: &str) {
        let (user, room, name) = (self.user(rng), self.room(rng), self.name(rng));
        let (limit, query) = (rng.random_range(1..4u32), rng.random_bool(0.5).then(|| "d".to_owned()));
        let code = LinkCode::of(u128::from(rng.random_range(0..=self.links)).to_be_bytes());
        let now = Timestamp(self.now);
        match rng.random_range(0..8) {
            6 => self.both(what, |store| say(ask(|done| store.links(room, user, now, done)))),
            7 => self.both(what, |store| say(ask(|done| store.open_link(code, user, now, done)))),
            0 => {
                use chat::ConversationList::{Archived, Main, Mentions, Unread};
                let list = [Main, Archived, Unread, Mentions][limit as usize];
                self.both(what, |store| {
                    let page = ask(|done| store.conversations(user, list, None, 50, done));
                    self.posted.check_unread(&page, what);
                    say(page)
                });
            }
            1 => self.both(what, |store| {
                let page = ask(|done| store.room_history(name.clone(), user, None, None, limit, done));
                page.iter().for_each(|(_, page)| self.posted.check(page, what));
                say(page)
            }),
            2 => self.both(what, |store| {
                let (mut after, mut seen) = (None, Vec::new());
                loop {
                    let page =
                        ask(|done| store.members(room, user, query.clone(), after.take(), limit, done));
                    let Ok(page) = page else { return say(page) };
                    seen.extend(page.rows);
                    after = page.next;
                    if after.is_none() {
                        return say(seen);
                    }
                }
            }),
            3 => self.both(what, |store| {
                let (mut after, mut seen) = (None, Vec::new());
                loop {
                    let page = ask(|done| store.rooms(user.site, None, after.take(), limit, done));
                    seen.extend(page.rows);
                    after = page.next;
                    if after.is_none() {
                        return say(seen);
                    }
                }
            }),
            4 => self.both(what, |store| {
                let few = ask(|done| store.few_members(room, user, limit, done));
                say(few.map(|mut few| {
                    few.sort_unstable();
                    few
                }))
            }),
            _ => {
                let told = [0, 1].map(|at| {
                    let from = since(Some(self.position[at]));
                    let mut view = asking::snapshot_from(self.stores()[at], user, from);
                    view.left.sort_unstable_by_key(|(id, _)| *id);
                    without_epoch(&say(view))
                });
                assert_eq!(told[0], told[1], "{what}");
            }
        }
    }
}

fn say(answer: impl std::fmt::Debug) -> String {
    format!("{answer:?}")
}

fn sorted(members: &[u32]) -> Vec<u32> {
    let mut members = members.to_vec();
    members.sort_unstable();
    members
}

fn without_epoch(text: &str) -> String {
    let mut parts = text.split("epoch: ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

fn kind(rng: &mut StdRng) -> RoomKind {
    [RoomKind::Public, RoomKind::Private, RoomKind::Announcement][rng.random_range(0..3)]
}

fn change(rng: &mut StdRng) -> RoomChange {
    RoomChange {
        name: rng.random_bool(0.3).then(|| "Änderung".to_owned()),
        topic: rng.random_bool(0.5).then(|| ["", "new"][rng.random_range(0..2)].to_owned()),
        avatar: None,
        kind: rng.random_bool(0.2).then(|| kind(rng)),
        slow_ms: rng.random_bool(0.4).then(|| rng.random_range(0..3_000)),
        frozen: rng.random_bool(0.4).then(|| rng.random_bool(0.4)),
        max_members: rng.random_bool(0.2).then(|| rng.random_range(0..5)),
    }
}

fn message_change(rng: &mut StdRng) -> MessageChange {
    match rng.random_range(0..6) {
        0 | 1 => MessageChange::edit(BODIES[rng.random_range(0..BODIES.len())]),
        2 => MessageChange::Delete,
        3 => MessageChange::Pin(rng.random_bool(0.7)),
        on => {
            let reaction = Reaction::parse("👍").expect("an emoji");
            MessageChange::React { reaction, on: on == 4 }
        }
    }
}

fn action(rng: &mut StdRng) -> MemberAction {
    match rng.random_range(0..8) {
        0 | 1 => MemberAction::Invite,
        2 => MemberAction::Remove,
        3 => MemberAction::Ban,
        4 => MemberAction::Unban,
        at => {
            let roles = [Role::Owner, Role::Moderator, Role::Muted];
            MemberAction::SetRole(roles[at - 5])
        }
    }
}
