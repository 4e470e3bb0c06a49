//! Starts and stops a node.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::thread;
use std::time::{Duration, SystemTime};

use chat::{Delivery, Node, NodeConfig, Outbox, SessionHandle, Settings, Store};
use edge::{AddressLimit, Edge, EdgeConfig, Handle, Listener};
use rand::RngCore;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR2};
use signal_hook::iterator::Signals;
use store::Sqlite;
use web::files::PictureQueue;
use web::{Gateway, SessionKeys, WebConfig, WebOutbox};

use crate::cluster::lease::{Ending, Keeper};
use crate::cluster::standby::Turn;
use crate::config::{ClusterRole, Config, Loaded};
use crate::data_lock::DataLock;
use crate::federation::Federation;
use crate::files::Sweeper;
use crate::housekeeping::Housekeeping;
use crate::metrics::{Metrics, Source};
use crate::need::{self, MOST_WORKERS, OTHER_DESCRIPTORS};
use crate::own_pictures;
use crate::pictures;
use crate::previews;
use crate::push::{Pusher, Rules};
use crate::run_file::RunFile;
use crate::sign_in_log::{SignIns, Target};
use crate::status::{self, MetricsAccess, Status};
use crate::take_over::{self, Joining, Offer, Part, Replaceable, service};
use crate::trouble::{Outcome, Trouble};
use crate::{
    backup, calls, cluster, data_dir, demo, figures, files, logging, mail, print_with, site, widget,
    widget_builds, xmpp,
};

/// The purpose of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Serve,
    /// With the demo community in its database and on its pages.
    Demo,
    /// The same, with members who write to strangers without requests.
    DemoOfStrangers,
    /// Like `Demo`, for one load run, until stdin closes; its data is removed at the end.
    Throwaway,
}

/// How a node begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Alone,
    /// With the connections of the running node of the data directory, which ends.
    TakeOver,
    /// For one slot of a node with several homes; it ends with the process of the node.
    OfNode,
}

/// Runs a node until a signal stops it.
pub(crate) fn run(loaded: &Loaded, purpose: Purpose, start: Start) -> Outcome<ExitCode> {
    let config = &loaded.config;
    logging::begin(&config.log)?;
    // Before anything else, so that a signal during the start is not lost.
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGUSR2])
        .map_err(|error| Trouble::new("cannot install signal handlers").because(error))?;
    if purpose == Purpose::Throwaway || start == Start::OfNode {
        end_with_stdin()?;
    }
    let cluster = match cluster::Place::of(config)? {
        Some(place) if place.role == ClusterRole::Front => {
            return cluster::front::run(loaded, &place, signals, start);
        }
        Some(place) if config.cluster.slots > 1 && start != Start::OfNode => {
            if start == Start::TakeOver {
                return Err(Trouble::new("cannot take over the running node").because(HAS_LEASE));
            }
            return cluster::supervisor::run(loaded, &place, purpose, signals);
        }
        place => place,
    };
    let turn = match (&cluster, &config.database) {
        (Some(_), Some(_)) if start == Start::TakeOver => {
            return Err(Trouble::new("cannot take over the running node").because(HAS_LEASE));
        }
        (Some(place), Some(url)) => match cluster::standby::wait(loaded, url, place, &mut signals)? {
            Some(turn) => Some(turn),
            None => return Ok(ExitCode::SUCCESS),
        },
        _ => None,
    };
    let keeper = turn.as_ref().map(|turn| Arc::clone(&turn.keeper));
    let started = Running::start(loaded, purpose, start, cluster, turn);
    if started.is_err() {
        // Another home need not wait for the end of the lease.
        keeper.iter().for_each(|keeper| keeper.release());
    }
    let running = started?;
    print_with(|out| running.greet(out, config, purpose))?;
    service::is_ready();
    let left = take_over::serve(&running, &config.data, &mut signals, || running.reload(config));
    if left.is_some() {
        running.leave(config);
    } else {
        end_at_the_next(signals);
        let ending = keeper.as_ref().and_then(|keeper| keeper.ending());
        match (ending, &keeper) {
            (Some(Ending::Lost(_)), _) => running.give_up(config),
            (_, keeper) => running.stop(config, keeper.as_deref()),
        }
        if ending.is_some() {
            return Ok(ExitCode::from(NO_LONGER_HOME));
        }
    }
    if purpose == Purpose::Throwaway {
        // The parent process may remove it at the same time, or have ended.
        let _ = std::fs::remove_dir_all(&config.data);
    }
    Ok(ExitCode::SUCCESS)
}

/// The exit code of a home that has lost its role or given it away: its unit starts it again, and it stands by. EX_TEMPFAIL of
/// sysexits(3).
const NO_LONGER_HOME: u8 = 75;

/// Stdin is a pipe from the parent process: it closes when that ends, killed or not.
fn end_with_stdin() -> Outcome {
    let watch = || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM);
    };
    let begun = thread::Builder::new().name("stdin".into()).spawn(watch);
    begun.map(drop).map_err(|error| Trouble::new("cannot start the node's threads").because(error))
}

