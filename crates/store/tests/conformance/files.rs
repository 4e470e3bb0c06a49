//! Files: permissions and quotas of uploads, files in messages, and their removal.

use chat::{
    Append, Appended, AvatarChange, ConversationId, ConversationOf, File, FileFound, FileId, FileLimits,
    FilePlace, FileRow, FileType, MOST_LOOSE, MOST_OPEN, MemberAction, MessageChange, NewFile, NewRoom,
    Peaks, Picture, Post, Refusal, Role, RoomAvatar, RoomChange, RoomKind, RoomLimits, RoomName, Seq, SiteId,
    Store, Timestamp, UserId,
};

use crate::asking::{NOW, add_site, ask, direct, message, put, say, snapshot};
use crate::{FRIENDS, relate, two_users};

const LIMITS: FileLimits = FileLimits { file_bytes: 100, user_bytes: 250, guest_bytes: 0, site_bytes: 1_000 };

fn new_file(owner: UserId, number: u64, place: FilePlace, bytes: u64) -> NewFile {
    let id = FileId { site: owner.site, number };
    NewFile {
        id,
        owner,
        place,
        name: "cat.png".into(),
        bytes,
        voice: false,
        duration_ms: None,
        peaks: None,
        time: NOW,
    }
}

fn create(store: &dyn Store, owner: UserId, number: u64, to: UserId, bytes: u64) -> Result<FileId, Refusal> {
    let file = new_file(owner, number, FilePlace::Direct(direct(owner, to)), bytes);
    let id = file.id;
    ask(|done| store.create_file(file, LIMITS, done)).map(|()| id)
}

fn grow(store: &dyn Store, id: FileId, arrived: u64) -> Result<(), Refusal> {
    ask(|done| store.grow_file(id, arrived, LIMITS, done))
}

fn complete(store: &dyn Store, id: FileId, bytes: u64) -> FileRow {
    let picture = Picture { width: 640, height: 480, blurhash: "LEHV6n".into(), has_thumbnail: true };
    let found = FileFound {
        kind: FileType::named("image/png"),
        bytes,
        kept_bytes: bytes + 10,
        picture: Some(picture),
    };
    ask(|done| store.complete_file(id, found, done)).expect("it is there")
}

pub(crate) fn ready(store: &dyn Store, owner: UserId, number: u64, to: UserId) -> FileId {
    let id = create(store, owner, number, to, 50).expect("it may");
    complete(store, id, 20);
    id
}

pub(crate) fn ready_for_room(store: &dyn Store, owner: UserId, number: u64, room: ConversationId) -> FileId {
    let file = new_file(owner, number, FilePlace::Room(RoomName::Id(room)), 50);
    let id = file.id;
    ask(|done| store.create_file(file, LIMITS, done)).expect("it may");
    complete(store, id, 20);
    id
}

fn send(
    store: &dyn Store,
    from: UserId,
    to: UserId,
    client_id: &str,
    files: &[FileId],
) -> Result<(Appended, Vec<File>), Refusal> {
    let append: Append = message(from, to, client_id, "");
    ask(|done| store.append_with_files(append, files.to_vec(), done))
}

fn names(files: &[File]) -> Vec<u64> {
    files.iter().map(|file| file.id.number).collect()
}

fn friends(store: &dyn Store) -> (SiteId, UserId, UserId) {
    let (site, ann, bob) = two_users(store);
    relate(store, ann, bob, FRIENDS);
    (site, ann, bob)
}

