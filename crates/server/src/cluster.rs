//! A node of a cluster: its settings, the secret of the cluster, and the home's side.

mod domain_of_stream;
pub(crate) mod forward;
pub(crate) mod front;
mod hand_over;
pub(crate) mod lease;
mod other_servers;
mod pin_command;
pub(crate) mod placement;
pub(crate) mod shared_files;
mod site_of_request;
pub(crate) mod standby;
mod status_command;
mod status_server;
pub(crate) mod streams;
pub(crate) mod supervisor;

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use ::cluster::{Counters, Home, HomeOutbox, Links, Term, nats};
use ::xmpp::Mail;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::{Node, Outbox, Slot, Timestamp};
use edge::Mailboxes;
use ring::hmac;
use serde_json::json;

use crate::config::{ClusterRole, Config};
use crate::metrics::{Sample, Source};
use crate::status::MetricsAccess;
use crate::trouble::{Outcome, Trouble};

use self::lease::Keeper;
pub(crate) use hand_over::run as hand_over;
pub(crate) use pin_command::{pin, unpin};
pub(crate) use status_command::run as status;

/// Header fields of requests that a front passes on to the home. Nobody else knows the secret.
pub(crate) const SECRET_FIELD: &str = "kith-cluster-secret";
pub(crate) const CLIENT_FIELD: &str = "kith-cluster-client";
/// The [`chat::CallServers`] of the front, as JSON.
pub(crate) const SERVERS_FIELD: &str = "kith-cluster-call-servers";
/// The state of the links, as JSON, for `kith cluster status`.
pub(crate) const STATUS_PATH: &str = "/cluster";

/// Makes a home, or a node with homes, give its role away.
const HAND_OVER_PATH: &str = "/cluster/hand-over";

/// The file of the secret has at least so many bytes.
const LEAST_SECRET: usize = 32;
/// In the data directory of a home.
const TERM: &str = "cluster.term";

/// Reads the state of the links of this node.
pub(crate) type StatusOf = Box<dyn Fn() -> serde_json::Value + Send + Sync>;

/// The settings of a node in a cluster, checked.
pub(crate) struct Place {
    pub(crate) nats: nats::Place,
    pub(crate) role: ClusterRole,
    pub(crate) slot: Slot,
    secret: Secret,
    /// The address of the home for fronts, if it differs from the one where it listens. Port 0: the one where it listens.
    http: Option<SocketAddr>,
}

impl Place {
    /// None: the node runs alone.
    pub(crate) fn of(config: &Config) -> Outcome<Option<Place>> {
        let cluster = &config.cluster;
        if cluster.nats.is_empty() {
            return Ok(None);
        }
        let secret = Secret::of(config)?;
        let authority = Some(&cluster.nats_authority).filter(|path| !path.is_empty()).map(PathBuf::from);
        let name = match cluster.name.as_str() {
            "" => format!("kith {}", config.http),
            name => name.to_owned(),
        };
        let http = match cluster.http.as_str() {
            "" => None,
            text => Some(text.parse().map_err(|_| {
                Trouble::new(format!("cluster.http has `{text}`, which is not an address with a port"))
                    .remedy("for example: cluster.http = \"10.0.0.1:8080\"")
            })?),
        };
        Ok(Some(Place {
            nats: nats::Place { url: cluster.nats.clone(), authority, name },
            role: cluster.role,
            slot: Slot(cluster.slot),
            secret,
            http,
        }))
    }

    /// Signs links to files: each node makes links, and the home checks them.
    pub(crate) fn files_secret(&self) -> [u8; 32] {
        self.secret.derived("kith links to files")
    }

    /// Of the credentials for relays, unless the settings name another one.
    pub(crate) fn relays_secret(&self) -> [u8; 32] {
        self.secret.derived("kith credentials for relays")
    }

    /// Proves that a stream comes from a node. A front adds it to no request of a client, so no client can begin a stream at the home.
    pub(crate) fn streams_secret(&self) -> Arc<str> {
        URL_SAFE_NO_PAD.encode(self.secret.derived("kith streams between nodes")).into()
    }

    /// Of questions of fronts about users of other servers and components.
    pub(crate) fn other_servers_secret(&self) -> Arc<str> {
        URL_SAFE_NO_PAD.encode(self.secret.derived("kith users of other servers")).into()
    }

    /// Proves that a request comes from a node of the cluster.
    pub(crate) fn http_secret(&self) -> Arc<str> {
        URL_SAFE_NO_PAD.encode(self.secret.derived("kith requests between nodes")).into()
    }
}

