//! SQLite answers every sequence of operations like plain collections (`plain/mod.rs`). The same holds after it was
//! closed and opened again, and if the writer clears its caches before each operation.

use crate::asking;
use crate::plain;
use crate::postgres;

use asking::{Directory, NOW, ask, direct, put_named, sub};
use chat::{
    Append, ChangeMessage, ContactStore, ConversationChange, ConversationId, ConversationList, MessageChange,
    MessageStore, Position, Profile, Reaction, Relation, ResumeFrom, Search, Seq, SetPresence, Side, SiteId,
    Store, Timestamp, UserId, UserRow, words,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use store::{Options, Sqlite, Synchronous};

use self::plain::Plain;

/// Few users, so that operations conflict.
const USERS: u32 = 4;
const NAMES: [&str; 6] = ["Anna Öztürk", "anna-lena", "(Mod) Ärger 5", "ΟΔΟΣ ΑΣ", "", "Anna Öz"];
const QUERIES: [&str; 6] = ["ö", "ANNA", "mod", "οδοσ α", "5", "  a"];

#[derive(Debug, Clone)]
pub(crate) enum Step {
    PutUser {
        user: UserId,
        name: usize,
        avatar: bool,
        sign_in: bool,
    },
    Append {
        from: UserId,
        to: u32,
        client_id: u8,
        mention: bool,
        reply_to: Option<u64>,
        time: u64,
    },
    Mark {
        user: UserId,
        with: u32,
        received: u64,
        read: u64,
    },
    Change {
        user: UserId,
        with: u32,
        change: ConversationChange,
    },
    ChangeMessage {
        user: UserId,
        with: u32,
        seq: u64,
        change: MessageChange,
    },
    Relate {
        user: UserId,
        with: u32,
        relation: Relation,
        limit: u32,
    },
    Presence {
        user: UserId,
        presence: SetPresence,
        last_seen: u64,
    },
    Token {
        site: u32,
        jti: u8,
        lives: u64,
        now: u64,
    },
    Ban {
        user: UserId,
        banned: bool,
    },
    /// A difference since an earlier position, with small limits.
    Resume {
        user: UserId,
        since: usize,
        page: u32,
        messages: u32,
        per_conversation: u32,
    },
    History {
        user: UserId,
        with: u32,
        before: Option<u64>,
        after: Option<u64>,
        limit: u32,
    },
    /// All pages of all lists.
    Lists {
        user: UserId,
        limit: u32,
        query: Option<usize>,
    },
    RemoveSite {
        site: u32,
    },
}

fn user() -> impl Strategy<Value = UserId> {
    (1..=2u32, 1..=USERS).prop_map(|(site, num)| UserId { site: SiteId(site), num })
}

fn state() -> impl Strategy<Value = Side> {
    prop_oneof![
        Just(Side::NONE),
        Just(Side::REQUESTED),
        Just(Side::ASKS),
        Just(Side::CONTACT),
        Just(Side::BLOCKED),
    ]
}

fn presence() -> impl Strategy<Value = SetPresence> {
    prop_oneof![
        Just(SetPresence::Online),
        Just(SetPresence::Away),
        Just(SetPresence::Busy),
        Just(SetPresence::Invisible)
    ]
}

fn seq() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..9u64, 2 => 20..90u64, 1 => Just(u64::MAX)]
}

fn change() -> impl Strategy<Value = ConversationChange> {
    let muted = proptest::option::of(prop_oneof![Just(Timestamp(0)), Just(Timestamp(u64::MAX))]);
    let draft = proptest::option::of(prop_oneof![Just(""), Just("half a"), Just("half a thought")]);
    (muted, any::<[Option<bool>; 3]>(), draft).prop_map(
        |(muted_until, [pinned, archived, marked_unread], draft)| {
            let draft = draft.map(Box::from);
            ConversationChange { muted_until, pinned, archived, marked_unread, draft }
        },
    )
}