pub(crate) fn a_file_goes_out_with_a_message_and_is_read_with_it(store: &dyn Store) {
    let (_, ann, bob) = friends(store);
    say(store, bob, ann, "b-1", "hello");
    let first = create(store, ann, 1, bob, 50).expect("she may");
    let row = ask(|done| store.file(first, done)).expect("it is there");
    assert_eq!((row.is_complete, row.is_posted, row.owner, row.file.bytes), (false, false, ann, 50));
    assert_eq!(send(store, ann, bob, "a-1", &[first]), Err(Refusal::NoSuchFile), "not all has come");
    let row = complete(store, first, 20);
    assert_eq!((row.is_complete, row.file.bytes, row.file.kind.name()), (true, 20, "image/png"));
    assert_eq!(complete(store, first, 99), row, "what is complete stays as it is");
    let said = NewFile {
        voice: true,
        duration_ms: Some(1_200),
        peaks: Peaks::parse("09z"),
        ..new_file(ann, 2, FilePlace::Direct(direct(ann, bob)), 50)
    };
    let second = said.id;
    ask(|done| store.create_file(said, LIMITS, done)).expect("she may");
    complete(store, second, 20);

    let (appended, files) = send(store, ann, bob, "a-1", &[second, first]).expect("she may");
    assert_eq!((appended.seq, names(&files)), (Seq(2), vec![2, 1]));
    assert_eq!(files[1], row.file);
    let page = ask(|done| store.history(bob, direct(ann, bob), None, None, 9, done));
    assert_eq!(
        page.messages.iter().map(|message| names(&message.files)).collect::<Vec<_>>(),
        [vec![], vec![2, 1]]
    );
    let [voice, picture] = &page.messages[1].files[..] else { panic!("two files: {page:?}") };
    assert_eq!(voice.peaks.as_ref().map(Peaks::as_str), Some("09z"));
    assert_eq!((voice.voice, voice.duration_ms, &picture.peaks), (true, Some(1_200), &None));
    let view = snapshot(store, bob, None);
    let last = view.conversations.rows[0].last.as_ref().expect("there is one");
    assert_eq!(last.files, files);
    assert!(ask(|done| store.file(first, done)).expect("it is there").is_posted);
}

pub(crate) fn a_repeated_message_finds_its_files_linked_to_itself(store: &dyn Store) {
    let (_, ann, bob) = friends(store);
    let file = ready(store, ann, 1, bob);
    let (first, _) = send(store, ann, bob, "a-1", &[file]).expect("she may");
    let (again, _) = send(store, ann, bob, "a-1", &[file]).expect("it is the same");
    assert_eq!(again, Appended { repeated: true, ..first });
    assert_eq!(send(store, ann, bob, "a-2", &[file]), Err(Refusal::NoSuchFile), "it is in a message");
    let page = ask(|done| store.history(bob, direct(ann, bob), None, None, 9, done));
    assert_eq!(page.messages.len(), 1);
}

pub(crate) fn only_ones_own_for_this_conversation_go_out(store: &dyn Store) {
    let (site, ann, bob) = friends(store);
    let carl = put(store, site, "carl");
    relate(store, ann, carl, FRIENDS);
    let other_site = add_site(store, "garden");
    let stranger = put(store, other_site, "ann");
    let mine = ready(store, ann, 1, bob);
    let his = ready(store, bob, 2, ann);
    let missing = FileId { site, number: 9 };
    let elsewhere = FileId { site: other_site, number: 1 };
    for files in [&[his][..], &[missing], &[elsewhere], &[mine, mine], &[mine, his]] {
        assert_eq!(send(store, ann, bob, "a-1", files), Err(Refusal::NoSuchFile), "{files:?}");
    }
    assert_eq!(send(store, ann, carl, "a-1", &[mine]), Err(Refusal::NoSuchFile), "it was made for bob");
    assert!(
        stranger.num > 0 && send(store, ann, bob, "a-1", &[mine]).is_ok(),
        "nothing was changed by all that"
    );
}

pub(crate) fn strangers_send_files_once_they_were_answered(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    say(store, ann, bob, "a-1", "hello?");
    assert_eq!(create(store, ann, 1, bob, 10), Err(Refusal::FirstContact));
    say(store, bob, ann, "b-1", "hi");
    (2..20).for_each(|number| _ = say(store, ann, bob, &format!("a-{number}"), "…"));
    assert!(create(store, ann, 1, bob, 10).is_ok() && create(store, bob, 2, ann, 10).is_ok());
}

pub(crate) fn bytes_are_counted_until_a_file_goes(store: &dyn Store) {
    let (site, ann, bob) = friends(store);
    assert_eq!(create(store, ann, 1, bob, 101), Err(Refusal::FileTooLarge));
    let arrived = |number| {
        let id = create(store, ann, number, bob, 100).expect("it fits");
        grow(store, id, 100).expect("there is room");
        id
    };
    let files: Vec<FileId> = (1..=2).map(arrived).collect();
    assert_eq!(create(store, ann, 3, bob, 51), Err(Refusal::NoRoomForFile), "250 of one user");
    complete(store, files[0], 40);
    // 50 bytes of the first file are stored.
    arrived(3);
    assert_eq!(create(store, ann, 4, bob, 1), Err(Refusal::NoRoomForFile));
    assert_eq!(ask(|done| store.remove_files(vec![files[1], files[1]], done)), [files[1]]);
    assert_eq!(ask(|done| store.file(files[1], done)), None);
    arrived(4);
    let site_of = FileLimits { user_bytes: 0, site_bytes: 300, ..LIMITS };
    let file = new_file(bob, 5, FilePlace::Direct(direct(ann, bob)), 51);
    assert_eq!(
        ask(|done| store.create_file(file, site_of, done)),
        Err(Refusal::NoRoomForFile),
        "all of the site"
    );
    assert_eq!(site, bob.site);
}

