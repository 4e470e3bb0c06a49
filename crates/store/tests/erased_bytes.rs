//! After an erasure no file and no backup contains the user's words.

use crate::asking;

use std::io::Write;
use std::path::Path;

use asking::{Directory, NOW, add_site, ask, direct, message, put, sub};
use chat::{
    Append, AvatarChange, Blobs, By, ChangeMessage, ConversationId, EraseSlice, EraseStore, FileFound,
    FileId, FileLimits, FilePlace, FileStore, FileType, MessageChange, MessageStore, MessagesAfterErasure,
    NewErasure, NewFile, NewForward, NewRich, NewRoom, Picture, Post, Rendition, RoomChange, RoomKind,
    RoomLimits, RoomName, RoomStore, Search, Seq, Timestamp, UserId,
};
use store::{Folder, Options, Sqlite};

/// Neighbours in the word index share their prefixes, so the test looks for the end of this word.
const SECRET: &str = "quartzfalke";
const WORD: &str = "xylophonquartzfalke";

fn files_with_secret(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files_with_secret(&path));
            continue;
        }
        let bytes = std::fs::read(&path).expect("a file");
        if bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn erase(store: &Sqlite, user: UserId) {
    let (alias, name, messages) = (sub("deleted-1"), "Deleted user".into(), MessagesAfterErasure::Erased);
    let erasure = NewErasure { user, alias, name, messages, by: By::Site, time: NOW };
    ask(|done| store.begin_erasure(erasure, done)).expect("the user is there");
    let mut slices = 0;
    loop {
        let slice: EraseSlice = ask(|done| store.erase_some(NOW, 100, done));
        slices += 1;
        assert!(slices < 500, "it comes to an end");
        if !slice.more {
            break;
        }
    }
}

#[test]
fn nothing_of_an_erased_user_stays_in_any_file() {
    let (directory, elsewhere) = (Directory::new(), Directory::new());
    let store = Sqlite::open(&directory.file(), Options::default()).expect("it opens");
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    let id = direct(ann, bob);
    for number in 0..600 {
        let (from, to) = if number % 3 == 0 { (bob, ann) } else { (ann, bob) };
        let words =
            format!("{} {WORD}{number} and some more words of no. {number}", "lorem ipsum ".repeat(20));
        let extension = (from == ann && number % 2 == 0).then(|| format!("<x>{WORD}{number}</x>").into());
        let body = if from == ann { words } else { format!("plain {number}") };
        let append = Append { extension, ..message(from, to, &format!("id-{number}"), &body) };
        ask(|done| store.append(append, done));
    }
    // Former bodies, and pages that become free.
    for seq in 2..200 {
        for body in [format!("edited {WORD}{seq}"), "short".to_owned()] {
            let extension = (seq % 3 == 0).then(|| format!("<x>{WORD}{seq}</x>").into());
            let change = MessageChange::Edit { body: body.into(), extension };
            let wanted = ChangeMessage { conversation: id, seq: Seq(seq), by: ann, change, time: NOW };
            _ = ask(|done| store.change_message(wanted, done));
        }
    }
    let is_found = || {
        let words = chat::words(&format!("{WORD}599"));
        let wanted = Search { user: ann, words, conversation: None, after: None, limit: 9 };
        !ask(|done| store.search(wanted, done)).expect("one may").hits.is_empty()
    };
    // The writer fills the index later.
    let begin = std::time::Instant::now();
    while begin.elapsed() < asking::PATIENCE && !is_found() {}
    assert!(is_found(), "all words are in the index");
    assert!(!files_with_secret(directory.path()).is_empty());

    erase(&store, ann);
    assert_eq!(files_with_secret(directory.path()), Vec::<String>::new(), "while the node runs");
    store::backup(&directory.file(), &elsewhere.file()).expect("a copy");
    assert_eq!(files_with_secret(elsewhere.path()), Vec::<String>::new());
    store.close();
    assert_eq!(files_with_secret(directory.path()), Vec::<String>::new());
}

const ROOMS: RoomLimits = RoomLimits { members: 0, per_user: 0, owned: 0 };

