//! The archive of a user: the messages of all conversations in the order of their positions.

use chat::messages::{ArchiveEnd, MessageName};
use chat::{
    Append, ArchivePage, ArchiveRead, LinkRule, NewRoom, Post, ReadFrom, Refusal, RequestAnswer,
    RequestRules, RoomKind, RoomLimits, RoomName, Seq, Store, Timestamp, Trim, UserId,
};

use crate::asking::{NOW, ask, direct, message, put, say};
use crate::two_users;

const LIMITS: RoomLimits = RoomLimits { members: 0, per_user: 0, owned: 0 };

fn all(reader: UserId) -> ArchiveRead {
    ArchiveRead {
        reader,
        of: ReadFrom::Direct,
        start: None,
        end: None,
        after: None,
        before: None,
        from: ArchiveEnd::Oldest,
        limit: 1_000,
    }
}

fn read(store: &dyn Store, wanted: &ArchiveRead) -> Result<ArchivePage, Refusal> {
    ask(|done| store.archive(wanted.clone(), done))
}

fn positions(store: &dyn Store, wanted: &ArchiveRead) -> (Vec<u64>, bool) {
    let ArchivePage { messages, more } = read(store, wanted).expect("the reader may");
    (messages.iter().map(|message| message.position).collect(), more)
}

fn at(store: &dyn Store, from: UserId, to: UserId, number: u64) -> (u64, u64) {
    let time = Timestamp(NOW.0 + number * 1_000);
    let append = Append { time, ..message(from, to, &number.to_string(), "x") };
    (ask(|done| store.append(append, done)).position.number, time.0)
}

/// Compares pages of every kind with a filter over all messages.
pub(crate) fn a_page_has_all_messages_of_a_range(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let others: Vec<UserId> = ["carl", "dora", "eve"].iter().map(|name| put(store, site, name)).collect();
    assert_eq!(positions(store, &all(ann)), (vec![], false));
    // Conversations of different lengths, whose messages alternate without a pattern.
    let mut written = Vec::new();
    for number in 0..400u64 {
        let other = match number * 7919 % 23 {
            0..=12 => bob,
            13..=19 => others[0],
            20..=21 => others[1],
            _ => others[2],
        };
        let (from, to) = if number % 3 == 0 { (ann, other) } else { (other, ann) };
        let (position, time) = at(store, from, to, number);
        written.push((position, time, direct(ann, other)));
        at(store, bob, others[0], 1_000 + number);
    }
    assert_eq!(positions(store, &all(ann)).0, written.iter().map(|one| one.0).collect::<Vec<_>>());
    let place = |number: u64| (number < 400).then(|| written[number as usize]);
    let mut checked = 0;
    for from in [ArchiveEnd::Oldest, ArchiveEnd::Newest] {
        for of in [ReadFrom::Direct, ReadFrom::One(direct(ann, bob)), ReadFrom::One(direct(ann, others[1]))] {
            for (after, before) in
                [(999, 999), (0, 999), (63, 64), (130, 399), (399, 999), (999, 1), (200, 300)]
            {
                for (start, end) in [(999, 999), (64, 999), (100, 350), (399, 999), (300, 100)] {
                    for limit in [1, 7, 1_000] {
                        let wanted = ArchiveRead {
                            of,
                            after: place(after).map(|one| one.0),
                            before: place(before).map(|one| one.0),
                            start: place(start).map(|one| Timestamp(one.1)),
                            end: place(end).map(|one| Timestamp(one.1)),
                            from,
                            limit,
                            ..all(ann)
                        };
                        let fits = |one: &&(u64, u64, chat::ConversationId)| {
                            wanted.after.is_none_or(|after| after < one.0)
                                && wanted.before.is_none_or(|before| one.0 < before)
                                && wanted.start.is_none_or(|start| start.0 <= one.1)
                                && wanted.end.is_none_or(|end| one.1 <= end.0)
                                && (of == ReadFrom::Direct || of == ReadFrom::One(one.2))
                        };
                        let range: Vec<u64> = written.iter().filter(fits).map(|one| one.0).collect();
                        let taken = range.len().min(limit as usize);
                        let page = match from {
                            ArchiveEnd::Oldest => &range[..taken],
                            ArchiveEnd::Newest => &range[range.len() - taken..],
                        };
                        let found = positions(store, &wanted);
                        assert_eq!(found, (page.to_vec(), taken < range.len()), "{wanted:?}");
                        checked += found.0.len();
                    }
                }
            }
        }
    }
    assert!(checked > 1_000);
}

fn post(store: &dyn Store, room: chat::ConversationId, from: UserId, id: &str) -> u64 {
    let post = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room: RoomName::Id(room),
        from,
        client_id: id.into(),
        body: "x".into(),
        extension: None,
        time: NOW,
        reply_to: None,
        files: Vec::new(),
        rich: None,
    };
    ask(|done| store.post(post, LIMITS, done)).expect("a member may").appended.position.number
}

fn room(store: &dyn Store, owner: UserId, name: &str) -> chat::ConversationId {
    let room = NewRoom { name: name.into(), kind: RoomKind::Private, topic: None, alias: None };
    ask(|done| store.create_room(owner, room, LIMITS, NOW, done)).expect("it is allowed").row.id
}

