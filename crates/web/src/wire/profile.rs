//! Profiles, in both directions.

use std::borrow::Cow;

use chat::Timestamp;

use super::{moderation, parse_hex, person, state};

pub(crate) fn profile(card: &chat::ProfileCard) -> web_proto::Profile<'_> {
    let status = card.status.as_ref();
    web_proto::Profile {
        person: person(&card.person),
        status: status.map(|status| Cow::Borrowed(&*status.text)),
        status_until: status.and_then(|status| status.until).map(|until| until.0),
        last_seen: card.last_seen.map(|time| time.0),
        role: (card.role != chat::SiteRole::Member).then(|| moderation::site_role(card.role)),
        state: state(card.contact),
        own: card.own.map(|own| web_proto::OwnProfile {
            may_write: told(own.privacy.write),
            see_presence: told(own.privacy.presence),
            see_last_seen: told(own.privacy.last_seen),
            may_rename: own.may_rename,
            may_remove: own.may_remove,
            devices: own.devices,
        }),
    }
}

pub(crate) fn change(change: web_proto::ChangeProfile<'_>) -> chat::ProfileChange {
    let until = change.status_until.map(Timestamp);
    let status = |text: Cow<'_, str>| Some(chat::Status { text: text.into(), until });
    chat::ProfileChange {
        status: change.status.map(status),
        name: change.name.map(|name| chat::NameChange::Own(name.into())),
        write: change.may_write.map(wanted),
        presence: change.see_presence.map(wanted),
        last_seen: change.see_last_seen.map(wanted),
    }
}

pub(crate) fn device(device: &chat::KnownDevice) -> web_proto::Device<'_> {
    let row = &device.row;
    web_proto::Device {
        device: format!("{:x}", row.id).into(),
        browser: Some(row.agent.browser.name()).filter(|name| !name.is_empty()).map(Cow::Borrowed),
        system: Some(row.agent.system.name()).filter(|name| !name.is_empty()).map(Cow::Borrowed),
        created: row.created.0,
        used: row.used.0,
        here: device.here,
        this: device.this,
    }
}

pub(crate) fn parse_device(text: &str) -> Option<u64> {
    parse_hex(text, 16)
}

fn told(audience: chat::Audience) -> web_proto::Audience {
    match audience {
        chat::Audience::Everybody => web_proto::Audience::Everybody,
        chat::Audience::Contacts => web_proto::Audience::Contacts,
        chat::Audience::Nobody => web_proto::Audience::Nobody,
    }
}

fn wanted(audience: web_proto::Audience) -> chat::Audience {
    match audience {
        web_proto::Audience::Everybody => chat::Audience::Everybody,
        web_proto::Audience::Contacts => chat::Audience::Contacts,
        web_proto::Audience::Nobody => chat::Audience::Nobody,
    }
}