fn message_change() -> impl Strategy<Value = MessageChange> {
    let body = prop_oneof![Just("hello @u1!"), Just("hello @u2"), Just("other words"), Just("more words")];
    let reaction =
        prop::sample::select(vec!["👍", "❤️", ":a:", ":b:", ":c:", ":d:", ":e:", ":f:", ":g:", ":h:"]);
    prop_oneof![
        4 => (body, proptest::option::of(Just("<y/>"))).prop_map(|(body, extension)| MessageChange::Edit {
            body: body.into(),
            extension: extension.map(Box::from),
        }),
        1 => Just(MessageChange::Delete),
        2 => any::<bool>().prop_map(MessageChange::Pin),
        8 => (reaction, prop::bool::weighted(0.8)).prop_map(|(reaction, on)| MessageChange::React {
            reaction: Reaction::parse(reaction).expect("one of ours"),
            on,
        }),
    ]
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let with = 1..=USERS;
    let append = (user(), with.clone(), any::<u8>(), any::<bool>(), proptest::option::of(seq()), 0..5u64)
        .prop_map(|(from, to, client_id, mention, reply_to, time)| Step::Append {
            from,
            to,
            client_id,
            mention,
            reply_to,
            time,
        });
    prop_oneof![
        2 => (user(), 0..NAMES.len(), any::<bool>(), any::<bool>())
            .prop_map(|(user, name, avatar, sign_in)| Step::PutUser { user, name, avatar, sign_in }),
        10 => append,
        4 => (user(), with.clone(), seq(), seq())
            .prop_map(|(user, with, received, read)| Step::Mark { user, with, received, read }),
        3 => (user(), with.clone(), change())
            .prop_map(|(user, with, change)| Step::Change { user, with, change }),
        8 => (user(), with.clone(), 0..5u64, message_change())
            .prop_map(|(user, with, seq, change)| Step::ChangeMessage { user, with, seq, change }),
        3 => (user(), with.clone(), state(), state(), 1..5u32).prop_map(|(user, with, of_a, of_b, limit)|
            Step::Relate { user, with, relation: Relation { of_a, of_b }, limit }),
        1 => (user(), presence(), any::<u64>())
            .prop_map(|(user, presence, last_seen)| Step::Presence { user, presence, last_seen }),
        1 => (1..=2u32, 0..3u8, 0..4u64, 0..4u64)
            .prop_map(|(site, jti, lives, now)| Step::Token { site, jti, lives, now }),
        1 => (user(), any::<bool>()).prop_map(|(user, banned)| Step::Ban { user, banned }),
        4 => (user(), any::<usize>(), 1..5u32, 0..9u32, 0..5u32).prop_map(
            |(user, since, page, messages, per_conversation)| {
                Step::Resume { user, since, page, messages, per_conversation }
            }
        ),
        4 => (user(), with, proptest::option::of(seq()), proptest::option::of(seq()), 0..40u32)
            .prop_map(|(user, with, before, after, limit)| Step::History { user, with, before, after, limit }),
        2 => (user(), 1..4u32, proptest::option::of(0..QUERIES.len()))
            .prop_map(|(user, limit, query)| Step::Lists { user, limit, query }),
        1 => (1..=20u32).prop_map(|site| Step::RemoveSite { site }),
    ]
}

impl Step {
    pub(crate) fn site(&self) -> Option<SiteId> {
        match self {
            Step::PutUser { user, .. }
            | Step::Append { from: user, .. }
            | Step::Mark { user, .. }
            | Step::Change { user, .. }
            | Step::ChangeMessage { user, .. }
            | Step::Relate { user, .. }
            | Step::Presence { user, .. }
            | Step::Ban { user, .. } => Some(user.site),
            Step::Token { site, .. } => Some(SiteId(*site)),
            Step::Resume { .. } | Step::History { .. } | Step::Lists { .. } | Step::RemoveSite { .. } => None,
        }
    }
}

/// The tested store.
pub(crate) enum Tested {
    Plain(Box<Plain>),
    Store(Box<dyn Store>),
    /// Clears the writer's caches before each operation.
    Forgetful(Box<Sqlite>),
}

impl Tested {
    fn answer<T>(&mut self, plain: impl FnOnce(&mut Plain) -> T, store: impl FnOnce(&dyn Store) -> T) -> T {
        if let Tested::Forgetful(store) = self {
            store.crash();
        }
        match self {
            Tested::Plain(tables) => plain(tables),
            Tested::Store(tested) => store(&**tested),
            Tested::Forgetful(tested) => store(&**tested),
        }
    }
}

