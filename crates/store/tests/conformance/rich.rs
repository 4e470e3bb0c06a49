//! Content of messages besides body and files: polls, forwards, threads.

use chat::{
    Append, Appended, ChangeMessage, ChangedMessage, ConversationId, FileId, FileLimits, MessageChange,
    NewForward, NewPoll, NewRich, NewRoom, Poll, Post, Posted, Reaction, Refusal, RequestRules, RoomKind,
    RoomLimits, RoomName, Seq, SiteId, Store, StoredMessage, ThreadChange, ThreadRow, Timestamp,
    UnpublishedPage, UserId,
};

use crate::asking::{NOW, ask, direct, message, put, say, snapshot, snapshot_from};
use crate::files::ready;
use crate::{FRIENDS, add_site, relate, two_users};

const LIMITS: RoomLimits = RoomLimits { members: 0, per_user: 0, owned: 0 };

fn poll(choices: &[&str], multiple: bool) -> NewPoll {
    let choices = choices.iter().map(|text| (*text).into()).collect();
    NewPoll { choices, multiple, anonymous: false, ends: Some(Timestamp(NOW.0 + 1_000)) }
}

fn with(rich: NewRich, append: Append) -> Append {
    Append { rich: rich.boxed(), ..append }
}

fn send(store: &dyn Store, append: Append) -> Result<Appended, Refusal> {
    ask(|done| store.append_with_files(append, Vec::new(), done)).map(|(appended, _)| appended)
}

fn asked(store: &dyn Store, from: UserId, to: UserId, id: &str, poll: NewPoll) -> Seq {
    let rich = NewRich { poll: Some(poll), ..NewRich::default() };
    send(store, with(rich, message(from, to, id, "Where?"))).expect("one may").seq
}

fn change(
    store: &dyn Store,
    conversation: ConversationId,
    seq: Seq,
    by: UserId,
    change: MessageChange,
    ms: u64,
) -> Result<ChangedMessage, Refusal> {
    let wanted = ChangeMessage { conversation, seq, by, change, time: Timestamp(NOW.0 + ms) };
    ask(|done| store.change_message(wanted, done))
}

fn read(store: &dyn Store, reader: UserId, id: ConversationId, seq: Seq) -> StoredMessage {
    ask(|done| store.message(reader, id, seq, done)).expect("one may read it")
}

fn poll_of(message: &StoredMessage) -> &Poll {
    message.rich.as_ref().and_then(|rich| rich.poll.as_ref()).expect("it has one")
}

fn counts(message: &StoredMessage) -> (Vec<u64>, Vec<u8>, u64) {
    let poll = poll_of(message);
    (poll.choices.iter().map(|choice| choice.votes).collect(), poll.mine(), poll.voters)
}

