//! A user's own account, and users who changed theirs.

use std::borrow::Cow;

use chat::account::{Command, Event as Of};
use chat::{Delivery, ExportedItem, MessagesAfterErasure, Timestamp};
use web_proto::{Code, Command as Wire, Event};

use super::contacts::person;
use super::messages::all;
use super::names::parse_hex;
use super::same::{ToChat, ToWire};
use super::{next, number, page, position, sub};
use crate::files::Links;

pub(super) fn event<'a>(delivery: &'a Delivery, event: &'a Of, links: &Links) -> Event<'a> {
    match event {
        Of::Renamed(now) => Event::Renamed { renamed: renamed(now), position: position(delivery) },
        Of::Profile(card) => Event::Profile { re: number(delivery), profile: Box::new(profile(card)) },
        Of::Devices(devices) => {
            Event::Devices { re: number(delivery), devices: devices.iter().map(device).collect() }
        }
        Of::AppPasswords { address, passwords } => Event::AppPasswords {
            re: number(delivery),
            address: address.as_deref().map(Cow::Borrowed),
            passwords: passwords.iter().map(|one| app_password(&one.row, one.here)).collect(),
        },
        Of::AppPassword(shown) => Event::AppPassword {
            re: number(delivery),
            created: app_password(&shown.row, false),
            password: shown.password.as_str().into(),
        },
        Of::Exported(page) => Event::Exported {
            re: number(delivery),
            messages: all(&page.messages, links),
            items: page.items.iter().map(exported_item).collect(),
            next: next(&page.next),
        },
        Of::Items(_) | Of::Picture { .. } => {
            unreachable!("no command of the web asks for items, and its sessions have no resource")
        }
        Of::Card(card) => Event::Person { person: person(card) },
    }
}

fn exported_item(one: &ExportedItem) -> web_proto::ExportedItem<'_> {
    web_proto::ExportedItem {
        list: one.list.as_ref().into(),
        item: one.item.id.as_ref().into(),
        value: one.value().into(),
    }
}

pub(super) fn renamed(renamed: &chat::Renamed) -> web_proto::Renamed<'_> {
    let chat::Profile { sub, name, avatar, guest } = &renamed.now;
    web_proto::Renamed {
        was: renamed.former.as_str().into(),
        person: web_proto::Person {
            user: sub.as_str().into(),
            name: Cow::Borrowed(name),
            avatar: avatar.as_deref().map(Cow::Borrowed),
            // Guests and erased users have none.
            picture: None,
            guest: *guest,
            presence: None,
        },
        erased: renamed.erased,
    }
}

fn profile(card: &chat::ProfileCard) -> web_proto::Profile<'_> {
    let status = card.status.as_ref();
    web_proto::Profile {
        person: person(&card.person),
        status: status.map(|status| Cow::Borrowed(&*status.text)),
        status_until: status.and_then(|status| status.until).map(|until| until.0),
        last_seen: card.last_seen.map(|time| time.0),
        role: (card.role != chat::SiteRole::Member).then(|| card.role.to_wire()),
        state: card.contact.to_wire(),
        own: card.own.map(|own| web_proto::OwnProfile {
            may_write: own.privacy.write.to_wire(),
            see_presence: own.privacy.presence.to_wire(),
            see_last_seen: own.privacy.last_seen.to_wire(),
            may_rename: own.may_rename,
            may_remove: own.may_remove,
            devices: own.devices,
            apps: own.apps,
        }),
    }
}

pub(super) fn command(command: Wire<'_>) -> Result<Command, Code> {
    Ok(match command {
        Wire::Profile { user, .. } => Command::Profile { user: user.map(|user| sub(&user)).transpose()? },
        Wire::ChangeProfile(change) => Command::ChangeProfile { change: Box::new(self::change(*change)) },
        Wire::Devices { .. } => Command::ListDevices,
        Wire::SignOut { device, .. } => {
            Command::SignOutDevice { device: parse_hex(&device, 16).ok_or(Code::NoSuchDevice)? }
        }
        Wire::AppPasswords { .. } => Command::ListAppPasswords,
        Wire::CreateAppPassword { name, .. } => Command::CreateAppPassword { name: name.into() },
        Wire::RevokeAppPassword { number, .. } => Command::RevokeAppPassword { number },
        Wire::Export { after, limit, .. } => Command::Export { page: page(after, limit) },
        Wire::RemoveAccount { messages: true, .. } => {
            Command::Erase { messages: MessagesAfterErasure::Erased }
        }
        Wire::RemoveAccount { messages: false, .. } => {
            Command::Erase { messages: MessagesAfterErasure::Kept }
        }
        not_of!(account) => unreachable!("another part decodes it"),
    })
}

fn change(change: web_proto::ChangeProfile<'_>) -> chat::ProfileChange {
    let until = change.status_until.map(Timestamp);
    let status = |text: Cow<'_, str>| Some(chat::Status { text: text.into(), until });
    chat::ProfileChange {
        status: change.status.map(status),
        name: change.name.map(|name| chat::NameChange::Own(name.into())),
        write: change.may_write.map(ToChat::to_chat),
        presence: change.see_presence.map(ToChat::to_chat),
        last_seen: change.see_last_seen.map(ToChat::to_chat),
    }
}

fn device(device: &chat::KnownDevice) -> web_proto::Device<'_> {
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

fn app_password(row: &chat::AppPasswordRow, here: bool) -> web_proto::AppPassword<'_> {
    web_proto::AppPassword {
        here,
        number: row.number,
        name: Cow::Borrowed(&row.name),
        created: row.created.0,
        used: row.used.map(|at| at.0),
    }
}
