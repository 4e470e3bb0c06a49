//! The settings of a site: one document, stored as a whole.
//!
//! A feature with settings adds a struct here, with its default values. A site's document is cached with the site, so reading it costs
//! nothing; a changed one replaces it at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::is_domain;
use crate::{CallsFrom, Filters, MOST_IN_GROUP, Raid, Retention, Timestamp, Trust};

/// A document of an older version lacks new settings, and then their defaults hold. Additions of a newer version are kept and written back.
/// An unreadable part has its strictest value, and is kept unchanged, too.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub access: Access,
    /// Text for refused users: at most [`TEXT_BYTES`].
    pub access_text: String,
    pub requests: Requests,
    pub trust: Trust,
    pub raid: Raid,
    pub filters: Filters,
    pub calls: Calls,
    pub members: Members,
    pub invitations: Invitations,
    pub rooms: Rooms,
    pub retention: Retention,
    pub previews: Previews,
    pub xmpp: Xmpp,
    pub federation: Federation,
    #[serde(skip)]
    pub unread: Unread,
}

/// The parts of a stored document that this program does not know, or cannot read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unread {
    /// Merged over the written document.
    kept: Map<String, Value>,
    /// Parts whose stored value cannot be read, and why. Their values are in `kept`.
    parts: BTreeMap<String, String>,
    /// The whole document, and why it cannot be read.
    document: Option<(String, String)>,
}

/// The users who may sign in and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    #[default]
    Open,
    /// Only moderators write.
    ReadOnly,
    /// Only moderators sign in.
    Closed,
}

/// Message requests of strangers. They apply only if all members may write to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Requests {
    /// The first messages of a stranger are a request. They apply only if all members may write to each other.
    pub on: bool,
    /// Most messages of a request before it is accepted.
    pub messages: u32,
    /// New requests of one user per day of UTC.
    pub per_day: u32,
}

/// Calls of its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Calls {
    /// None: the setting of the node.
    pub from: Option<CallsFrom>,
    /// Most participants of a call in a room: 2 to 6; 0: rooms have no calls.
    pub group: u8,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls { from: None, group: MOST_IN_GROUP }
    }
}

/// Rights of members over their own account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Members {
    /// Members can choose a name; the name in tokens is then ignored.
    pub rename: bool,
    /// Members can remove their account. A fresh token of the site creates a new one.
    pub remove: bool,
    /// Members can see their devices and sign them out. Each sign-in then writes a row of its device.
    pub devices: bool,
    /// Whether the widget shows pictures that members set in their apps. A change shows with the next sign-in of each member; `off` ends
    /// the delivery of the pictures at once.
    pub pictures: MemberPictures,
    /// Name of erased users: at most 100 bytes.
    pub deleted_name: String,
}

impl Default for Members {
    fn default() -> Members {
        Members {
            rename: false,
            remove: false,
            devices: false,
            pictures: MemberPictures::Fallback,
            deleted_name: "Deleted user".to_owned(),
        }
    }
}

/// Whether pictures that members set in apps are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemberPictures {
    Off,
    /// Only for members to whom the site gives no picture.
    #[default]
    Fallback,
    /// In place of the picture of the site.
    Prefer,
}

impl MemberPictures {
    /// The picture that others see, of the site's and the user's own.
    pub fn shown(self, of_site: Option<Arc<str>>, own: Option<Arc<str>>) -> Option<Arc<str>> {
        match self {
            MemberPictures::Off => of_site,
            MemberPictures::Fallback => of_site.or(own),
            MemberPictures::Prefer => own.or(of_site),
        }
    }
}

/// Invite links into rooms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Invitations {
    /// Only owners and moderators of a room create invite links, and links of others end. Otherwise every member who may invite can.
    pub moderators_only: bool,
}

/// Rooms of its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Rooms {
    /// Most members of a room, if less than the node's limit; 0: the node's limit.
    pub members: u32,
}

/// Previews of links: the server fetches the linked page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Previews {
    pub on: bool,
}

