//! What the owner of a site decides: one document, stored whole and read by whoever decides.
//!
//! A feature that has settings adds a struct of its own here, with the values that hold where the owner has said nothing.
//! A site's document is cached with the site, so reading it costs nothing; a changed one replaces it at once.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{CallsFrom, Filters, MOST_IN_GROUP, Raid, Retention, Timestamp, Trust};

/// Documents of an older program lack what is new, and then the default holds; what a newer one has put there is ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub access: Access,
    /// Told to those who may not: at most [`TEXT_BYTES`].
    pub access_text: String,
    pub requests: Requests,
    pub trust: Trust,
    pub raid: Raid,
    pub filters: Filters,
    pub calls: Calls,
    pub members: Members,
    pub invitations: Invitations,
    pub retention: Retention,
    pub previews: Previews,
}

/// Who may come in and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    #[default]
    Open,
    /// Only moderators write.
    ReadOnly,
    /// Only moderators come in.
    Closed,
}

/// Message requests: what strangers may write before they are answered. Only where all members may write to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Requests {
    pub on: bool,
    /// Messages of one request, until it is accepted.
    pub messages: u32,
    /// New requests of one user in a day of UTC.
    pub per_day: u32,
}

/// Calls of its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Calls {
    /// None: as the node's operator has it.
    pub from: Option<CallsFrom>,
    /// How many may be in the call of a room: 2 to 6, or 0: rooms have no calls.
    pub group: u8,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls { from: None, group: MOST_IN_GROUP }
    }
}

/// What members may do with their own account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Members {
    /// Choose a name, whatever the site's tokens say.
    pub rename: bool,
    /// Remove their account. A fresh token of the site would make them another one.
    pub remove: bool,
    /// See their devices and sign one out: then a row of each is written as it signs in.
    pub devices: bool,
    /// By what those are called who were erased: at most 100 bytes.
    pub deleted_name: String,
}

impl Default for Members {
    fn default() -> Members {
        Members { rename: false, remove: false, devices: false, deleted_name: "Deleted user".to_owned() }
    }
}

/// Links by which people come into rooms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Invitations {
    /// Only who owns or moderates a room makes links into it, and those of others end. Else who may invite there.
    pub moderators_only: bool,
}

/// Links in messages: the server asks the page what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Previews {
    pub on: bool,
}

impl Default for Requests {
    fn default() -> Requests {
        Requests { on: false, messages: 3, per_day: 20 }
    }
}

/// Longest name of those who were erased.
pub const NAME_BYTES: usize = 100;
/// Longest text that is told to members.
pub const TEXT_BYTES: usize = 500;
/// Longest document that is read.
pub const DOCUMENT_BYTES: usize = 256 * 1024;

