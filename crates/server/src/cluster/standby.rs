//! A home that stands by: it has no domain yet, answers health checks, and waits for the lease.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGUSR2};
use signal_hook::iterator::Signals;
use store::{Clock, Lease, LeaseState, Take, name_of_holder};

use super::lease::{self, Keeper, VALID};
use super::status_server::{Answer, Request, StatusServer};
use super::{Place, STATUS_PATH, shared_files, steady_now};
use crate::config::{Config, Loaded};
use crate::data_lock::DataLock;
use crate::metrics::{Format, Metrics};
use crate::run_file::RunFile;
use crate::serve;
use crate::status::MetricsAccess;
use crate::take_over::service;
use crate::trouble::{Outcome, Trouble};

/// Between two looks at the lease. A look takes no lock.
const LOOK: Duration = Duration::from_millis(250);
/// After an outage of PostgreSQL the home has so much time to renew its lease, which may have ended meanwhile.
const PATIENCE: Duration = Duration::from_secs(3);
/// This process is the home from now on.
pub(crate) struct Turn {
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) lock: DataLock,
    /// Where the standby has listened, so that the home has the same address.
    pub(crate) http: Option<SocketAddr>,
}

/// Waits until this process has the lease. None: a signal has ended it before.
pub(crate) fn wait(
    loaded: &Loaded,
    url: &str,
    place: &Place,
    signals: &mut Signals,
) -> Outcome<Option<Turn>> {
    let config = &loaded.config;
    let lock = DataLock::acquire(&config.data, crate::now())?;
    let number = u64::from_be_bytes(std::array::from_fn({
        let random = serve::random();
        move |at| random[at]
    }));
    let lease = Lease::connect(url, place.slot, &place.nats.name, number)
        .map_err(crate::data_dir::unusable_server)?;
    shared_files::check(&lease, config)?;
    let lease = Arc::new(lease);
    let mut standby: Option<Standby> = None;
    let mut is_away = false;
    let mut patient_until = 0;
    let mut overlong = Overlong::default();
    loop {
        let asked = steady_now().0;
        let take = match is_away || asked < patient_until {
            true => lease.state(Clock::OfDatabase).map(|state| Take::Held { left_ms: state.left_ms }),
            false if overlong.lasts(VALID, asked) => lease.take_overlong(Clock::OfDatabase, VALID, LONGEST),
            false => lease.take(Clock::OfDatabase, VALID),
        };
        match take {
            Ok(Take::Taken { term }) => {
                tracing::info!(term, "this node is the home");
                service::says("the home");
                let keeper = Keeper::begin(lease, term, asked, end_this_process)?;
                // Its listener closes here.
                let http = standby.map(|standby| standby.http);
                return Ok(Some(Turn { keeper, lock, http }));
            }
            Ok(Take::Held { left_ms }) => {
                overlong.see(left_ms, asked);
                if std::mem::replace(&mut is_away, false) {
                    // The answer may have come long after the question.
                    patient_until = steady_now().0 + PATIENCE.as_millis() as u64;
                }
                if standby.is_none() {
                    standby = Some(Standby::begin(config)?);
                    service::is_ready();
                }
                if let (Some(standby), Ok(state)) = (&standby, lease.state(Clock::OfDatabase)) {
                    standby.see(state);
                }
            }
            Err(error) if standby.is_none() => {
                return Err(Trouble::new("cannot ask for the lease of the home").because(error));
            }
            Err(error) => {
                if !std::mem::replace(&mut is_away, true) {
                    tracing::warn!(%error, "cannot ask for the lease of the home; trying again");
                }
            }
        }
        thread::sleep(LOOK);
        if signals.pending().any(|signal| ![SIGHUP, SIGUSR2].contains(&signal)) {
            tracing::info!("stopped");
            return Ok(None);
        }
    }
}

/// No home renews its lease for a longer time. Twice, because a renewal may come between two looks.
const LONGEST: Duration = Duration::from_millis(2 * VALID.as_millis() as u64);

/// A lease that lasts longer than it can: the clock of PostgreSQL was set back. A home that lives renews it within a second, and it is
/// as long as ever. If the home is dead, nobody would have the lease for the length of the jump.
#[derive(Default)]
struct Overlong {
    since: Option<u64>,
}

impl Overlong {
    /// `now`: by the steady clock, in milliseconds.
    fn see(&mut self, left_ms: u64, now: u64) {
        match left_ms > LONGEST.as_millis() as u64 {
            true => _ = self.since.get_or_insert(now),
            false => self.since = None,
        }
    }

    fn lasts(&self, time: Duration, now: u64) -> bool {
        self.since.is_some_and(|since| now.saturating_sub(since) >= time.as_millis() as u64)
    }
}

/// As a signal to stop: the main thread waits for one.
fn end_this_process() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM);
}

/// The address and the answers of a node that stands by.
struct Standby {
    http: SocketAddr,
    seen: Arc<Mutex<LeaseState>>,
    _server: StatusServer,
    _run_file: Option<RunFile>,
}