/// XMPP, for members with apps of their own. Works only on a server that runs the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Xmpp {
    /// Members can make app passwords, and sign in with them. Otherwise existing ones are refused.
    pub enabled: bool,
}

impl Default for Xmpp {
    fn default() -> Xmpp {
        Xmpp { enabled: true }
    }
}

/// Conversations with users of other XMPP servers. Works only if the node has a listener for servers, and the site a domain.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Federation {
    pub on: bool,
    /// The domains of the servers; none: all. At most 1,000.
    pub only: Vec<String>,
    /// Domains that are excluded. At most 1,000.
    pub except: Vec<String>,
}

impl Federation {
    /// `domain`: in lower case, names in other scripts in their ASCII form.
    pub(crate) fn talks_with(&self, domain: &str) -> bool {
        let has = |list: &[String]| list.iter().any(|one| one == domain);
        self.on && (self.only.is_empty() || has(&self.only)) && !has(&self.except)
    }
}

/// Most domains of a list.
const MOST_DOMAINS: usize = 1_000;

impl Default for Requests {
    fn default() -> Requests {
        Requests { on: false, messages: 3, per_day: 20 }
    }
}

/// Longest name of erased users.
pub const NAME_BYTES: usize = 100;
/// Longest text for members.
pub const TEXT_BYTES: usize = 500;
/// Raised when a stored setting changes its meaning. A document of a higher version is not read. New settings
/// do not raise it.
const VERSION: u64 = 1;
/// Longest document that is read.
pub const DOCUMENT_BYTES: usize = 256 * 1024;

/// The reason why a change was refused, in words for its author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error("there is no setting `{0}`")]
    Unknown(String),
    #[error("settings are an object, as in {{\"requests\":{{\"on\":true}}}}")]
    NoObject,
    #[error("{0}")]
    Wrong(String),
}

impl Settings {
    /// The settings of a new site: message requests and limits for new members are on. Existing sites are
    /// unchanged: missing settings have the values of [`Settings::default`].
    pub fn of_new_site() -> Settings {
        Settings {
            requests: Requests { on: true, ..Requests::default() },
            trust: Trust { on: true, ..Trust::default() },
            raid: Raid { new_per_minute: 120, ..Raid::default() },
            ..Settings::default()
        }
    }

    /// Parses a stored document. Unreadable parts get their strictest values: see
    /// [`unreadable`](Self::unreadable).
    pub fn parse(document: &str) -> Settings {
        let stored = match serde_json::from_str(document) {
            Ok(Value::Object(stored)) => stored,
            Ok(_) => return Settings::closed(document, "it is not an object"),
            Err(why) => return Settings::closed(document, &why.to_string()),
        };
        if stored
            .get("version")
            .is_some_and(|version| !(0..=VERSION).contains(&version.as_u64().unwrap_or(u64::MAX)))
        {
            return Settings::closed(document, "it is of a newer version of kith");
        }
        let Value::Object(defaults) = Settings::default().values() else {
            unreachable!("settings are an object")
        };
        let mut unread = Unread::default();
        let mut known = Map::new();
        for (name, value) in stored.into_iter().filter(|(name, _)| name != "version") {
            let Some(default) = defaults.get(&name) else {
                unread.kept.insert(name, value);
                continue;
            };
            if let Err(why) = read_part(&name, &value) {
                unread.parts.insert(name.clone(), why);
                unread.kept.insert(name, value);
                continue;
            }
            if let Some(added) = added(&value, default) {
                unread.kept.insert(name.clone(), added);
            }
            known.insert(name, value);
        }
        match serde_json::from_value::<Settings>(Value::Object(known)) {
            Ok(mut settings) => {
                for part in unread.parts.keys() {
                    settings.close(part);
                }
                Settings { unread, ..settings }
            }
            Err(why) => Settings::closed(document, &why.to_string()),
        }
    }

