//! The credential of a client that signs in, after its check.

use crate::session::SignedInBy;
use crate::site::live::LiveSite;
use crate::site::token::Ticket;
use crate::{Door, MailAddress, Profile, Refusal, Sub, Timestamp, UserRow};

/// A token, an app password that a gateway has checked, or a user whose server has proved its domain.
pub(super) enum Pass {
    Token(Box<Ticket>),
    AppPassword { sub: Sub, number: u32 },
    Remote(Profile),
}

impl Pass {
    pub(super) fn door(&self) -> Door {
        match self {
            Pass::Token(_) => Door::Hello,
            Pass::AppPassword { .. } => Door::AppPassword,
            Pass::Remote(_) => Door::Server,
        }
    }

    pub(super) fn sub(&self) -> &Sub {
        match self {
            Pass::Token(ticket) => &ticket.profile.sub,
            Pass::AppPassword { sub, .. } => sub,
            Pass::Remote(profile) => &profile.sub,
        }
    }

    pub(super) fn token(&self) -> Option<&Ticket> {
        match self {
            Pass::Token(ticket) => Some(ticket),
            Pass::AppPassword { .. } | Pass::Remote(_) => None,
        }
    }

    pub(super) fn app_password(&self) -> Option<u32> {
        match self {
            Pass::Token(_) | Pass::Remote(_) => None,
            Pass::AppPassword { number, .. } => Some(*number),
        }
    }

    /// Whether it opens the account of this user.
    pub(super) fn opens(&self, row: &UserRow) -> Result<(), Refusal> {
        self.token().map_or(Ok(()), |ticket| ticket.opens(row))
    }

    /// The time until which the client is signed in without another credential.
    pub(super) fn expires(&self) -> Timestamp {
        self.token().map_or(Timestamp::MAX, |ticket| ticket.expires)
    }

    /// The id of the key that signed the token; empty: none.
    pub(super) fn kid(&self) -> &str {
        self.token().map_or("", |ticket| &*ticket.kid)
    }

    pub(super) fn mail(&self) -> Option<&MailAddress> {
        self.token().and_then(|ticket| ticket.mail.as_ref())
    }

    /// The entry of the session. `token_ends`: the second at which a session of this token ends.
    pub(super) fn signed_in_by(
        &self,
        site: &LiveSite,
        token_ends: impl FnOnce(&Ticket) -> u32,
    ) -> SignedInBy {
        match self {
            Pass::Token(ticket) => SignedInBy::token(token_ends(ticket), site.slot_of(&ticket.kid)),
            Pass::AppPassword { number, .. } => SignedInBy::app_password(*number),
            Pass::Remote(_) => SignedInBy::token(u32::MAX, 0),
        }
    }
}