/// A second signal stops at once. Acknowledged messages are on disk, so none is lost.
pub(crate) fn end_at_the_next(mut signals: Signals) {
    thread::spawn(move || {
        if let Some(signal) = signals.forever().find(|signal| ![SIGHUP, SIGUSR2].contains(signal)) {
            tracing::warn!("a second signal: stopping at once");
            // The exit code that a shell reports for a process ended by a signal.
            std::process::exit(128 + signal);
        }
    });
}

/// A running node.
pub(crate) struct Running {
    edge: Edge,
    role: Option<calls::Role>,
    node: Arc<Node>,
    cluster: Option<cluster::Running>,
    store: Arc<Sqlite>,
    addresses: Addresses,
    /// Of the XMPP gateway.
    xmpp_tls: Vec<edge::tls::Acceptor>,
    xmpp_addresses: Vec<SocketAddr>,
    streams: Arc<::xmpp::Streams>,
    federation: Option<Federation>,
    status: Status,
    house: Housekeeping,
    sweeper: Sweeper,
    sign_ins: Option<Arc<SignIns>>,
    runtime: tokio::runtime::Runtime,
    _run_file: Option<RunFile>,
    session_keys: [u8; 32],
    /// Dropped last, so that the next holder finds none of our files open. None while another process takes over.
    lock: Mutex<Option<DataLock>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Addresses {
    pub(crate) http: SocketAddr,
    pub(crate) https: Option<SocketAddr>,
    pub(crate) xmpp: Option<SocketAddr>,
}

/// The gateways of a worker, in the order of [`Edge::start_all`].
pub(crate) const WEB: usize = 0;
pub(crate) const XMPP: usize = 1;

/// Delivers to the gateway that holds the session.
pub(crate) struct Outboxes {
    pub(crate) web: WebOutbox,
    pub(crate) xmpp: ::xmpp::XmppOutbox,
}

impl Outboxes {
    fn split(to: &[SessionHandle]) -> (Vec<SessionHandle>, Vec<SessionHandle>) {
        to.iter().partition(|to| !is_xmpp(**to))
    }
}

fn is_xmpp(session: SessionHandle) -> bool {
    Handle::from_bits(session.0).gateway() == XMPP
}

impl Outbox for Outboxes {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        // Most events are for sessions of one gateway.
        match to.iter().filter(|to| is_xmpp(**to)).count() {
            0 => self.web.deliver(to, delivery),
            count if count == to.len() => self.xmpp.deliver(to, delivery),
            _ => {
                let (web, xmpp) = Outboxes::split(to);
                self.web.deliver(&web, delivery.clone());
                self.xmpp.deliver(&xmpp, delivery);
            }
        }
    }

    fn deliver_each(&self, to: &[(SessionHandle, usize)], deliveries: Vec<Delivery>) {
        if !to.iter().any(|(to, _)| is_xmpp(*to)) {
            return self.web.deliver_each(to, deliveries);
        }
        let (xmpp, web): (Vec<_>, Vec<_>) = to.iter().partition(|(to, _)| is_xmpp(*to));
        if !web.is_empty() {
            self.web.deliver_each(&web, deliveries.clone());
        }
        self.xmpp.deliver_each(&xmpp, deliveries);
    }
}

/// Listeners are in this order.
const HTTP: usize = 0;
pub(crate) const HTTPS: usize = 1;

impl Replaceable for Running {
    fn edge(&self) -> &Edge {
        &self.edge
    }

    fn relays(&self) -> Option<&::calls::Calls> {
        self.role.as_ref().map(calls::Role::running)
    }

    fn lock(&self) -> &Mutex<Option<DataLock>> {
        &self.lock
    }

    fn refusal(&self) -> Option<&'static str> {
        self.cluster.as_ref().filter(|cluster| cluster.has_lease()).map(|_| HAS_LEASE)
    }

    fn offer(&self) -> Offer {
        let role = self.role.as_ref().map(|role| role.running());
        Offer {
            workers: self.edge.workers(),
            web: self.edge.local_addrs().to_vec(),
            xmpp: self.xmpp_addresses.clone(),
            datagrams: role.map(|role| role.udp_addrs().to_vec()).unwrap_or_default(),
            streams: role.map(|role| role.stream_addrs().to_vec()).unwrap_or_default(),
            relays: role.map_or(0, |_| ::calls::MOVES_FORMAT),
            passed_on: Vec::new(),
            front: None,
        }
    }

    fn hold(&self) -> Vec<MutexGuard<'_, ()>> {
        vec![self.house.hold(), self.sweeper.hold()]
    }

    fn flush(&self) {
        flush(&*self.store);
    }

    /// The sessions of fronts wait for the new process as for any next home.
    fn stand_still(&self) {
        if let Some(cluster) = &self.cluster {
            cluster.leave();
            flush(&*self.store);
            cluster.end_links();
        }
    }

    fn state(&self) -> take_over::State {
        take_over::State {
            sessions: self.node.write_down(),
            calls: self.node.write_down_calls(),
            streams: self.streams.write_down(),
            session_keys: self.session_keys,
            relay_secret: self.role.as_ref().map(|role| role.secret().to_vec()),
            front: None,
        }
    }

    fn pause(&self) {
        self.store.pause();
    }

    fn resume(&self) -> Result<(), String> {
        self.store.resume().map_err(|error| error.to_string())
    }

    fn go_on(&self) {
        self.cluster.iter().for_each(cluster::Running::stay);
    }
}