    /// The strictest settings: only moderators sign in, and nothing irreversible happens, until an operator
    /// has repaired the document.
    fn closed(document: &str, why: &str) -> Settings {
        let mut settings = Settings::default();
        let Value::Object(names) = settings.values() else { unreachable!("settings are an object") };
        names.keys().for_each(|part| settings.close(part));
        settings.unread.document = Some((document.to_owned(), why.to_owned()));
        settings
    }

    /// Sets a part to its strictest values. Unreadable filters hold every message, see
    /// [`CompiledFilters`](crate::CompiledFilters).
    fn close(&mut self, part: &str) {
        match part {
            "access" => self.access = Access::Closed,
            "requests" => self.requests = Requests { on: true, messages: 1, per_day: 1 },
            "trust" => self.trust = Trust { on: true, ..Trust::default() },
            "raid" => self.raid = Raid { until: Timestamp::MAX.0, ..Raid::default() },
            "calls" => self.calls = Calls { from: Some(CallsFrom::Nobody), group: 0 },
            "members" => {
                self.members = Members { pictures: MemberPictures::Off, ..Members::default() };
            }
            "invitations" => self.invitations = Invitations { moderators_only: true },
            // No user can join, and no member is removed.
            "rooms" => self.rooms = Rooms { members: 1 },
            "previews" => self.previews = Previews { on: false },
            "xmpp" => self.xmpp = Xmpp { enabled: false },
            "federation" => self.federation = Federation::default(),
            // No messages are removed that the owner may want to keep.
            "retention" => self.retention = Retention::default(),
            // An unreadable text is not shown; filters have a state of their own for it.
            "access_text" | "filters" => {}
            other => unreachable!("`{other}` is a part of the settings"),
        }
    }

    /// The unreadable parts, and why. Their strictest values apply until an admin replaces them.
    pub fn unreadable(&self) -> Vec<(&str, &str)> {
        if let Some((_, why)) = &self.unread.document {
            return vec![("settings", why)];
        }
        self.unread.parts.iter().map(|(part, why)| (&**part, &**why)).collect()
    }

    /// Whether the stored value of this part is unreadable. Its strictest value applies then, but existing
    /// items are not ended because of it.
    pub fn is_unreadable(&self, part: &str) -> bool {
        self.unread.document.is_some() || self.unread.parts.contains_key(part)
    }

    /// The document for admins: every setting with its value, and under `unreadable` the unreadable parts of
    /// the stored document.
    pub fn document(&self) -> Value {
        let mut document = self.values();
        let unreadable = self.unreadable();
        if !unreadable.is_empty() {
            let unreadable = unreadable.into_iter().map(|(part, why)| (part.to_owned(), why.into()));
            document["unreadable"] = Value::Object(unreadable.collect());
        }
        document
    }

    /// The document for the store, with unknown and unreadable parts unchanged.
    pub fn stored_document(&self) -> String {
        if let Some((document, _)) = &self.unread.document {
            return document.clone();
        }
        let Value::Object(mut document) = self.values() else { unreachable!("settings are an object") };
        document.insert("version".to_owned(), VERSION.into());
        for (name, kept) in &self.unread.kept {
            if self.unread.parts.contains_key(name) {
                document.insert(name.clone(), kept.clone());
            } else {
                lay_over(document.entry(name.clone()).or_insert(Value::Null), kept);
            }
        }
        Value::Object(document).to_string()
    }

    fn values(&self) -> Value {
        serde_json::to_value(self).expect("settings have string keys only")
    }

