//! A front: a node with sockets and gateways, whose domain runs at the homes of all slots.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, SystemTime};

use ::cluster::{FrontId, FrontStatus, Fronts, Slot, nats};
use chat::{Port, RemoteNode};
use edge::{Edge, EdgeConfig};
use serde_json::json;
use signal_hook::iterator::Signals;
use web::{Gateway, SessionKeys, WebConfig, WebOutbox};

use super::other_servers::AtHome;
use super::streams::{self, HomeAt, Homes, Streams};
use super::{
    Place, StatusOf, counters, forward, of_counters, proof_of, status_route, steady_now, wait_until,
};
use crate::config::{Config, Loaded};
use crate::data_lock::DataLock;
use crate::metrics::{Metrics, Sample, Source};
use crate::run_file::RunFile;
use crate::serve::{self, Addresses, Outboxes, Start};
use crate::status::{self, MetricsAccess, Status};
use crate::take_over::{self, Joining, Offer, OldFront, Part, Replaceable, service};
use crate::trouble::{Outcome, Trouble};
use crate::{calls, figures, files, print_with, widget, widget_builds, xmpp};

/// A running front.
struct Running {
    edge: Edge,
    /// None: no STUN and TURN server runs here.
    role: Option<calls::Role>,
    fronts: Arc<Fronts>,
    bus: nats::Running,
    addresses: Addresses,
    /// Of the XMPP gateway.
    xmpp_addresses: Vec<SocketAddr>,
    streams: Arc<::xmpp::Streams>,
    /// Of other servers and components.
    passed_on: Streams,
    status: Status,
    runtime: tokio::runtime::Runtime,
    session_keys: [u8; 32],
    _run_file: Option<RunFile>,
    /// None while another process takes over.
    lock: Mutex<Option<DataLock>>,
}

/// Runs a front until a signal stops it.
pub(crate) fn run(loaded: &Loaded, place: &Place, mut signals: Signals, start: Start) -> Outcome<ExitCode> {
    let config = &loaded.config;
    let running = Running::start(config, place, start)?;
    print_with(|out| running.greet(out, config))?;
    service::is_ready();
    let left = take_over::serve(&running, &config.data, &mut signals, || running.reload_certificate(config));
    if left.is_some() {
        running.leave(config);
    } else {
        serve::end_at_the_next(signals);
        running.stop(config);
    }
    Ok(ExitCode::SUCCESS)
}

/// The bus begins after the workers, which could have tables of descriptors of their own. For a take-over it begins before them.
enum OnBus {
    Waits(nats::Bus),
    Runs(nats::Running),
}

/// A new process has so much time to reach NATS, before the old one stands still.
const CONNECTS: Duration = Duration::from_secs(10);

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

    fn offer(&self) -> Offer {
        let role = self.role.as_ref().map(|role| role.running());
        Offer {
            workers: self.edge.workers(),
            web: self.edge.local_addrs().to_vec(),
            xmpp: self.xmpp_addresses.clone(),
            datagrams: role.map(|role| role.udp_addrs().to_vec()).unwrap_or_default(),
            streams: role.map(|role| role.stream_addrs().to_vec()).unwrap_or_default(),
            relays: role.map_or(0, |_| ::calls::MOVES_FORMAT),
            passed_on: self.passed_on.addresses().to_vec(),
            front: Some(OldFront { id: self.fronts.id().0, is_linked: self.is_linked() }),
        }
    }

    fn hold(&self) -> Vec<MutexGuard<'_, ()>> {
        Vec::new()
    }

    /// A front has no store.
    fn flush(&self) {}

    fn is_answered(&self) -> bool {
        self.fronts.is_answered()
    }

    fn stand_still(&self) {
        self.fronts.stand_still(steady_now());
    }

    fn state(&self) -> take_over::State {
        take_over::State {
            streams: self.streams.write_down(),
            session_keys: self.session_keys,
            front: Some(Box::new(self.fronts.write_down())),
            ..take_over::State::default()
        }
    }

    fn pause(&self) {}

    fn resume(&self) -> Result<(), String> {
        Ok(())
    }

    fn go_on(&self) {
        self.fronts.go_on(steady_now());
    }
}

