//! The credential with which a session has signed in.

/// A token, which expires, or an app password, which is valid until it is revoked. Five bytes: a [`Session`](super::Session)
/// has no room for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SignedInBy {
    /// The second at which the token expires, or the number of the app password.
    number: [u8; 4],
    slot: u8,
}

impl SignedInBy {
    /// Marks an app password. No key has this slot.
    pub(crate) const NO_SLOT: u8 = u8::MAX;

    /// `slot`: of the key that signed the token, in `LiveSite::slots`; 0: none.
    pub(crate) fn token(ends: u32, slot: u8) -> SignedInBy {
        SignedInBy { number: ends.to_ne_bytes(), slot }
    }

    pub(crate) fn app_password(number: u32) -> SignedInBy {
        SignedInBy { number: number.to_ne_bytes(), slot: SignedInBy::NO_SLOT }
    }

    /// The number of the app password; None for a token.
    pub(crate) fn password(self) -> Option<u32> {
        (self.slot == SignedInBy::NO_SLOT).then(|| u32::from_ne_bytes(self.number))
    }

    /// The second at which the session ends by itself.
    pub(crate) fn ends(self) -> u32 {
        match self.password() {
            Some(_) => u32::MAX,
            None => u32::from_ne_bytes(self.number),
        }
    }

    /// The slot of the key that signed the token; 0: none.
    pub(crate) fn slot(self) -> u8 {
        if self.password().is_some() { 0 } else { self.slot }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_an_end_and_an_app_password_has_a_number() {
        let token = SignedInBy::token(7, 3);
        assert_eq!((token.ends(), token.slot(), token.password()), (7, 3, None));
        let password = SignedInBy::app_password(7);
        assert_eq!((password.ends(), password.slot(), password.password()), (u32::MAX, 0, Some(7)));
        assert_eq!((size_of::<SignedInBy>(), align_of::<SignedInBy>()), (5, 1));
    }
}