    /// Applies a JSON merge patch (RFC 7396): named settings are replaced, and `null` restores the default.
    /// `{"settings": null}` restores the settings of a new site.
    pub fn patched(&self, patch: &Value) -> Result<Settings, SettingsError> {
        if *patch == Settings::patch("settings", "null") {
            return Ok(Settings::of_new_site());
        }
        let Value::Object(patch) = patch else { return Err(SettingsError::NoObject) };
        if let Some((_, why)) = &self.unread.document {
            return Err(SettingsError::Wrong(format!(
                "settings: the stored document cannot be read, and only `null` replaces it: {why}"
            )));
        }
        let (Value::Object(mut now), Value::Object(first)) = (self.values(), Settings::default().values())
        else {
            return Err(SettingsError::NoObject);
        };
        let mut unread = self.unread.clone();
        for (name, wanted) in patch {
            let Some(why) = unread.parts.get(name) else { continue };
            if !wanted.is_null() && first.get(name).is_some_and(Value::is_object) {
                return Err(SettingsError::Wrong(format!(
                    "{name}: the stored value cannot be read, and only `null` replaces it: {why}"
                )));
            }
            unread.parts.remove(name);
            unread.kept.remove(name);
        }
        merge(&mut now, &first, patch, "")?;
        let mut settings: Settings = serde_json::from_value(Value::Object(now))
            .map_err(|error| SettingsError::Wrong(error.to_string()))?;
        settings.check()?;
        if settings.filters != self.filters {
            settings.filters = settings.filters.tidied()?;
        }
        settings.unread = unread;
        Ok(settings)
    }

    /// Changes one setting, as in `requests.on` = `true`. A value that is no JSON is a text.
    pub fn with(&self, path: &str, value: &str) -> Result<Settings, SettingsError> {
        self.patched(&Settings::patch(path, value))
    }

    /// A setting as a merge patch.
    pub fn patch(path: &str, value: &str) -> Value {
        let mut value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        for name in path.rsplit('.') {
            value = Value::Object(Map::from_iter([(name.to_owned(), value)]));
        }
        value
    }

    fn check(&self) -> Result<(), SettingsError> {
        let wrong = |why: &str| Err(SettingsError::Wrong(why.to_owned()));
        if self.access_text.len() > TEXT_BYTES || self.access_text.contains('\0') {
            return wrong("access_text: at most 500 bytes, and no NUL");
        }
        if !(1..=100).contains(&self.requests.messages) {
            return wrong("requests.messages: 1 to 100");
        }
        if self.calls.group == 1 || self.calls.group > MOST_IN_GROUP {
            return wrong("calls.group: 2 to 6, or 0");
        }
        self.retention.check()?;
        let deleted = &self.members.deleted_name;
        if !(1..=NAME_BYTES).contains(&deleted.len()) || crate::id::has_control_characters(deleted) {
            return wrong("members.deleted_name: 1 to 100 bytes, no control characters");
        }
        if self.requests.per_day == 0 {
            return wrong("requests.per_day: at least 1");
        }
        let Trust { new_hours, trusted_days, new_messages, trusted_messages, .. } = self.trust;
        if new_hours > 10_000 || trusted_days > 10_000 {
            return wrong("trust.new_hours, trust.trusted_days: at most 10000");
        }
        // The most rows that one sign-in may count.
        if new_messages.max(trusted_messages) > 1_000 {
            return wrong("trust.new_messages, trust.trusted_messages: at most 1000");
        }
        if !(1..=10_000).contains(&self.raid.minutes) {
            return wrong("raid.minutes: 1 to 10000");
        }
        let Federation { on: _, only, except } = &self.federation;
        let are_domains =
            |list: &[String]| list.len() <= MOST_DOMAINS && list.iter().all(|one| is_domain(one));
        if !are_domains(only) || !are_domains(except) {
            return wrong("federation.only, federation.except: at most 1000 domains in lower case");
        }
        if self.raid.until > Timestamp::MAX.0 {
            return wrong("raid.until: Unix milliseconds");
        }
        Ok(())
    }
}

/// Whether the value of one part can be read, and is in range.
fn read_part(name: &str, value: &Value) -> Result<(), String> {
    let document = Value::Object(Map::from_iter([(name.to_owned(), value.clone())]));
    let settings: Settings = serde_json::from_value(document).map_err(|why| why.to_string())?;
    settings.check().map_err(|why| why.to_string())
}