/// A store with the positions that the test recorded, because positions cannot be compared across stores.
pub(crate) struct Subject {
    pub(crate) tested: Tested,
    seen: Vec<Position>,
    now: u64,
}

impl Subject {
    pub(crate) fn new(tested: Tested) -> Subject {
        let mut subject = Subject { tested, seen: Vec::new(), now: NOW.0 };
        for (key, id) in [("one", 1), ("two", 2)] {
            let added = subject
                .tested
                .answer(|plain| plain.add_site(asking::site(key)), |store| asking::add_site(store, key));
            assert_eq!(added, SiteId(id));
            for num in 1..=USERS {
                let (site, sub, name) = (SiteId(id), format!("u{num}"), NAMES[num as usize]);
                let user = subject.tested.answer(
                    |plain| plain.put_user(site, asking::profile(&sub, name), NOW).id,
                    |store| put_named(store, site, &sub, name),
                );
                assert_eq!(user, UserId { site, num });
            }
        }
        subject
    }

    /// The store's answer without its epoch.
    pub(crate) fn take(&mut self, step: &Step) -> String {
        let (text, position) = self.answer(step);
        let epoch = position.map_or(0, |position| position.epoch);
        self.seen.extend(position);
        text.replace(&format!("epoch: {epoch},"), "epoch: E,")
    }