pub(crate) fn rooms_belong_to_the_whole_archive(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let (mine, theirs) = (room(store, ann, "mine"), room(store, bob, "theirs"));
    let first = say(store, ann, bob, "1", "x").position.number;
    let second = post(store, mine, ann, "2");
    post(store, theirs, bob, "3");
    let fourth = say(store, bob, ann, "4", "x").position.number;
    assert_eq!(positions(store, &all(ann)).0, [first, fourth]);
    for from in [ArchiveEnd::Oldest, ArchiveEnd::Newest] {
        let whole = ArchiveRead { of: ReadFrom::All, from, ..all(ann) };
        assert_eq!(positions(store, &whole).0, [first, second, fourth]);
    }
    assert_eq!(positions(store, &ArchiveRead { of: ReadFrom::One(mine), ..all(ann) }).0, [second]);
    let read_theirs = read(store, &ArchiveRead { of: ReadFrom::One(theirs), ..all(ann) });
    assert!(read_theirs.is_err(), "{read_theirs:?}");
}

pub(crate) fn messages_of_others_are_not_in_it(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let theirs = say(store, ann, bob, "1", "x").position.number;
    let one = ArchiveRead { of: ReadFrom::One(direct(ann, bob)), ..all(carl) };
    assert_eq!(read(store, &one).err(), Some(Refusal::NoSuchConversation));
    assert_eq!(positions(store, &all(carl)), (vec![], false));
    let named =
        |reader, position| ask(|done| store.messages_at(reader, vec![position], done)).map(|all| all.len());
    assert_eq!((named(ann, theirs), named(bob, theirs)), (Ok(1), Ok(1)));
    assert_eq!(named(carl, theirs), Err(Refusal::NoSuchMessage));
    assert_eq!(named(ann, 0), Err(Refusal::NoSuchMessage));
}

/// A client that asks for what came after a message of a database that was restored since must not be told "nothing".
pub(crate) fn a_position_beyond_the_newest_is_refused(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let newest = say(store, ann, bob, "1", "x").position.number;
    for (after, before) in [(Some(newest + 1), None), (None, Some(u64::MAX))] {
        assert_eq!(read(store, &ArchiveRead { after, before, ..all(ann) }), Err(Refusal::NoSuchMessage));
    }
    assert_eq!(positions(store, &ArchiveRead { after: Some(newest), ..all(ann) }), (vec![], false));
}

pub(crate) fn a_pending_request_is_left_out(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let rules = RequestRules { messages: 3, per_day: 9, links: LinkRule::Refused, begin: Ok(()) };
    let sent =
        ask(|done| store.append_request(message(ann, bob, "1", "Hello"), rules, done)).expect("she may");
    assert!(sent.pending);
    let position = sent.appended.position.number;
    assert_eq!(positions(store, &all(ann)).0, [position], "its author sees it");
    assert_eq!(positions(store, &all(bob)), (vec![], false));
    let one = ArchiveRead { of: ReadFrom::One(direct(ann, bob)), ..all(bob) };
    assert_eq!(positions(store, &one).0, [position], "as in its history");
    ask(|done| store.answer_request(direct(ann, bob), bob, RequestAnswer::Accept, done)).expect("he may");
    assert_eq!(positions(store, &all(bob)).0, [position]);
}

pub(crate) fn removed_messages_are_left_out(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let written: Vec<u64> = (0..100).map(|number| at(store, ann, bob, number).0).collect();
    let before = Timestamp(NOW.0 + 70_000);
    let trim = Trim { before: Some(before), rooms: Vec::new() };
    ask(|done| store.trim(site, None, trim, 1_000, done));
    for from in [ArchiveEnd::Oldest, ArchiveEnd::Newest] {
        assert_eq!(positions(store, &ArchiveRead { from, ..all(ann) }), (written[70..].to_vec(), false));
        let some = ArchiveRead { from, before: Some(written[72]), after: Some(written[3]), ..all(ann) };
        assert_eq!(positions(store, &some), (written[70..72].to_vec(), false));
        assert_eq!(
            positions(store, &ArchiveRead { from, before: Some(written[60]), ..all(ann) }),
            (vec![], false)
        );
    }
}

pub(crate) fn messages_are_found_by_their_names(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let id = direct(ann, bob);
    let first = say(store, ann, bob, "a", "one");
    say(store, bob, ann, "b", "two");
    say(store, ann, carl, "c", "three");
    let find = |reader: UserId, id, name: MessageName| {
        ask(|done| store.find_message(reader, id, name, done)).map(|found| found.seq)
    };
    let (mine, theirs) = (|id: &str| MessageName::Mine(id.into()), |id: &str| MessageName::Theirs(id.into()));
    assert_eq!(find(ann, id, mine("a")), Ok(Seq(1)));
    assert_eq!(find(ann, id, theirs("b")), Ok(Seq(2)));
    assert_eq!(find(bob, id, theirs("a")), Ok(Seq(1)));
    assert_eq!(find(bob, id, MessageName::Seq(Seq(2))), Ok(Seq(2)));
    assert_eq!(find(bob, id, MessageName::Position(first.position.number)), Ok(Seq(1)));
    for (reader, name) in [
        (ann, mine("b")),
        (ann, theirs("a")),
        (ann, mine("c")),
        (ann, MessageName::Seq(Seq(9))),
        (ann, MessageName::Position(0)),
    ] {
        assert_eq!(find(reader, id, name), Err(Refusal::NoSuchMessage));
    }
    for name in [theirs("a"), MessageName::Seq(Seq(1)), MessageName::Position(first.position.number)] {
        assert_eq!(find(carl, id, name), Err(Refusal::NoSuchConversation));
    }
}
