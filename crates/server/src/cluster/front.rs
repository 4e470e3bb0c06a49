//! A front: a node with sockets and gateways, whose domain runs at the home.

use std::io::Write;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use ::cluster::{Front, FrontId, nats};
use chat::Port;
use edge::{Edge, EdgeConfig};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGUSR2};
use signal_hook::iterator::Signals;
use web::{Gateway, SessionKeys, WebConfig, WebOutbox};

use super::{Place, StatusOf, counters, forward, of_counters, status_route, steady_now};
use crate::config::{Config, Loaded};
use crate::data_lock::DataLock;
use crate::metrics::{Metrics, Sample, Source};
use crate::run_file::RunFile;
use crate::serve::{self, Addresses, Outboxes};
use crate::status::{self, MetricsAccess, Status};
use crate::trouble::{Outcome, Trouble};
use crate::{figures, files, print_with, widget, widget_builds, xmpp};

/// A running front.
struct Running {
    edge: Edge,
    front: Arc<Front>,
    bus: nats::Running,
    addresses: Addresses,
    status: Status,
    runtime: tokio::runtime::Runtime,
    _run_file: Option<RunFile>,
    _lock: DataLock,
}

/// Runs a front until a signal stops it.
pub(crate) fn run(loaded: &Loaded, place: Place, mut signals: Signals) -> Outcome<ExitCode> {
    let config = &loaded.config;
    let running = Running::start(config, place)?;
    print_with(|out| running.greet(out, config))?;
    for signal in &mut signals {
        if signal == SIGHUP {
            running.reload_certificate(config);
            continue;
        }
        if signal == SIGUSR2 {
            tracing::warn!("a node of a cluster cannot be replaced in place yet");
            continue;
        }
        serve::end_at_the_next(signals);
        running.stop(config);
        break;
    }
    Ok(ExitCode::SUCCESS)
}

impl Running {
    fn start(config: &Config, place: Place) -> Outcome<Running> {
        check(config)?;
        let workers = serve::workers(config)?;
        let max_connections = serve::max_connections(config, workers, 0)?;
        let lock = DataLock::acquire(&config.data, crate::now())?;
        let listeners = serve::listeners(config, config.http, &[])?;
        let for_xmpp = xmpp::listen(config, &[])?;
        let unstarted =
            |error: std::io::Error| Trouble::new("cannot start the node's threads").because(error);
        let runtime = serve::runtime().map_err(unstarted)?;

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
        let id = FrontId(u64::from_be_bytes(std::array::from_fn({
            let random = serve::random();
            move |at| random[at]
        })));
        let name = place.nats.name.clone();
        let front = Arc::new(Front::new(id, name, outbox, steady_now(), move || wake.wake()));

        let access = MetricsAccess::of(config)?;
        let status = Status::new(access.clone(), None);
        let mut router = status::routes(status.clone());
        match widget_builds::keep(&config.data, widget::FILES, SystemTime::now()) {
            Ok(older) => router = router.merge(widget_builds::routes(older)),
            Err(error) => tracing::warn!(%error, "cannot keep the old widget build"),
        }
        let secret = place.http_secret();
        let to_home = forward::routes(Arc::clone(&front), &secret).expect("base64 is a field value");
        let state_of = Arc::<OnceLock<StatusOf>>::default();
        // Nothing else sets it.
        let _ = state_of.set(state(&front));
        router = router.merge(status_route(access, state_of)).merge(to_home);

        let port = Port::There(Arc::clone(&front) as Arc<dyn chat::RemoteNode>);
        let web_counters = Arc::new(web::Counters::default());
        let shared = Arc::new(web::Shared {
            node: port.clone(),
            mailboxes,
            config: web_config,
            assets: widget::assets(),
            counters: Arc::clone(&web_counters),
            router,
            runtime: runtime.handle().clone(),
            keys: SessionKeys::new(serve::random()),
        });
        let edge_config = serve::edge_config(config, listeners, max_connections);
        let without_listeners = EdgeConfig { listeners: Vec::new(), ..edge_config.clone() };
        let xmpp_counters = Arc::new(::xmpp::Counters::default());
        let xmpp_addresses = for_xmpp.addresses();
        let gateways = vec![
            edge::Gateway::new(edge_config, inboxes, move |worker| Gateway::new(worker, Arc::clone(&shared))),
            for_xmpp.gateway(
                port,
                xmpp_mailboxes,
                xmpp_inboxes,
                Arc::clone(&xmpp_counters),
                files::of_apps(&links, config),
                None,
                without_listeners,
            ),
        ];
        let edge = Edge::start_all(gateways).map_err(|error| serve::cannot_listen(config, &error))?;
        let bus = nats::Running::front(place.nats, Arc::clone(&front), bus, steady_now).map_err(unstarted)?;
        status.begin(Metrics::new(vec![
            figures::of_edge(edge.counters()),
            figures::of_web(web_counters),
            figures::of_xmpp(xmpp_counters),
            of_front(Arc::clone(&front)),
        ]));
        let addresses = serve::addresses(&edge, &xmpp_addresses);
        let run_file = serve::write_run_file(addresses, config);
        Ok(Running { edge, front, bus, addresses, status, runtime, _run_file: run_file, _lock: lock })
    }