pub(crate) fn a_vote_replaces_the_previous_one(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let id = direct(ann, bob);
    let seq = asked(store, ann, bob, "a-1", poll(&["lake", "town", "hill"], true));
    assert_eq!(counts(&read(store, bob, id, seq)), (vec![0, 0, 0], vec![], 0));
    let vote = |by, choices: &[u8], ms| change(store, id, seq, by, MessageChange::Vote(choices.to_vec()), ms);

    let first = vote(bob, &[2, 0], 1).expect("it is open");
    assert!(first.changed && first.message.version > 0);
    assert_eq!(counts(&first.message), (vec![1, 0, 1], vec![0, 2], 1));
    let again = vote(bob, &[0, 2], 2).expect("it is the same");
    assert!(!again.changed && again.message.version == first.message.version);
    vote(ann, &[0], 3).expect("her own");
    let other = vote(bob, &[1, 0], 4).expect("another one");
    assert_eq!(counts(&other.message), (vec![2, 1, 0], vec![0, 1], 2));
    let users = |message: &StoredMessage, at: usize| {
        poll_of(message).choices[at].users.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(users(&other.message, 0), ["bob", "ann"], "who stayed keeps their place");
    let none = vote(bob, &[], 5).expect("taken back");
    assert_eq!(counts(&none.message), (vec![1, 0, 0], vec![], 1));
    let page = ask(|done| store.history(ann, id, None, None, 9, done));
    assert_eq!(counts(&page.messages[0]), (vec![1, 0, 0], vec![0], 1));
    let before = none.position;
    vote(bob, &[1], 6).expect("open");
    let view = snapshot(store, ann, Some(before));
    assert_eq!(view.updates.len(), 1, "who was away learns it");
    assert_eq!(counts(&view.updates[0]).0, [1, 1, 0]);
}

pub(crate) fn a_poll_ends_and_is_closed(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let id = direct(ann, bob);
    let seq = asked(store, ann, bob, "a-1", poll(&["lake", "town"], false));
    let vote = |choices: &[u8], ms| change(store, id, seq, bob, MessageChange::Vote(choices.to_vec()), ms);
    assert_eq!(vote(&[0, 1], 1).err(), Some(Refusal::BadValue), "one only");
    assert_eq!(vote(&[2], 1).err(), Some(Refusal::BadValue));
    assert_eq!(vote(&[1], 1_000).err(), Some(Refusal::PollClosed));
    vote(&[1], 999).expect("in time");
    let close = |by| change(store, id, seq, by, MessageChange::ClosePoll, 1);
    assert_eq!(close(bob).err(), Some(Refusal::NotAllowed));
    assert!(close(ann).expect("her own").changed);
    assert!(!close(ann).expect("again").changed);
    assert_eq!(vote(&[], 2).err(), Some(Refusal::PollClosed));
    let edit = change(store, id, seq, ann, MessageChange::edit("Whom?"), 3);
    assert_eq!(edit.err(), Some(Refusal::NotAllowed), "it was answered as it was asked");

    say(store, ann, bob, "a-2", "no question");
    let plain = |what| change(store, id, Seq(2), ann, what, 4).err();
    assert_eq!(plain(MessageChange::Vote(vec![0])), Some(Refusal::BadValue));
    assert_eq!(plain(MessageChange::ClosePoll), Some(Refusal::BadValue));
    change(store, id, seq, ann, MessageChange::Delete, 5).expect("her own");
    assert!(read(store, bob, id, seq).rich.is_none());
    assert_eq!(vote(&[0], 6).err(), Some(Refusal::NoSuchMessage));
}

pub(crate) fn an_anonymous_poll_shows_no_voters(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let secret = NewPoll { anonymous: true, ..poll(&["yes", "no"], false) };
    let seq = asked(store, ann, bob, "a-1", secret);
    let id = direct(ann, bob);
    change(store, id, seq, bob, MessageChange::Vote(vec![1]), 1).expect("open");
    let seen = read(store, ann, id, seq);
    assert_eq!(counts(&seen), (vec![0, 1], vec![], 1));
    assert!(poll_of(&seen).choices.iter().all(|choice| choice.users.is_empty()));
    assert_eq!(poll_of(&read(store, bob, id, seq)).mine(), [1], "but oneself");
}

pub(crate) fn a_first_message_to_a_stranger_bears_nothing(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let rules = RequestRules { messages: 3, per_day: 9, links: chat::LinkRule::Refused, begin: Ok(()) };
    let rich = NewRich { poll: Some(poll(&["yes", "no"], false)), ..NewRich::default() };
    let append = with(rich, message(ann, bob, "a-1", "Marry me?"));
    assert_eq!(ask(|done| store.append_request(append, rules, done)).err(), Some(Refusal::FirstContact));
    let words =
        NewRich { forwarded: Some(NewForward { author: None, files: Vec::new() }), ..NewRich::default() };
    let append = with(words, message(ann, bob, "a-2", "somebody's words"));
    let requested = ask(|done| store.append_request(append, rules, done)).expect("words may");
    assert!(requested.pending);
    let seen = read(store, bob, direct(ann, bob), Seq(1));
    assert!(seen.rich.is_some_and(|rich| rich.forwarded.is_some_and(|forwarded| forwarded.from.is_none())));
}

fn forwarded(store: &dyn Store, author: UserId, files: Vec<FileId>) -> NewRich {
    let sub = ask(|done| store.users_by_id(vec![author], done))[0].profile.sub.clone();
    let forwarded = NewForward { author: Some((author, sub)), files };
    NewRich { forwarded: Some(forwarded), ..NewRich::default() }
}

pub(crate) fn a_forwarded_message_has_its_files_and_its_author(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    relate(store, ann, bob, FRIENDS);
    relate(store, bob, carl, FRIENDS);
    let (one, two) = (ready(store, ann, 1, bob), ready(store, ann, 2, bob));
    let append = message(ann, bob, "a-1", "look");
    ask(|done| store.append_with_files(append, vec![one, two], done)).expect("friends");
    let rich = forwarded(store, ann, vec![one, two]);
    let append = with(rich.clone(), message(bob, carl, "b-1", "look"));
    let (appended, files) = ask(|done| store.append_with_files(append, Vec::new(), done)).expect("friends");
    assert_eq!(files.iter().map(|file| file.id).collect::<Vec<_>>(), [one, two]);
    let id = direct(bob, carl);
    let seen = read(store, carl, id, appended.seq);
    assert_eq!(seen.files, files);
    let from = seen.rich.and_then(|rich| rich.forwarded).and_then(|forwarded| forwarded.from);
    assert_eq!(from.map(|(user, _)| user), Some(ann));
    let row = ask(|done| store.file(one, done)).expect("it is there");
    assert_eq!((row.conversation, row.copies), (Some(direct(ann, bob)), vec![id]));
    let edit = change(store, id, appended.seq, bob, MessageChange::edit("x"), 1);
    assert_eq!(edit.err(), Some(Refusal::NotAllowed));

    // The first message is deleted, and the files stay in the forwards.
    change(store, direct(ann, bob), Seq(1), ann, MessageChange::Delete, 2).expect("her own");
    assert!(read(store, bob, direct(ann, bob), Seq(1)).files.is_empty());
    assert_eq!(read(store, carl, id, appended.seq).files, files);
    let row = ask(|done| store.file(one, done)).expect("it is there");
    assert_eq!((row.owner, row.conversation, row.copies), (ann, Some(id), vec![]));
    assert_eq!(stale(store), []);
    change(store, id, appended.seq, bob, MessageChange::Delete, 3).expect("his own");
    assert_eq!(ask(|done| store.file(one, done)), None);
    assert_eq!(stale(store), [one, two]);
    let append = with(rich, message(bob, carl, "b-2", "look"));
    assert_eq!(send(store, append), Err(Refusal::NoSuchMessage), "they are gone");
    // Nothing is counted twice: as many bytes fit as before.
    let limits = FileLimits { file_bytes: 100, user_bytes: 50, guest_bytes: 0, site_bytes: 50 };
    let new = chat::NewFile {
        id: FileId { site, number: 9 },
        owner: ann,
        place: chat::FilePlace::Direct(direct(ann, bob)),
        name: "a".into(),
        bytes: 50,
        voice: false,
        duration_ms: None,
        peaks: None,
        time: NOW,
    };
    assert_eq!(ask(|done| store.create_file(new, limits, done)), Ok(()));
}

pub(crate) fn an_erased_users_files_go_from_forwarded_messages(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    relate(store, ann, bob, FRIENDS);
    relate(store, bob, carl, FRIENDS);
    let (hers, his) = (ready(store, ann, 1, bob), ready(store, bob, 2, carl));
    ask(|done| store.append_with_files(message(ann, bob, "a-1", "look"), vec![hers], done)).expect("friends");
    let append = with(forwarded(store, ann, vec![hers]), message(bob, carl, "b-1", "look"));
    let (of_ann, _) = ask(|done| store.append_with_files(append, Vec::new(), done)).expect("friends");
    let own = message(bob, carl, "b-2", "mine");
    let (of_bob, _) = ask(|done| store.append_with_files(own, vec![his], done)).expect("friends");
    let erasure = chat::NewErasure {
        user: ann,
        alias: crate::asking::sub("deleted-1"),
        name: "Deleted user".into(),
        messages: chat::MessagesAfterErasure::Erased,
        by: chat::By::Site,
        time: NOW,
    };
    ask(|done| store.begin_erasure(erasure, done)).expect("she is there");
    let slices = (0..50).take_while(|_| ask(|done| store.erase_some(NOW, 9, done)).more).count();
    assert!(slices < 50, "it comes to an end");
    assert_eq!(ask(|done| store.file(hers, done)), None);
    assert_eq!(stale(store), [hers], "its bytes go by the sweep");
    let id = direct(bob, carl);
    assert!(read(store, carl, id, of_ann.seq).files.is_empty());
    assert_eq!(read(store, carl, id, of_bob.seq).files.len(), 1, "bob's own stay");
}

pub(crate) fn an_erased_users_files_go_although_the_original_was_deleted_before(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    relate(store, ann, bob, FRIENDS);
    relate(store, bob, carl, FRIENDS);
    let hers = ready(store, ann, 1, bob);
    let append = message(ann, bob, "a-1", "look");
    let (original, _) = ask(|done| store.append_with_files(append, vec![hers], done)).expect("friends");
    let copies: Vec<Seq> = (0..3)
        .map(|n| {
            let append =
                with(forwarded(store, ann, vec![hers]), message(bob, carl, &format!("b-{n}"), "look"));
            ask(|done| store.append_with_files(append, Vec::new(), done)).expect("friends").0.seq
        })
        .collect();
    let delete = chat::ChangeMessage {
        conversation: original.conversation,
        seq: original.seq,
        by: ann,
        change: chat::MessageChange::Delete,
        time: NOW,
    };
    ask(|done| store.change_message(delete, done)).expect("it is hers");
    let id = direct(bob, carl);
    assert_eq!(read(store, carl, id, copies[0]).files.len(), 1, "the forwards keep it");
    let versions: Vec<u64> = copies.iter().map(|seq| read(store, carl, id, *seq).version).collect();
    let erasure = chat::NewErasure {
        user: ann,
        alias: crate::asking::sub("deleted-1"),
        name: "Deleted user".into(),
        messages: chat::MessagesAfterErasure::Erased,
        by: chat::By::Site,
        time: NOW,
    };
    ask(|done| store.begin_erasure(erasure, done)).expect("she is there");
    let mut changed = Vec::new();
    loop {
        let slice: chat::EraseSlice = ask(|done| store.erase_some(NOW, 9, done));
        assert!(slice.changed.len() <= 5, "whole messages are few per slice");
        changed.extend(slice.changed.into_iter().map(|changed| changed.message.seq));
        if !slice.more {
            break;
        }
    }
    changed.sort_unstable();
    assert_eq!(changed, copies, "everybody hears that the file is gone");
    assert_eq!(ask(|done| store.file(hers, done)), None);
    assert_eq!(stale(store), [hers], "its bytes go by the sweep");
    for (seq, version) in copies.iter().zip(versions) {
        let now = read(store, carl, id, *seq);
        assert!(now.files.is_empty() && now.version > version, "{now:?}");
    }
}

fn stale(store: &dyn Store) -> Vec<FileId> {
    let mut stale = store.stale_files(NOW, NOW, NOW, 9).expect("the store works");
    stale.sort_unstable();
    stale
}

pub(crate) fn files_are_not_forwarded_to_strangers(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    relate(store, ann, bob, FRIENDS);
    let file = ready(store, ann, 1, bob);
    let append = message(ann, bob, "a-1", "look");
    ask(|done| store.append_with_files(append, vec![file], done)).expect("friends");
    let rich = || forwarded(store, ann, vec![file]);
    let to_carl = |id: &str| send(store, with(rich(), message(bob, carl, id, "look")));
    assert_eq!(to_carl("b-1"), Err(Refusal::FirstContact));
    say(store, carl, bob, "c-1", "hello");
    assert_eq!(to_carl("b-2").map(|appended| appended.seq), Ok(Seq(2)), "he has answered");
    assert_eq!(to_carl("b-2").map(|appended| appended.repeated), Ok(true));
}

fn room(store: &dyn Store, owner: UserId, others: &[UserId]) -> ConversationId {
    let new = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    let room = ask(|done| store.create_room(owner, new, LIMITS, NOW, done)).expect("it is allowed").row.id;
    for user in others {
        ask(|done| store.join_room(RoomName::Id(room), *user, LIMITS, NOW, done)).expect("it is public");
    }
    room
}

fn post(
    store: &dyn Store,
    room: ConversationId,
    from: UserId,
    id: &str,
    body: &str,
    thread: Option<u64>,
) -> Result<Posted, Refusal> {
    let rich = NewRich { thread: thread.map(Seq), ..NewRich::default() }.boxed();
    let post = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room: RoomName::Id(room),
        from,
        client_id: id.into(),
        body: body.into(),
        extension: None,
        time: NOW,
        reply_to: None,
        files: Vec::new(),
        rich,
    };
    ask(|done| store.post(post, LIMITS, done))
}