/// The role of such a home moves to another process by its lease.
const HAS_LEASE: &str = "it is a home on PostgreSQL, and a home that stands by takes its place: \
                         restart that one with the new version, then say kith cluster drain";

impl Running {
    fn start(
        loaded: &Loaded,
        purpose: Purpose,
        start: Start,
        cluster: Option<cluster::Place>,
        turn: Option<Turn>,
    ) -> Outcome<Running> {
        let config = &loaded.config;
        let (keeper, lock, http) = match turn {
            Some(Turn { keeper, lock, http }) => (Some(keeper), Some(lock), http.unwrap_or(config.http)),
            None => (None, None, config.http),
        };
        let mut joining =
            (start == Start::TakeOver).then(|| Joining::ask(&config.data, Part::Node)).transpose()?;
        let old = joining.as_ref().map(|joining| joining.offer.clone()).unwrap_or_default();
        let workers = workers(config)?.max(old.workers);
        let for_calls = descriptors_for_calls(config, workers);
        let max_connections = max_connections(config, workers, for_calls, 0)?;
        // In this order, so that a refused start changes nothing on disk.
        let lock = match &joining {
            None if lock.is_none() => Some(DataLock::acquire(&config.data, crate::now())?),
            _ => lock,
        };
        let listeners = listeners(config, http, &old.web)?;
        let mut for_xmpp = match purpose {
            Purpose::Demo => xmpp::listen_for_demo(config)?,
            Purpose::Serve | Purpose::DemoOfStrangers | Purpose::Throwaway => {
                xmpp::listen(config, &old.xmpp)?
            }
        };
        if let Some(place) = &cluster {
            for_xmpp.accept_from_fronts(&place.streams_secret());
        }
        let files = files::open(config, cluster.as_ref().map(cluster::Place::files_secret))?;
        // The old process stands still from here on.
        let state = match &mut joining {
            Some(joining) => {
                data_dir::check(loaded)?;
                joining.begin(calls::takes_relays(config, &old)?)?
            }
            None => take_over::State::default(),
        };
        let lock = match lock {
            Some(lock) => lock,
            None => DataLock::acquire(&config.data, crate::now())?,
        };
        let known = Arc::<OnceLock<Weak<Node>>>::default();
        let old_relays = joining.as_ref().and_then(Joining::relays);
        let shared_calls = joining.is_some().then_some(calls::Old {
            offer: &old,
            secret: state.relay_secret.as_deref(),
            relays: old_relays.as_ref(),
        });
        let shared_secret =
            calls::shared_secret(&config.calls, cluster.as_ref().map(cluster::Place::relays_secret))?;
        let of_node = Arc::clone(&known);
        let is_in_call = move |user, call| {
            let node = of_node.get().and_then(Weak::upgrade);
            node.is_some_and(|node| node.is_in_call(user, call))
        };
        let role =
            calls::Role::begin(config, workers, for_calls, shared_secret.clone(), shared_calls, is_in_call)?;
        backup::remove_readable_copies(&config.data);
        let lease = keeper.as_ref().map(|keeper| keeper.lease());
        let sqlite = data_dir::open(loaded, &lock, lease)?;
        if let Some(lease) = lease {
            cluster::shared_files::claim(lease, config)?;
        }
        let store: Arc<dyn Store> = Arc::clone(&sqlite) as Arc<dyn Store>;
        site::keys::give_guest_keys(&*store)?;
        let sign_ins = Target::of(&config.log.sign_ins).map(SignIns::begin).transpose()?;
        let access = MetricsAccess::of(config)?;
        let status = Status::new(access.clone(), sign_ins.clone());
        let mut router = status::routes(status.clone());
        if !config.mail.relay.is_empty() {
            router = router.merge(mail::routes(Arc::clone(&known), Arc::clone(&store)));
        }
        let cluster = cluster.map(|place| cluster::Prepared::new(place, &config.data, keeper)).transpose()?;
        if purpose != Purpose::Serve {
            let (settings, community) = match purpose {
                Purpose::Demo => (Settings::of_new_site(), demo::Community::Full(&*files.blobs)),
                // As in the papers' tests: everybody writes to anybody, and all are new members.
                _ => (Settings::default(), demo::Community::Plain),
            };
            demo::settle(&*store, settings, community, crate::now())?;
            router = router.merge(demo::routes(Arc::clone(&store)));
        }
        if purpose != Purpose::Throwaway {
            match widget_builds::keep(&config.data, widget::FILES, SystemTime::now()) {
                Ok(older) => router = router.merge(widget_builds::routes(older)),
                Err(error) => {
                    tracing::warn!(%error, "cannot keep the old widget build; pages opened before the upgrade must be reloaded")
                }
            }
        }
        let unstarted =
            |error: std::io::Error| Trouble::new("cannot start the node's threads").because(error);
        let runtime = runtime().map_err(unstarted)?;

        let (mailboxes, inboxes) = edge::mailboxes(workers);
        let (xmpp_mailboxes, xmpp_inboxes) = edge::mailboxes(workers);
        let calls_config =
            calls::config(&config.calls, role.as_ref(), shared_secret.clone(), cluster.is_some());
        let node_config = node_config(config, calls_config, &for_xmpp);
        let web_config = WebConfig { xmpp: for_xmpp.on_web(), ..web_config(config, &files.links) };
        let outbox = WebOutbox::new(mailboxes.clone(), &node_config.limits, &web_config, crate::now);
        let outbox = Outboxes { web: outbox, xmpp: ::xmpp::XmppOutbox::new(xmpp_mailboxes.clone()) };
        let outbox: Arc<dyn Outbox> = match &cluster {
            Some(cluster) => Arc::new(cluster.outbox(outbox)),
            None => Arc::new(outbox),
        };
        let node = Arc::new(Node::new(node_config, Arc::clone(&store), outbox, random()));
        if let Some(log) = &sign_ins {
            node.log_sign_ins_to(log.clone());
        }
        router = router.merge(web::ice_routes(Arc::clone(&node), crate::now));
        router = router.merge(web::site_api(Arc::clone(&node), crate::now));
        let pictures = Arc::new(pictures::queue(&node));
        router = router.merge(web::sticker_routes(Arc::clone(&node), Arc::clone(&pictures), crate::now));
        router = router.merge(files::routes(&node, &files, Arc::clone(&pictures), config));
        router = router.merge(web::own_picture_routes(Arc::clone(&node)));
        own_pictures::begin(&node, Arc::clone(&pictures), runtime.handle());
        previews(config, &node, &files, pictures, runtime.handle());
        let push = push(config, &node, &store, runtime.handle())?;
        let mail = mail(config, &node, &store, runtime.handle())?;
        // Nothing else sets it.
        let _ = known.set(Arc::downgrade(&node));
        let cluster_status = Arc::<OnceLock<cluster::StatusOf>>::default();
        if let Some(cluster) = &cluster {
            router = cluster.admit_fronts(
                router.merge(cluster::status_route(access, Arc::clone(&cluster_status))),
                xmpp_mailboxes.clone(),
            );
        }
        let counters = Arc::new(web::Counters::default());
        let session_keys = if joining.is_some() { state.session_keys } else { random() };
        let shared = Arc::new(web::Shared {
            node: Arc::clone(&node).into(),
            mailboxes,
            config: web_config,
            assets: widget::assets(),
            counters: Arc::clone(&counters),
            router,
            runtime: runtime.handle().clone(),
            keys: SessionKeys::new(session_keys),
        });
        let edge_config = edge_config(config, listeners, max_connections);
        let xmpp_counters = Arc::new(::xmpp::Counters::default());
        let (xmpp_tls, xmpp_addresses) = (for_xmpp.acceptors(), for_xmpp.addresses());
        let streams = for_xmpp.streams();
        let files_of_apps = files::of_apps(&files.links, config);
        let federation = for_xmpp.federation().cloned();
        let servers = federation.as_ref().map(|all| all.servers(&*store, runtime.handle())).transpose()?;
        if servers.is_some() {
            node.wake_by(Arc::new(::xmpp::AppPushes::new(xmpp_mailboxes.clone())))
                .map_err(|error| Trouble::new("cannot read the push services of apps").because(error))?;
        }
        let mut gateways = Vec::new();
        let without_listeners = EdgeConfig { listeners: Vec::new(), ..edge_config.clone() };
        gateways.push(edge::Gateway::new(edge_config, inboxes, move |worker| {
            Gateway::new(worker, Arc::clone(&shared))
        }));
        gateways.push(for_xmpp.gateway(
            Arc::clone(&node).into(),
            xmpp_mailboxes,
            xmpp_inboxes,
            Arc::clone(&xmpp_counters),
            files_of_apps,
            servers,
            None,
            without_listeners,
        ));
        let edge = match joining {
            Some(joining) => {
                let from = joining.predecessor();
                let received = joining.receive(move || Edge::succeed(&from, gateways))?;
                node.continue_calls(state.calls);
                streams.continue_streams(&state.streams);
                let edge = received.finish(&node, state.sessions);
                role.iter().for_each(|role| role.running().begin());
                edge
            }
            None => Edge::start_all(gateways).map_err(|error| cannot_listen(config, &error))?,
        };
        let mut sources = vec![
            figures::of_edge(edge.counters()),
            figures::of_web(counters),
            figures::of_xmpp(xmpp_counters),
            figures::of_chat(Arc::clone(&node)),
            figures::of_store(Arc::clone(&sqlite)),
        ];
        sources.extend(push);
        sources.extend(mail);
        sources.extend(role.as_ref().map(|role| figures::of_calls(role.running())));
        let addresses = addresses(&edge, &xmpp_addresses);
        let proof = shared_secret.as_deref().map(cluster::proof_of);
        let cluster = cluster
            .map(|cluster| cluster.begin(Arc::clone(&node), addresses.http, proof.unwrap_or_default()))
            .transpose()?;
        if let Some(cluster) = &cluster {
            sources.push(cluster.figures());
            // Nothing else sets it.
            let _ = cluster_status.set(cluster.status());
        }
        // The edge has counters only once it runs; no request can reach the node before this point.
        status.begin(Metrics::new(sources));
        let house = Housekeeping::begin(Arc::clone(&node), edge.counters()).map_err(unstarted)?;
        if let Some(bucket) = files.bucket {
            files::begin_moving(bucket).map_err(unstarted)?;
        }
        let sweeper = Sweeper::begin(Arc::clone(&node), files.blobs, config).map_err(unstarted)?;
        let run_file = write_run_file(addresses, config);
        Ok(Running {
            edge,
            role,
            node,
            cluster,
            store: sqlite,
            addresses,
            xmpp_tls,
            xmpp_addresses,
            streams,
            federation,
            status,
            house,
            sweeper,
            sign_ins,
            runtime,
            _run_file: run_file,
            session_keys,
            lock: Mutex::new(Some(lock)),
        })
    }

