//! Imports: data of another system is stored unchanged and once, and does not damage existing data.

use chat::{
    AvatarChange, ChangeMessage, ConversationId, ConversationOf, ConversationRow, ImportItem, ImportJob,
    ImportKey, ImportMessage, ImportOutcome, ImportRefusal, ImportRules, ImportTo, Imported, Late,
    MessageChange, MessagesAfterErasure, NewErasure, Post, Role, RoomAvatar, RoomChange, RoomKind,
    RoomLimits, RoomName, Seq, Side, SiteId, Standing, Store, StoredMessage, Timestamp, Trim, UserId,
};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use crate::asking::{NOW, add_site, ask, direct, put, say, snapshot, sub};
use crate::{FRIENDS, STRANGERS, relate};

use ImportOutcome::{Added, Known, Refused};

const LIMITS: RoomLimits = RoomLimits { members: 0, per_user: 0, owned: 0 };
/// Long before.
const THEN: u64 = 1_500_000_000_000;

fn rules() -> ImportRules {
    ImportRules {
        late: Late::Refuse,
        body_bytes: 100,
        contacts: 100,
        rooms: LIMITS,
        trim: Trim { before: None, rooms: Vec::new() },
        now: NOW,
    }
}

fn import_by(store: &dyn Store, site: SiteId, rules: ImportRules, items: &[ImportItem]) -> Imported {
    ask(|done| store.import(ImportJob { site, items: items.to_vec(), rules }, done))
}

pub(crate) fn import(store: &dyn Store, site: SiteId, items: &[ImportItem]) -> Vec<ImportOutcome> {
    import_by(store, site, rules(), items).outcomes
}

fn user(id: &str) -> ImportItem {
    ImportItem::user(sub(id), Some(id), None, Some(Timestamp(THEN)))
}

fn contact(one: &str, other: &str) -> ImportItem {
    ImportItem::Contact([sub(one), sub(other)])
}

fn room(id: &str) -> ImportItem {
    let key = ImportKey::room(id).expect("it is an id");
    let wanted = RoomChange { name: Some(id.to_owned()), ..RoomChange::default() };
    ImportItem::room(key, wanted, None).expect("it is a name")
}

fn member(room: &str, user: &str, role: Role) -> ImportItem {
    ImportItem::Member { room: ImportKey::room(room).expect("it is an id"), user: sub(user), role }
}

/// `to`: a room if it begins with `#`.
pub(crate) fn message(id: &str, from: &str, to: &str, time: u64, reply_to: Option<&str>) -> ImportItem {
    let key = |id| ImportKey::message(id).expect("it is an id");
    let to = match to.strip_prefix('#') {
        Some(room) => ImportTo::Room(ImportKey::room(room).expect("it is an id")),
        None => ImportTo::User(sub(to)),
    };
    ImportItem::Message(Box::new(ImportMessage {
        key: key(id),
        to,
        from: sub(from),
        time: Timestamp(THEN + time),
        body: format!("body of {id} @ben").into(),
        reply_to: reply_to.map(key),
    }))
}

/// Every kind of data of a small community.
fn community() -> Vec<ImportItem> {
    vec![
        user("ann"),
        user("ben"),
        user("eve"),
        contact("ann", "ben"),
        room("bees"),
        member("bees", "ann", Role::Owner),
        message("r1", "ann", "#bees", 1, None),
        member("bees", "ben", Role::Member),
        message("r2", "ben", "#bees", 2, Some("r1")),
        // An author who is no longer a member.
        message("r3", "eve", "#bees", 3, None),
        message("d1", "ann", "ben", 1, None),
        message("d2", "ben", "ann", 2, Some("d1")),
        // A reply to a message in another conversation: the reference is dropped.
        message("d3", "ann", "ben", 3, Some("r1")),
    ]
}

fn id(store: &dyn Store, site: SiteId, name: &str) -> UserId {
    ask(|done| store.user(site, sub(name), done)).expect("the user is there").id
}

fn rows(store: &dyn Store, user: UserId) -> Vec<ConversationRow> {
    snapshot(store, user, None).conversations.rows
}

