//! Checks the tokens that clients show.

use crate::site::live::LiveSite;
use crate::site::store::SiteStore;
use crate::site::token::Ticket;
use crate::{Done, NodeConfig, Refusal, SiteId, Timestamp, token};
use std::sync::Arc;

/// Checks tokens, and stores used one-time tokens.
pub(crate) struct Tokens {
    store: Arc<dyn SiteStore>,
    config: Arc<NodeConfig>,
}

impl Tokens {
    pub(crate) fn new(store: Arc<dyn SiteStore>, config: Arc<NodeConfig>) -> Tokens {
        Tokens { store, config }
    }

    pub(crate) fn check_token(
        &self,
        site: &LiveSite,
        token: &str,
        now: Timestamp,
    ) -> Result<Ticket, Refusal> {
        let ticket = token::verify(token, &site.site.key, &site.verifiers, now, self.config.clock_skew_ms)?;
        if ticket.profile.guest && !site.site.guests {
            return Err(Refusal::NoGuests);
        }
        Ok(ticket)
    }

    pub(crate) fn use_token(
        &self,
        site: SiteId,
        jti: &str,
        expires: Timestamp,
        now: Timestamp,
        then: impl FnOnce(Result<(), Refusal>) + Send + 'static,
    ) {
        // The token could be shown again until then.
        let until = Timestamp(expires.0 + self.config.clock_skew_ms);
        let done: Done<bool> = Box::new(move |outcome| {
            then(match outcome {
                Ok(true) => Ok(()),
                Ok(false) => Err(Refusal::TokenUsed),
                Err(_) => Err(Refusal::Unavailable),
            });
        });
        self.store.use_token(site, jti, until, now, done);
    }
}