impl Running {
    fn start(config: &Config, place: &Place, start: Start) -> Outcome<Running> {
        check(config)?;
        let joining = match start {
            Start::TakeOver => Some(Joining::ask(&config.data, Part::Front)?),
            Start::Alone | Start::OfNode => None,
        };
        let old = joining.as_ref().map(|joining| joining.offer.clone()).unwrap_or_default();
        let workers = serve::workers(config)?.max(old.workers);
        let for_calls = serve::descriptors_for_calls(config, workers);
        let most_streams = match streams::are_wanted(config)? {
            true => streams::most(edge::raise_descriptor_limit()),
            false => 0,
        };
        let max_connections = serve::max_connections(config, workers, for_calls, 2 * most_streams as u64)?;
        let secret_of_relays = calls::shared_secret(&config.calls, Some(place.relays_secret()))?;
        let lock = match start {
            Start::TakeOver => None,
            Start::Alone | Start::OfNode => Some(DataLock::acquire(&config.data, crate::now())?),
        };
        let listeners = serve::listeners(config, config.http, &old.web)?;
        let for_xmpp = xmpp::listen(&without_streams(config), &old.xmpp)?;
        let unstarted =
            |error: std::io::Error| Trouble::new("cannot start the node's threads").because(error);
        let runtime = serve::runtime().map_err(unstarted)?;
        let bound = {
            let _entered = runtime.enter();
            streams::bind(config, &old.passed_on)?
        };

        let (mailboxes, inboxes) = edge::mailboxes(workers);
        let (xmpp_mailboxes, xmpp_inboxes) = edge::mailboxes(workers);
        let links = files::links(config, place.files_secret());
        let limits = serve::limits(config);
        let web_config = WebConfig { xmpp: for_xmpp.on_web(), ..serve::web_config(config, &links) };
        let outbox = Outboxes {
            web: WebOutbox::new(mailboxes.clone(), &limits, &web_config, crate::now),
            xmpp: ::xmpp::XmppOutbox::new(xmpp_mailboxes.clone()),
        };
        let bus = nats::Bus::new().map_err(unstarted)?;
        let wake = bus.wake();
        let id = FrontId(old.front.as_ref().map_or_else(random_id, |old| old.id));
        let name = place.nats.name.clone();
        let fronts = Fronts::new(id, config.cluster.slots, name, outbox, steady_now(), move || wake.wake());
        let fronts = Arc::new(fronts);
        let secret = place.http_secret();
        let begin = |bus| {
            nats::Running::fronts(place.nats.clone(), Arc::clone(&fronts), bus, steady_now).map_err(unstarted)
        };
        let (joining, old_state, bus) = match joining {
            Some(mut joining) => {
                fronts.stand_still(steady_now());
                let bus = begin(bus)?;
                // From then on, this process misses nothing of what the home sends to the old one. Without NATS, the old one has no
                // link either.
                let is_linked = old.front.as_ref().is_some_and(|old| old.is_linked);
                if !wait_until(CONNECTS, || bus.is_connected()) && is_linked {
                    return Err(Trouble::new("cannot take over the running node")
                        .because("this process cannot connect with NATS")
                        .remedy("correct cluster.nats; until then the old process goes on"));
                }
                // The old process stands still from here on.
                let state = joining.begin(calls::takes_relays(config, &old)?)?;
                (Some(joining), state, OnBus::Runs(bus))
            }
            None => (None, take_over::State::default(), OnBus::Waits(bus)),
        };
        let lock = match lock {
            Some(lock) => lock,
            None => DataLock::acquire(&config.data, crate::now())?,
        };

        let old_relays = joining.as_ref().and_then(Joining::relays);
        let shared_calls = joining.is_some().then_some(calls::Old {
            offer: &old,
            secret: None,
            relays: old_relays.as_ref(),
        });
        let role = begin_relays(config, workers, for_calls, secret_of_relays, shared_calls, &fronts)?;

        let access = MetricsAccess::of(config)?;
        let status = Status::new(access.clone(), None);
        let mut router = status::routes(status.clone());
        match widget_builds::keep(&config.data, widget::FILES, SystemTime::now()) {
            Ok(older) => router = router.merge(widget_builds::routes(older)),
            Err(error) => tracing::warn!(%error, "cannot keep the old widget build"),
        }
        let to_home = forward::routes(Arc::clone(&fronts), &secret).expect("base64 is a field value");
        let state_of = Arc::<OnceLock<StatusOf>>::default();
        // Nothing else sets it.
        let _ = state_of.set(state(&fronts));
        router = router.merge(status_route(access, state_of)).merge(to_home);

        let other_servers = AtHome::new(
            Arc::clone(&fronts),
            &secret,
            &place.other_servers_secret(),
            runtime.handle().clone(),
        );
        let other_servers = Arc::new(other_servers.expect("base64 is a field value"));
        let port = Port::There(Arc::clone(&fronts) as Arc<dyn chat::RemoteNode>);
        let session_keys = if joining.is_some() { old_state.session_keys } else { serve::random() };
        let web_counters = Arc::new(web::Counters::default());
        let shared = Arc::new(web::Shared {
            node: port.clone(),
            mailboxes,
            config: web_config,
            assets: widget::assets(),
            counters: Arc::clone(&web_counters),
            router,
            runtime: runtime.handle().clone(),
            keys: SessionKeys::new(session_keys),
        });
        // A crowd keeps all workers busy, and the link, on one thread, must not become silent.
        let edge_config =
            EdgeConfig { niceness: 5, ..serve::edge_config(config, listeners, max_connections) };
        let without_listeners = EdgeConfig { listeners: Vec::new(), ..edge_config.clone() };
        let xmpp_counters = Arc::new(::xmpp::Counters::default());
        let (xmpp_addresses, streams) = (for_xmpp.addresses(), for_xmpp.streams());
        let gateways = vec![
            edge::Gateway::new(edge_config, inboxes, move |worker| Gateway::new(worker, Arc::clone(&shared))),
            for_xmpp.gateway(
                port,
                xmpp_mailboxes,
                xmpp_inboxes,
                Arc::clone(&xmpp_counters),
                files::of_apps(&links, config),
                None,
                Some(other_servers),
                without_listeners,
            ),
        ];
        let edge = match (joining, old_state.front) {
            (Some(joining), Some(record)) => {
                let from = joining.predecessor();
                let received = joining.receive(move || Edge::succeed(&from, gateways))?;
                streams.continue_streams(&old_state.streams);
                let edge = received.finish_front(&fronts, *record, steady_now);
                role.iter().for_each(|role| role.running().begin());
                edge
            }
            (Some(_), None) => {
                return Err(
                    Trouble::new("the take-over has failed").because("the old process sent no sessions")
                );
            }
            (None, _) => Edge::start_all(gateways).map_err(|error| serve::cannot_listen(config, &error))?,
        };
        let bus = match bus {
            OnBus::Runs(bus) => bus,
            OnBus::Waits(bus) => begin(bus)?,
        };
        let mut sources = vec![
            figures::of_edge(edge.counters()),
            figures::of_web(web_counters),
            figures::of_xmpp(xmpp_counters),
            of_fronts(Arc::clone(&fronts)),
        ];
        sources.extend(role.as_ref().map(|role| figures::of_calls(role.running())));
        let homes = HomesOf(Arc::clone(&fronts));
        let streams_of_servers =
            bound.begin(config, most_streams, place.streams_secret(), homes, runtime.handle());
        if most_streams > 0 {
            sources.push(streams_of_servers.figures());
        }
        status.begin(Metrics::new(sources));
        let addresses = serve::addresses(&edge, &xmpp_addresses);
        let run_file = serve::write_run_file(addresses, config);
        Ok(Running {
            edge,
            role,
            fronts,
            bus,
            addresses,
            xmpp_addresses,
            streams,
            passed_on: streams_of_servers,
            status,
            runtime,
            session_keys,
            _run_file: run_file,
            lock: Mutex::new(Some(lock)),
        })
    }