fn the_room(store: &dyn Store, user: UserId) -> ConversationRow {
    rows(store, user).into_iter().find(|row| row.id.is_room()).expect("the user is a member")
}

fn history(store: &dyn Store, reader: UserId, id: ConversationId) -> Vec<StoredMessage> {
    if id.is_room() {
        let page = |done| store.room_history(RoomName::Id(id), reader, None, None, 1_000, done);
        return ask(page).expect("the reader may").1.messages;
    }
    ask(|done| store.history(reader, id, None, None, 1_000, done)).messages
}

fn lines(messages: &[StoredMessage]) -> Vec<(u64, &str, u64, Option<u64>)> {
    let line = |one: &'_ StoredMessage| (one.seq.0, one.time.0 - THEN, one.reply_to.map(|seq| seq.0));
    messages
        .iter()
        .map(|one| {
            let (seq, time, reply_to) = line(one);
            (seq, one.from_sub.as_str(), time, reply_to)
        })
        .collect()
}

pub(crate) fn imported_data_is_unchanged_and_read(store: &dyn Store) {
    let site = add_site(store, "forum");
    let imported = import_by(store, site, rules(), &community());
    assert_eq!(imported.outcomes, vec![Added; community().len()]);
    let [ann, ben, eve] = ["ann", "ben", "eve"].map(|name| id(store, site, name));
    assert_eq!(
        ask(|done| store.user(site, sub("ann"), done)).expect("she is there").created,
        Timestamp(THEN)
    );
    let row = the_room(store, ben);
    assert_eq!((row.unread, row.mentions, row.read, row.active), (0, 0, Seq(3), Timestamp(THEN + 3)));
    let in_room = [(1, "ann", 1, None), (2, "ben", 2, Some(1)), (3, "eve", 3, None)];
    assert_eq!(lines(&history(store, ben, row.id)), in_room);
    let pair = direct(ann, ben);
    let said = [(1, "ann", 1, None), (2, "ben", 2, Some(1)), (3, "ann", 3, None)];
    assert_eq!(lines(&history(store, ann, pair)), said);
    for (user, other) in [(ann, ben), (ben, ann)] {
        let row = rows(store, user).into_iter().find(|row| row.id == pair).expect("it is listed");
        assert_eq!((row.unread, row.mentions, row.active), (0, 0, Timestamp(THEN + 3)));
        assert_eq!(ask(|done| store.relation(user, other, done)), FRIENDS);
    }
    assert!(rows(store, eve).is_empty(), "a former member has no room");
    assert_eq!(imported.rooms.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [row.id]);
    assert_eq!((&imported.users[..], &imported.contacts[..]), (&[ann.num, ben.num][..], &[(ann, ben)][..]));
    // The next message comes after the imported ones.
    assert_eq!(say(store, ann, ben, "live", "Here we are").seq, Seq(4));
    let found = chat::words("body").into_iter().collect::<Vec<_>>();
    assert!(!found.is_empty());
}

pub(crate) fn a_second_time_changes_nothing(store: &dyn Store) {
    let site = add_site(store, "forum");
    import(store, site, &community()[..7]);
    let outcomes = import(store, site, &community());
    assert_eq!((&outcomes[..7], &outcomes[7..]), (&[Known; 7][..], &[Added; 6][..]));
    let before = import_by(store, site, rules(), &community());
    let again = import_by(store, site, rules(), &community());
    assert_eq!(again.outcomes, vec![Known; community().len()]);
    assert_eq!(again.position, before.position, "nothing was written");
    assert!(again.users.is_empty() && again.rooms.is_empty() && again.contacts.is_empty());
    // Equal ids on another site belong to other rows.
    let other = add_site(store, "other");
    assert_eq!(import(store, other, &community()), vec![Added; community().len()]);
    let there = id(store, other, "ann");
    assert_eq!(history(store, there, direct(there, id(store, other, "ben"))).len(), 3);
}