    /// Another process has the connections: closes the others, and ends.
    fn leave(self, config: &Config) {
        self.status.end();
        self.cluster.into_iter().for_each(cluster::Running::stop);
        self.house.stop();
        self.sweeper.stop();
        if let Some(role) = self.role {
            role.leave();
        }
        self.edge.leave(config.stop.grace.into());
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        self.sign_ins.iter().for_each(|log| log.flush());
        tracing::info!("left to the successor");
    }

    /// Sends `bye` to the clients of this node, writes received messages to disk, and sends their answers. The sessions of fronts wait
    /// for the next home.
    fn stop(self, config: &Config, keeper: Option<&Keeper>) {
        tracing::info!("stopping");
        self.status.end();
        self.edge.stop_accepting();
        self.house.stop();
        self.sweeper.stop();
        self.cluster.iter().for_each(cluster::Running::leave);
        // Answers to earlier commands are sent before `bye`, the others with it.
        flush(&*self.store);
        self.cluster.iter().for_each(cluster::Running::end_links);
        self.node.goodbye(u32::try_from(config.stop.spread.as_millis()).unwrap_or(u32::MAX));
        flush(&*self.store);
        keeper.iter().for_each(|keeper| keeper.release());
        if let Some(role) = self.role {
            role.stop(Duration::ZERO);
        }
        if let Some(cluster) = self.cluster {
            cluster.stop();
        }
        self.edge.stop(config.stop.grace.into());
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        self.sign_ins.iter().for_each(|log| log.flush());
        tracing::info!("stopped");
    }