pub(crate) fn announced_bytes_take_no_room_until_they_arrive(store: &dyn Store) {
    let (_, ann, bob) = friends(store);
    let files: Vec<FileId> =
        (1..=20).map(|n| create(store, ann, n, bob, 100).expect("nothing came")).collect();
    for (file, arrived, expected) in [
        (0, 100, Ok(())),
        (1, 60, Ok(())),
        (1, 100, Ok(())),
        (2, 51, Err(Refusal::NoRoomForFile)),
        (2, 50, Ok(())),
        (3, 1, Err(Refusal::NoRoomForFile)),
        // Bytes that arrived once count once.
        (0, 100, Ok(())),
    ] {
        assert_eq!(grow(store, files[file], arrived), expected, "{file} {arrived}");
    }
    assert_eq!(create(store, ann, 21, bob, 1), Err(Refusal::NoRoomForFile));
    assert_eq!(ask(|done| store.remove_files(vec![files[0]], done)), [files[0]]);
    assert_eq!(grow(store, files[0], 100), Err(Refusal::NoSuchFile));
    assert_eq!(grow(store, files[3], 100), Ok(()), "the bytes of the first are free again");
}

pub(crate) fn an_upload_without_bytes_ends_before_others(store: &dyn Store) {
    let (_, ann, bob) = friends(store);
    let [empty, begun, complete] =
        [1, 2, 3].map(|number| create(store, ann, number, bob, 9).expect("it may"));
    grow(store, begun, 1).expect("there is room");
    self::complete(store, complete, 0);
    let before = Timestamp(1);
    assert_eq!(store.stale_files(before, before, NOW, 9), Ok(vec![]));
    assert_eq!(store.stale_files(before, before, Timestamp(NOW.0 + 1), 9), Ok(vec![empty]));
}

pub(crate) fn nobody_has_any_number_of_files_that_wait(store: &dyn Store) {
    let (_, ann, bob) = friends(store);
    for number in 0..u64::from(MOST_LOOSE) {
        assert!(create(store, ann, number, bob, 1).is_ok());
    }
    assert_eq!(create(store, ann, 99, bob, 1), Err(Refusal::TooManyFiles));
    assert!(create(store, bob, 100, ann, 1).is_ok(), "others may");
}

pub(crate) fn a_deleted_message_takes_its_files_with_it(store: &dyn Store) {
    let (_, ann, bob) = friends(store);
    let file = ready(store, ann, 1, bob);
    send(store, ann, bob, "a-1", &[file]).expect("she may");
    assert_eq!(ask(|done| store.remove_files(vec![file], done)), [], "it goes with its message only");
    let wanted = chat::ChangeMessage {
        conversation: direct(ann, bob),
        seq: Seq(1),
        by: ann,
        change: MessageChange::Delete,
        time: NOW,
    };
    let deleted = ask(|done| store.change_message(wanted, done)).expect("it is hers");
    assert!(deleted.message.deleted && deleted.message.files.is_empty());
    assert_eq!(ask(|done| store.file(file, done)), None);
    assert_eq!(
        store.stale_files(Timestamp(1), Timestamp(1), Timestamp(1), 9),
        Ok(vec![file]),
        "its bytes are still to be removed"
    );
    store.forget_files(&[file]).expect("the store works");
    assert_eq!(store.stale_files(Timestamp(1), Timestamp(1), Timestamp(1), 9), Ok(vec![]));
    assert!(
        create(store, ann, 1, bob, 100).is_ok() && create(store, ann, 2, bob, 100).is_ok(),
        "there is room again"
    );
}