pub(crate) fn what_has_gone_does_not_come_back(store: &dyn Store) {
    let site = add_site(store, "forum");
    import(store, site, &community());
    let [ann, ben, eve] = ["ann", "ben", "eve"].map(|name| id(store, site, name));
    let room = the_room(store, ben).id;
    let delete = ChangeMessage {
        conversation: direct(ann, ben),
        seq: Seq(1),
        by: ann,
        change: MessageChange::Delete,
        time: NOW,
    };
    ask(|done| store.change_message(delete, done)).expect("one's own");
    ask(|done| store.leave_room(room, ben, done)).expect("a member may");
    relate(store, ann, ben, STRANGERS);
    let erasure = NewErasure {
        user: eve,
        alias: sub("deleted-1"),
        name: "Deleted user".into(),
        messages: MessagesAfterErasure::Erased,
        by: chat::By::Site,
        time: NOW,
    };
    ask(|done| store.begin_erasure(erasure, done)).expect("the site may");
    while ask(|done| store.erase_some(NOW, 10, done)).more {}

    let more = [community(), vec![message("d9", "eve", "ann", 9, None), contact("ann", "eve")]].concat();
    let outcomes = import(store, site, &more);
    assert!(outcomes[..13].iter().all(|outcome| *outcome == Known), "{outcomes:?}");
    assert_eq!(outcomes[13..], [Refused(ImportRefusal::UserErased); 2]);
    assert_eq!(ask(|done| store.user(site, sub("eve"), done)), None, "nobody came back");
    assert!(history(store, ann, direct(ann, ben))[0].deleted);
    assert!(rows(store, ben).iter().all(|row| row.id != room), "he has left");
    assert_eq!(ask(|done| store.relation(ann, ben, done)).of_a, Side::NONE);
    assert!(history(store, ann, room)[2].body.is_empty(), "what she wrote is erased");
    // A new user with the same id is not the author of old messages.
    put(store, site, "eve");
    assert_eq!(import(store, site, &more)[13..], [Refused(ImportRefusal::UserErased); 2]);
}

pub(crate) fn a_wrong_line_costs_no_other(store: &dyn Store) {
    let site = add_site(store, "forum");
    let items = [
        user("ann"),
        message("1", "ann", "ben", 1, None),
        user("ben"),
        message("1", "ann", "ben", 1, None),
        message("2", "zoe", "ben", 2, None),
        message("3", "ann", "#bees", 3, None),
        contact("ann", "ann"),
        member("bees", "ann", Role::Owner),
        message("4", "ann", "ben", NOW.0, None),
        message("5", "ann", "ben", 5, Some("lost")),
    ];
    let expected = [
        Added,
        Refused(ImportRefusal::NoSuchUser),
        Added,
        Added,
        Refused(ImportRefusal::NoSuchUser),
        Refused(ImportRefusal::NoSuchRoom),
        Refused(ImportRefusal::SameUser),
        Refused(ImportRefusal::NoSuchRoom),
        Refused(ImportRefusal::InFuture),
        Added,
    ];
    assert_eq!(import(store, site, &items), expected);
    let few = ImportRules { contacts: 1, rooms: RoomLimits { members: 1, ..LIMITS }, ..rules() };
    let items = [
        user("eve"),
        contact("ann", "ben"),
        contact("ann", "eve"),
        room("bees"),
        member("bees", "ann", Role::Owner),
        member("bees", "ben", Role::Member),
    ];
    let full = [
        Added,
        Added,
        Refused(ImportRefusal::TooManyContacts),
        Added,
        Added,
        Refused(ImportRefusal::RoomFull),
    ];
    assert_eq!(import_by(store, site, few, &items).outcomes, full);
}

