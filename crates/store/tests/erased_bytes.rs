//! After an erasure nothing of the user's words is in any file, nor in a backup.

mod asking;

use std::path::Path;

use asking::{Directory, NOW, add_site, ask, direct, message, put, sub};
use chat::{
    By, ChangeMessage, EraseSlice, EraseStore, MessageChange, Messages, NewErasure, Search, Seq, Store,
};
use store::{Options, Sqlite};

/// In a word of the index, neighbours share the beginning: so the end of it is looked for.
const SECRET: &str = "quartzfalke";
const WORD: &str = "xylophonquartzfalke";

fn files_with_secret(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("a file");
        if bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
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
        let body = if from == ann { words } else { format!("plain {number}") };
        ask(|done| store.append(message(from, to, &format!("id-{number}"), &body), done));
    }
    // Former bodies, and pages that become free.
    for seq in 2..200 {
        for body in [format!("edited {WORD}{seq}"), "short".to_owned()] {
            let change = MessageChange::Edit(body.into());
            let wanted = ChangeMessage { conversation: id, seq: Seq(seq), by: ann, change, time: NOW };
            _ = ask(|done| store.change_message(wanted, done));
        }
    }
    let is_found = || {
        let words = chat::words(&format!("{WORD}599"));
        let wanted = Search { user: ann, words, conversation: None, after: None, limit: 9 };
        !ask(|done| store.search(wanted, done)).expect("one may").hits.is_empty()
    };
    // The index is filled behind the writer.
    let begin = std::time::Instant::now();
    while begin.elapsed() < asking::PATIENCE && !is_found() {}
    assert!(is_found(), "all words are in the index");
    assert!(!files_with_secret(directory.path()).is_empty());

    let (alias, name, messages) = (sub("deleted-1"), "Deleted user".into(), Messages::Erased);
    let erasure = NewErasure { user: ann, alias, name, messages, by: By::Site, time: NOW };
    ask(|done| store.begin_erasure(erasure, done)).expect("she is there");
    let mut slices = 0;
    loop {
        let slice: EraseSlice = ask(|done| store.erase_some(NOW, 100, done));
        slices += 1;
        assert!(slices < 500, "it comes to an end");
        if !slice.more {
            break;
        }
    }
    assert_eq!(files_with_secret(directory.path()), Vec::<String>::new(), "while the node runs");
    store::backup(&directory.file(), &elsewhere.file()).expect("a copy");
    assert_eq!(files_with_secret(elsewhere.path()), Vec::<String>::new());
    store.close();
    assert_eq!(files_with_secret(directory.path()), Vec::<String>::new());
}