    /// Whether a home knows this front.
    fn is_linked(&self) -> bool {
        self.fronts.status().iter().any(|of_slot| of_slot.is_linked)
    }

    /// Another process has the connections and the links: closes the others, and ends.
    fn leave(self, config: &Config) {
        self.bus.stop();
        self.status.end();
        if let Some(role) = self.role {
            role.leave();
        }
        self.edge.leave(config.stop.grace.into());
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        tracing::info!("left to the successor");
    }

    /// Sends `bye` to all clients, which come back through another front.
    fn stop(self, config: &Config) {
        tracing::info!("stopping");
        self.status.end();
        self.edge.stop_accepting();
        let spread = u32::try_from(config.stop.spread.as_millis()).unwrap_or(u32::MAX);
        let mut rng = rand::rng();
        self.fronts.goodbye(|| rand::Rng::random_range(&mut rng, 0..=spread), crate::now());
        if let Some(role) = self.role {
            role.stop(Duration::ZERO);
        }
        self.edge.stop(config.stop.grace.into());
        self.bus.stop();
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        tracing::info!("stopped");
    }

    fn reload_certificate(&self, config: &Config) {
        let (Some(cert), Some(key)) = (&config.tls_cert, &config.tls_key) else { return };
        match edge::tls::load(cert, key, config.tls_memory.into()) {
            Ok(tls) => {
                if let Some(role) = &self.role {
                    role.running().reload_tls(&tls);
                }
                self.edge.reload_tls(serve::HTTPS, tls);
                tracing::info!(cert = %cert.display(), "reloaded the certificate");
            }
            Err(error) => tracing::error!(%error, "cannot reload the certificate; the old one stays in use"),
        }
    }

    fn greet(&self, out: &mut dyn Write, config: &Config) -> std::io::Result<()> {
        writeln!(out, "Kith {} is running as a front.\n", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "  http    http://{}", self.addresses.http)?;
        if let Some(https) = self.addresses.https {
            writeln!(out, "  https   https://{https}")?;
        }
        if let Some(xmpp) = self.addresses.xmpp {
            writeln!(out, "  xmpp    {xmpp}")?;
        }
        for address in self.passed_on.addresses() {
            writeln!(out, "  to home {address}")?;
        }
        if let Some(role) = &self.role {
            writeln!(out, "  calls   {}", role.stun().join(" "))?;
        }
        writeln!(out, "  data    {}\n", config.data.display())?;
        writeln!(out, "Stop it with Ctrl-C.\n")
    }
}