pub(crate) fn an_older_message_is_refused_or_comes_after_the_newer_ones(store: &dyn Store) {
    let site = add_site(store, "forum");
    let (ann, ben) = (put(store, site, "ann"), put(store, site, "ben"));
    say(store, ann, ben, "live", "Hello");
    let old = [message("1", "ann", "ben", 1, None), message("2", "ben", "ann", 2, None)];
    let refused = Refused(ImportRefusal::OlderThanNewest);
    assert_eq!(import(store, site, &old), [refused; 2]);
    assert_eq!(history(store, ann, direct(ann, ben)).len(), 1);
    let append = ImportRules { late: Late::Append, ..rules() };
    assert_eq!(import_by(store, site, append.clone(), &old).outcomes, [Added; 2]);
    let times: Vec<u64> = history(store, ann, direct(ann, ben)).iter().map(|one| one.time.0).collect();
    assert_eq!(times, [NOW.0, THEN + 1, THEN + 2]);
    let unread = |user| rows(store, user)[0].unread;
    assert_eq!((unread(ann), unread(ben)), (0, 3), "what Ben had not read is unread still");
    assert_eq!(rows(store, ben)[0].active, NOW);

    // A message that retention would remove is not stored.
    let trim = Trim { before: Some(Timestamp(THEN + 5)), rooms: Vec::new() };
    let keeps_less = ImportRules { trim, ..append };
    let items = [message("4", "ann", "ben", 4, None), message("5", "ann", "ben", 5, None)];
    let outcomes = import_by(store, site, keeps_less, &items).outcomes;
    assert_eq!(outcomes, [ImportOutcome::Expired, Added]);
}

pub(crate) fn a_member_with_unread_messages_keeps_them(store: &dyn Store) {
    let site = add_site(store, "forum");
    import(store, site, &community());
    let [ann, ben] = ["ann", "ben"].map(|name| id(store, site, name));
    let room = the_room(store, ann).id;
    let post = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room: RoomName::Id(room),
        from: ann,
        client_id: "live".into(),
        body: "Hello".into(),
        extension: None,
        time: Timestamp(THEN + 10),
        reply_to: None,
        files: Vec::new(),
        rich: None,
    };
    ask(|done| store.post(post, LIMITS, done)).expect("a member may");
    assert_eq!(import(store, site, &[message("r11", "eve", "#bees", 11, None)]), [Added]);
    assert_eq!((the_room(store, ann).unread, the_room(store, ben).unread), (0, 2));
    assert_eq!(the_room(store, ben).read, Seq(3));
    let standing = ask(|done| store.members(room, ann, None, None, 10, done)).expect("a member may").rows;
    assert_eq!(standing[0].standing, Standing::In(Role::Owner));
}

pub(crate) fn the_floor_rises_with_each_import_until_it_is_published(store: &dyn Store) {
    let site = add_site(store, "forum");
    let floor =
        || store.import_floors().expect("the store works").into_iter().find(|floor| floor.site == site);
    assert_eq!(floor(), None);
    let first = import_by(store, site, rules(), &[user("ann")]).position;
    let seen = floor().expect("there is one");
    assert_eq!((seen.number, seen.unpublished), (first.number, true));
    import(store, site, &[user("ben")]);
    let slice = ask(|done| store.publish_import(site, false, done));
    assert!(floor().is_some_and(|floor| floor.unpublished && floor.number == slice.number));
    let published = ask(|done| store.publish_import(site, true, done));
    let seen = floor().expect("there is one");
    assert_eq!((seen.number, seen.unpublished), (published.number, false));
    assert!(published > first);
    import(store, site, &[user("ben")]);
    assert_eq!(floor(), Some(seen), "nothing came");
    let record = ask(|done| store.audit(site, chat::By::Site, None, 9, done)).expect("the site may").rows;
    assert_eq!(record.iter().filter(|entry| &*entry.act == "import").count(), 1);
}

/// Everything that members of a site see.
fn picture(store: &dyn Store, site: SiteId) -> String {
    let mut seen = String::new();
    for row in store.list_users(site, None, 1_000).expect("the store works") {
        seen.push_str(&format!("{} {}\n", row.profile.sub.as_str(), row.created.0));
        for contact in snapshot(store, row.id, None).contacts.rows.iter() {
            seen.push_str(&format!("  knows {}\n", contact.sub));
        }
        for conversation in rows(store, row.id) {
            let ConversationRow { id, unread, read, active, .. } = &conversation;
            seen.push_str(&format!("  {:x} {unread} {read:?} {active:?}\n", id.key));
            for (seq, from, time, reply_to) in lines(&history(store, row.id, *id)) {
                seen.push_str(&format!("    {seq} {from} {time} {reply_to:?}\n"));
            }
        }
    }
    seen
}

