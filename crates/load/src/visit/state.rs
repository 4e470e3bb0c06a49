//! State that all workers of a visit run share.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use edge::Connect;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;

use super::VisitPlan;
use super::site::Site;
use crate::RunOptions;
use crate::latency_stamp::Stamps;
use crate::run_state::Counts;
use crate::token::SiteTokens;
use crate::traffic::Traffic;

/// Visitors that share a source address: it has enough ports for all their connections and those just closed.
const VISITORS_PER_SOURCE: u32 = 3_000;

pub(super) struct State {
    pub(super) plan: VisitPlan,
    pub(super) options: RunOptions,
    pub(super) tokens: SiteTokens,
    pub(super) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    pub(super) site: OnceLock<Site>,
    pub(super) stamps: Stamps,
    pub(super) traffic: Arc<Traffic>,
    /// A visitor who arrives has begun; one who leaves has closed.
    pub(super) counts: Arc<Counts>,
    /// Requests whose visitor left before the answer.
    pub(super) given_up: AtomicU64,
}

impl State {
    pub(super) fn connect(&self, visitor: u32) -> Connect {
        let here = self.options.target.addr.ip() == Ipv4Addr::LOCALHOST;
        let source = Ipv4Addr::from_bits(0x7f00_0002 + visitor / VISITORS_PER_SOURCE);
        Connect {
            to: self.options.target.addr,
            from: here.then_some(IpAddr::V4(source)),
            tls: self.tls.clone(),
        }
    }

    pub(super) fn site(&self) -> &Site {
        self.site.get().expect("nobody comes before the site is known")
    }
}
