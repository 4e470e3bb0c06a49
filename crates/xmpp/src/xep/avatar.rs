//! Avatars: items of two PEP nodes (XEP-0084), the photo of the vCard (XEP-0054), and the hash in presences (XEP-0153), which are one
//! picture (XEP-0398). The items are the data; the other two forms are derived from them.

use chat::account::{self, Event as AccountEvent};
use chat::items::{
    self, ITEM_BYTES, Item, ItemAccess, ItemChange, ItemListChange, ItemNews, ItemsOf, PutItem,
};
use chat::presence::Availability;
use chat::{Event, PictureSource, PublishedPicture, Sub};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use xmpp_proto::ns;
use xmpp_proto::payload::avatar::{self as payload, Info};
use xmpp_proto::payload::vcard::{self, Photo};
use xmpp_proto::xml::{Limits, Tree, document, restore, to_stored};

use crate::extensions::{Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Asked, Flags, Turn};
use crate::xep::pep::stored::{items_of, latest_item};
use crate::xep::vcard::photo_of;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(84),
    name: "User Avatar",
    version: "1.1.4",
    scenario: "avatar",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

pub(crate) const IN_PRESENCE: Extension = Extension {
    spec: Spec::Xep(153),
    name: "vCard-Based Avatars",
    version: "1.1.1",
    scenario: "avatar",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

pub(crate) const CONVERSION: Extension = Extension {
    spec: Spec::Xep(398),
    name: "User Avatar to vCard-Based Avatars Conversion",
    version: "1.0.1",
    scenario: "avatar",
    server_features: &[],
    account_features: &[ns::AVATAR_CONVERSION],
    iq: &[],
};

/// The longest picture: with base64 and its element it fits into an item.
pub(crate) const MOST_BYTES: usize = (ITEM_BYTES - 128) / 4 * 3;

/// The payload of an item. None: nothing can read it.
fn tree(item: &Item) -> Option<Tree> {
    let mut xml = Vec::new();
    restore(item.payload.as_deref()?, &mut xml);
    document(&xml, &Limits::default()).ok()
}

/// The hash of a picture: 40 hexadecimal digits.
fn hash_of(id: &str) -> Option<String> {
    let is_hash = id.len() == 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| id.to_ascii_lowercase())
}

/// The id and media type of the picture that the metadata names. None: the user has none.
fn named(item: &Item) -> Option<(String, String)> {
    let tree = tree(item)?;
    let infos = payload::infos(tree.root())?;
    infos.iter().find_map(|info| Some((hash_of(info.id)?, info.kind.to_owned())))
}

