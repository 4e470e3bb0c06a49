//! Encrypted backups: only their key restores them, and a damaged one restores nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use age::secrecy::ExposeSecret;
use serde_json::Value;

use crate::client::{Client, token};
use crate::files::{acquainted, member, send};
use crate::running::{Running, Scratch};

const SECRET_WORDS: &str = "the quick brown fox is under the third stone";
const LETTER: &[u8] = b"Dear Ben, the key is in the blue vase on the second shelf";

/// A node with a message and a file, backed up and stopped.
struct BackedUp {
    scratch: Scratch,
    backup: PathBuf,
    files: PathBuf,
}

impl BackedUp {
    fn new(name: &str, key: &str) -> BackedUp {
        let scratch = Scratch::new(name);
        let mut node = Running::demo(&scratch);
        let [mut anna, mut ben] = acquainted(&scratch, &node);
        anna.sent("m-1", "u-ben", SECRET_WORDS);
        ben.message(SECRET_WORDS);
        let file = member(&scratch, &node, "u-anna").bring("u-ben", "letter.txt", LETTER);
        assert_eq!(send(&mut anna, "a-1", "u-ben", &[&file])["t"], "ack");
        let (backup, files) = (scratch.path().join("copy.age"), scratch.path().join("kept"));
        let line = format!("backup {} --files {} {key}", backup.display(), files.display());
        let data = scratch.data().display().to_string();
        assert!(scratch.say(&format!("{line} --data {data}")).contains("1 files (57 bytes) were copied"));
        let again = scratch.say(&format!("{line} --data {data} --force"));
        assert!(again.contains("0 files (0 bytes) were copied, 1 were there"), "{again}");
        let plain = format!("backup {0}.plain --files {1} --data {data}", backup.display(), files.display());
        assert!(scratch.fails(&plain).contains("is encrypted"), "one directory has files of one kind");
        fs::remove_file(format!("{}.plain", backup.display())).unwrap();
        node.signal("TERM");
        node.wait();
        BackedUp { scratch, backup, files }
    }

    fn restore(&self, to: &Path, key: &str) -> String {
        let (backup, files) = (self.backup.display(), self.files.display());
        format!("restore {backup} --files {files} --data {} {key} --force", to.display())
    }

    fn assert_restores(&self, key: &str) {
        let elsewhere = self.scratch.path().join("elsewhere");
        self.scratch.say(&self.restore(&elsewhere, key));
        let ben = token(&self.scratch, "u-ben");
        let node = Running::start_at(&self.scratch, "demo", &elsewhere, &[]);
        let mut ben = Client::try_enter(node.http, &ben, "ben", None).unwrap();
        let bodies: Vec<Value> = ben.history("u-anna").iter().map(|one| one["body"].clone()).collect();
        assert!(bodies.contains(&SECRET_WORDS.into()), "{bodies:?}");
        assert!(all_bytes(&elsewhere.join("files")).values().any(|bytes| bytes == LETTER));
        assert!(leftovers(&elsewhere).is_empty());
    }
}

fn key_pair(scratch: &Path, name: &str) -> (String, PathBuf) {
    let key = age::x25519::Identity::generate();
    let path = scratch.join(name);
    fs::write(&path, format!("# made by a test\n{}\n", key.to_string().expose_secret())).unwrap();
    (key.to_public().to_string(), path)
}

fn all_bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(all_bytes(&path)),
            // It contains the process id of its holder: each command rewrites it.
            false if path.ends_with("kith.lock") => {}
            // A killed node leaves its socket.
            false if path.ends_with("take-over.sock") => {}
            false => drop(found.insert(path.clone(), fs::read(path).unwrap())),
        }
    }
    found
}

fn leftovers(data: &Path) -> Vec<PathBuf> {
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.contains("readable") || name.ends_with(".part") || name.ends_with(".new")
    };
    all_bytes(data).into_keys().filter(is_one).collect()
}

