//! A gateway to start: its settings, its mailboxes, and the constructor of its protocol's values.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ServerConfig;

use crate::address_limit::AddressCounts;
use crate::config::{EdgeConfig, Listener};
use crate::counters::Counters;
use crate::hosted::{Hosted, HostedGateway, Setup};
use crate::listen::Reservation;
use crate::mailbox::Inbox;
use crate::worker::MakeHosted;
use crate::{Protocol, listen, tls};

/// A gateway to start with others on the same workers: see [`Edge::start_all`](crate::Edge::start_all).
pub struct Gateway {
    pub(crate) config: EdgeConfig,
    pub(crate) workers: usize,
    host: Box<dyn FnOnce(Arc<Setup>) -> Vec<MakeHosted>>,
}

impl Gateway {
    /// With one inbox for each worker. `make` is called on each worker's thread with the worker's number.
    ///
    /// The settings apply to this gateway alone: its listeners, limits and buffers. Only `private_descriptor_tables` applies to the
    /// threads, and must be equal for all gateways.
    pub fn new<P>(
        config: EdgeConfig,
        mut inboxes: Vec<Inbox<P::Mail>>,
        make: impl Fn(usize) -> P + Send + Sync + 'static,
    ) -> Gateway
    where
        P: Protocol + 'static,
    {
        inboxes.sort_unstable_by_key(Inbox::worker);
        let make = Arc::new(make);
        let workers = inboxes.len();
        let host = move |setup: Arc<Setup>| {
            let one = |inbox: Inbox<P::Mail>| -> MakeHosted {
                let (setup, make) = (Arc::clone(&setup), Arc::clone(&make));
                Box::new(move |place| {
                    let protocol = make(place.worker);
                    let hosted = HostedGateway::new(place, &setup, inbox, protocol)?;
                    Ok(Box::new(hosted) as Box<dyn Hosted>)
                })
            };
            inboxes.into_iter().map(one).collect()
        };
        Gateway { config, workers, host: Box::new(host) }
    }

    /// Binds the addresses. Returns the owner's part, and the part for each worker.
    pub(crate) fn prepare(self, reservations: &[Reservation]) -> (RunningGateway, Vec<MakeHosted>) {
        let Gateway { config, workers, host } = self;
        let running = RunningGateway {
            local_addrs: reservations.iter().map(Reservation::addr).collect(),
            tls: config.listeners.iter().map(|listener| listener.tls.clone()).collect(),
            counters: Arc::new(Counters::new(workers)),
        };
        let setup = Setup {
            workers,
            addrs: running.local_addrs.clone(),
            counters: Arc::clone(&running.counters),
            addresses: Arc::new(AddressCounts::new(config.per_address.clone())),
            config,
        };
        (running, host(Arc::new(setup)))
    }

    pub(crate) fn reserve(&self) -> io::Result<Vec<Reservation>> {
        let reserve = |listener: &Listener| match &listener.reserved {
            Some(reservation) => Ok(reservation.clone()),
            None => listen::reserve(listener.addr),
        };
        self.config.listeners.iter().map(reserve).collect()
    }
}

/// A running gateway of an [`Edge`](crate::Edge).
pub struct RunningGateway {
    local_addrs: Vec<SocketAddr>,
    tls: Vec<Option<tls::Acceptor>>,
    counters: Arc<Counters>,
}

impl RunningGateway {
    /// Its addresses, in the order of its configuration, with real ports.
    pub fn local_addrs(&self) -> &[SocketAddr] {
        &self.local_addrs
    }

    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.counters)
    }

    /// New connections on a listener get this certificate. False if the listener has no TLS.
    pub fn reload_tls(&self, listener: usize, config: Arc<ServerConfig>) -> bool {
        let Some(Some(acceptor)) = self.tls.get(listener) else { return false };
        acceptor.replace(config);
        true
    }
}
