//! Stickers: a site's pictures, and messages that show one.

use chat::{
    Append, ChangeMessage, FileType, MOST_STICKERS, MessageChange, NewRich, NewSticker, Refusal,
    RequestRules, Rich, Seq, SiteId, Sticker, StickerId, Store, StoredMessage, Timestamp, UserId,
};

use crate::asking::{NOW, add_site, ask, direct, message};
use crate::two_users;

fn new(site: SiteId, number: u64, words: &str) -> NewSticker {
    let sticker = Sticker {
        id: StickerId { site, number },
        series: "Hikers".into(),
        words: words.into(),
        kind: FileType::named("image/png"),
        width: 160,
        height: 120,
    };
    NewSticker { sticker, bytes: vec![number as u8, 0, 255], added: NOW }
}

fn add(store: &dyn Store, new: NewSticker) -> bool {
    ask(|done| store.add_sticker(new, done))
}

fn numbers(store: &dyn Store, site: SiteId) -> Vec<u64> {
    ask(|done| store.stickers(site, done)).iter().map(|sticker| sticker.id.number).collect()
}

fn send(store: &dyn Store, from: UserId, to: UserId, sticker: &Sticker) -> Seq {
    let rich = NewRich { sticker: Some(sticker.clone()), ..NewRich::default() }.boxed();
    let append = Append { rich, ..message(from, to, "s-1", &sticker.words) };
    ask(|done| store.append_with_files(append, Vec::new(), done)).expect("one may").0.seq
}

fn read(store: &dyn Store, reader: UserId, other: UserId, seq: Seq) -> StoredMessage {
    ask(|done| store.message(reader, direct(reader, other), seq, done)).expect("one may read it")
}

fn sticker_of(message: &StoredMessage) -> Option<&Sticker> {
    message.rich.as_deref().and_then(|rich: &Rich| rich.sticker.as_ref())
}

pub(crate) fn a_site_has_so_many_and_no_more(store: &dyn Store) {
    let (site, other) = (add_site(store, "forum"), add_site(store, "other"));
    let last = u64::from(MOST_STICKERS);
    // Random numbers use all 64 bits.
    for number in 1..last {
        assert!(add(store, new(site, number, "Hello")));
    }
    assert!(add(store, new(site, u64::MAX, "👋 Bye")));
    assert!(!add(store, new(site, last + 1, "Hello")), "as many as a site has");
    assert!(add(store, new(other, 1, "Hello")), "another site has its own");
    assert!(!add(store, new(SiteId(99), 1, "Hello")), "no site");
    let all = numbers(store, site);
    assert_eq!((all.len() as u64, all.first(), all.last()), (last, Some(&1), Some(&u64::MAX)));
    let id = StickerId { site, number: u64::MAX };
    assert_eq!(ask(|done| store.sticker(id, done)), Some(new(site, u64::MAX, "👋 Bye").sticker));
    let picture = ask(|done| store.sticker_picture(id, done));
    assert_eq!(picture, Some((FileType::named("image/png"), vec![255, 0, 255])));
    assert!(ask(|done| store.remove_sticker(id, done)));
    assert!(!ask(|done| store.remove_sticker(id, done)), "it is gone");
    assert_eq!(ask(|done| store.sticker(id, done)), None);
    assert_eq!(ask(|done| store.sticker_picture(id, done)), None);
    assert!(add(store, new(site, last + 1, "Hello")), "there is room again");
    assert!(store.remove_site(site).expect("the store works"));
    assert!(numbers(store, site).is_empty());
    assert_eq!(numbers(store, other), [1]);
}

pub(crate) fn a_message_is_a_sticker_for_as_long_as_the_site_has_it(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let wave = new(site, 7, "👋 Hello");
    assert!(add(store, wave.clone()));
    let seq = send(store, ann, bob, &wave.sticker);
    for (reader, other) in [(ann, bob), (bob, ann)] {
        let seen = read(store, reader, other, seq);
        assert_eq!((&*seen.body, sticker_of(&seen)), ("👋 Hello", Some(&wave.sticker)));
    }
    let edit = |body: &str| {
        let change = MessageChange::edit(body);
        let wanted = ChangeMessage { conversation: direct(ann, bob), seq, by: ann, change, time: NOW };
        ask(|done| store.change_message(wanted, done)).map(drop)
    };
    assert_eq!(edit("Something else"), Err(Refusal::NotAllowed), "its words are the owner's");
    assert!(ask(|done| store.remove_sticker(wave.sticker.id, done)));
    let seen = read(store, bob, ann, seq);
    assert_eq!((&*seen.body, sticker_of(&seen)), ("👋 Hello", None), "the words stay");
    assert_eq!(edit("Something else"), Ok(()), "a text as any other now");
}

pub(crate) fn a_sticker_that_is_deleted_leaves_nothing(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let wave = new(site, 7, "👋 Hello");
    assert!(add(store, wave.clone()));
    let seq = send(store, ann, bob, &wave.sticker);
    let time = Timestamp(NOW.0 + 5);
    let wanted =
        ChangeMessage { conversation: direct(ann, bob), seq, by: ann, change: MessageChange::Delete, time };
    ask(|done| store.change_message(wanted, done)).expect("it is hers");
    let seen = read(store, bob, ann, seq);
    assert!(seen.deleted && seen.body.is_empty() && sticker_of(&seen).is_none());
}

pub(crate) fn a_stranger_may_begin_with_one_message(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let wave = new(site, 7, "👋 Hello");
    assert!(add(store, wave.clone()));
    let rich = NewRich { sticker: Some(wave.sticker.clone()), ..NewRich::default() }.boxed();
    let append = Append { rich, ..message(ann, bob, "s-1", "👋 Hello") };
    let rules = RequestRules { messages: 3, per_day: 9, links: chat::LinkRule::Refused, begin: Ok(()) };
    let requested = ask(|done| store.append_request(append, rules, done)).expect("it is the site's picture");
    assert!(requested.pending);
    let seen = read(store, bob, ann, requested.appended.seq);
    assert_eq!(sticker_of(&seen), Some(&wave.sticker));
}