/// The secret of the cluster.
struct Secret(hmac::Key);

impl Secret {
    fn of(config: &Config) -> Outcome<Secret> {
        let path = Path::new(&config.cluster.secret_file);
        let unusable = |why: String| {
            Trouble::new(format!("cannot use cluster.secret_file, {}", path.display()))
                .because(why)
                .remedy("name a file with the same 32 random bytes or more on every node: openssl rand -hex 32 > FILE")
        };
        let secret = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
        let secret = secret.trim_ascii();
        if secret.len() < LEAST_SECRET {
            return Err(unusable(format!("it has fewer than {LEAST_SECRET} bytes")));
        }
        Ok(Secret(hmac::Key::new(hmac::HMAC_SHA256, secret)))
    }

    /// A key for one purpose, the same on all nodes.
    fn derived(&self, purpose: &str) -> [u8; 32] {
        let tag = hmac::sign(&self.0, purpose.as_bytes());
        std::array::from_fn(|at| tag.as_ref()[at])
    }

    /// Of the operator's commands. A front does not send it, so it cannot be made to give the command for a client.
    fn for_commands(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.derived("kith commands of the operator"))
    }
}

/// Shows that two nodes have the same secret for relays, and not the secret.
pub(crate) fn proof_of(secret: &[u8]) -> Box<str> {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), b"kith proof of the secret for relays");
    URL_SAFE_NO_PAD.encode(tag).into()
}

/// The home's side, before its node exists.
pub(crate) struct Prepared {
    place: Place,
    links: Arc<Links>,
    bus: nats::Bus,
    /// None: the home is on SQLite.
    keeper: Option<Arc<Keeper>>,
}

/// The home's side of a running node.
pub(crate) struct Running {
    home: Arc<Home>,
    bus: nats::Running,
    keeper: Option<Arc<Keeper>>,
}

impl Prepared {
    /// `data`: this home's alone, by its lock.
    pub(crate) fn new(place: Place, data: &Path, keeper: Option<Arc<Keeper>>) -> Outcome<Prepared> {
        let term = match &keeper {
            Some(keeper) => keeper.term(),
            None => next_term(data).map_err(|error| {
                Trouble::new(format!("cannot write {}", data.join(TERM).display())).because(error)
            })?,
        };
        let bus = nats::Bus::new()
            .map_err(|error| Trouble::new("cannot start the node's threads").because(error))?;
        let wake = bus.wake();
        let links = Links::new(place.slot, term, move || wake.wake());
        Ok(Prepared { place, links, bus, keeper })
    }

    pub(crate) fn outbox(&self, local: impl Outbox) -> HomeOutbox<impl Outbox> {
        HomeOutbox::new(local, Arc::clone(&self.links))
    }

    /// Requests with the secret come from a front, with the address of its client. `xmpp`: of this home's gateway.
    pub(crate) fn admit_fronts(&self, router: Router, xmpp: Mailboxes<Mail>) -> Router {
        let router = router
            .merge(hand_over::route(self.place.secret.for_commands(), self.keeper.clone()))
            .merge(other_servers::routes(self.place.other_servers_secret(), xmpp));
        router.layer(middleware::from_fn_with_state(self.place.http_secret(), admit))
    }

    /// `http`: where this node listens. `proof`: see [`proof_of`].
    pub(crate) fn begin(self, node: Arc<Node>, http: SocketAddr, proof: Box<str>) -> Outcome<Running> {
        let http = match self.place.http {
            Some(given) if given.port() == 0 => SocketAddr::new(given.ip(), http.port()),
            given => given.unwrap_or(http),
        };
        if http.ip().is_unspecified() {
            return Err(Trouble::new(format!("fronts cannot reach a home at {http}"))
                .remedy("set cluster.http to an address of this machine that fronts reach"));
        }
        let unstarted = |error| Trouble::new("cannot start the node's threads").because(error);
        let (later, works) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let work = move || works.into_iter().for_each(|work| work());
        thread::Builder::new().name("links".into()).spawn(work).map_err(unstarted)?;
        let home = Home::new(self.links, node, http.to_string())
            .with_relays(proof)
            .with_clock(crate::now)
            .in_background(move |work| {
                // If that thread is gone, it is better late than never.
                if let Err(mpsc::SendError(work)) = later.send(work) {
                    work();
                }
            });
        let home = match self.keeper.clone() {
            Some(keeper) => home.on_successor(move |term| keeper.successor(term)),
            None => {
                let is_told = AtomicBool::new(false);
                home.on_successor(move |term| {
                    if !is_told.swap(true, Ordering::Relaxed) {
                        tracing::error!(
                            term = term.0,
                            "fronts follow another home: a home on SQLite must be the only one"
                        );
                    }
                })
            }
        };
        let home = Arc::new(home);
        let bus = nats::Running::home(self.place.nats, Arc::clone(&home), self.bus, steady_now)
            .map_err(unstarted)?;
        Ok(Running { home, bus, keeper: self.keeper })
    }
}