    /// Sends `bye` to all clients, which come back through another front.
    fn stop(self, config: &Config) {
        tracing::info!("stopping");
        self.status.end();
        self.edge.stop_accepting();
        let spread = u32::try_from(config.stop.spread.as_millis()).unwrap_or(u32::MAX);
        let mut rng = rand::rng();
        self.front.goodbye(|| rand::Rng::random_range(&mut rng, 0..=spread), crate::now());
        self.edge.stop(config.stop.grace.into());
        self.bus.stop();
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        tracing::info!("stopped");
    }

    fn reload_certificate(&self, config: &Config) {
        let (Some(cert), Some(key)) = (&config.tls_cert, &config.tls_key) else { return };
        match edge::tls::load(cert, key, config.tls_memory.into()) {
            Ok(tls) => {
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
        writeln!(out, "  data    {}\n", config.data.display())?;
        writeln!(out, "Stop it with Ctrl-C.\n")
    }
}

/// A front does not do what only the home does.
fn check(config: &Config) -> Outcome {
    let xmpp = &config.xmpp;
    let only_at_home = [
        ("xmpp.s2s_listen", !matches!(xmpp.s2s_listen.as_str(), "" | "off" | "auto")),
        ("xmpp.components", !xmpp.components.is_empty()),
    ];
    match only_at_home.iter().find(|(_, is_set)| *is_set) {
        Some((key, _)) => Err(Trouble::new(format!("a front cannot have {key}"))
            .remedy("set it at the home, which talks with other servers and components")),
        None => Ok(()),
    }
}

fn state(front: &Arc<Front>) -> StatusOf {
    let front = Arc::clone(front);
    Box::new(move || {
        let status = front.status();
        json!({
            "role": "front",
            "linked": status.is_linked,
            "term": status.term.0,
            "http": status.http.as_deref(),
            "sessions": status.sessions,
            "held": status.held,
            "waiting_bytes": status.waiting_bytes,
            "counters": counters(front.counters()),
        })
    })
}

fn of_front(front: Arc<Front>) -> Source {
    Box::new(move || {
        let status = front.status();
        let mut samples = of_counters(front.counters());
        samples.push(Sample::gauge(
            "kith_cluster_linked",
            "1: this front has a link with the home.",
            status.is_linked.into(),
        ));
        samples.push(Sample::gauge(
            "kith_cluster_sessions",
            "Sessions of this front that the home knows.",
            status.sessions as u64,
        ));
        samples.push(Sample::gauge(
            "kith_cluster_held",
            "Commands and sign-ins that wait for a link.",
            status.held as u64,
        ));
        samples
    })
}