pub(crate) fn a_gap_brings_the_replies_of_threads(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let id = room(store, ann, &[bob]);
    for n in 1..=3 {
        post(store, id, ann, &format!("root-{n}"), "root", None).expect("she may");
    }
    post(store, id, ann, "early", "reply", Some(3)).expect("she may");
    let position = crate::asking::snapshot(store, bob, None).position;
    let from = chat::ResumeFrom {
        position: Some(position),
        page: 9,
        contacts: 9,
        messages: 9,
        messages_per_conversation: 2,
    };
    let threads = |from| {
        let snapshot = snapshot_from(store, bob, from);
        let counted = snapshot.threads.iter().map(|one| (one.conversation, one.root.0, one.replies.count));
        let forgets = snapshot.gaps.iter().map(|gap| gap.forget).collect::<Vec<_>>();
        (counted.collect::<Vec<_>>(), forgets)
    };
    for n in 0..2 {
        post(store, id, ann, &format!("reply-{n}"), "reply", Some(1)).expect("she may");
    }
    assert_eq!(threads(from), (vec![], vec![]), "without a gap the replies are there");
    for n in 2..5 {
        post(store, id, ann, &format!("reply-{n}"), "reply", Some(1)).expect("she may");
    }
    post(store, id, ann, "other", "reply", Some(2)).expect("she may");
    let (mut counted, forgets) = threads(from);
    counted.sort_unstable();
    assert_eq!((counted, forgets), (vec![(id, 1, 5), (id, 2, 1)], vec![false]), "the third had none since");
    post(store, id, ann, "third", "reply", Some(3)).expect("she may");
    assert_eq!(threads(from), (vec![], vec![true]), "more than a page: the device reads anew");
}

