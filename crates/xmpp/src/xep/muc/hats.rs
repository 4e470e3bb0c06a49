//! Hats (XEP-0317): what the site knows of an occupant and the roles of the room do not say. Profiles in the widget show the same.

use chat::SiteRole;
use chat::rooms::Occupant;
use xmpp_proto::payload::hats::{self, Hat};

use crate::extensions::{Extension, Spec};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(317),
    name: "Hats",
    version: "0.2.0",
    scenario: "muc_hats",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

const ADMIN: Hat<'_> = Hat { uri: "https://kith.chat/hats#admin", title: "Site admin" };
const MODERATOR: Hat<'_> = Hat { uri: "https://kith.chat/hats#moderator", title: "Site moderator" };
const GUEST: Hat<'_> = Hat { uri: "https://kith.chat/hats#guest", title: "Guest" };

pub(super) fn write(out: &mut Vec<u8>, occupant: &Occupant) {
    let of_role = match occupant.site_role {
        SiteRole::Admin => Some(ADMIN),
        SiteRole::Moderator => Some(MODERATOR),
        SiteRole::Member => None,
    };
    let hats: Vec<Hat<'_>> = of_role.into_iter().chain(occupant.is_guest.then_some(GUEST)).collect();
    hats::write(out, &hats);
}
