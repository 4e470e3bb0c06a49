//! The commands of users about their own account, and the command that reads a profile.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::account::app_passwords::AppPassword;
use crate::account::erasure::MessagesAfterErasure;
use crate::account::items;
use crate::account::pictures::{PictureSource, PublishedPicture};
use crate::account::profile::{NameChange, ProfileChange};
use crate::command::{Policy, command_of};
use crate::session::Context;
use crate::session::publication::Publication;
use crate::session::request_limits::RequestKind;
use crate::{PageOf, Sub};

#[derive(Clone, Serialize, Deserialize)]
pub enum Command {
    /// None: the user's own profile.
    Profile {
        user: Option<Sub>,
    },
    ChangeProfile {
        change: Box<ProfileChange>,
    },
    /// The user's signed-in devices.
    ListDevices,
    SignOutDevice {
        device: u64,
    },
    /// Makes an app password. The answer contains it, and no later one does.
    CreateAppPassword {
        name: Box<str>,
    },
    ListAppPasswords,
    /// Ends the sessions of the password, too.
    RevokeAppPassword {
        number: u32,
    },
    /// Replaces the app password with which this session has signed in. Ends the other sessions of the old one, and its tokens.
    ChangeAppPassword {
        password: AppPassword,
    },
    /// A page of the user's direct conversations and own messages in rooms.
    Export {
        page: PageOf,
    },
    /// Erases the user's account for good.
    Erase {
        messages: MessagesAfterErasure,
    },
    Items(Box<items::Command>),
    /// An item of the user names a picture, or none. Answers whether the picture is wanted.
    FollowPicture {
        source: PictureSource,
    },
    /// Makes the picture of an item the user's own.
    MakePicture(Box<PublishedPicture>),
}

command_of! {
    Account, Command:
    Profile, ChangeProfile, ListDevices, SignOutDevice, CreateAppPassword, ListAppPasswords,
    RevokeAppPassword, ChangeAppPassword, Export, Erase, Items, FollowPicture, MakePicture,
}

impl Command {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            // Deriving the keys of a password takes as long as a search.
            Command::Export { .. }
            | Command::CreateAppPassword { .. }
            | Command::ChangeAppPassword { .. } => Policy::SEARCH,
            Command::Profile { .. }
            | Command::ChangeProfile { .. }
            | Command::ListDevices
            | Command::SignOutDevice { .. }
            | Command::ListAppPasswords
            | Command::RevokeAppPassword { .. }
            | Command::Erase { .. }
            | Command::FollowPicture { .. } => Policy::PLAIN,
            // Muted users publish none.
            Command::MakePicture(_) => {
                Policy { counts_as: Some(RequestKind::Pictures), ..Policy::speaks(true) }
            }
            Command::Items(command) => command.policy(),
        }
    }

    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            Command::ChangeProfile { change } => {
                let ProfileChange { status, name, write: _, presence: _, last_seen: _ } = &**change;
                let status = status.iter().flatten().map(|status| &*status.text);
                let name = name.iter().filter_map(|name| match name {
                    NameChange::Own(name) => Some(&**name),
                    NameChange::OfSite => None,
                });
                Publication { texts: status.chain(name).collect(), ..Publication::default() }
            }
            Command::Profile { user: _ }
            | Command::ListDevices
            | Command::SignOutDevice { device: _ }
            // Others never see the name of a password.
            | Command::CreateAppPassword { name: _ }
            | Command::ListAppPasswords
            | Command::RevokeAppPassword { number: _ }
            | Command::ChangeAppPassword { password: _ }
            | Command::Export { page: _ }
            | Command::Erase { messages: _ }
            | Command::FollowPicture { source: _ }
            // The filters have read the item.
            | Command::MakePicture(_) => Publication::default(),
            Command::Items(command) => command.publication(),
        }
    }
}

impl Account {
    pub(crate) fn carry_out(self: &Arc<Self>, context: Context, command: Command) {
        let Context { asker, re, flagged, now, .. } = context;
        let re = re.unwrap_or_default();
        match command {
            Command::Profile { user } => self.profile(asker, re, user, now),
            Command::ChangeProfile { change } => {
                self.change_profile(asker, re, *change, flagged, now);
            }
            Command::ListDevices => self.devices(&asker, re),
            Command::SignOutDevice { device } => self.sign_out(asker, re, device, now),
            Command::CreateAppPassword { name } => self.create_app_password(&asker, re, &name, now),
            Command::ListAppPasswords => self.list_app_passwords(&asker, re),
            Command::RevokeAppPassword { number } => self.revoke_app_password(&asker, re, number, now),
            Command::ChangeAppPassword { password } => {
                self.change_app_password(&asker, re, password, now);
            }
            Command::Export { page } => self.export(&asker, re, page),
            Command::Erase { messages } => self.remove_account(&asker, re, messages, now),
            Command::Items(command) => self.carry_out_items(asker, re, *command),
            Command::FollowPicture { source } => self.follow_picture(&asker, re, source),
            Command::MakePicture(picture) => self.make_picture(&asker, re, *picture),
        }
    }
}
