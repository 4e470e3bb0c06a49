//! The format of imports: JSON lines, an object with its `type` per line.

use std::borrow::Cow;

use chat::{
    AvatarChange, ImportItem, ImportKey, ImportMessage, ImportTo, Role, RoomChange, RoomKind, Sub, Timestamp,
};
use serde::Deserialize;

/// Longest line of an import: a message of the longest body, however it is escaped.
pub const IMPORT_LINE_BYTES: usize = 64 << 10;

/// Before it, a time is taken for one in seconds: 1973-03-03 in milliseconds.
const EARLIEST_MS: u64 = 100_000_000_000;

const REASON_CHARS: usize = 300;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Line<'a> {
    User {
        #[serde(borrow)]
        id: Cow<'a, str>,
        name: Option<Cow<'a, str>>,
        avatar: Option<String>,
        created: Option<u64>,
    },
    Contact {
        users: [Cow<'a, str>; 2],
    },
    Room {
        #[serde(borrow)]
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        #[serde(default)]
        kind: Kind,
        topic: Option<Cow<'a, str>>,
        /// As of a user.
        avatar: Option<String>,
        max_members: Option<u32>,
        created: Option<u64>,
    },
    Member {
        #[serde(borrow)]
        room: Cow<'a, str>,
        user: Cow<'a, str>,
        #[serde(default)]
        role: RoleWord,
    },
    Message {
        #[serde(borrow)]
        id: Cow<'a, str>,
        from: Cow<'a, str>,
        to: Option<Cow<'a, str>>,
        room: Option<Cow<'a, str>>,
        time: u64,
        body: Cow<'a, str>,
        reply_to: Option<Cow<'a, str>>,
    },
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Public,
    /// A room is private unless its line has another kind.
    #[default]
    Private,
    Announcement,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RoleWord {
    Owner,
    Moderator,
    #[default]
    Member,
    Muted,
}

/// The item of a line, or the reason against it.
pub fn parse_import_line(line: &[u8]) -> Result<ImportItem, String> {
    if line.len() > IMPORT_LINE_BYTES {
        return Err(format!("the line is longer than {IMPORT_LINE_BYTES} bytes"));
    }
    let line: Line<'_> = serde_json::from_slice(line).map_err(|error| reason(&error))?;
    match line {
        Line::User { id, name, avatar, created } => {
            let created = created.map(|ms| time("created", ms)).transpose()?;
            Ok(ImportItem::user(sub("id", &id)?, name.as_deref(), avatar, created))
        }
        Line::Contact { users: [one, other] } => {
            Ok(ImportItem::Contact([sub("users", &one)?, sub("users", &other)?]))
        }
        Line::Room { id, name, kind, topic, avatar, max_members, created } => {
            let kind = match kind {
                Kind::Public => RoomKind::Public,
                Kind::Private => RoomKind::Private,
                Kind::Announcement => RoomKind::Announcement,
            };
            let created = created.map(|ms| time("created", ms)).transpose()?;
            let key = key("id", ImportKey::room(&id))?;
            let wanted = RoomChange {
                name: Some(name.into_owned()),
                kind: Some(kind),
                topic: topic.map(Cow::into_owned),
                avatar: avatar.map(AvatarChange::address),
                max_members,
                ..RoomChange::default()
            };
            ImportItem::room(key, wanted, created).map_err(|why| why.to_string())
        }
        Line::Member { room, user, role } => {
            let role = match role {
                RoleWord::Owner => Role::Owner,
                RoleWord::Moderator => Role::Moderator,
                RoleWord::Member => Role::Member,
                RoleWord::Muted => Role::Muted,
            };
            Ok(ImportItem::Member {
                room: key("room", ImportKey::room(&room))?,
                user: sub("user", &user)?,
                role,
            })
        }
        Line::Message { id, from, to, room, time: ms, body, reply_to } => {
            let to = match (to, room) {
                (Some(user), None) => ImportTo::User(sub("to", &user)?),
                (None, Some(room)) => ImportTo::Room(key("room", ImportKey::room(&room))?),
                _ => return Err("a message has either `to`, a user, or `room`".into()),
            };
            Ok(ImportItem::Message(Box::new(ImportMessage {
                key: key("id", ImportKey::message(&id))?,
                to,
                from: sub("from", &from)?,
                time: time("time", ms)?,
                body: body.into(),
                reply_to: reply_to.map(|id| key("reply_to", ImportKey::message(&id))).transpose()?,
            })))
        }
    }
}

/// Without what is long: an error of serde quotes the value.
fn reason(error: &serde_json::Error) -> String {
    error.to_string().chars().take(REASON_CHARS).collect()
}

fn sub(field: &str, text: &str) -> Result<Sub, String> {
    Sub::parse(text).filter(|sub| sub.remote_address().is_none()).ok_or_else(|| {
        format!("{field}: an id of a user has 1 to 128 bytes, no control characters, and does not begin with `xmpp:`")
    })
}

fn key(field: &str, key: Option<ImportKey>) -> Result<ImportKey, String> {
    key.ok_or_else(|| format!("{field}: an id has 1 to 200 bytes and no control characters"))
}

fn time(field: &str, ms: u64) -> Result<Timestamp, String> {
    if ms < EARLIEST_MS {
        return Err(format!("{field}: milliseconds since 1970; this looks like seconds"));
    }
    Ok(Timestamp(ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_its_line() {
        for line in [
            r#"{"type":"user","id":"ann","name":"Ann","avatar":"https://a.example/a.webp","created":1500000000000}"#,
            r#"{"type":"user","id":"ann"}"#,
            r#"{"type":"contact","users":["ann","ben"]}"#,
            r#"{"type":"room","id":"7","name":"Bees"}"#,
            r#"{"type":"room","id":"7","name":"Bees","kind":"public","topic":"Honey","created":1500000000000}"#,
            r#"{"type":"room","id":"8","name":"Bees","avatar":"https://a.example/b.webp","max_members":50}"#,
            r#"{"type":"member","room":"7","user":"ann"}"#,
            r#"{"type":"member","room":"7","user":"ann","role":"owner"}"#,
            r#"{"type":"message","id":"1","from":"ann","to":"ben","time":1500000000000,"body":"hi \n"}"#,
            r#"{"type":"message","id":"2","from":"ann","room":"7","time":1500000000000,"body":"hi","reply_to":"1"}"#,
        ] {
            assert!(parse_import_line(line.as_bytes()).is_ok(), "{line}");
        }
    }

    #[test]
    fn a_wrong_line_says_why() {
        let message = |more: &str| {
            format!(r#"{{"type":"message","id":"1","from":"ann","time":1500000000000,"body":"hi"{more}}}"#)
        };
        let long = format!(r#"{{"type":"user","id":"ann","name":"{}"}}"#, "x".repeat(IMPORT_LINE_BYTES));
        for (line, why) in [
            ("nonsense".to_owned(), "expected"),
            ("{}".to_owned(), "type"),
            (r#"{"type":"file","id":"1"}"#.to_owned(), "unknown variant"),
            (r#"{"type":"user","id":""}"#.to_owned(), "1 to 128 bytes"),
            (r#"{"type":"user","id":"ann","nick":"a"}"#.to_owned(), "unknown field"),
            (r#"{"type":"contact","users":["ann"]}"#.to_owned(), "array of length 2"),
            (r#"{"type":"room","id":"7","name":" "}"#.to_owned(), "name of a room"),
            (r#"{"type":"room","id":"","name":"a"}"#.to_owned(), "1 to 200 bytes"),
            (r#"{"type":"room","id":"7","name":"a","avatar":"javascript:x"}"#.to_owned(), "avatar: a URL"),
            (message(""), "either `to`"),
            (message(r#","to":"ben","room":"7""#), "either `to`"),
            (message(r#","to":"ben""#).replace("1500000000000", "1500000000"), "looks like seconds"),
            (long, "longer than"),
        ] {
            let said = parse_import_line(line.as_bytes()).expect_err(&line);
            assert!(said.contains(why), "{line}: {said}");
        }
    }
}
