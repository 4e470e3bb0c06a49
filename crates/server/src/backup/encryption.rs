//! Encrypted backups, in the format of age (age-encryption.org/v1): for the owners of public keys, or by a passphrase.
//!
//! Data is encrypted and decrypted as a stream. The format authenticates its end, so a truncated file is an error.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use age::secrecy::{ExposeSecret, SecretString};
use age::{Decryptor, Encryptor, Identity, IdentityFile, Recipient, scrypt, x25519};

use crate::cli::{BackupKey, RestoreKey};
use crate::trouble::{Outcome, Trouble};

/// Extension of encrypted files in the directory of members' files.
pub(super) const ENDING: &str = "age";
/// The first bytes of each encrypted file.
const MAGIC: &[u8] = b"age-encryption.org/";
/// The secret key of members' files in a backup by passphrase, encrypted by the passphrase. One key serves all of them, because a
/// passphrase costs a second each time.
const FILES_KEY: &str = "files-key.age";
/// Shorter passphrases can be guessed.
const LEAST_PASSPHRASE: usize = 12;
/// 2^20 rounds take 1 GB of memory; a file cannot require more.
const MOST_WORK: u8 = 20;

/// Encrypts a backup.
pub(super) struct Encrypter {
    recipients: Recipients,
}

enum Recipients {
    Keys(Vec<x25519::Recipient>),
    Passphrase(SecretString),
}

/// Decrypts a backup. Without a key it returns an error with the option that names one.
pub(super) struct Decrypter {
    keys: Vec<Box<dyn Identity>>,
    /// For a backup by passphrase: opens the key of members' files.
    by_passphrase: bool,
}

impl Encrypter {
    /// None for a backup without encryption.
    pub(super) fn of(key: &BackupKey) -> Outcome<Option<Encrypter>> {
        let recipients = match (&key.passphrase_file, &key.encrypt_to[..]) {
            (Some(path), _) => Recipients::Passphrase(passphrase(path)?),
            (None, []) => return Ok(None),
            (None, keys) => {
                let parse = |key: &String| {
                    key.parse::<x25519::Recipient>().map_err(|why| {
                        Trouble::new(format!("{key} is not a public key of age")).because(why).remedy(
                            "make a pair with `age-keygen -o kith-backup.key`, and name its public key: age1…",
                        )
                    })
                };
                Recipients::Keys(keys.iter().map(parse).collect::<Outcome<_>>()?)
            }
        };
        Ok(Some(Encrypter { recipients }))
    }

    /// Writes a file that only its owner can read, and flushes it to disk.
    pub(super) fn encrypt(&self, from: &mut dyn Read, to: &Path) -> io::Result<u64> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to)?;
        let encryptor = match &self.recipients {
            Recipients::Keys(keys) => {
                Encryptor::with_recipients(keys.iter().map(|key| key as &dyn Recipient))
            }
            Recipients::Passphrase(phrase) => Ok(Encryptor::with_user_passphrase(phrase.clone())),
        };
        let mut out = encryptor.map_err(io::Error::other)?.wrap_output(BufWriter::new(file))?;
        let bytes = io::copy(from, &mut out)?;
        out.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok(bytes)
    }

    /// Encrypts members' files into this directory. A backup by passphrase has a key there, which only the passphrase opens, so an
    /// attacker cannot replace it.
    pub(super) fn of_files(&self, dir: &Path) -> io::Result<Encrypter> {
        let key = match &self.recipients {
            Recipients::Keys(keys) => return Ok(Encrypter { recipients: Recipients::Keys(keys.clone()) }),
            Recipients::Passphrase(phrase) => {
                let path = dir.join(FILES_KEY);
                if path.try_exists()? {
                    files_key(&path, &[Box::new(by_passphrase(phrase.clone()))])?
                } else {
                    let key = x25519::Identity::generate();
                    let part = dir.join(format!("{FILES_KEY}.part"));
                    self.encrypt(&mut key.to_string().expose_secret().as_bytes(), &part)?;
                    fs::rename(&part, &path)?;
                    key
                }
            }
        };
        Ok(Encrypter { recipients: Recipients::Keys(vec![key.to_public()]) })
    }
}