fn is_usable(store: &dyn Store, user: UserId, room: ConversationId, change: ThreadChange) -> Option<u64> {
    let row: Result<ThreadRow, Refusal> = ask(|done| store.change_thread(user, room, Seq(1), change, done));
    row.expect("one may read it").read
}

pub(crate) fn a_reply_is_a_message_of_the_room(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let (carl, dora) = (put(store, site, "carl"), put(store, site, "dora"));
    let room = room(store, ann, &[bob, carl]);
    post(store, room, ann, "a-1", "A new lake?", None).expect("hers");
    let first = post(store, room, bob, "b-1", "Where, @carl?", Some(1)).expect("a member");
    assert_eq!((first.appended.seq, first.thread.map(|at| at.number)), (Seq(2), Some(1)));
    post(store, room, ann, "a-2", "Off topic", None).expect("hers");
    let second = post(store, room, bob, "b-2", "There", Some(1)).expect("a member");
    assert_eq!(
        (second.appended.seq, second.thread.map(|at| (at.root, at.number))),
        (Seq(4), Some((Seq(1), 2)))
    );
    let again = post(store, room, bob, "b-2", "There", Some(1)).expect("it is the same");
    assert!(again.appended.repeated);

    let root = read(store, ann, room, Seq(1)).rich.and_then(|rich| rich.replies).expect("it has a thread");
    assert_eq!((root.count, root.last), (2, NOW));
    let reply = read(store, dora, room, Seq(4)).rich.and_then(|rich| rich.thread).expect("it is in one");
    assert_eq!((reply.root, reply.number), (Seq(1), 2), "who may read the room may read it");
    let none = ThreadChange::default();
    assert_eq!(is_usable(store, ann, room, none), Some(0), "it is below her message");
    assert_eq!(is_usable(store, bob, room, none), Some(2), "he has written it");
    assert_eq!(is_usable(store, carl, room, none), Some(0), "he is named");
    assert_eq!(is_usable(store, dora, room, none), None);
    for (root, id) in [(2, "b-3"), (9, "b-4"), (0, "b-5"), (u64::MAX >> 1, "b-6")] {
        let refused = post(store, room, bob, id, "x", Some(root));
        assert_eq!(refused.err(), Some(Refusal::NoSuchMessage), "{root}");
    }
    change(store, room, Seq(1), ann, MessageChange::Delete, 1).expect("her own");
    assert_eq!(post(store, room, bob, "b-7", "x", Some(1)).err(), Some(Refusal::NoSuchMessage));
    assert_eq!(
        read(store, bob, room, Seq(1)).rich.and_then(|rich| rich.replies).map(|all| all.count),
        Some(2)
    );
}

