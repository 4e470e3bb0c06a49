//! Why the domain says no. Every gateway translates it in one `match` without `_`.

/// A refusal; nothing has happened where one is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    #[error("no site of this key")]
    NoSuchSite,
    #[error("this Origin is not on the site's list")]
    BadOrigin,
    #[error("the token is malformed, forged or of another site")]
    BadToken,
    #[error("the token has expired or is not valid yet")]
    TokenExpired,
    #[error("this one-time token was used before")]
    TokenUsed,
    #[error("a token is needed: the site allows no guests")]
    NoGuests,
    #[error("the user is banned")]
    Banned,
    #[error("the device has opened a newer session")]
    Replaced,
    #[error("too fast; try again after {retry_after_ms} ms")]
    RateLimited { retry_after_ms: u32 },
    #[error("the site or the node has as many sessions as it may")]
    Full,
    #[error("nothing can be stored now")]
    Unavailable,
    #[error("no such user")]
    NoSuchUser,
    #[error("no such conversation")]
    NoSuchConversation,
    #[error("one may not write to this user")]
    NotAllowed,
    #[error("the body is empty or too long")]
    BadBody,
    #[error("a field is outside its documented range")]
    BadValue,
    #[error("the contact list is full")]
    TooManyContacts,
    #[error("the session is over")]
    NoSession,
    #[error("the node is about to stop; come back after {retry_after_ms} ms")]
    GoingAway { retry_after_ms: u32 },
}