impl Decrypter {
    pub(super) fn of(key: &RestoreKey) -> Outcome<Decrypter> {
        if let Some(path) = &key.passphrase_file {
            let keys: Vec<Box<dyn Identity>> = vec![Box::new(by_passphrase(passphrase(path)?))];
            return Ok(Decrypter { keys, by_passphrase: true });
        }
        let mut keys: Vec<Box<dyn Identity>> = Vec::new();
        if let Some(path) = &key.identity {
            let unusable = |why: &dyn fmt::Display| {
                Trouble::new(format!("cannot read the secret key in {}", path.display()))
                    .because(why)
                    .remedy("name the file that `age-keygen -o` has written: it has a line AGE-SECRET-KEY-1…")
            };
            let file = File::open(path).map_err(|error| unusable(&error))?;
            let file = IdentityFile::from_buffer(BufReader::new(file)).map_err(|error| unusable(&error))?;
            let found = file.into_identities().map_err(|error| unusable(&error))?;
            if found.is_empty() {
                return Err(unusable(&"it has no key"));
            }
            keys.extend(found.into_iter().map(|key| key as Box<dyn Identity>));
        }
        Ok(Decrypter { keys, by_passphrase: false })
    }

    /// Writes a file that only its owner can read, and flushes it to disk. Err: it is incomplete, and must not be used.
    pub(super) fn decrypt(&self, from: &Path, to: &Path) -> io::Result<u64> {
        let mut reader = self.open(from)?;
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to)?;
        let mut out = BufWriter::new(file);
        let bytes = io::copy(&mut reader, &mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok(bytes)
    }

    /// Decrypts members' files of this directory.
    pub(super) fn of_files(self, dir: &Path) -> io::Result<Decrypter> {
        let path = dir.join(FILES_KEY);
        if !self.by_passphrase || !path.try_exists()? {
            return Ok(self);
        }
        let keys: Vec<Box<dyn Identity>> = vec![Box::new(files_key(&path, &self.keys)?)];
        Ok(Decrypter { keys, by_passphrase: false })
    }

    fn open(&self, from: &Path) -> io::Result<impl Read> {
        if self.keys.is_empty() {
            return Err(io::Error::other(
                "it is encrypted: name the key with --identity or --passphrase-file",
            ));
        }
        decrypted(from, &self.keys)
    }
}

/// Whether a file is encrypted, by its first bytes.
pub(super) fn is_encrypted(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == MAGIC
}

fn decrypted(from: &Path, keys: &[Box<dyn Identity>]) -> io::Result<impl Read + use<>> {
    let decryptor = Decryptor::new_buffered(BufReader::new(File::open(from)?)).map_err(unreadable)?;
    decryptor.decrypt(keys.iter().map(|key| &**key)).map_err(unreadable)
}

fn files_key(path: &Path, keys: &[Box<dyn Identity>]) -> io::Result<x25519::Identity> {
    let mut text = String::new();
    let whole = decrypted(path, keys).and_then(|key| key.take(1_024).read_to_string(&mut text));
    let key = whole.and_then(|_| text.parse().map_err(io::Error::other));
    key.map_err(|why| io::Error::new(why.kind(), format!("{}: {why}", path.display())))
}

fn unreadable(why: age::DecryptError) -> io::Error {
    match why {
        age::DecryptError::Io(error) => error,
        age::DecryptError::NoMatchingKeys
        | age::DecryptError::DecryptionFailed
        | age::DecryptError::KeyDecryptionFailed => {
            io::Error::other("it was encrypted for another key or with another passphrase, or it is damaged")
        }
        other => io::Error::other(format!("it is damaged, or not encrypted by age: {other}")),
    }
}

fn by_passphrase(phrase: SecretString) -> scrypt::Identity {
    let mut identity = scrypt::Identity::new(phrase);
    identity.set_max_work_factor(MOST_WORK);
    identity
}