pub(crate) fn a_thread_is_read_page_by_page(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let room = room(store, ann, &[bob]);
    post(store, room, ann, "a-1", "root", None).expect("hers");
    post(store, room, ann, "a-2", "another root", None).expect("hers");
    for number in 0..10_u64 {
        let root = 1 + number % 2;
        post(store, room, bob, &format!("b-{number}"), "x", Some(root)).expect("a member");
    }
    let page = |before: Option<u64>, after: Option<u64>, limit| {
        let (before, after) = (before.map(Seq), after.map(Seq));
        let page = ask(|done| store.thread_history(ann, room, Seq(1), before, after, limit, done));
        let page = page.expect("she may");
        (page.messages.iter().map(|message| message.seq.0).collect::<Vec<_>>(), page.more)
    };
    assert_eq!(page(None, None, 3), (vec![7, 9, 11], true));
    assert_eq!(page(Some(7), None, 3), (vec![3, 5], false));
    assert_eq!(page(None, Some(3), 2), (vec![5, 7], true));
    assert_eq!(page(None, Some(7), 9), (vec![9, 11], false));
    let nothing = ask(|done| store.thread_history(ann, room, Seq(3), None, None, 9, done)).expect("she may");
    assert!(nothing.messages.is_empty() && !nothing.more);
    let missing = ask(|done| store.thread_history(ann, room, Seq(99), None, None, 9, done));
    assert_eq!(missing.err(), Some(Refusal::NoSuchMessage));
    let in_direct = ask(|done| store.thread_history(ann, direct(ann, bob), Seq(1), None, None, 9, done));
    assert!(matches!(in_direct, Err(Refusal::NoSuchConversation | Refusal::NoSuchMessage)));
}