pub(crate) fn what_is_in_no_message_grows_stale(store: &dyn Store) {
    let (_, ann, bob) = friends(store);
    let (posted, complete, arriving) = (
        ready(store, ann, 1, bob),
        ready(store, ann, 2, bob),
        create(store, ann, 3, bob, 9).expect("it may"),
    );
    send(store, ann, bob, "a-1", &[posted]).expect("she may");
    assert_eq!(store.stale_files(NOW, NOW, NOW, 9), Ok(vec![]));
    let mut stale = store
        .stale_files(Timestamp(NOW.0 + 1), Timestamp(NOW.0 + 1), Timestamp(NOW.0 + 1), 9)
        .expect("the store works");
    stale.sort_unstable();
    assert_eq!(stale, [complete, arriving]);
    assert_eq!(
        store
            .stale_files(Timestamp(NOW.0 + 1), Timestamp(NOW.0 + 1), Timestamp(NOW.0 + 1), 1)
            .map(|files| files.len()),
        Ok(1)
    );
    store.forget_files(&stale).expect("the store works");
    assert!(ask(|done| store.file(complete, done)).is_some(), "first nobody may post them any more");
    assert_eq!(ask(|done| store.remove_files(stale.clone(), done)).len(), 2);
    assert_eq!(send(store, ann, bob, "a-2", &[complete]), Err(Refusal::NoSuchFile));
}

pub(crate) fn a_room_accepts_files_of_users_who_may_write(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let carl = put(store, site, "carl");
    let room = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    let limits = RoomLimits::default();
    let room = ask(|done| store.create_room(ann, room, limits, NOW, done)).expect("it is allowed").row.id;
    ask(|done| store.join_room(RoomName::Id(room), bob, limits, NOW, done)).expect("it is public");
    let create = |owner: UserId, number| {
        let file = new_file(owner, number, FilePlace::Room(RoomName::Id(room)), 10);
        let id = file.id;
        ask(|done| store.create_file(file, LIMITS, done)).map(|()| id)
    };
    assert_eq!(create(carl, 1), Err(Refusal::NotAMember));
    let file = create(bob, 2).expect("a member may");
    complete(store, file, 10);
    let post = |from, files: &[FileId], client_id: &str| {
        let post = Post {
            names_author: false,
            kind: chat::MessageKind::Text,
            room: RoomName::Id(room),
            from,
            client_id: client_id.into(),
            body: "".into(),
            extension: None,
            time: NOW,
            reply_to: None,
            files: files.to_vec(),
            rich: None,
        };
        ask(|done| store.post(post, limits, done))
    };
    assert_eq!(post(ann, &[file], "a-1").map(|_| ()), Err(Refusal::NoSuchFile));
    let posted = post(bob, &[file], "b-1").expect("it is his");
    assert_eq!(names(&posted.files), [2]);
    let again = post(bob, &[file], "b-1").expect("it is the same");
    assert!(again.appended.repeated && again.files.is_empty());
    let page = ask(|done| store.room_history(RoomName::Id(room), ann, None, None, 9, done)).expect("she may");
    assert_eq!(names(&page.1.messages[0].files), [2]);
}