/// Reads the picture of a user, if the asker may.
pub(crate) fn of_user(
    turn: &mut Turn<'_, '_>,
    asked: Asked,
    user: Option<Sub>,
    then: impl FnOnce(&mut Turn<'_, '_>, Asked, Option<Photo<'static>>) + Send + 'static,
) {
    latest_item(turn, asked, user.clone(), ns::AVATAR_METADATA, move |turn, asked, metadata| {
        let Some((id, kind)) = metadata.and_then(named) else { return then(turn, asked, None) };
        let of = ItemsOf::Ids(vec![id.into()]);
        let command = items::Command::Read { user, list: ns::AVATAR_DATA.into(), of };
        turn.continue_then(asked, command, move |turn, asked, answer| {
            let item = answer.ok().and_then(items_of).and_then(|page| page.items.first());
            let tree = item.and_then(tree);
            then(turn, asked, tree.and_then(|tree| photo_of(tree.root(), Some(&kind))));
        });
    });
}

fn put(list: &str, id: &str, write: impl FnOnce(&mut Vec<u8>)) -> items::Command {
    let (list, id, payload) = (list.into(), id.into(), to_stored(write, ns::PUBSUB).into());
    let (requires, default) = (ItemListChange::default(), ACCESS);
    items::Command::Put(PutItem { list, id, payload, requires, default })
}

/// Publishes the photo of a vCard. None: the user has no picture any more.
pub(crate) fn set(
    turn: &mut Turn<'_, '_>,
    asked: Asked,
    photo: Option<Photo<'static>>,
    then: impl FnOnce(&mut Turn<'_, '_>, Asked) + Send + 'static,
) {
    let Some(photo) = photo else {
        return latest_item(
            turn,
            asked,
            None,
            ns::AVATAR_METADATA,
            move |turn, asked, metadata| match metadata.and_then(named) {
                Some(_) => set_metadata(turn, asked, "none", &[], then),
                None => then(turn, asked),
            },
        );
    };
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, &photo.data);
    let id: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let bytes = u32::try_from(photo.data.len()).unwrap_or(u32::MAX);
    let kind = photo.kind.map_or_else(|| "image/png".to_owned(), |kind| kind.into_owned());
    let command = put(ns::AVATAR_DATA, &id, |out| payload::write_data(out, &photo.data));
    turn.continue_then(asked, command, move |turn, asked, answer| match answer {
        Ok(_) => {
            let info = Info { id: &id, bytes, kind: &kind, width: None, height: None };
            set_metadata(turn, asked, &id, &[info], then);
        }
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
}

fn set_metadata(
    turn: &mut Turn<'_, '_>,
    asked: Asked,
    id: &str,
    infos: &[Info<'_>],
    then: impl FnOnce(&mut Turn<'_, '_>, Asked) + Send + 'static,
) {
    let command = put(ns::AVATAR_METADATA, id, |out| payload::write_infos(out, infos));
    turn.continue_then(asked, command, move |turn, asked, answer| match answer {
        Ok(_) => follow(turn, asked, then),
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
}

/// Readers of the nodes of an avatar, if the client names none. The widget shows the avatar to everybody, as the site shows its own picture of
/// the user. A client that limits the readers keeps the avatar out of the widget.
const ACCESS: ItemAccess = ItemAccess::Everybody;

/// The readers of a node that is made by a publication.
pub(crate) fn default_access(node: &str) -> ItemAccess {
    if [ns::AVATAR_DATA, ns::AVATAR_METADATA].contains(&node) { ACCESS } else { ItemAccess::Contacts }
}

/// A node of the user has changed. The answer of the client comes after the work, so that a client may leave with it.
pub(crate) fn follow_node(
    turn: &mut Turn<'_, '_>,
    asked: Asked,
    node: &str,
    then: impl FnOnce(&mut Turn<'_, '_>, Asked) + Send + 'static,
) {
    if node == ns::AVATAR_METADATA { follow(turn, asked, then) } else { then(turn, asked) }
}

/// Makes the published avatar the user's own picture in the widget, or ends it there.
fn follow(
    turn: &mut Turn<'_, '_>,
    asked: Asked,
    then: impl FnOnce(&mut Turn<'_, '_>, Asked) + Send + 'static,
) {
    latest_item(turn, asked, None, ns::AVATAR_METADATA, |turn, asked, metadata| {
        let id = metadata.and_then(named).map(|(id, _)| id);
        follow_item(turn, asked, metadata.map_or(0, |item| item.version), id, then);
    });
}

/// `version`: of the newest metadata, 0 without any. `id`: of the picture that they name.
fn follow_item(
    turn: &mut Turn<'_, '_>,
    asked: Asked,
    version: u64,
    id: Option<String>,
    then: impl FnOnce(&mut Turn<'_, '_>, Asked) + Send + 'static,
) {
    let version = if id.is_some() { version } else { 0 };
    let source = PictureSource { list: ns::AVATAR_METADATA.into(), version };
    let command = account::Command::FollowPicture { source: source.clone() };
    turn.continue_then(asked, command, move |turn, asked, answer| {
        let is_wanted = answer.is_ok_and(|delivery| {
            matches!(delivery.event, Event::Account(AccountEvent::Picture { wanted: true }))
        });
        let Some(id) = id.filter(|_| is_wanted) else { return then(turn, asked) };
        let of = ItemsOf::Ids(vec![id.into()]);
        let command = items::Command::Read { user: None, list: ns::AVATAR_DATA.into(), of };
        turn.continue_then(asked, command, move |turn, asked, answer| {
            let item = answer.ok().and_then(items_of).and_then(|page| page.items.first());
            let photo = item.and_then(tree).and_then(|tree| photo_of(tree.root(), None));
            let Some(photo) = photo else { return follow_item(turn, asked, 0, None, then) };
            let picture = PublishedPicture { source, bytes: photo.data.into() };
            let command = account::Command::MakePicture(Box::new(picture));
            turn.continue_then(asked, command, move |turn, asked, answer| match answer {
                Ok(_) => then(turn, asked),
                // The publication stays: apps show the avatar. The widget shows no older one.
                Err(_) => follow_item(turn, asked, 0, None, then),
            });
        });
    });
}

/// The element of XEP-0153 in the form for storage, which ends the extension of an availability.
fn stored_hash(hash: &str) -> String {
    to_stored(|out| vcard::write_photo_hash(out, hash), ns::CLIENT)
}

/// The client's part of an extension, and the element with the hash. Each such element has the same start.
fn split(extension: &str) -> (&str, &str) {
    let empty = stored_hash("");
    let start = empty.find('>').map_or("", |end| &empty[..end]);
    extension.split_at(extension.rfind(start).unwrap_or(extension.len()))
}

/// With this hash instead of another one. None: without one.
fn with_hash(availability: &Availability, hash: Option<&str>) -> Availability {
    let (own, _) = split(&availability.extension);
    let extension = format!("{own}{}", hash.map(stored_hash).unwrap_or_default());
    Availability { extension: extension.into(), ..availability.clone() }
}

impl Turn<'_, '_> {
    /// Adds the hash of the user's picture to the first presence of a session.
    pub(crate) fn look_up_avatar(&mut self) {
        if !self.session.has(Flags::HAS_ITEMS) {
            return;
        }
        latest_item(self, Asked::internal(), None, ns::AVATAR_METADATA, |turn, asked, metadata| {
            if let (Some(version), Some((hash, _))) =
                (metadata.map(|item| item.version), metadata.and_then(named))
            {
                turn.announce_avatar(Some(&hash));
                // The widget has no picture yet if the site did not show any, or the picture was not made.
                follow_item(turn, asked, version, Some(hash), |_, _| ());
            }
        });
    }

    /// The user has another picture.
    pub(crate) fn own_avatar_changed(&mut self, news: &ItemNews) {
        match &news.change {
            ItemChange::Put(item) => self.announce_avatar(named(item).map(|(hash, _)| hash).as_deref()),
            ItemChange::Deleted { .. } | ItemChange::Emptied | ItemChange::ListDeleted => {
                self.announce_avatar(None)
            }
        }
    }

    fn announce_avatar(&mut self, hash: Option<&str>) {
        let Some(before) = self.session.availability() else { return };
        let new = with_hash(&before, hash);
        if new.extension != before.extension && new.check().is_ok() {
            self.announce(new);
        }
    }

    /// The availability of a new presence keeps the hash: a client does not know it (XEP-0398 §3).
    pub(crate) fn keep_avatar(&self, new: Availability) -> Availability {
        match self.session.availability() {
            Some(before) => {
                let (_, hash) = split(&before.extension);
                Availability { extension: format!("{}{hash}", new.extension).into(), ..new }
            }
            None => new,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_replaced_and_removed() {
        let before = Availability { extension: "<c/>".into(), ..Availability::default() };
        let one = with_hash(&before, Some("01"));
        let mut restored = Vec::new();
        restore(&one.extension, &mut restored);
        let expected = "<c/><x xmlns='vcard-temp:x:update'><photo>01</photo></x>";
        assert_eq!(String::from_utf8(restored).unwrap(), expected);
        let two = with_hash(&one, Some("02"));
        assert!(two.extension.contains("02") && !two.extension.contains("01"));
        assert_eq!(with_hash(&two, None), before);
    }

    #[test]
    fn only_a_hash_is_announced() {
        assert_eq!(
            hash_of("111F4B3C50D7B0DF729D299BC6F8E9EF9066971F").as_deref(),
            Some("111f4b3c50d7b0df729d299bc6f8e9ef9066971f")
        );
        for wrong in ["", "current", "zzzz4b3c50d7b0df729d299bc6f8e9ef9066971f", "<photo/>"] {
            assert_eq!(hash_of(wrong), None);
        }
    }
}