    /// Another home has the lease: fronts must not follow this one, and nothing more can be written. Its own clients come back elsewhere.
    fn give_up(self, config: &Config) {
        end_after(GIVE_UP);
        self.status.end();
        if let Some(cluster) = self.cluster {
            cluster.stop();
        }
        self.edge.stop_accepting();
        self.house.stop();
        self.sweeper.stop();
        self.node.goodbye(u32::try_from(config.stop.spread.as_millis()).unwrap_or(u32::MAX));
        if let Some(role) = self.role {
            role.stop(Duration::ZERO);
        }
        self.edge.stop(Duration::from_secs(2));
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        self.sign_ins.iter().for_each(|log| log.flush());
        tracing::info!("ended: no longer the home");
    }

    /// On SIGHUP.
    fn reload(&self, config: &Config) {
        self.reload_certificate(config);
        self.reload_components(config);
        self.sign_ins.iter().for_each(|log| log.reopen());
    }

    /// With a mistake in the file, the old components stay.
    fn reload_components(&self, config: &Config) {
        if let Some(federation) = &self.federation
            && let Err(trouble) = federation.reload_components(config)
        {
            tracing::error!("{trouble}; the old components stay in use");
        }
    }

    /// New connections get the new certificate; an invalid one is ignored.
    fn reload_certificate(&self, config: &Config) {
        let (Some(cert), Some(key)) = (&config.tls_cert, &config.tls_key) else {
            tracing::info!("no certificate to reload");
            return;
        };
        match edge::tls::load(cert, key, config.tls_memory.into()) {
            Ok(tls) => {
                if let Some(role) = &self.role {
                    role.running().reload_tls(&tls);
                }
                match xmpp::for_streams(config, &tls) {
                    Ok(streams) => {
                        self.xmpp_tls.iter().for_each(|acceptor| acceptor.replace(Arc::clone(&streams)));
                    }
                    Err(trouble) => {
                        tracing::error!("{trouble}; the old certificates stay in use for XMPP");
                    }
                }
                if let Some(federation) = &self.federation
                    && let Err(trouble) = federation.reload(config, &tls)
                {
                    tracing::error!("{trouble}; the old certificates stay in use between servers");
                }
                self.edge.reload_tls(HTTPS, tls);
                tracing::info!(cert = %cert.display(), "reloaded the certificate");
            }
            Err(error) => tracing::error!(%error, "cannot reload the certificate; the old one stays in use"),
        }
    }