#[test]
fn a_backup_for_keys_shows_no_byte_and_is_restored_by_its_key_alone() {
    let keys = Scratch::new("backup-keys");
    let (public, secret) = key_pair(keys.path(), "own.key");
    let (second_public, second_secret) = key_pair(keys.path(), "second.key");
    let (_, wrong) = key_pair(keys.path(), "wrong.key");
    let to = format!("--encrypt-to {public} --encrypt-to {second_public}");
    let kept = BackedUp::new("backup-for-keys", &to);

    let mut written = all_bytes(&kept.files);
    assert_eq!(written.len(), 2, "the letter, and the secret of links: {:?}", written.keys());
    written.insert(kept.backup.clone(), fs::read(&kept.backup).unwrap());
    for (path, bytes) in &written {
        for plain in
            [SECRET_WORDS.as_bytes(), b"brown fox", LETTER, b"blue vase", b"SQLite format", b"u-anna"]
        {
            let is_in = bytes.windows(plain.len()).any(|part| part == plain);
            assert!(!is_in, "{} shows {}", path.display(), String::from_utf8_lossy(plain));
        }
        assert!(bytes.starts_with(b"age-encryption.org/v1\n"), "{}", path.display());
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
    }
    let data = kept.scratch.data();
    let before = all_bytes(&data);
    assert!(leftovers(&data).is_empty());

    let no_key = kept.scratch.fails(&kept.restore(&data, ""));
    assert!(no_key.contains("--identity"), "{no_key}");
    let wrong = format!("--identity {}", wrong.display());
    let wrong_key = kept.scratch.fails(&kept.restore(&data, &wrong));
    assert!(wrong_key.contains("another key") && wrong_key.contains("nothing was changed"), "{wrong_key}");
    let secret = format!("--identity {}", secret.display());

    // Truncated in the middle, in the last chunk, at a border of chunks, and in the header; and with one changed bit.
    let whole = fs::read(&kept.backup).unwrap();
    let border = whole.len() - (whole.len() % 65_552);
    for length in [whole.len() / 2, whole.len() - 1, border, 100, 0] {
        fs::write(&kept.backup, &whole[..length]).unwrap();
        kept.scratch.fails(&kept.restore(&data, &secret));
        assert!(all_bytes(&data) == before, "cut off after {length} bytes, and something has changed");
    }
    let mut turned = whole.clone();
    turned[whole.len() / 2] ^= 1;
    fs::write(&kept.backup, &turned).unwrap();
    kept.scratch.fails(&kept.restore(&data, &secret));
    assert!(all_bytes(&data) == before);
    fs::write(&kept.backup, &whole).unwrap();

    // A truncated file of a member stops the restore before the database is replaced.
    let (letter, bytes) =
        written.iter().find(|(path, _)| path.starts_with(kept.files.join("files"))).unwrap();
    fs::write(letter, &bytes[..bytes.len() - 1]).unwrap();
    let elsewhere = kept.scratch.path().join("nowhere");
    let torn = kept.scratch.fails(&kept.restore(&elsewhere, &secret));
    assert!(torn.contains("the database has not been changed"), "{torn}");
    let there: Vec<PathBuf> = all_bytes(&elsewhere).into_keys().collect();
    assert!(!there.iter().any(|path| path.ends_with("kith.db")), "{there:?}");
    assert!(leftovers(&elsewhere).is_empty());
    fs::write(letter, bytes).unwrap();

    kept.assert_restores(&format!("--identity {}", second_secret.display()));
}

#[test]
fn a_backup_by_passphrase_is_restored_by_it_alone() {
    let keys = Scratch::new("backup-passphrases");
    let write = |name: &str, text: &str| {
        fs::write(keys.path().join(name), text).unwrap();
        format!("--passphrase-file {}", keys.path().join(name).display())
    };
    let (own, other) =
        (write("own", "correct horse battery staple\n"), write("other", "incorrect horse battery\n"));
    let kept = BackedUp::new("backup-by-passphrase", &own);
    let plain = |bytes: &Vec<u8>| bytes.windows(9).any(|part| part == b"brown fox" || part == b"blue vase");
    assert!(!all_bytes(&kept.files).values().any(plain) && !plain(&fs::read(&kept.backup).unwrap()));

    let data = kept.scratch.data();
    let refused = kept.scratch.fails(&kept.restore(&data, &other));
    assert!(refused.contains("another passphrase"), "{refused}");
    let backup = format!("backup {0}.2 --files {1}", kept.backup.display(), kept.files.display());
    let refused = kept.scratch.fails(&format!("{backup} --data {} {other}", data.display()));
    assert!(refused.contains("another passphrase"), "files of one directory have one key: {refused}");
    let short = write("short", "secret\n");
    let refused = kept.scratch.fails(&format!("{backup} --data {} {short}", data.display()));
    assert!(refused.contains("fewer than 12"), "{refused}");
    kept.assert_restores(&own);
}

#[test]
fn a_readable_copy_of_a_killed_command_is_removed_at_the_next_start() {
    let scratch = Scratch::new("backup-killed");
    fs::create_dir_all(scratch.data()).unwrap();
    // No process has this number: Linux uses lower ones.
    let left = scratch.data().join("kith.db.readable-2000000000");
    fs::write(&left, "words that are erased later").unwrap();
    let _node = Running::demo(&scratch);
    assert!(!left.exists());
}