/// The parts of a stored value that this program does not know.
fn added(stored: &Value, known: &Value) -> Option<Value> {
    let (Value::Object(stored), Value::Object(known)) = (stored, known) else { return None };
    let added: Map<String, Value> = stored
        .iter()
        .filter_map(|(name, value)| match known.get(name) {
            None => Some((name.clone(), value.clone())),
            Some(known) => Some((name.clone(), added(value, known)?)),
        })
        .collect();
    (!added.is_empty()).then_some(Value::Object(added))
}

fn lay_over(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                lay_over(under.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over.clone(),
    }
}

/// `first` has the defaults, and all existing names.
fn merge(
    now: &mut Map<String, Value>,
    first: &Map<String, Value>,
    patch: &Map<String, Value>,
    path: &str,
) -> Result<(), SettingsError> {
    for (name, wanted) in patch {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let Some(default) = first.get(name) else { return Err(SettingsError::Unknown(path)) };
        match (wanted, default, now.get_mut(name)) {
            (Value::Null, ..) => {
                now.insert(name.clone(), default.clone());
            }
            (Value::Object(patch), Value::Object(first), Some(Value::Object(now))) => {
                merge(now, first, patch, &path)?;
            }
            (_, Value::Object(_), _) => {
                return Err(SettingsError::Wrong(format!("{path}: has settings in it, and no value")));
            }
            _ => {
                now.insert(name.clone(), wanted.clone());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_changes_only_the_named_settings() {
        let before = Settings { access_text: "Back at noon".into(), ..Settings::default() };
        let after =
            before.patched(&json!({"requests": {"on": true}, "access": "read_only"})).expect("it is sound");
        assert_eq!((after.requests.on, after.requests.messages, after.access), (true, 3, Access::ReadOnly));
        assert_eq!(after.access_text, "Back at noon");
        let back = after.patched(&json!({"requests": null, "access_text": null})).expect("it is sound");
        assert_eq!((back.requests, &*back.access_text), (Requests::default(), ""));
    }

    /// `scripts/reference.mjs` writes the page from this crate's sources; this test compares it with the
    /// settings of the program.
    #[test]
    fn the_reference_has_every_setting_with_its_type_and_default() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/settings.md");
        let page = std::fs::read_to_string(page).expect("the page is there");
        let rows = page.lines().filter_map(|line| {
            let [name, values, default, _] = line.strip_prefix("| `")?.split(" | ").collect::<Vec<_>>()[..]
            else {
                return None;
            };
            let default = serde_json::from_str(default.trim_matches('`')).expect("a default is JSON");
            Some((name.trim_end_matches('`').to_owned(), (values.to_owned(), default)))
        });
        let mut rows: BTreeMap<String, (String, Value)> = rows.collect();
        let mut left = vec![(String::new(), Settings::default().document())];
        while let Some((path, value)) = left.pop() {
            if let Value::Object(parts) = value {
                let below = |name: String| if path.is_empty() { name } else { format!("{path}.{name}") };
                left.extend(parts.into_iter().map(|(name, value)| (below(name), value)));
                continue;
            }
            let (values, default) = rows.remove(&path).unwrap_or_else(|| panic!("no row for {path}"));
            assert_eq!(default, value, "{path}");
            let is_right = match &value {
                Value::Bool(_) => values == "`true`, `false`",
                Value::Number(_) => values == "whole number",
                Value::Array(_) => values.starts_with("list of "),
                Value::Null => values.contains("`null`"),
                _ => values == "text" || values.starts_with('`'),
            };
            assert!(is_right, "{path}: {values}");
        }
        assert!(rows.is_empty(), "there is no {rows:?}");
    }

    #[test]
    fn one_setting_is_set_by_its_path() {
        let with = |path, value| Settings::default().with(path, value);
        assert!(with("requests.on", "true").expect("it is sound").requests.on);
        assert_eq!(with("requests.messages", "5").expect("it is sound").requests.messages, 5);
        assert_eq!(with("calls.from", "nobody").expect("it is sound").calls.from, Some(CallsFrom::Nobody));
        assert_eq!(with("calls.from", "null").expect("it is sound").calls.from, None);
        assert_eq!(with("access", "closed").expect("it is sound").access, Access::Closed);
        assert_eq!(with("access_text", "Back at noon").expect("it is sound").access_text, "Back at noon");
        assert_eq!(with("access_text", "\"5\"").expect("it is sound").access_text, "5");
    }

    #[test]
    fn invalid_values_are_refused_by_name() {
        let why = |path, value| Settings::default().with(path, value).expect_err("it is wrong").to_string();
        assert_eq!(why("request.on", "true"), "there is no setting `request`");
        assert_eq!(why("requests.off", "true"), "there is no setting `requests.off`");
        assert!(why("requests", "true").starts_with("requests: "));
        assert!(why("requests.messages", "0").starts_with("requests.messages: "));
        assert!(why("requests.per_day", "0").starts_with("requests.per_day: "));
        assert!(why("requests.messages", "-1").contains("-1"));
        assert!(why("calls.from", "friends").contains("friends"));
        assert!(why("calls.group", "1").starts_with("calls.group: "));
        assert!(why("calls.group", "7").starts_with("calls.group: "));
        assert!(why("access", "ajar").contains("ajar"));
        assert!(why("trust.new_hours", "10001").starts_with("trust.new_hours"));
        assert!(why("trust.trusted_messages", "1001").starts_with("trust.new_messages"));
        assert!(why("raid.minutes", "0").starts_with("raid.minutes"));
        assert!(why("raid.until", "253402300800000").starts_with("raid.until"));
        assert!(why("filters.patterns", r#"[{"pattern":"("}]"#).starts_with("filters.patterns"));
        assert!(why("filters.words_act", "burn").contains("burn"));
        assert!(why("federation.only", r#"["Other.example"]"#).starts_with("federation.only"));
        assert!(why("federation.except", r#"["romeo@other.example"]"#).starts_with("federation.only"));
        assert!(why("access_text", &"x".repeat(501)).starts_with("access_text: "));
        assert_eq!(Settings::default().patched(&json!([1])), Err(SettingsError::NoObject));
    }

    #[test]
    fn a_site_chooses_the_servers_with_which_it_talks() {
        let talks = |on, only: &[&str], except: &[&str]| {
            let list = |domains: &[&str]| domains.iter().map(|one| (*one).to_owned()).collect();
            let federation = Federation { on, only: list(only), except: list(except) };
            ["a.example", "b.example"].map(|domain| federation.talks_with(domain))
        };
        assert_eq!(talks(false, &["a.example"], &[]), [false, false]);
        assert_eq!(talks(true, &[], &[]), [true, true]);
        assert_eq!(talks(true, &["a.example"], &[]), [true, false]);
        assert_eq!(talks(true, &[], &["a.example"]), [false, true]);
        assert_eq!(talks(true, &["a.example"], &["a.example"]), [false, false]);
        assert!(!Settings::default().federation.on && !Settings::of_new_site().federation.on);
    }

    #[test]
    fn new_sites_have_safe_settings_and_existing_ones_are_unchanged() {
        let new = Settings::of_new_site();
        assert!(new.requests.on && new.trust.on && new.raid.new_per_minute > 0);
        assert_eq!(Settings::parse(&new.document().to_string()), new);
        let before = Settings::parse(r#"{"access":"open","requests":{"on":false}}"#);
        assert!(!before.requests.on && !before.trust.on && before.raid.new_per_minute == 0);
    }

    #[test]
    fn settings_of_newer_programs_are_kept() {
        assert_eq!(Settings::parse("{}"), Settings::default());
        let newer = r#"{"requests":{"on":true,"how":"politely"},"new":[1],"filters":{"words":["x"],"emoji":{"max":3}}}"#;
        let settings = Settings::parse(newer);
        assert!(settings.requests.on && settings.filters.words == ["x"] && settings.unreadable().is_empty());
        let after = settings.patched(&json!({"requests": {"messages": 5}})).expect("it is sound");
        let stored: Value = serde_json::from_str(&after.stored_document()).expect("JSON");
        assert_eq!(stored["requests"], json!({"on": true, "messages": 5, "per_day": 20, "how": "politely"}));
        assert_eq!((&stored["new"], &stored["filters"]["emoji"]), (&json!([1]), &json!({"max": 3})));
        assert_eq!(Settings::parse(&after.stored_document()), after);
    }

    #[test]
    fn an_unreadable_part_is_closed_and_kept_by_other_changes() {
        let names = Settings::default().values();
        for part in names.as_object().expect("an object").keys().filter(|part| *part != "access_text") {
            let stored = json!({part.clone(): [{"of": "a newer kind"}], "access_text": "Back at noon"});
            let settings = Settings::parse(&stored.to_string());
            assert!(settings.is_unreadable(part), "{part}");
            assert_eq!(settings.document()["unreadable"].as_object().map(Map::len), Some(1), "{part}");
            assert!(settings.check().is_ok(), "{part}: the strict values are values");
            let after = settings.patched(&json!({"access_text": "Back at one"})).expect("it is sound");
            let written: Value = serde_json::from_str(&after.stored_document()).expect("JSON");
            assert_eq!(written[part], stored[part], "{part} is kept");
            assert_eq!((&written["access_text"], after.is_unreadable(part)), (&json!("Back at one"), true));
            let mended = after.patched(&json!({part.clone(): null})).expect("it is replaced");
            assert!(mended.unreadable().is_empty() && mended.values()[part] == names[part]);
            if names[part].is_object() {
                let inside = json!({part.clone(): {"on": true}});
                assert!(after.patched(&inside).expect_err("in part").to_string().starts_with(part.as_str()));
            }
        }
        let strict =
            Settings::parse(r#"{"requests":{"on":"no"},"trust":3,"access":"ajar","calls":{"group":99}}"#);
        assert!(
            strict.requests.on
                && strict.trust.on
                && strict.access == Access::Closed
                && strict.calls.group == 0
        );
    }

    #[test]
    fn the_setting_chooses_between_two_pictures() {
        let (site, own) = (|| Some(Arc::from("/a.png")), || Some(Arc::from("own:1")));
        let table = [
            (MemberPictures::Off, [site(), None]),
            (MemberPictures::Fallback, [site(), own()]),
            (MemberPictures::Prefer, [own(), own()]),
        ];
        for (setting, [with_site, without]) in table {
            assert_eq!(setting.shown(site(), own()), with_site, "{setting:?}");
            assert_eq!(setting.shown(None, own()), without, "{setting:?}");
            assert_eq!(setting.shown(site(), None), site(), "{setting:?}");
            assert_eq!(setting.shown(None, None), None, "{setting:?}");
        }
    }

    #[test]
    fn an_unreadable_document_closes_the_site_and_is_kept() {
        for document in ["not JSON", "[1]", r#"{"version":2,"access":"open"}"#, r#"{"version":"x"}"#] {
            let settings = Settings::parse(document);
            assert_eq!((settings.access, settings.stored_document().as_str()), (Access::Closed, document));
            assert!(settings.requests.on && settings.is_unreadable("filters"), "{document}");
            assert!(settings.patched(&json!({"access": "open"})).is_err(), "{document}");
            assert_eq!(settings.with("settings", "null"), Ok(Settings::of_new_site()));
        }
    }

    proptest! {
        #[test]
        fn what_is_stored_is_read_back(on: bool, messages in 1u32..=100, per_day in 1u32.., text in "[^\0]{0,100}") {
            let settings = Settings {
                access_text: text,
                requests: Requests { on, messages, per_day },
                ..Settings::default()
            };
            prop_assert_eq!(Settings::parse(&settings.stored_document()), settings);
        }

        #[test]
        fn no_patch_does_harm(path in "[a-z_.]{0,30}", value in ".{0,40}") {
            let _ = Settings::default().with(&path, &value);
        }
    }
}