fn room(store: &Sqlite, owner: UserId) -> ConversationId {
    let new = NewRoom { name: "Bikers".into(), kind: RoomKind::Public, topic: None, alias: None };
    ask(|done| store.create_room(owner, new, ROOMS, NOW, done)).expect("it is allowed").row.id
}

fn post(store: &Sqlite, room: ConversationId, from: UserId, files: Vec<FileId>, rich: NewRich) {
    let (room, client_id, body) = (RoomName::Id(room), "1".into(), "".into());
    let post = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room,
        from,
        client_id,
        body,
        extension: None,
        time: NOW,
        reply_to: None,
        files,
        rich: rich.boxed(),
    };
    ask(|done| store.post(post, ROOMS, done)).expect("a member may");
}

/// A picture whose bytes have the secret in both renditions.
fn upload(store: &Sqlite, folder: &Folder, owner: UserId, number: u64, room: ConversationId) -> FileId {
    let id = FileId { site: owner.site, number };
    let new = NewFile {
        id,
        owner,
        place: FilePlace::Room(RoomName::Id(room)),
        name: "cat.png".into(),
        bytes: 20,
        voice: false,
        duration_ms: None,
        peaks: None,
        time: NOW,
    };
    let limits = FileLimits { file_bytes: 100, user_bytes: 0, guest_bytes: 0, site_bytes: 0 };
    ask(|done| store.create_file(new, limits, done)).expect("it may");
    for rendition in [Rendition::Picture, Rendition::Thumbnail] {
        let mut bytes = folder.create(id, rendition).expect("a file");
        bytes.write_all(SECRET.as_bytes()).expect("there is room");
    }
    folder.settle(id).expect("it is written");
    let picture = Picture { width: 640, height: 480, blurhash: "LEHV6n".into(), has_thumbnail: true };
    let kind = FileType::named("image/png");
    let found = FileFound { kind, bytes: 11, kept_bytes: 22, picture: Some(picture) };
    ask(|done| store.complete_file(id, found, done)).expect("it is there");
    id
}

/// Removes files as the housekeeping of a node does.
fn remove_stale(store: &Sqlite, folder: &Folder) {
    let stale = store.stale_files(Timestamp(1), Timestamp(1), Timestamp(1), 99).expect("the store works");
    for file in &stale {
        folder.remove(*file).expect("the folder is there");
    }
    store.forget_files(&stale).expect("the store works");
}

#[test]
fn the_bytes_of_an_erased_users_files_go_from_forwards_and_rooms() {
    let (directory, bytes) = (Directory::new(), Directory::new());
    let store = Sqlite::open(&directory.file(), Options::default()).expect("it opens");
    let folder = Folder::open(bytes.path()).expect("a folder");
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    let (bikers, walkers) = (room(&store, ann), room(&store, bob));
    ask(|done| store.join_room(RoomName::Id(bikers), bob, ROOMS, NOW, done)).expect("it is public");
    let [sent, picture] = [1, 2].map(|number| upload(&store, &folder, ann, number, bikers));
    post(&store, bikers, ann, vec![sent], NewRich::default());
    let forwarded = NewForward { author: Some((ann, sub("ann"))), files: vec![sent] };
    post(&store, walkers, bob, Vec::new(), NewRich { forwarded: Some(forwarded), ..NewRich::default() });
    let change = RoomChange { avatar: Some(AvatarChange::Upload(picture)), ..RoomChange::default() };
    ask(|done| store.change_room(bikers, ann, change, NOW, done)).expect("she owns the room");
    // The message is deleted, and the forwarded one keeps the file.
    let (conversation, change) = (bikers, MessageChange::Delete);
    let wanted = ChangeMessage { conversation, seq: Seq(1), by: ann, change, time: NOW };
    ask(|done| store.change_message(wanted, done)).expect("it is hers");
    remove_stale(&store, &folder);
    assert_eq!(files_with_secret(bytes.path()).len(), 4, "both are in use");
    erase(&store, ann);
    remove_stale(&store, &folder);
    assert_eq!(files_with_secret(bytes.path()), Vec::<String>::new());
}