    fn answer(&mut self, step: &Step) -> (String, Option<Position>) {
        let tested = &mut self.tested;
        match step {
            Step::PutUser { user, name, avatar, sign_in } => {
                let profile = || Profile {
                    sub: sub(&format!("u{}", user.num)),
                    name: NAMES[*name].into(),
                    avatar: avatar.then(|| "https://a.example/1.png".into()),
                    guest: *avatar,
                };
                if *sign_in {
                    let from = asking::since(self.seen.last().copied());
                    let answer = tested.answer(
                        |plain| {
                            let row = plain.put_user(user.site, profile(), NOW);
                            let view = plain.snapshot(row.id, from);
                            (row, view)
                        },
                        |store| asking::sign_in(store, user.site, profile(), from),
                    );
                    let position = answer.1.position;
                    return (format!("{answer:?}"), Some(position));
                }
                let answer = tested.answer(
                    |plain| plain.put_user(user.site, profile(), NOW),
                    |store| ask(|done| store.put_user(user.site, profile(), NOW, done)),
                );
                (format!("{answer:?}"), None)
            }
            Step::Append { from, to, client_id, mention, reply_to, time } => {
                let Some(conversation) = with(*from, *to) else { return Default::default() };
                let extension = client_id.is_multiple_of(3).then_some("<x/>");
                let body = match mention {
                    true => format!("hello @u{to}!"),
                    false if client_id.is_multiple_of(9) => String::new(),
                    false => format!("hello u{to}"),
                };
                let append = || Append {
                    kind: chat::MessageKind::Text,
                    conversation,
                    from: *from,
                    client_id: client_id.to_string().into(),
                    body: body.as_str().into(),
                    extension: extension.map(Box::from),
                    time: Timestamp(NOW.0 + time),
                    reply_to: reply_to.map(Seq),
                    rich: None,
                };
                let answer = tested
                    .answer(|plain| plain.append(append()), |store| ask(|done| store.append(append(), done)));
                (format!("{answer:?}"), Some(answer.position))
            }
            Step::Mark { user, with: other, received, read } => {
                let Some(conversation) = with(*user, *other) else { return Default::default() };
                let (received, read) = (Seq(*received), Seq(*read));
                let answer = tested.answer(
                    |plain| plain.mark(conversation, *user, received, read),
                    |store| ask(|done| store.mark(conversation, *user, received, read, done)),
                );
                (format!("{answer:?}"), Some(answer.position))
            }
            Step::Change { user, with: other, change } => {
                let Some(conversation) = with(*user, *other) else { return Default::default() };
                let answer = tested.answer(
                    |plain| plain.change_conversation(conversation, *user, change),
                    |store| ask(|done| store.change_conversation(conversation, *user, change.clone(), done)),
                );
                (format!("{answer:?}"), answer.ok().map(|(_, position)| position))
            }
            Step::ChangeMessage { user, with: other, seq, change } => {
                let Some(conversation) = with(*user, *other) else { return Default::default() };
                self.now += 1;
                let wanted = ChangeMessage {
                    conversation,
                    seq: Seq(*seq),
                    by: *user,
                    change: change.clone(),
                    time: Timestamp(self.now),
                };
                let answer = tested.answer(
                    |plain| plain.change_message(wanted.clone()),
                    |store| ask(|done| store.change_message(wanted.clone(), done)),
                );
                let revisions = tested.answer(
                    |plain| plain.revisions(conversation, Seq(*seq)),
                    |store| ask(|done| store.revisions(conversation, Seq(*seq), done)),
                );
                (format!("{answer:?} {revisions:?}"), answer.ok().map(|changed| changed.position))
            }
            Step::Relate { user, with, relation, limit } => {
                let other = UserId { site: user.site, num: *with };
                if other == *user {
                    return Default::default();
                }
                let answer = tested.answer(
                    |plain| plain.put_relation(*user, other, *relation, *limit),
                    |store| ask(|done| store.put_relation(*user, other, *relation, *limit, NOW, done)),
                );
                (format!("{answer:?}"), answer)
            }
            Step::Presence { user, presence, last_seen } => {
                let last_seen = Timestamp(*last_seen);
                tested.answer(
                    |plain| plain.put_presence(*user, *presence, last_seen),
                    |store| store.put_presence(*user, *presence, last_seen),
                );
                (self.set_banned(*user, true), None)
            }
            Step::Token { site, jti, lives, now } => {
                self.now += now;
                let (now, expires) = (Timestamp(self.now), Timestamp(self.now + lives));
                let (site, jti) = (SiteId(*site), jti.to_string());
                let answer = tested.answer(
                    |plain| plain.use_token(site, &jti, expires, now),
                    |store| ask(|done| store.use_token(site, &jti, expires, now, done)),
                );
                (format!("{answer:?}"), None)
            }
            Step::Ban { user, banned } => (self.set_banned(*user, *banned), None),
            Step::Resume { user, since, page, messages, per_conversation } => {
                let position = match self.seen.len() {
                    0 => None,
                    some => Some(self.seen[since % some]),
                };
                let from = ResumeFrom {
                    position,
                    page: *page,
                    contacts: *page,
                    messages: *messages,
                    messages_per_conversation: *per_conversation,
                };
                let answer = tested.answer(
                    |plain| plain.snapshot(*user, from),
                    |store| asking::snapshot_from(store, *user, from),
                );
                (format!("{answer:?}"), Some(answer.position))
            }
            Step::History { user, with: other, before, after, limit } => {
                let Some(conversation) = with(*user, *other) else { return Default::default() };
                let (before, after) = (before.map(Seq), after.map(Seq));
                let answer = tested.answer(
                    |plain| plain.history(*user, conversation, before, after, *limit),
                    |store| ask(|done| store.history(*user, conversation, before, after, *limit, done)),
                );
                (format!("{answer:?}"), None)
            }
            Step::Lists { user, limit, query } => {
                (lists(tested, *user, *limit, query.map(|at| QUERIES[at])), None)
            }
            Step::RemoveSite { site } => {
                let site = SiteId(*site); // mostly a site that does not exist
                let answer = tested.answer(
                    |plain| (Ok(plain.remove_site(site)), Ok(plain.sites())),
                    |store| (store.remove_site(site), store.sites()),
                );
                (format!("{:?} {:?}", answer.0, answer.1), None)
            }
        }
    }

    fn set_banned(&mut self, user: UserId, banned: bool) -> String {
        let answer = self.tested.answer(
            |plain| plain.set_banned(user, banned),
            |store| ask(|done| store.set_banned(user, banned, done)),
        );
        format!("{answer:?}")
    }
}

fn with(user: UserId, other: u32) -> Option<ConversationId> {
    (user.num != other).then(|| direct(user, UserId { site: user.site, num: other }))
}

const LISTS: [ConversationList; 5] = [
    ConversationList::Main,
    ConversationList::Archived,
    ConversationList::Unread,
    ConversationList::Waiting,
    ConversationList::Mentions,
];

