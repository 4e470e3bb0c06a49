//! The first command of a client, and the commands of its session.

#![deny(clippy::wildcard_enum_match_arm)]

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::{Policy, command_of};
use crate::session::publication::Publication;
use crate::session::{Announced, Context};
use crate::sign_in::SignIn;
use crate::{Agent, DeviceId, Door, Position, Sub};

/// The first command of a client.
#[derive(Clone, Serialize, Deserialize)]
pub struct Hello<'a> {
    #[serde(borrow)]
    pub site_key: Cow<'a, str>,
    #[serde(borrow)]
    pub credential: Credential<'a>,
    pub device: DeviceId,
    pub position: Option<Position>,
    /// The Origin header of the request, if it had one.
    pub origin: Option<Cow<'a, str>>,
    /// The client's address, for the limit of new guests and for the log of sign-ins. None: unknown, no
    /// limit.
    pub address: Option<IpAddr>,
    /// The client's description of itself, if the node [keeps devices](crate::Node::keeps_devices).
    pub agent: Agent,
    /// The address of this client, in protocols whose clients have one. None: the session appears together with the user's
    /// others.
    pub announced: Option<Announced>,
}

/// The proof of who signs in.
#[derive(Clone, Serialize, Deserialize)]
pub enum Credential<'a> {
    /// None: the client becomes a new guest.
    Guest,
    /// A token of the site, or one that this server gave to a guest.
    Token(#[serde(borrow)] Cow<'a, str>),
    /// The gateway has checked this app password of the user with [`AppCredentials`](crate::AppCredentials). The node checks that
    /// the password still exists.
    AppPassword { sub: Sub, number: u32 },
    /// A user of another XMPP server ([`Sub::remote`]): the gateway has checked that the server has the domain, or acts because a member
    /// addresses the user.
    Remote {
        sub: Sub,
        /// The store has the user. Otherwise the sign-in counts for the limit of new remote users.
        is_known: bool,
    },
}

impl<'a> Credential<'a> {
    /// A guest, if there is no token.
    pub fn of_token(token: Option<Cow<'a, str>>) -> Credential<'a> {
        token.map_or(Credential::Guest, Credential::Token)
    }

    pub(crate) fn door(&self) -> Door {
        match self {
            Credential::Guest | Credential::Token(_) => Door::Hello,
            Credential::AppPassword { .. } => Door::AppPassword,
            Credential::Remote { .. } => Door::Server,
        }
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub enum Command {
    /// Requests the changes since a position. None: a first page of everything.
    Resume { position: Option<Position> },
    /// Replaces the session's token by a newer one.
    RenewToken { token: String },
}

command_of! { SignIn, Command: Resume, RenewToken, }

impl Command {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Command::Resume { .. } | Command::RenewToken { .. } => Policy::PLAIN,
        }
    }

    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            Command::Resume { position: _ }
            // The site is responsible for the name and the picture in a token.
            | Command::RenewToken { token: _ } => Publication::default(),
        }
    }
}

impl SignIn {
    pub(crate) fn carry_out(self: &Arc<Self>, context: Context, command: Command) {
        let Context { asker, re, now, .. } = context;
        let re = re.unwrap_or_default();
        match command {
            Command::Resume { position } => self.resume(asker, re, position),
            Command::RenewToken { token } => self.renew_token(asker, re, &token, now),
        }
    }
}
