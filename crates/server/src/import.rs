//! `kith import`: a community that exists elsewhere moves in, with its members and who knows whom.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use chat::{Profile, Site, Sub, Timestamp, UserId};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Deserialize;
use serde_json::json;
use store::OpenError;
use store::bulk::{Counts, Import, ImportError};

use crate::cli::ImportArgs;
use crate::config::Loaded;
use crate::data_dir;
use crate::data_lock::DataLock;
use crate::trouble::{Outcome, Trouble};
use crate::{print_json, print_line};

/// Longest line; a profile is far shorter.
const MAX_LINE: u64 = 64 << 10;
/// Profiles that are put in together.
const USERS_TOGETHER: usize = 10_000;
/// Entries of contact lists, 8 bytes each, that are put in together: in the order of the database, which is what makes
/// it fast.
const CONTACTS_TOGETHER: usize = 8_000_000;

/// One line: somebody, or two who are contacts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    User { user: String, name: Option<String>, avatar: Option<String> },
    Contacts { contacts: [String; 2] },
}

/// Carries it out.
pub(crate) fn run(args: &ImportArgs, loaded: &Loaded) -> Outcome {
    let dir = data_dir::locate(loaded, None)?;
    if DataLock::is_held(&dir) {
        return Err(in_use());
    }
    let store = data_dir::open_existing(loaded, None)?;
    let site = data_dir::site(&*store, &args.site)?;
    drop(store);
    let import = Import::open(&data_dir::database_in(&dir)).map_err(|error| match error {
        OpenError::Busy { .. } => in_use(),
        other => Trouble::new("nothing was imported").because(other),
    })?;
    let limit = loaded.config.limits.contacts;
    let mut moving = Moving::new(import, &site, &args.file, limit, crate::now());
    match args.file.to_str() {
        Some("-") => moving.read(io::stdin().lock())?,
        _ => {
            let file = File::open(&args.file).map_err(|error| {
                Trouble::new(format!("cannot read {}", args.file.display()))
                    .because(error)
                    .remedy("name a file of JSON lines, or - for standard input")
            })?;
            moving.read(BufReader::with_capacity(1 << 20, file))?;
        }
    }
    tell(moving.finish()?, args.output.json)
}

fn in_use() -> Trouble {
    Trouble::new("nothing was imported")
        .because("a node or another command has the database open")
        .remedy("stop the node first: it would not see what is put in")
}

fn tell(counts: Counts, as_json: bool) -> Outcome {
    let Counts { users_new, users_changed, users_as_before, contacts_new, contacts_as_before } = counts;
    if as_json {
        return print_json(&json!({
            "users_new": users_new,
            "users_changed": users_changed,
            "users_as_before": users_as_before,
            "contact_entries_new": contacts_new,
            "contact_entries_as_before": contacts_as_before,
        }));
    }
    print_line(&format!("users     {users_new} new, {users_changed} changed, {users_as_before} as before"))?;
    print_line(&format!(
        "contacts  {contacts_new} entries new (two for a pair), {contacts_as_before} as before"
    ))
}

/// An import under way.
struct Moving<'a> {
    import: Import,
    site: &'a Site,
    file: &'a Path,
    now: Timestamp,
    line: u64,
    users: Vec<Profile>,
    /// (whose list, who is on it)
    contacts: Vec<(u32, u32)>,
    /// Of each list that the file has named so far: not more than this are on it.
    list_lengths: HashMap<u32, u64>,
    /// `limits.contacts`
    limit: u32,
    bar: ProgressBar,
}