/// Starts the STUN and TURN server, if the settings want one. An address that nobody has chosen may belong to a home on this machine;
/// then the front has none, and its members get the relays of the home.
fn begin_relays(
    config: &Config,
    workers: usize,
    descriptors: u64,
    secret: Option<Arc<[u8]>>,
    old: Option<calls::Old<'_>>,
    fronts: &Arc<Fronts>,
) -> Outcome<Option<calls::Role>> {
    let of_fronts = Arc::clone(fronts);
    let is_in_call = move |user, call| of_fronts.is_in_call(user, call);
    let role = match calls::Role::begin(config, workers, descriptors, secret, old, is_in_call) {
        Err(trouble) if config.calls.listen == "auto" => {
            tracing::warn!("no STUN and TURN on this front: {trouble}");
            None
        }
        role => role?,
    };
    if let Some(role) = &role {
        let servers = calls::servers_for_clients(&config.calls, Some(role));
        fronts.offer_relays(&servers, &proof_of(&role.secret()));
    }
    Ok(role)
}

fn random_id() -> u64 {
    let random = serve::random();
    u64::from_be_bytes(std::array::from_fn(|at| random[at]))
}

/// A front does not keep what only the home needs.
fn check(config: &Config) -> Outcome {
    match config.xmpp.components.is_empty() {
        true => Ok(()),
        false => Err(Trouble::new("a front cannot have xmpp.components").remedy(
            "set it at the home, which checks the secrets; a front needs xmpp.component_listen alone",
        )),
    }
}

/// The gateway of a front has no listener for servers and components.
fn without_streams(config: &Config) -> Config {
    let mut config = config.clone();
    config.xmpp.s2s_listen = "off".into();
    config.xmpp.component_listen = "off".into();
    config
}

/// The homes that this front has links with.
struct HomesOf(Arc<Fronts>);

impl Homes for HomesOf {
    fn slots(&self) -> u8 {
        self.0.iter().len() as u8
    }

    fn home(&self, slot: Slot) -> Option<HomeAt> {
        let status = self.0.of_slot(slot)?.status();
        let http = status.http.filter(|_| status.is_linked)?;
        Some(HomeAt { http, term: status.term })
    }

    fn slot_of(&self, domain: &str) -> Slot {
        let sites = self.0.sites();
        // Such as the rooms of a site, or a component.
        let above = domain.split_once('.').map_or("", |(_, above)| above);
        let site = sites.by_domain(domain).or_else(|| sites.by_domain(above));
        site.map_or(Slot::FIRST, |site| site.id.slot())
    }
}

fn state(fronts: &Arc<Fronts>) -> StatusOf {
    let fronts = Arc::clone(fronts);
    Box::new(move || {
        let status = fronts.status();
        let slots = status.iter().map(|of_slot| {
            json!({
                "slot": of_slot.slot.0,
                "linked": of_slot.is_linked,
                "term": of_slot.term.0,
                "http": of_slot.http.as_deref(),
                "sessions": of_slot.sessions,
                "held": of_slot.held,
                "waiting_bytes": of_slot.waiting_bytes,
            })
        });
        json!({
            "role": "front",
            "linked": status.iter().all(|of_slot| of_slot.is_linked),
            "sessions": status.iter().map(|of_slot| of_slot.sessions).sum::<usize>(),
            "held": status.iter().map(|of_slot| of_slot.held).sum::<usize>(),
            "slots": slots.collect::<Vec<_>>(),
            "counters": counters(fronts.counters()),
        })
    })
}

fn of_fronts(fronts: Arc<Fronts>) -> Source {
    type Figure = fn(&FrontStatus) -> u64;
    const FIGURES: [(&str, &str, Figure); 3] = [
        ("kith_cluster_linked", "1: this front has a link with the home of this slot.", |status| {
            status.is_linked.into()
        }),
        ("kith_cluster_sessions", "Sessions of this front that the home of this slot knows.", |status| {
            status.sessions as u64
        }),
        (
            "kith_cluster_held",
            "Commands and sign-ins that wait for a link with the home of this slot.",
            |status| status.held as u64,
        ),
    ];
    Box::new(move || {
        let mut samples = of_counters(fronts.counters());
        let status = fronts.status();
        for (name, help, figure) in FIGURES {
            samples.extend(status.iter().map(|of_slot| {
                Sample::gauge(name, help, figure(of_slot)).labelled("slot", of_slot.slot.0.to_string())
            }));
        }
        samples
    })
}