impl Running {
    pub(crate) fn figures(&self) -> Source {
        let links = Arc::clone(self.home.links());
        let lease = self.keeper.as_ref().map(Keeper::figures);
        Box::new(move || {
            let mut samples = of_counters(links.counters());
            samples.extend(lease.iter().flat_map(|lease| lease()));
            let status = links.status();
            samples.push(Sample::gauge("kith_cluster_links", "Links with fronts.", status.len() as u64));
            for link in &status {
                let figure = Sample::gauge(
                    "kith_cluster_link_queued",
                    "Copies of events that wait for a front.",
                    link.queued as u64,
                );
                samples.push(figure.labelled("front", link.name.clone()));
            }
            samples
        })
    }

    pub(crate) fn status(&self) -> StatusOf {
        let home = Arc::clone(&self.home);
        let keeper = self.keeper.clone();
        Box::new(move || {
            let links = home.links().status();
            let links = links.iter().map(|link| {
                json!({
                    "front": link.name,
                    "number": link.number,
                    "queued": link.queued,
                    "waiting_bytes": link.waiting_bytes,
                })
            });
            json!({
                "role": "home",
                "term": home.links().term().0,
                "slot": home.slot().0,
                "http": home.http(),
                "links": links.collect::<Vec<_>>(),
                "lease": keeper.as_ref().map(|keeper| keeper.status()),
                "counters": counters(home.links().counters()),
            })
        })
    }

    /// Fronts send nothing new from now on. Returns when they have the answers to all that they have sent, or after a short time.
    pub(crate) fn leave(&self) {
        self.home.leave();
        wait_until(LEAVE, || self.home.has_everything());
    }

    /// The domain has answered everything: the links end when their fronts have the answers, and the sessions stay with the fronts.
    /// Returns then, or after a short time.
    pub(crate) fn end_links(&self) {
        self.home.end_links();
        if !wait_until(LEAVE, || self.home.links().status().is_empty()) {
            tracing::warn!("a front has not taken all its answers; its sessions are behind");
        }
    }

    /// The role stays here after all: fronts join again.
    pub(crate) fn stay(&self) {
        self.home.stay(steady_now());
    }

    /// Whether this is a home on PostgreSQL.
    pub(crate) fn has_lease(&self) -> bool {
        self.keeper.is_some()
    }

    pub(crate) fn stop(self) {
        self.bus.stop();
    }
}

/// A front has so much time to send its last commands, and to take its last answers.
const LEAVE: Duration = Duration::from_secs(2);