impl<'a> Moving<'a> {
    fn new(import: Import, site: &'a Site, file: &'a Path, limit: u32, now: Timestamp) -> Moving<'a> {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(
            ProgressStyle::with_template("{spinner} {pos} lines, {per_sec}, {elapsed}").expect("it is one"),
        );
        let (users, contacts, list_lengths) = (Vec::new(), Vec::new(), HashMap::new());
        Moving { import, site, file, now, line: 0, users, contacts, list_lengths, limit, bar }
    }

    fn read(&mut self, mut input: impl BufRead) -> Outcome {
        let mut line = Vec::new();
        loop {
            line.clear();
            self.line += 1;
            let length = (&mut input).take(MAX_LINE + 1).read_until(b'\n', &mut line);
            let length = length.map_err(|error| self.trouble(error))?;
            if length == 0 {
                return Ok(());
            }
            if length as u64 > MAX_LINE {
                return Err(self.trouble(format!("it is longer than {MAX_LINE} bytes")));
            }
            if !line.trim_ascii().is_empty() {
                self.take(&line)?;
            }
            self.bar.inc(1);
        }
    }

    fn take(&mut self, line: &[u8]) -> Outcome {
        match serde_json::from_slice(line) {
            Ok(Line::User { user, name, avatar }) => {
                let sub = self.sub(&user)?;
                self.users.push(chat::token::profile(sub, name.as_deref(), avatar, false));
                if self.users.len() >= USERS_TOGETHER {
                    self.put_users()?;
                }
                Ok(())
            }
            Ok(Line::Contacts { contacts: [one, other] }) => {
                self.put_users()?;
                let names = [one, other];
                let [one, other] = [self.known(&names[0])?, self.known(&names[1])?];
                if one == other {
                    return Err(self.trouble("nobody is a contact of himself"));
                }
                self.make_room(&names[0], one, other)?;
                self.make_room(&names[1], other, one)?;
                self.contacts.extend([(one, other), (other, one)]);
                if self.contacts.len() >= CONTACTS_TOGETHER {
                    self.put_contacts()?;
                }
                Ok(())
            }
            Err(_) => Err(self.trouble(
                "it is neither {\"user\":\"ann\",\"name\":\"Ann\",\"avatar\":\"https://…\"} nor {\"contacts\":[\"ann\",\"ben\"]}",
            )),
        }
    }

    /// Refuses a list that would become longer than a node lets it.
    fn make_room(&mut self, name: &str, owner: u32, other: u32) -> Outcome {
        let id = |num| UserId { site: self.site.id, num };
        let (owner_id, other_id) = (id(owner), id(other));
        let limit = u64::from(self.limit);
        let mut length = match self.list_lengths.get(&owner) {
            Some(length) => *length,
            None => self.import.list_length(owner_id).map_err(|error| self.failed(error))?,
        };
        if length >= limit {
            // Pairs that were said twice are counted twice until they are put in.
            let knows = |of: &Self| of.import.knows(owner_id, other_id).map_err(|error| of.failed(error));
            if knows(self)? {
                return Ok(());
            }
            self.put_contacts()?;
            if knows(self)? {
                return Ok(());
            }
            length = self.import.list_length(owner_id).map_err(|error| self.failed(error))?;
        }
        if length >= limit {
            return Err(self.too_long(name));
        }
        self.list_lengths.insert(owner, length + 1);
        Ok(())
    }

    fn finish(mut self) -> Outcome<Counts> {
        self.put_users()?;
        self.put_contacts()?;
        self.bar.finish_and_clear();
        self.import.finish().map_err(|error| Trouble::new("the import did not end well").because(error))
    }

    fn put_users(&mut self) -> Outcome {
        let users = std::mem::take(&mut self.users);
        if users.is_empty() {
            return Ok(());
        }
        let put = self.import.users(self.site.id, users, self.now);
        put.map(drop).map_err(|error| self.failed(error))
    }

    fn put_contacts(&mut self) -> Outcome {
        let mut contacts = std::mem::take(&mut self.contacts);
        contacts.sort_unstable();
        let id = |num: &u32| UserId { site: self.site.id, num: *num };
        for of_one in contacts.chunk_by(|(one, _), (other, _)| one == other) {
            let put = self.import.contacts(id(&of_one[0].0), of_one.iter().map(|(_, other)| id(other)));
            put.map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    fn known(&self, text: &str) -> Outcome<u32> {
        let found = self.import.user(self.site.id, &self.sub(text)?).map_err(|error| self.failed(error))?;
        found
            .map(|id| id.num)
            .ok_or_else(|| self.trouble(format!("there is no user {text} here or in a line before")))
    }

    fn sub(&self, text: &str) -> Outcome<Sub> {
        Sub::parse(text)
            .ok_or_else(|| self.trouble("an id of a user has 1 to 128 bytes and no control characters"))
    }

    fn too_long(&self, name: &str) -> Trouble {
        let limit = self.limit;
        Trouble::new(format!("{} cannot be imported", self.place()))
            .because(format!("{name} would have more than {limit} contacts (limits.contacts)"))
            .remedy(
                "raise limits.contacts, for the node too, or leave pairs out; then import the whole file again: what is \
                 there already is left as it is",
            )
    }

    fn place(&self) -> String {
        match self.file.to_str() {
            Some("-") => format!("line {}", self.line),
            _ => format!("line {} of {}", self.line, self.file.display()),
        }
    }

    fn trouble(&self, why: impl std::fmt::Display) -> Trouble {
        Trouble::new(format!("{} cannot be imported", self.place()))
            .because(why)
            .remedy("mend the line and import the whole file again: what is there already is left as it is")
    }

    fn failed(&self, error: ImportError) -> Trouble {
        Trouble::new(format!("the import ended at {}", self.place())).because(error).remedy(
            "when there is room again, import the whole file again: what is there already is left as it is",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_user(line: &str) -> Option<bool> {
        serde_json::from_str(line).ok().map(|line| matches!(line, Line::User { .. }))
    }

    #[test]
    fn a_line_is_a_user_or_a_pair() {
        assert_eq!(is_user(r#"{"user":"ann"}"#), Some(true));
        assert_eq!(is_user(r#"{"user":"ann","name":"Ann","avatar":null,"more":1}"#), Some(true));
        assert_eq!(is_user(r#"{"contacts":["ann","ben"]}"#), Some(false));
        for nonsense in
            ["", "[]", "{}", r#"{"user":1}"#, r#"{"contacts":["ann"]}"#, r#"{"contacts":["a","b","c"]}"#]
        {
            assert_eq!(is_user(nonsense), None, "{nonsense}");
        }
    }
}