/// The first line of a file.
fn passphrase(path: &Path) -> Outcome<SecretString> {
    let unusable = |why: &dyn fmt::Display| {
        Trouble::new(format!("cannot use the passphrase in {}", path.display()))
            .because(why)
            .remedy("write a passphrase of at least 12 characters into the first line of a file that only you may read")
    };
    let text = fs::read_to_string(path).map_err(|error| unusable(&error))?;
    let line = text.lines().next().unwrap_or_default();
    match line.chars().count() >= LEAST_PASSPHRASE {
        true => Ok(SecretString::from(line.to_owned())),
        false => Err(unusable(&format!("it has fewer than {LEAST_PASSPHRASE} characters"))),
    }
}

/// An unencrypted copy of the database inside the data directory during a backup or restore. Removed when dropped.
pub(super) struct ReadableCopy {
    path: PathBuf,
}

const COPY: &str = "kith.db.readable-";

impl ReadableCopy {
    /// Returns a name that is not in use.
    pub(super) fn in_data(dir: &Path) -> ReadableCopy {
        remove_readable_copies(dir);
        ReadableCopy { path: dir.join(format!("{COPY}{}", std::process::id())) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ReadableCopy {
    fn drop(&mut self) {
        for end in ["", ".new", "-journal"] {
            let mut path = self.path.clone().into_os_string();
            path.push(end);
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes the copy of a killed command, which would outlive messages that are erased meanwhile.
pub(crate) fn remove_readable_copies(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(COPY)) else { continue };
        let pid = rest.split(['.', '-']).next().and_then(|pid| pid.parse().ok());
        let is_running = pid
            .and_then(rustix::process::Pid::from_raw)
            .is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH));
        if !is_running {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Copies a file of a member in one of three ways.
pub(super) enum Way<'a> {
    Plain,
    Encrypt(&'a Encrypter),
    /// Only encrypted files; others are copied.
    Decrypt(&'a Decrypter),
}

impl Way<'_> {
    /// The name of the copy. Err: a copy of the other kind exists, which this backup would not replace.
    pub(super) fn target(&self, source: &Path, target: &Path) -> io::Result<PathBuf> {
        let encrypted = || {
            let mut name = target.as_os_str().to_owned();
            name.push(".");
            name.push(ENDING);
            PathBuf::from(name)
        };
        let other_kind = |path: &Path, kind: &str| {
            let why = format!("{} is {kind}: name another directory with --files", path.display());
            Err(io::Error::new(io::ErrorKind::AlreadyExists, why))
        };
        match self {
            Way::Plain if encrypted().try_exists()? => other_kind(&encrypted(), "encrypted"),
            Way::Plain => Ok(target.to_owned()),
            Way::Encrypt(_) if target.try_exists()? => other_kind(target, "not encrypted"),
            Way::Encrypt(_) => Ok(encrypted()),
            Way::Decrypt(_) if is_one_of_age(source) => Ok(target.with_extension("")),
            Way::Decrypt(_) => Ok(target.to_owned()),
        }
    }

    /// Whether a complete copy exists already.
    pub(super) fn is_there(&self, source: &Path, bytes: u64, target: &Path) -> bool {
        let there = fs::metadata(target);
        match self {
            Way::Decrypt(_) if is_one_of_age(source) => there.is_ok(),
            // Only a complete file has the name, and it is longer by the header and the tags.
            Way::Encrypt(_) => there.is_ok_and(|there| there.len() > bytes),
            Way::Plain | Way::Decrypt(_) => there.is_ok_and(|there| there.len() == bytes),
        }
    }

    /// Returns the number of decrypted bytes.
    pub(super) fn copy(&self, source: &Path, target: &Path) -> io::Result<u64> {
        match self {
            Way::Encrypt(encrypter) => encrypter.encrypt(&mut File::open(source)?, target),
            Way::Decrypt(decrypter) if is_one_of_age(source) => {
                let decrypted = decrypter.decrypt(source, target);
                decrypted.map_err(|why| io::Error::new(why.kind(), format!("{}: {why}", source.display())))
            }
            Way::Plain | Way::Decrypt(_) => fs::copy(source, target),
        }
    }
}

fn is_one_of_age(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == ENDING)
}