    fn greet(&self, out: &mut dyn Write, config: &Config, purpose: Purpose) -> std::io::Result<()> {
        let Addresses { http, https, xmpp: _ } = self.addresses;
        writeln!(out, "Kith {} is running.\n", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "  http    http://{http}")?;
        if let Some(https) = https {
            writeln!(out, "  https   https://{https}")?;
        }
        for address in &self.xmpp_addresses {
            writeln!(out, "  xmpp    {address}")?;
        }
        if let Some(role) = &self.role {
            writeln!(out, "  calls   {}", role.stun().join(" "))?;
        }
        writeln!(out, "  data    {}", config.data.display())?;
        match purpose {
            Purpose::Demo | Purpose::DemoOfStrangers | Purpose::Throwaway => {
                writeln!(
                    out,
                    "\nOpen http://{http} in a browser and choose a member. To chat, open a second window"
                )?;
                writeln!(out, "as another member by the link at the top of the page.")?;
            }
            Purpose::Serve => {
                writeln!(out, "\nAdd a site:  kith site add garden --origin https://garden.example")?;
            }
        }
        if widget::FILES.is_empty() {
            writeln!(
                out,
                "\nThis binary was built without the widget, so pages get no /kith.js. Build it with `make run`."
            )?;
        }
        writeln!(out, "Stop it with Ctrl-C.\n")
    }
}

/// A home without its lease ends after this time in any case: PostgreSQL may not answer.
const GIVE_UP: Duration = Duration::from_secs(8);

fn end_after(limit: Duration) {
    thread::spawn(move || {
        thread::sleep(limit);
        tracing::warn!("stopping at once");
        std::process::exit(NO_LONGER_HOME.into());
    });
}

fn flush(store: &dyn Store) {
    if let Err(error) = store.flush() {
        tracing::error!(%error, "cannot write all data to disk");
    }
}

/// Descriptors for relays and the connections of their clients: a part of the process' table, or tables of their own.
pub(crate) fn descriptors_for_calls(config: &Config, workers: usize) -> u64 {
    need::for_calls(edge::raise_descriptor_limit(), workers as u64, config.edge.private_descriptors)
}

/// Most connections of the node; an error if the operator requests more than the limit permits.
/// `others`: further descriptors that they leave free.
pub(crate) fn max_connections(
    config: &Config,
    workers: usize,
    for_calls: u64,
    others: u64,
) -> Outcome<usize> {
    let limit = edge::raise_descriptor_limit();
    let tables = if config.edge.private_descriptors { workers as u64 } else { 1 };
    let shares = calls::is_wanted(config)? && !config.edge.private_descriptors;
    let taken = OTHER_DESCRIPTORS + others + if shares { for_calls } else { 0 };
    let room = limit.saturating_mul(tables).saturating_sub(taken).max(1);
    let wanted = u64::from(config.edge.max_connections);
    if wanted > room {
        return Err(Trouble::new(format!("cannot hold {wanted} connections"))
            .because(format!("each needs a descriptor, and the limit of this process is {limit}"))
            .remedy(format!(
                "raise the limit (`kith doctor --connections {wanted}` says how), or say --max-connections {room}, \
                 or on Linux --private-descriptors with more --workers"
            )));
    }
    Ok(usize::try_from(if wanted == 0 { room } else { wanted }).unwrap_or(usize::MAX))
}

/// Connections from this machine are exempt, because a reverse proxy that is not in the settings may run here.
pub(crate) fn address_limit(config: &Config, max_connections: usize) -> Option<AddressLimit> {
    let wanted = config.edge.connections_per_address;
    let half = u32::try_from(max_connections / 2).unwrap_or(u32::MAX).max(1);
    let proxies = config.web.trusted_proxies.0.clone();
    (wanted > 0).then(|| {
        AddressLimit::new(wanted.min(half), move |address| {
            address.to_canonical().is_loopback() || proxies.contain(address)
        })
    })
}

pub(crate) fn workers(config: &Config) -> Outcome<usize> {
    match config.edge.workers {
        0 => Ok(thread::available_parallelism().map_or(1, usize::from).min(MOST_WORKERS)),
        workers if workers <= MOST_WORKERS => Ok(workers),
        workers => Err(Trouble::new(format!("{workers} workers are too many"))
            .because(format!("one per core is best; {MOST_WORKERS} is the limit"))
            .remedy(format!("set --workers to at most {MOST_WORKERS}, or leave it out"))),
    }
}