/// Everything that can be listed for a user, page by page.
fn lists(tested: &mut Tested, user: UserId, limit: u32, query: Option<&str>) -> String {
    let mut text = String::new();
    for list in LISTS {
        text += &pages(|after: Option<String>| {
            let page = tested.answer(
                |plain| plain.conversations(user, list, after.as_deref(), limit),
                |store| ask(|done| store.conversations(user, list, after.clone(), limit, done)),
            );
            (format!("{page:?}\n"), page.next)
        });
    }
    text += &pages(|after| {
        let page = tested.answer(
            |plain| plain.contacts(user, after.as_deref(), limit),
            |store| ask(|done| store.contacts(user, after.clone(), limit, done)),
        );
        (format!("{page:?}\n"), page.next)
    });
    text += &pages(|after| {
        let query = || query.map(str::to_owned);
        let page = tested.answer(
            |plain| plain.people(user.site, query().as_deref(), after.as_deref(), limit),
            |store| ask(|done| store.people(user.site, query(), after.clone(), limit, done)),
        );
        (format!("{page:?}\n"), page.next)
    });
    let others: Vec<UserId> = (1..=USERS).map(|num| UserId { site: user.site, num }).collect();
    let relations = tested.answer(
        |plain| others.iter().map(|other| plain.relation(user, *other)).collect(),
        |store| ask(|done| store.relations(others.iter().map(|other| [user, *other]).collect(), done)),
    );
    let by_id: Vec<UserRow> = tested.answer(
        |plain| others.iter().filter_map(|id| plain.user_by_id(*id)).collect(),
        |store| ask(|done| store.users_by_id(others.clone(), done)),
    );
    let subs = [sub("u2"), sub("x"), sub("u1")];
    let by_sub: Vec<UserRow> = tested.answer(
        |plain| subs.iter().filter_map(|sub| plain.user(user.site, sub)).collect(),
        |store| ask(|done| store.users(user.site, subs.to_vec(), done)),
    );
    let listed = tested.answer(
        |plain| Ok(plain.list_users(user.site, Some(&sub("u1")), limit)),
        |store| store.list_users(user.site, Some(sub("u1")), limit),
    );
    let sites = tested
        .answer(|plain| (Ok(plain.sites()), Ok(plain.revision())), |store| (store.sites(), store.revision()));
    text + &format!("{relations:?}\n{by_id:?}\n{by_sub:?}\n{listed:?}\n{sites:?}\n")
}

/// All pages, each requested with the cursor of the previous one.
fn pages(mut page: impl FnMut(Option<String>) -> (String, Option<String>)) -> String {
    let (mut text, mut after) = (String::new(), None);
    loop {
        let (more, next) = page(after);
        text += &more;
        after = next;
        if after.is_none() {
            return text;
        }
    }
}

/// Everything that a store answers in its final state.
pub(crate) fn all(subject: &mut Subject) -> Vec<String> {
    let mut answers = Vec::new();
    let seen = subject.seen.len();
    for site in [SiteId(1), SiteId(2)] {
        for num in 1..=USERS {
            let user = UserId { site, num };
            answers.push(lists(&mut subject.tested, user, 3, None));
            answers.push(subject.take(&Step::Resume {
                user,
                since: 0,
                page: 9,
                messages: 99,
                per_conversation: 99,
            }));
            for with in num + 1..=USERS {
                answers.push(subject.take(&Step::History {
                    user,
                    with,
                    before: None,
                    after: None,
                    limit: 999,
                }));
            }
        }
    }
    subject.seen.truncate(seen); // repeat the same requests
    answers
}

pub(crate) fn same(found: &[String], wanted: &[String]) {
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!(found, wanted);
    }
}