/// Few ids, so that references are often wrong and items are often repeated.
fn any_item(rng: &mut StdRng) -> ImportItem {
    let users = ["ann", "ben", "eve", "zoe"];
    let rooms = ["bees", "ants"];
    let mut one = |of: &[&'static str]| *of.choose(rng).expect("it is not empty");
    let (a, b, room_id) = (one(&users), one(&users), one(&rooms));
    let number = rng.random_range(0..40_u64);
    let named = format!("m{number}");
    let reply = format!("m{}", rng.random_range(0..40_u64));
    let reply_to = rng.random_bool(0.3).then_some(&*reply);
    match rng.random_range(0..10) {
        0 | 1 => user(a),
        2 => contact(a, b),
        3 => room(room_id),
        4 => member(room_id, a, Role::Member),
        5..=7 => message(&named, a, &format!("#{room_id}"), number, reply_to),
        _ => message(&named, a, b, number, reply_to),
    }
}

/// An import that was cut at any point and repeated equals the whole import.
pub(crate) fn any_import_repeated_is_the_same(store: &dyn Store) {
    for seed in 0..10 {
        let mut rng = StdRng::seed_from_u64(seed);
        let items: Vec<ImportItem> = (0..120).map(|_| any_item(&mut rng)).collect();
        // In order of time, as in an export.
        let whole = add_site(store, &format!("whole-{seed}"));
        let outcomes = import(store, whole, &items);
        let expected = picture(store, whole);
        let again = import(store, whole, &items);
        // If a line failed because it refers to a later line, repeating the import has another result.
        let failed = |outcome: &ImportOutcome| matches!(outcome, Refused(_));
        if !outcomes.iter().zip(&again).any(|(first, second)| failed(first) && *second == Added) {
            assert_eq!(picture(store, whole), expected, "seed {seed}");
            assert!(!again.contains(&Added), "seed {seed}");
        }
        let cut = add_site(store, &format!("cut-{seed}"));
        let (at, overlap) = (rng.random_range(0..120), rng.random_range(0..40));
        import(store, cut, &items[..at]);
        let good: Vec<ImportItem> = items
            .iter()
            .zip(&outcomes)
            .enumerate()
            .filter(|(place, (_, outcome))| *place >= at - at.min(overlap) && !failed(outcome))
            .map(|(_, (item, _))| item.clone())
            .collect();
        import(store, cut, &good);
        assert_eq!(picture(store, cut), expected, "seed {seed}");
    }
}

pub(crate) fn a_room_comes_with_its_picture_and_size(store: &dyn Store) {
    let site = add_site(store, "forum");
    let wanted = RoomChange {
        name: Some("Bees".into()),
        avatar: Some(AvatarChange::Address("https://a.example/b.webp".into())),
        max_members: Some(2),
        ..RoomChange::default()
    };
    let key = ImportKey::room("#bees").expect("it is an id");
    let bees = ImportItem::room(key, wanted, None).expect("it is sound");
    let items = [user("ann"), user("ben"), user("eve"), bees, member("#bees", "ann", Role::Owner)];
    assert_eq!(import(store, site, &items), [Added; 5]);
    let ann = ask(|done| store.user(site, sub("ann"), done)).expect("she was imported").id;
    let row = the_room(store, ann);
    let ConversationOf::Room { room, .. } = &row.of else { panic!("it is a room") };
    assert_eq!(room.avatar, Some(RoomAvatar::Address("https://a.example/b.webp".into())));
    assert_eq!((room.kind, room.max_members), (RoomKind::Private, 2));
    let more = [member("#bees", "ben", Role::Member), member("#bees", "eve", Role::Member)];
    assert_eq!(import(store, site, &more), [Added, Refused(ImportRefusal::RoomFull)]);
}