/// Threads for requests with disk access; more requests wait.
const BLOCKING_THREADS: usize = 16;

/// Starts push notifications; None if the operator has disabled them.
fn push(
    config: &Config,
    node: &Arc<Node>,
    store: &Arc<dyn Store>,
    runtime: &tokio::runtime::Handle,
) -> Outcome<Option<Source>> {
    if !config.push.enabled {
        return Ok(None);
    }
    let counters = Arc::default();
    let services = config.push.services.split(',').map(|name| name.trim().to_ascii_lowercase());
    let rules = Rules {
        services: services.filter(|name| !name.is_empty()).collect(),
        contact: Some(config.push.contact.clone()).filter(|contact| !contact.is_empty()),
    };
    let known = Arc::downgrade(node);
    let gone = move |user, endpoint: &str| {
        if let Some(node) = known.upgrade() {
            node.push_device_is_gone(user, endpoint);
        }
    };
    let client = match config.push.authority.as_str() {
        "" => push::Client::public(),
        path => {
            let trouble = || Trouble::new(format!("cannot use {path} as push.authority"));
            let authority = std::fs::read(path).map_err(|error| trouble().because(error))?;
            push::Client::own(&authority).map_err(|error| trouble().because(error))?
        }
    };
    let pusher = Pusher::begin(client, rules, Arc::clone(store), Arc::clone(&counters), runtime, gone);
    node.notify_by(Arc::new(pusher))
        .map_err(|error| Trouble::new("cannot read the push subscriptions").because(error))?;
    Ok(Some(figures::of_push(counters)))
}

/// Starts link previews.
fn previews(
    config: &Config,
    node: &Arc<Node>,
    files: &files::Place,
    pictures: Arc<PictureQueue>,
    runtime: &tokio::runtime::Handle,
) {
    if !config.previews.enabled {
        return;
    }
    let client = match config.previews.private {
        true => preview::Client::anywhere(),
        false => preview::Client::public(),
    };
    let blobs = (config.files.file_bytes > 0).then(|| Arc::clone(&files.blobs));
    previews::begin(client, node, blobs, pictures, runtime);
}

/// Starts digests by mail; None without a relay in the settings.
fn mail(
    config: &Config,
    node: &Arc<Node>,
    store: &Arc<dyn Store>,
    runtime: &tokio::runtime::Handle,
) -> Outcome<Option<Source>> {
    let (Some(public_url), false) = (&config.public_url, config.mail.relay.is_empty()) else {
        return Ok(None);
    };
    let wrong = |what: &str, why: String| Trouble::new(format!("cannot use {what}")).because(why);
    let transport =
        mail::relay(&config.mail.relay).map_err(|error| wrong("mail.relay", error.to_string()))?;
    let from = config.mail.from.parse();
    let from = from.map_err(|error: lettre::address::AddressError| wrong("mail.from", error.to_string()))?;
    let after_minutes = u32::try_from(config.mail.after.as_millis() / 60_000).unwrap_or(u32::MAX);
    let post = mail::Post { transport, from, public_url: public_url.clone(), after_minutes };
    let counters = Arc::default();
    let office = mail::PostOffice::begin(post, Arc::clone(store), Arc::clone(&counters), runtime);
    let begun = node.mail_by(Arc::new(office));
    begun.map_err(|error| Trouble::new("cannot read the mail addresses").because(error))?;
    Ok(Some(figures::of_mail(counters)))
}

/// The runtime for requests that no worker answers itself: pages and tokens. Two threads, because one may wait for the store.
pub(crate) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_name("pages")
        .enable_all()
        .build()
}

pub(crate) fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

/// If it fails, the node runs, but commands need `--data`.
pub(crate) fn write_run_file(addresses: Addresses, config: &Config) -> Option<RunFile> {
    RunFile::write(
        addresses.http,
        addresses.https,
        addresses.xmpp,
        &config.data,
        config.public_url.as_deref(),
    )
    .inspect_err(|error| tracing::warn!(%error, "cannot write the run file; commands will need --data"))
    .ok()
}

/// Output limit: the largest answer, a page of the longest messages, and an echo.
const OUTPUT_LIMIT: usize = web::ECHO_BYTES + (1 << 20);

pub(crate) fn web_config(config: &Config, links: &web::files::Links) -> WebConfig {
    WebConfig {
        file_bytes: config.files.file_bytes,
        links: links.clone(),
        frame_bytes: config.web.frame_bytes,
        idle: config.web.idle.into(),
        heartbeat: config.web.heartbeat.into(),
        poll_wait: config.web.poll_wait.into(),
        poll_gap: config.web.poll_gap.into(),
        keep_alive: config.web.keep_alive.into(),
        trusted_proxies: config.web.trusted_proxies.0.clone(),
        echo: config.echo,
        ..WebConfig::default()
    }
}