pub(crate) fn a_follower_of_a_thread_sees_unread_replies(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let dora = put(store, site, "dora");
    let room = room(store, ann, &[bob]);
    for (id, body) in [("a-1", "one"), ("a-2", "two")] {
        post(store, room, ann, id, body, None).expect("hers");
    }
    post(store, room, bob, "b-1", "x", Some(1)).expect("a member");
    post(store, room, bob, "b-2", "x", Some(2)).expect("a member");
    post(store, room, bob, "b-3", "x", Some(1)).expect("a member");
    let followed = |user| {
        let rows = ask(|done| store.threads(user, room, 9, done)).expect("one may read");
        let row = |row: &ThreadRow| (row.root.seq.0, row.read);
        rows.iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(followed(ann), [(2, Some(0)), (1, Some(0))]);
    assert_eq!(followed(bob), [(2, Some(1)), (1, Some(2))]);
    assert_eq!(followed(dora), []);
    let read = |read| ThreadChange { read: Some(read), ..ThreadChange::default() };
    assert_eq!(is_usable(store, ann, room, read(9)), Some(2), "clipped");
    assert_eq!(is_usable(store, ann, room, read(1)), Some(2), "never back");
    let follow = |on| ThreadChange { follow: Some(on), ..ThreadChange::default() };
    assert_eq!(is_usable(store, ann, room, follow(false)), None);
    assert_eq!(followed(ann), [(2, Some(0))]);
    assert_eq!(is_usable(store, ann, room, follow(true)), Some(2), "all of before is read");
    let outside = ask(|done| store.change_thread(dora, room, Seq(1), follow(true), done));
    assert_eq!(outside.err(), Some(Refusal::NotAMember));
    let position = snapshot(store, ann, None).position;
    is_usable(store, ann, room, follow(false));
    assert_eq!(snapshot(store, ann, None).position, position, "it concerns nobody else");
}

pub(crate) fn one_message_is_readable_by_members_only(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let eve = put(store, site, "eve");
    say(store, ann, bob, "a-1", "secret");
    let id = direct(ann, bob);
    let one = |reader, id, seq| ask(|done| store.message(reader, id, Seq(seq), done)).map(|one| one.body);
    assert_eq!(one(bob, id, 1).as_deref(), Ok("secret"));
    assert_eq!(one(eve, id, 1), Err(Refusal::NoSuchConversation));
    for seq in [0, 2, u64::MAX >> 1] {
        assert_eq!(one(bob, id, seq), Err(Refusal::NoSuchMessage));
    }
    let new = NewRoom { name: "Ours".into(), kind: RoomKind::Private, topic: None, alias: None };
    let room = ask(|done| store.create_room(ann, new, LIMITS, NOW, done)).expect("it is allowed").row.id;
    post(store, room, ann, "a-2", "inside", None).expect("hers");
    assert_eq!(one(ann, room, 1).as_deref(), Ok("inside"));
    assert_eq!(one(eve, room, 1), Err(Refusal::NoSuchConversation));
}

pub(crate) fn a_preview_is_put_on_once_and_goes_with_its_link(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    say(store, ann, bob, "a-1", "look: https://example.org/lake");
    let id = direct(ann, bob);
    let found = |url: &str, title: &str| {
        let texts = [url, title, "Behind the hill", "Hikers"].map(Box::from);
        let [url, title, description, site] = texts;
        let new = chat::NewPreview { url, title, description, site, picture: None };
        MessageChange::Preview(Some(Box::new(new)))
    };
    let link = "https://example.org/lake";
    let title = |message: &StoredMessage| {
        let preview = message.rich.as_ref().and_then(|rich| rich.preview.as_ref());
        preview.map(|preview| preview.title.to_string())
    };
    let elsewhere = change(store, id, Seq(1), ann, found("https://example.org/other", "Other"), 1);
    assert_eq!(elsewhere.err(), Some(Refusal::NoSuchMessage), "it was edited meanwhile");
    let put = change(store, id, Seq(1), ann, found(link, "A new lake"), 1).expect("it is hers");
    assert!(put.changed && put.message.version > 0);
    assert_eq!(title(&read(store, bob, id, Seq(1))).as_deref(), Some("A new lake"));
    assert!(!change(store, id, Seq(1), ann, found(link, "Another"), 2).expect("again").changed);
    let drop = |by| change(store, id, Seq(1), by, MessageChange::Preview(None), 3);
    assert_eq!(drop(bob).err(), Some(Refusal::NotAllowed));
    assert!(drop(ann).expect("her own").changed && !drop(ann).expect("again").changed);
    assert_eq!(title(&read(store, bob, id, Seq(1))), None);

    change(store, id, Seq(1), ann, found(link, "A new lake"), 4).expect("it is hers");
    let edit = |body: &str| change(store, id, Seq(1), ann, MessageChange::edit(body), 5).expect("her own");
    assert_eq!(title(&edit("see https://example.org/lake!").message).as_deref(), Some("A new lake"));
    assert_eq!(title(&edit("no link").message), None);
    change(store, id, Seq(1), ann, MessageChange::Delete, 6).expect("her own");
    assert_eq!(change(store, id, Seq(1), ann, found("", "x"), 7).err(), Some(Refusal::NoSuchMessage));
}

pub(crate) fn gathered_changes_are_published_at_a_fresh_position(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let crowd: Vec<UserId> = (0..60).map(|number| put(store, site, &format!("m{number}"))).collect();
    let small = room(store, ann, &[bob]);
    let large = room(store, ann, &crowd);
    let react = |by, id, text: &str, on| {
        let reaction = Reaction::parse(text).expect("an emoji");
        change(store, id, Seq(1), by, MessageChange::React { reaction, on }, 1).expect("one may")
    };
    post(store, small, ann, "s-1", "hello", None).expect("one may");
    post(store, large, ann, "l-1", "hello", None).expect("one may");
    let page = UnpublishedPage { after: SiteId(0), of_site: 9, limit: 9 };
    let unpublished = || ask(|done| store.unpublished(page, done));
    let publish = |id| ask(|done| store.publish_gathered(id, Seq(1), done));

    assert!(!react(bob, small, "👍", true).gathered);
    assert!(unpublished().is_empty() && publish(small).is_none());
    let first = react(crowd[0], large, "👍", true);
    assert!(first.changed && first.gathered);
    let second = react(crowd[1], large, "👍", true);
    assert!(second.gathered && !react(crowd[1], large, "👍", true).gathered, "the same again");
    assert_eq!(unpublished(), [(large, Seq(1))]);
    let beyond = post(store, large, crowd[7], "l-2", "later", None).expect("one may").appended.position;

    let published = publish(large).expect("there is something");
    assert!(published.position > beyond && published.message.version == published.position.number);
    assert_eq!((published.message.reactions[0].count, published.members.len()), (2, 61));
    assert!(!published.message.reactions[0].mine, "as nobody sees it");
    assert!(unpublished().is_empty() && publish(large).is_none(), "once");
    let missed = snapshot(store, ann, Some(beyond)).updates;
    assert_eq!(missed.len(), 1, "who is beyond the change learns it");
    assert_eq!(missed[0].reactions[0].count, 2);

    react(crowd[0], large, "👍", false);
    assert_eq!(unpublished().len(), 1);
    let delete = change(store, large, Seq(1), ann, MessageChange::Delete, 2).expect("her own");
    assert!(!delete.gathered);
    assert!(unpublished().is_empty() && publish(large).is_none(), "a deletion tells all");

    post(store, large, ann, "l-3", "one", None).expect("one may");
    post(store, large, ann, "l-4", "two", None).expect("one may");
    let other = add_site(store, "club");
    let club: Vec<UserId> = (0..60).map(|number| put(store, other, &format!("m{number}"))).collect();
    let hall = room(store, club[0], &club[1..]);
    post(store, hall, club[0], "h-1", "hello", None).expect("one may");
    let thumb = || Reaction::parse("👍").expect("an emoji");
    for (id, seq, by) in [(large, 4, crowd[0]), (large, 3, crowd[0]), (hall, 1, club[1])] {
        let react = MessageChange::React { reaction: thumb(), on: true };
        change(store, id, Seq(seq), by, react, 3).expect("one may");
    }
    let page = |after, of_site, limit| {
        ask(|done| store.unpublished(UnpublishedPage { after: SiteId(after), of_site, limit }, done))
    };
    assert_eq!(page(0, 9, 9), [(large, Seq(4)), (large, Seq(3)), (hall, Seq(1))], "the first change first");
    assert_eq!(page(0, 1, 9), [(large, Seq(4)), (hall, Seq(1))], "one site hides no other");
    assert_eq!(page(0, 9, 1), [(large, Seq(4))]);
    assert_eq!(page(site.0, 9, 9), [(hall, Seq(1))]);
    assert!(page(other.0, 9, 9).is_empty());
}