/// Why a change was not taken; in words for who made it.
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
    /// What a new site begins with: strangers ask first, and new members have less to say. A site that was there before keeps what
    /// it has: what its document does not name is as [`Settings::default`] says.
    pub fn of_new_site() -> Settings {
        Settings {
            requests: Requests { on: true, ..Requests::default() },
            trust: Trust { on: true, ..Trust::default() },
            raid: Raid { new_per_minute: 120, ..Raid::default() },
            ..Settings::default()
        }
    }

    /// A stored document. What cannot be read is as if the owner had never said it, rather than a site that does not start.
    pub fn parse(document: &str) -> Settings {
        serde_json::from_str(document).unwrap_or_else(|error| {
            tracing::error!(%error, "the settings of a site cannot be read; the defaults hold");
            Settings::default()
        })
    }

    /// As it is stored and shown: every setting with its value.
    pub fn document(&self) -> Value {
        serde_json::to_value(self).expect("settings have string keys only")
    }

    /// With a JSON merge patch (RFC 7396) applied: what is named is replaced, `null` brings the default back.
    pub fn patched(&self, patch: &Value) -> Result<Settings, SettingsError> {
        let Value::Object(patch) = patch else { return Err(SettingsError::NoObject) };
        let (Value::Object(mut now), Value::Object(first)) =
            (self.document(), Settings::default().document())
        else {
            return Err(SettingsError::NoObject);
        };
        merge(&mut now, &first, patch, "")?;
        let mut settings: Settings = serde_json::from_value(Value::Object(now))
            .map_err(|error| SettingsError::Wrong(error.to_string()))?;
        settings.check()?;
        settings.filters = settings.filters.tidied()?;
        Ok(settings)
    }

    /// With one setting changed, as in `requests.on` = `true`. What is no JSON is taken as a text.
    pub fn with(&self, path: &str, value: &str) -> Result<Settings, SettingsError> {
        self.patched(&Settings::patch(path, value))
    }

    /// The same as a merge patch.
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
        if !(1..=NAME_BYTES).contains(&deleted.len()) || deleted.chars().any(char::is_control) {
            return wrong("members.deleted_name: 1 to 100 bytes, no control characters");
        }
        if self.requests.per_day == 0 {
            return wrong("requests.per_day: at least 1");
        }
        let Trust { new_hours, trusted_days, new_messages, trusted_messages, .. } = self.trust;
        if new_hours > 10_000 || trusted_days > 10_000 {
            return wrong("trust.new_hours, trust.trusted_days: at most 10000");
        }
        // So many rows may be counted for one who signs in.
        if new_messages.max(trusted_messages) > 1_000 {
            return wrong("trust.new_messages, trust.trusted_messages: at most 1000");
        }
        if !(1..=10_000).contains(&self.raid.minutes) {
            return wrong("raid.minutes: 1 to 10000");
        }
        if self.raid.until > Timestamp::MAX.0 {
            return wrong("raid.until: Unix milliseconds");
        }
        Ok(())
    }
}

/// `first` has the defaults, and every name that there is.
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
    fn a_patch_changes_what_it_names_and_nothing_else() {
        let before = Settings { access_text: "Back at noon".into(), ..Settings::default() };
        let after =
            before.patched(&json!({"requests": {"on": true}, "access": "read_only"})).expect("it is sound");
        assert_eq!((after.requests.on, after.requests.messages, after.access), (true, 3, Access::ReadOnly));
        assert_eq!(after.access_text, "Back at noon");
        let back = after.patched(&json!({"requests": null, "access_text": null})).expect("it is sound");
        assert_eq!((back.requests, &*back.access_text), (Requests::default(), ""));
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
    fn what_cannot_be_is_said_by_name() {
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
        assert!(why("access_text", &"x".repeat(501)).starts_with("access_text: "));
        assert_eq!(Settings::default().patched(&json!([1])), Err(SettingsError::NoObject));
    }

    #[test]
    fn a_new_site_is_safe_and_one_that_was_there_keeps_what_it_has() {
        let new = Settings::of_new_site();
        assert!(new.requests.on && new.trust.on && new.raid.new_per_minute > 0);
        assert_eq!(Settings::parse(&new.document().to_string()), new);
        let before = Settings::parse(r#"{"access":"open","requests":{"on":false}}"#);
        assert!(!before.requests.on && !before.trust.on && before.raid.new_per_minute == 0);
    }

    #[test]
    fn documents_of_other_programs_are_read() {
        assert_eq!(Settings::parse("{}"), Settings::default());
        let newer = r#"{"requests":{"on":true,"how":"politely"},"new":[1]}"#;
        assert!(Settings::parse(newer).requests.on);
        assert_eq!(Settings::parse("not JSON"), Settings::default());
    }

    proptest! {
        #[test]
        fn what_is_stored_is_read_back(on: bool, messages in 1u32..=100, per_day in 1u32.., text in ".{0,100}") {
            let settings = Settings {
                access_text: text,
                requests: Requests { on, messages, per_day },
                ..Settings::default()
            };
            prop_assert_eq!(Settings::parse(&settings.document().to_string()), settings);
        }

        #[test]
        fn no_patch_does_harm(path in "[a-z_.]{0,30}", value in ".{0,40}") {
            let _ = Settings::default().with(&path, &value);
        }
    }
}