fn node_config(config: &Config, calls: chat::CallConfig, for_xmpp: &xmpp::Listening) -> NodeConfig {
    NodeConfig {
        limits: limits(config),
        presence_grace_ms: config.presence.grace.as_millis(),
        presence_coalesce_ms: config.presence.coalesce.as_millis(),
        clock_skew_ms: config.tokens.clock_skew.as_millis(),
        calls,
        app_passwords: for_xmpp.accepts_clients(),
    }
}

pub(crate) fn limits(config: &Config) -> chat::Limits {
    let limits = &config.limits;
    chat::Limits {
        body_bytes: limits.body_bytes,
        extension_bytes: limits.extension_bytes,
        page: limits.page,
        watch: limits.watch,
        contacts: limits.contacts,
        sessions_per_user: limits.sessions_per_user,
        sessions_per_site: limits.sessions_per_site,
        send_burst: limits.send_burst,
        send_per_minute: limits.send_per_minute,
        command_burst: limits.command_burst,
        command_per_minute: limits.command_per_minute,
        site_sends_per_second: limits.site_sends_per_second,
        guest_burst: limits.guest_burst,
        guest_per_minute: limits.guest_per_minute,
        requests: chat::RequestRates {
            user_per_minute: limits.requests_per_user,
            address_per_minute: limits.requests_per_address,
            site_per_minute: limits.requests_per_site,
            guest_bytes_per_day: limits.guest_upload_bytes,
            import_bytes_per_day: limits.import_bytes,
            user_picture_ms: milliseconds(config.files.picture_cpu_per_user),
            site_picture_ms: milliseconds(config.files.picture_cpu_per_site),
        },
        rooms: chat::RoomLimits {
            members: limits.room_members,
            per_user: limits.rooms_per_user,
            owned: limits.rooms_owned,
        },
    }
}

/// The settings of the connection layer.
pub(crate) fn edge_config(config: &Config, listeners: Vec<Listener>, max_connections: usize) -> EdgeConfig {
    let buffer_kib = config.edge.socket_buffer_kib;
    EdgeConfig {
        listeners,
        max_connections,
        per_address: address_limit(config, max_connections),
        private_descriptor_tables: config.edge.private_descriptors,
        socket_buffer: (buffer_kib > 0).then_some(buffer_kib as usize * 1024),
        output_limit: OUTPUT_LIMIT,
        output_memory: config.edge.output_memory_mib as usize * 1024 * 1024,
        ..EdgeConfig::default()
    }
}

/// Where a running node listens.
pub(crate) fn addresses(edge: &Edge, xmpp: &[SocketAddr]) -> Addresses {
    Addresses {
        http: edge.local_addrs()[HTTP],
        https: edge.local_addrs().get(HTTPS).copied(),
        xmpp: xmpp.first().copied(),
    }
}

fn milliseconds(span: crate::span::Span) -> u32 {
    u32::try_from(span.as_millis()).unwrap_or(u32::MAX)
}

/// `old`: the addresses of a process that this one takes over.
pub(crate) fn listeners(config: &Config, http: SocketAddr, old: &[SocketAddr]) -> Outcome<Vec<Listener>> {
    let mut listeners = vec![Listener::plain(http)];
    if let (Some(https), Some(cert), Some(key)) = (config.https, &config.tls_cert, &config.tls_key) {
        let tls = edge::tls::load(cert, key, config.tls_memory.into()).map_err(|error| {
            Trouble::new("cannot use the certificate")
                .because(error)
                .remedy("correct --tls-cert and --tls-key, or leave out --https, too")
        })?;
        listeners.push(Listener::tls(https, edge::tls::Acceptor::new(tls)));
    }
    for (number, listener) in listeners.iter_mut().enumerate() {
        if let Some(addr) = take_over::joined(listener.addr, old.get(number)) {
            listener.join(addr);
            continue;
        }
        listener.reserve().map_err(|error| cannot_listen(config, &error))?;
    }
    Ok(listeners)
}

pub(crate) fn cannot_listen(config: &Config, error: &std::io::Error) -> Trouble {
    let https = config.https.map_or(String::new(), |https| format!(" and {https}"));
    let trouble = Trouble::new(format!("cannot listen on {}{https}", config.http)).because(error);
    let free = SocketAddr::new(config.http.ip(), config.http.port().wrapping_add(1));
    trouble.remedy(match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            format!(
                "another process listens there: stop it, or choose another port, for example --http {free}"
            )
        }
        std::io::ErrorKind::PermissionDenied => {
            "ports below 1024 need a right: run as a service with AmbientCapabilities=CAP_NET_BIND_SERVICE, \
             or choose --http with a higher port"
                .into()
        }
        std::io::ErrorKind::AddrNotAvailable => {
            "this machine has no such address: choose one of its own with --http, or 0.0.0.0 for all".into()
        }
        _ => "choose another address with --http".into(),
    })
}