impl Standby {
    fn begin(config: &Config) -> Outcome<Standby> {
        let seen = Arc::<Mutex<LeaseState>>::default();
        let answers = Answers { access: MetricsAccess::of(config)?, seen: Arc::clone(&seen) };
        let server = StatusServer::begin(config, move |request| answers.answer(request))?;
        let http = server.http();
        let addresses = serve::Addresses { http, https: None, xmpp: None };
        let run_file = serve::write_run_file(addresses, config);
        Ok(Standby { http, seen, _server: server, _run_file: run_file })
    }

    fn see(&self, state: LeaseState) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.holder != state.holder {
            let home = name_of_holder(&state.holder);
            tracing::info!(home, term = state.term, "standing by: another node is the home");
            service::says(&format!("standing by for {home}"));
        }
        *seen = state;
    }
}

struct Answers {
    access: MetricsAccess,
    seen: Arc<Mutex<LeaseState>>,
}

impl Answers {
    fn answer(&self, request: &Request<'_>) -> Answer {
        let state = self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let home = name_of_holder(&state.holder);
        match request.path {
            "/healthz" if request.is_read() => Answer::text("200 OK", "standing by\n".into()),
            STATUS_PATH | "/metrics" if request.is_read() && !request.is_admitted(&self.access) => {
                Answer::without_token()
            }
            STATUS_PATH if request.is_read() => {
                Answer::json(&json!({ "role": "standby", "lease": lease::describe(&state) }))
            }
            "/metrics" if request.is_read() => {
                let standbys = state.homes.iter().filter(|holder| **holder != state.holder).count() as u64;
                let left = state.left_ms;
                let source = move || lease::figures(false, left, standbys);
                Answer::metrics(Metrics::new(vec![Box::new(source)]).write(Format::Text))
            }
            _ => Answer::text(
                "503 Service Unavailable",
                format!("this node stands by; the home is the node {home}\n"),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(answers: &Answers, line: &str) -> (&'static str, String) {
        let head = format!("{line} HTTP/1.1\r\nHost: a\r\n\r\n");
        let answer = answers.answer(&Request::of(&head));
        (answer.status, answer.body)
    }

    #[test]
    fn an_overlong_lease_counts_only_if_no_renewal_shortens_it() {
        let [usual, overlong] = [3_900, LONGEST.as_millis() as u64 + 1];
        let mut seen = Overlong::default();
        for (now, left_ms, lasts) in [
            (0, usual, false),
            (10_000, overlong, false),
            (13_999, overlong, false),
            (14_000, overlong, true),
            (14_250, usual, false),
            (30_000, overlong, false),
            (33_000, usual, false),
            (36_000, overlong, false),
            (39_999, overlong, false),
        ] {
            seen.see(left_ms, now);
            assert_eq!(seen.lasts(VALID, now), lasts, "{now}");
        }
    }

    #[test]
    fn a_standby_is_alive_but_not_ready_and_names_the_home() {
        let homes = vec!["01 kith a".to_owned(), "02 kith b".to_owned()];
        let state = LeaseState { holder: "01 kith a".into(), term: 7, left_ms: 3_000, homes };
        let answers = Answers { access: MetricsAccess::Everybody, seen: Arc::new(Mutex::new(state)) };
        assert_eq!(ask(&answers, "GET /healthz").0, "200 OK");
        assert_eq!(ask(&answers, "GET /readyz").0, "503 Service Unavailable");
        let (status, body) = ask(&answers, "GET /");
        assert!(status.starts_with("503") && body.contains("kith a"), "{body}");
        assert!(ask(&answers, "GET /cluster").1.contains("\"role\":\"standby\""));
        assert!(ask(&answers, "POST /cluster/hand-over").0.starts_with("503"), "it has nothing to give");
        let metrics = ask(&answers, "GET /metrics").1;
        assert!(metrics.contains("kith_cluster_home 0") && metrics.contains("kith_cluster_standbys 1"));
    }

    #[test]
    fn the_state_of_a_standby_needs_the_token() {
        let access = MetricsAccess::Token("a-token-of-the-operator".into());
        let answers = Answers { access, seen: Arc::default() };
        for path in ["/cluster", "/metrics"] {
            assert_eq!(ask(&answers, &format!("GET {path}")).0, "401 Unauthorized");
            let head = |token: &str| format!("GET {path} HTTP/1.1\r\nauthorization: Bearer {token}\r\n\r\n");
            let status = |token| answers.answer(&Request::of(&head(token))).status;
            assert_eq!(status("a-token-of-the-operator"), "200 OK");
            assert_eq!(status("guessed"), "401 Unauthorized");
        }
    }

    #[test]
    fn no_head_panics() {
        let answers = Answers { access: MetricsAccess::Everybody, seen: Arc::default() };
        for head in ["", "\r\n\r\n", "GET", ": :\r\n: ", "GET / \u{0}\r\nauthorization:\u{7f}\r\n"] {
            let _ = answers.answer(&Request::of(head));
        }
    }
}