fn compare(steps: &[Step]) {
    let directory = Directory::quick();
    let options = Options { synchronous: Synchronous::Normal, ..Options::default() };
    let open = || Box::new(Sqlite::open(&directory.file(), options).expect("it opens"));
    let mut plain = Subject::new(Tested::Plain(Box::default()));
    let mut sqlite = Subject::new(Tested::Store(open()));
    let mut forgetful = Subject::new(Tested::Forgetful(Box::new(Sqlite::in_memory())));
    let mut removed = Vec::new();
    for step in steps {
        if let Step::RemoveSite { site } = step {
            removed.push(SiteId(*site));
        }
        // Writes for a site that does not exist have no effect.
        if !step.site().is_some_and(|site| removed.contains(&site)) {
            let wanted = plain.take(step);
            assert_eq!(sqlite.take(step), wanted, "{step:?}");
            assert_eq!(forgetful.take(step), wanted, "{step:?} without what was kept in memory");
        }
    }
    let wanted = all(&mut plain);
    same(&all(&mut sqlite), &wanted);
    drop(sqlite.tested);
    sqlite.tested = Tested::Store(open()); // repeat them after it was closed and opened
    same(&all(&mut sqlite), &wanted);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_answers_as_plain_collections_do(steps in proptest::collection::vec(step(), 1..160)) {
        compare(&steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn postgresql_answers_as_plain_collections_do(steps in proptest::collection::vec(step(), 1..160)) {
        let url = postgres::database();
        compare_one(&steps, || Box::new(postgres::open(&url)));
    }
}

/// As [`compare`], for one store with threads.
fn compare_one(steps: &[Step], open: impl Fn() -> Box<Sqlite>) {
    let mut plain = Subject::new(Tested::Plain(Box::default()));
    let mut store = Subject::new(Tested::Store(open()));
    let mut removed = Vec::new();
    for step in steps {
        if let Step::RemoveSite { site } = step {
            removed.push(SiteId(*site));
        }
        if !step.site().is_some_and(|site| removed.contains(&site)) {
            assert_eq!(store.take(step), plain.take(step), "{step:?}");
        }
    }
    let wanted = all(&mut plain);
    same(&all(&mut store), &wanted);
    drop(store.tested);
    store.tested = Tested::Store(open());
    same(&all(&mut store), &wanted);
}

/// Cursors and queries come from clients.
#[test]
fn any_cursor_and_any_query_has_an_answer() {
    let directory = Directory::quick();
    let store = Sqlite::open(&directory.file(), Options::default()).expect("it opens");
    let site = asking::add_site(&store, "one");
    let users = NAMES.map(|name| put_named(&store, site, &format!("id {name}"), name));
    let (a, b) = (users[0], users[1]);
    asking::say(&store, a, b, "1", "x");
    let text = proptest::option::of(any::<String>());
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() });
    let outcome = runner.run(&(text.clone(), text, any::<u64>()), |(after, query, number)| {
        ask(|done| store.conversations(a, ConversationList::Main, after.clone(), 3, done));
        ask(|done| store.contacts(a, after.clone(), 3, done));
        let words = words(query.as_deref().unwrap_or_default());
        if !words.is_empty() {
            let wanted = Search { user: a, words, conversation: None, after: after.clone(), limit: 3 };
            prop_assert!(ask(|done| store.search(wanted, done)).is_ok());
        }
        let people = ask(|done| store.people(site, query, after, 3, done));
        prop_assert!(people.rows.len() <= 3);
        let seq = Some(Seq(number));
        let page = ask(|done| store.history(a, direct(a, b), seq, None, u32::MAX, done));
        prop_assert_eq!(page.messages.len(), usize::from(number > 1));
        let page = ask(|done| store.history(a, direct(a, b), None, seq, u32::MAX, done));
        prop_assert_eq!(page.messages.len(), usize::from(number == 0));
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

/// More messages than two milestones apart, which random steps rarely reach.
#[test]
fn a_long_conversation_is_read_from_anywhere() {
    let [a, b] = [1, 2].map(|num| UserId { site: SiteId(1), num });
    let mut steps = Vec::new();
    for n in 0..140u8 {
        let from = if n % 3 == 0 { a } else { b };
        let to = if n % 3 == 0 { 2 } else { 1 };
        let mention = n % 7 == 0;
        steps.push(Step::Append {
            from,
            to,
            client_id: n,
            mention,
            reply_to: Some(n.into()),
            time: n.into(),
        });
    }
    for seq in [0, 1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 139, 140, 141, 500] {
        for (before, after) in [(Some(seq), None), (None, Some(seq)), (Some(seq + 9), Some(seq))] {
            for limit in [1, 7, 50] {
                steps.push(Step::History { user: a, with: 2, before, after, limit });
            }
        }
    }
    for read in [10, 70, 139] {
        steps.push(Step::Mark { user: a, with: 2, received: 0, read });
        steps.push(Step::Lists { user: a, limit: 3, query: None });
    }
    compare(&steps);
}