pub(crate) fn a_room_has_one_picture_which_counts_until_it_is_replaced(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let new = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    let limits = RoomLimits::default();
    let room = |owner| {
        let new = new.clone();
        ask(|done| store.create_room(owner, new, limits, NOW, done)).expect("it is allowed").row.id
    };
    let (bikers, walkers) = (room(ann), room(ann));
    ask(|done| store.join_room(RoomName::Id(bikers), bob, limits, NOW, done)).expect("it is public");
    let upload = |owner: UserId, number, to, bytes| {
        let file = new_file(owner, number, FilePlace::Room(RoomName::Id(to)), bytes);
        let id = file.id;
        ask(|done| store.create_file(file, LIMITS, done)).map(|()| id)
    };
    let choose = |by, avatar| {
        let change = RoomChange { avatar: Some(avatar), ..RoomChange::default() };
        ask(|done| store.change_room(bikers, by, change, NOW, done)).map(|changed| match changed.row.of {
            ConversationOf::Room { room, .. } => room.avatar.clone(),
            ConversationOf::Direct(_) => panic!("it is a room"),
        })
    };
    let ready = |owner, number, to| {
        let id = upload(owner, number, to, 90).expect("there is room");
        complete(store, id, 80);
        id
    };
    let [first, second] = [1, 2].map(|number| ready(ann, number, bikers));
    let elsewhere = upload(ann, 3, walkers, 60).expect("nothing came");
    let of_bob = ready(bob, 4, bikers);
    for (by, file, refusal) in [
        (bob, of_bob, Refusal::NotAllowed),
        (ann, of_bob, Refusal::NoSuchFile),
        (ann, elsewhere, Refusal::NoSuchFile),
        (ann, FileId { site, number: 99 }, Refusal::NoSuchFile),
    ] {
        assert_eq!(choose(by, AvatarChange::Upload(file)), Err(refusal), "{file:?}");
    }
    assert_eq!(choose(ann, AvatarChange::Upload(first)), Ok(Some(RoomAvatar::Upload(first))));
    let row = ask(|done| store.file(first, done)).expect("it is there");
    assert!(row.is_room_picture && !row.is_posted);
    assert_eq!(ask(|done| store.remove_files(vec![first], done)), [], "it goes with its room only");
    let later = Timestamp(NOW.0 + 1);
    assert!(!store.stale_files(later, later, later, 9).expect("the store works").contains(&first));
    assert_eq!(choose(ann, AvatarChange::Upload(first)), Ok(Some(RoomAvatar::Upload(first))), "no change");

    // 2 * 90 of 250 are taken.
    let large = |number| {
        let id = upload(ann, number, bikers, 90)?;
        grow(store, id, 90).map(|()| id)
    };
    assert_eq!(large(5).map(drop), Err(Refusal::NoRoomForFile));
    assert_eq!(choose(ann, AvatarChange::Upload(second)), Ok(Some(RoomAvatar::Upload(second))));
    assert_eq!(ask(|done| store.file(first, done)), None);
    assert!(large(6).is_ok(), "the bytes of the first picture are free");
    assert_eq!(large(7).map(drop), Err(Refusal::NoRoomForFile));
    assert_eq!(choose(ann, AvatarChange::Remove), Ok(None));
    assert_eq!(ask(|done| store.file(second, done)), None);
    let mut gone = store.stale_files(Timestamp(1), Timestamp(1), Timestamp(1), 9).expect("the store works");
    gone.sort_unstable();
    assert_eq!(gone, [first, second], "their bytes are still to be removed");

    let third = ready(ann, 8, bikers);
    choose(ann, AvatarChange::Upload(third)).expect("she owns the room");
    let address = AvatarChange::Address("https://cdn.example/a.png".into());
    choose(ann, address).expect("the gate lets admins of the site");
    assert_eq!(ask(|done| store.file(third, done)), None, "an address takes its place");
}

pub(crate) fn who_keeps_order_may_remove_the_picture_of_a_room(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let new = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    let limits = RoomLimits::default();
    let room = ask(|done| store.create_room(ann, new, limits, NOW, done)).expect("it is allowed").row.id;
    ask(|done| store.join_room(RoomName::Id(room), bob, limits, NOW, done)).expect("it is public");
    let file = new_file(ann, 1, FilePlace::Room(RoomName::Id(room)), 90);
    let id = file.id;
    ask(|done| store.create_file(file, LIMITS, done)).expect("there is room");
    complete(store, id, 80);
    let choose = |by, avatar| {
        let change = RoomChange { avatar: Some(avatar), ..RoomChange::default() };
        ask(|done| store.change_room(room, by, change, NOW, done)).map(drop)
    };
    choose(ann, AvatarChange::Upload(id)).expect("she owns the room");
    assert_eq!(choose(bob, AvatarChange::Remove), Err(Refusal::NotAllowed));
    let action = MemberAction::SetRole(Role::Moderator);
    ask(|done| store.change_member(room, ann, bob, action, limits, NOW, done)).expect("she owns the room");
    assert_eq!(choose(bob, AvatarChange::Remove), Ok(()));
    assert_eq!(ask(|done| store.file(id, done)), None);
}

fn create_open(store: &dyn Store, owner: UserId, number: u64) -> Result<FileId, Refusal> {
    let file = new_file(owner, number, FilePlace::Open, 10);
    let id = file.id;
    ask(|done| store.create_file(file, LIMITS, done)).map(|()| id)
}

fn open(store: &dyn Store, owner: UserId, id: FileId) -> Result<FileId, Refusal> {
    ask(|done| store.open_file(owner, id, done)).map(|file| file.id)
}

