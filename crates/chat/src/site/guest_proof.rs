//! The proof that a client is a certain guest of a site.

use crate::site::token::Verifier;
use crate::{Refusal, Site, SiteId, Sub, Timestamp, token};

/// Proof that a client holds a guest's token: its holder may act for the guest. Nothing else creates this
/// value, so a public id is never enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestProof {
    site: SiteId,
    sub: Sub,
}

impl GuestProof {
    /// Checks a guest's token of this site. Only the server's own keys for guests count, not the site's
    /// secrets: the site's server can pass a proof on, but cannot make one. Every token of the guest counts
    /// until it expires.
    pub fn verify(
        token: &str,
        site: &Site,
        now: Timestamp,
        clock_skew_ms: u64,
    ) -> Result<GuestProof, Refusal> {
        let keys: Vec<Verifier> = site.guest_keys.iter().filter_map(Verifier::of_guests).collect();
        let ticket = token::verify(token, &site.key, &keys, now, clock_skew_ms)?;
        Ok(GuestProof { site: site.id, sub: ticket.profile.sub })
    }

    pub fn site(&self) -> SiteId {
        self.site
    }

    /// The guest's public id.
    pub fn sub(&self) -> &Sub {
        &self.sub
    }
}