fn wait_until(limit: Duration, is_so: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < limit {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    is_so()
}

fn counters(counters: &Counters) -> serde_json::Value {
    counters
        .all()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The samples of a home and of a front.
fn of_counters(counters: &Counters) -> Vec<Sample> {
    let help = |name| match name {
        "envelopes_sent" => "Envelopes sent on the bus.",
        "envelopes_received" => "Envelopes received from the bus.",
        "bytes_sent" => "Bytes of envelopes sent.",
        "bytes_received" => "Bytes of envelopes received.",
        "envelopes_unreadable" => "Messages on the bus that are no envelope, or of another version.",
        "envelopes_old" => {
            "Envelopes of an earlier link, an earlier home or another slot, which were ignored."
        }
        "items_unreadable" => "Items of envelopes that could not be read.",
        "links_begun" => "Links between this node and another that began.",
        "links_broken" => "Links that ended by a gap or by silence.",
        "sessions_adopted" => "Sessions that fronts brought to a home after the end of a link.",
        "requests_refused" => "Requests that a front refused, because the home was away.",
        "sessions_missed" => "Sessions that are behind, because the queue for their front was full.",
        _ => "",
    };
    counters
        .all()
        .into_iter()
        .map(|(name, value)| Sample::counter(format!("kith_cluster_{name}"), help(name), value))
        .collect()
}

/// The time for links: it never jumps, so that a change of the clock ends no link.
fn steady_now() -> Timestamp {
    static START: LazyLock<(Instant, Timestamp)> = LazyLock::new(|| (Instant::now(), crate::now()));
    let (begin, at) = *START;
    Timestamp(at.0 + u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX))
}

/// The number of this start of the home: greater than those before, also if the clock went back.
fn next_term(data: &Path) -> std::io::Result<Term> {
    let path = data.join(TERM);
    let last = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let term = crate::now().0.max(last.unwrap_or_default() + 1);
    std::fs::write(&path, format!("{term}\n"))?;
    Ok(Term(term))
}

async fn admit(State(secret): State<Arc<str>>, mut request: Request, next: Next) -> Response {
    let given = request.headers_mut().remove(SECRET_FIELD);
    let client = request.headers_mut().remove(CLIENT_FIELD);
    let servers = request.headers_mut().remove(SERVERS_FIELD);
    if let Some(given) = given {
        if !web::is_same(given.as_bytes(), secret.as_bytes()) {
            return (StatusCode::FORBIDDEN, "not a node of this cluster\n").into_response();
        }
        let address: Option<IpAddr> = client.and_then(|client| client.to_str().ok()?.parse().ok());
        request.extensions_mut().insert(web::Client { address });
        if let Some(servers) = servers.and_then(|servers| serde_json::from_slice(servers.as_bytes()).ok()) {
            request.extensions_mut().insert(web::OfferedServers(servers));
        }
    }
    next.run(request).await
}

/// The route of `kith cluster status`; its access is that of `/metrics`.
pub(crate) fn status_route(access: MetricsAccess, status: Arc<OnceLock<StatusOf>>) -> Router {
    Router::new().route(STATUS_PATH, get(state)).with_state((access, status))
}

async fn state(
    State((access, status)): State<(MetricsAccess, Arc<OnceLock<StatusOf>>)>,
    headers: axum::http::HeaderMap,
) -> Response {
    match (access.admits(&headers), status.get()) {
        (false, _) => (StatusCode::UNAUTHORIZED, "needs the token of metrics_token_file\n").into_response(),
        (true, Some(status)) => axum::Json(status()).into_response(),
        (true, None) => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::extract::Extension;
    use tower::ServiceExt;

    fn ask(secret: Option<&str>) -> (StatusCode, String) {
        let who = async |client: Option<Extension<web::Client>>,
                         servers: Option<Extension<web::OfferedServers>>,
                         headers: axum::http::HeaderMap| {
            let address = client.and_then(|client| client.0.address);
            let has_fields =
                [SECRET_FIELD, CLIENT_FIELD, SERVERS_FIELD].iter().any(|name| headers.contains_key(*name));
            format!("{address:?} {} {has_fields}", servers.is_some())
        };
        let router = Router::new()
            .route("/", get(who))
            .layer(middleware::from_fn_with_state(Arc::<str>::from("right"), admit));
        let mut request = Request::get("/")
            .header(CLIENT_FIELD, "192.0.2.7")
            .header(SERVERS_FIELD, r#"{"stun":[],"turn":[]}"#);
        if let Some(secret) = secret {
            request = request.header(SECRET_FIELD, secret);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let response =
                router.oneshot(request.body(Body::empty()).expect("a request")).await.expect("an answer");
            let status = response.status();
            let body = axum::body::to_bytes(response.into_body(), 1_000).await.expect("a body");
            (status, String::from_utf8(body.to_vec()).expect("text"))
        })
    }

    #[test]
    fn only_a_node_of_the_cluster_names_the_address_of_a_client_and_servers_for_calls() {
        assert_eq!(ask(Some("right")), (StatusCode::OK, "Some(192.0.2.7) true false".into()));
        assert_eq!(ask(None), (StatusCode::OK, "None false false".into()));
        assert_eq!(ask(Some("wrong")).0, StatusCode::FORBIDDEN);
    }

    #[test]
    fn each_start_of_a_home_has_a_greater_term_even_if_the_clock_goes_back() {
        let data = std::env::temp_dir().join(format!("kith-term-{}", std::process::id()));
        std::fs::create_dir_all(&data).expect("a directory");
        let first = next_term(&data).expect("written");
        std::fs::write(data.join(TERM), "9999999999999\n").expect("written");
        assert_eq!(next_term(&data).expect("written"), Term(10_000_000_000_000));
        assert!(first < Term(9_999_999_999_999));
        std::fs::remove_dir_all(&data).expect("removed");
    }
}