pub(crate) fn an_open_file_goes_with_the_first_message_that_has_it(store: &dyn Store) {
    let (site, ann, bob) = friends(store);
    let carl = put(store, site, "carl");
    relate(store, ann, carl, FRIENDS);
    let file = create_open(store, ann, 1).expect("she may");
    assert_eq!(open(store, ann, file), Err(Refusal::NoSuchFile), "it is not complete");
    assert_eq!(send(store, ann, bob, "a-1", &[file]), Err(Refusal::NoSuchFile));
    assert_eq!(complete(store, file, 10).conversation, None);
    assert_eq!(open(store, ann, file), Ok(file));
    let (_, files) = send(store, ann, bob, "a-1", &[file]).expect("she may");
    assert_eq!(names(&files), [1]);
    let row = ask(|done| store.file(file, done)).expect("it is there");
    assert_eq!((row.conversation, row.is_posted), (Some(direct(ann, bob)), true));
    assert_eq!(open(store, ann, file), Err(Refusal::NoSuchFile), "it is in a message");
    assert_eq!(send(store, ann, carl, "a-2", &[file]), Err(Refusal::NoSuchFile));

    // A file of a room and an open one, in one message.
    let room = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    let limits = RoomLimits::default();
    let room = ask(|done| store.create_room(ann, room, limits, NOW, done)).expect("it is allowed").row.id;
    let files = vec![ready_for_room(store, ann, 2, room), create_open(store, ann, 3).expect("she may")];
    complete(store, files[1], 10);
    let post = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room: RoomName::Id(room),
        from: ann,
        client_id: "a-3".into(),
        body: "".into(),
        extension: None,
        time: NOW,
        reply_to: None,
        files,
        rich: None,
    };
    assert_eq!(names(&ask(|done| store.post(post, limits, done)).expect("hers").files), [2, 3]);
    let row = ask(|done| store.file(FileId { site, number: 3 }, done)).expect("it is there");
    assert_eq!(row.conversation, Some(room));
}

pub(crate) fn strangers_get_no_open_files(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let file = create_open(store, ann, 1).expect("it is for nobody yet");
    complete(store, file, 10);
    say(store, ann, bob, "a-1", "hello?");
    assert_eq!(send(store, ann, bob, "a-2", &[file]), Err(Refusal::FirstContact));
    assert_eq!(open(store, ann, file), Ok(file), "it is in no message");
    say(store, bob, ann, "b-1", "hi");
    assert!(send(store, ann, bob, "a-2", &[file]).is_ok());
}

pub(crate) fn open_files_are_of_their_owner_and_bounded(store: &dyn Store) {
    let (site, ann, bob) = friends(store);
    let file = create_open(store, ann, 1).expect("she may");
    complete(store, file, 10);
    assert_eq!(open(store, bob, file), Err(Refusal::NoSuchFile));
    assert_eq!(send(store, bob, ann, "b-1", &[file]), Err(Refusal::NoSuchFile));
    assert_eq!(open(store, ann, FileId { site, number: 99 }), Err(Refusal::NoSuchFile));
    let of_bob = ready(store, bob, 2, ann);
    assert_eq!(open(store, bob, of_bob), Err(Refusal::NoSuchFile), "it was made for a conversation");
    for number in 1..u64::from(MOST_OPEN) {
        assert!(create_open(store, ann, 100 + number).is_ok(), "{number}");
    }
    assert_eq!(create_open(store, ann, 999), Err(Refusal::TooManyFiles));
    assert!(create(store, ann, 1_000, bob, 1).is_ok(), "files of conversations have their own number");
    assert_eq!(ask(|done| store.remove_files(vec![file], done)), [file]);
    assert!(create_open(store, ann, 999).is_ok());
}

pub(crate) fn open_files_live_longer_than_others(store: &dyn Store) {
    let (_, ann, bob) = friends(store);
    let [kept, removed] = [1, 2].map(|number| {
        let file = create_open(store, ann, number).expect("she may");
        complete(store, file, 10);
        file
    });
    let [arriving, empty] = [3, 4].map(|number| create_open(store, ann, number).expect("she may"));
    grow(store, arriving, 1).expect("there is room");
    let bound = ready(store, ann, 5, bob);
    assert_eq!(ask(|done| store.remove_files(vec![removed], done)), [removed]);
    let (never, later) = (Timestamp(1), Timestamp(NOW.0 + 1));
    let stale = |before, open_before, empty_before| {
        let mut files = store.stale_files(before, open_before, empty_before, 9).expect("the store works");
        files.sort_unstable();
        files
    };
    assert_eq!(stale(never, never, later), [removed, empty]);
    assert_eq!(
        stale(later, never, later),
        [removed, arriving, empty, bound],
        "an incomplete one is as any other"
    );
    assert_eq!(stale(never, later, never), [kept, removed]);
    assert_eq!(store.stale_files(later, later, later, 2).map(|files| files.len()), Ok(2));
}
