//! The death of one process of the cluster, and what follows: NATS, PostgreSQL and a home on SQLite are started again, a home on
//! PostgreSQL is replaced by the one that stands by, and a front stays dead.

use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use load::report::{Measure, Run};
use load::{Fault, Part};

use super::{Nodes, StoreKind, numbered};

/// A service manager, or a person, needs this time for a new start.
const AWAY: Duration = Duration::from_secs(2);
/// A new home that does not serve after this time is not waited for.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(100);

pub(in super::super) struct Death {
    nodes: Arc<Nodes>,
    part: Part,
    stop: Arc<AtomicBool>,
    after: Mutex<Option<JoinHandle<After>>>,
}

/// What followed the death of a home. Times count from it.
#[derive(Debug, Default)]
struct After {
    /// Until the new home has the lease; on PostgreSQL.
    lease: Option<Duration>,
    /// Until it answers requests.
    serving: Option<Duration>,
    /// Until all fronts have a link, and no session waits for its adoption.
    adoption: Option<Duration>,
    adopted: Option<f64>,
    /// The process could not be started again.
    trouble: Option<String>,
}

impl fmt::Debug for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Death of {}", self.part.name())
    }
}

impl Fault for Death {
    fn strike(&self) {
        let died = self.kill();
        let (nodes, part, stop) = (Arc::clone(&self.nodes), self.part, Arc::clone(&self.stop));
        let after = thread::Builder::new().name("after the death".into()).spawn(move || {
            let watch = Watch { nodes: &nodes, died, stop: &stop };
            match part {
                Part::Front => After::default(),
                Part::Home => watch.new_home(),
                Part::Nats | Part::Postgres => watch.start_again(part),
            }
        });
        *self.after.lock().unwrap_or_else(PoisonError::into_inner) = after.ok();
    }
}

impl Death {
    pub(super) fn new(nodes: Arc<Nodes>, part: Part, stop: &Arc<AtomicBool>) -> Arc<Death> {
        Arc::new(Death { nodes, part, stop: Arc::clone(stop), after: Mutex::default() })
    }

    /// The index of the front that dies.
    pub(in super::super) fn front(&self) -> Option<usize> {
        (self.part == Part::Front).then_some(self.nodes.fronts as usize - 1)
    }

    fn kill(&self) -> Instant {
        let mut parts = self.nodes.lock();
        let processes = &self.nodes.processes;
        match self.part {
            Part::Front => {
                let last = self.nodes.fronts as usize - 1;
                processes.end(&numbered(Part::Front, last));
                parts.fronts.iter_mut().nth(last).into_iter().for_each(super::NodeProcess::kill);
            }
            Part::Home => {
                processes.end(&numbered(Part::Home, 0));
                parts.homes.first_mut().into_iter().for_each(super::NodeProcess::kill);
            }
            Part::Nats => {
                processes.end(&numbered(Part::Nats, 0));
                parts.nats.first_mut().into_iter().for_each(super::Nats::kill);
            }
            Part::Postgres => {
                processes.end("postgres");
                parts.postgres.iter_mut().for_each(super::Postgres::kill);
            }
        }
        Instant::now()
    }

    /// Adds the figures of the new home. Waits for them.
    pub(in super::super) fn note(&self, run: &mut Run) {
        let after = self.after.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(after) = after.and_then(|after| after.join().ok()) else { return };
        run.lines.extend(after.trouble.map(|why| format!("After the death: {why}")));
        if self.part != Part::Home {
            return;
        }
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        let count = after.adopted.map(|count| count as u64);
        run.measures.extend([
            Measure::new(
                "kill.lease_seconds",
                "death: until the new home has the lease",
                "s",
                seconds(after.lease),
            ),
            Measure::new(
                "kill.serving_seconds",
                "death: until the new home serves",
                "s",
                seconds(after.serving),
            ),
            Measure::new(
                "kill.adoption_seconds",
                "death: until all sessions are adopted",
                "s",
                seconds(after.adoption),
            ),
            Measure::new("kill.adopted", "death: adopted sessions", "", count),
        ]);
    }
}

struct Watch<'a> {
    nodes: &'a Nodes,
    died: Instant,
    stop: &'a AtomicBool,
}

impl Watch<'_> {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.died.elapsed() > PATIENCE
    }

    fn pause(&self, time: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < time && !self.is_over() {
            thread::sleep(LOOK.min(time));
        }
    }

    fn start_again(&self, part: Part) -> After {
        self.pause(AWAY);
        let mut parts = self.nodes.lock();
        let (name, started) = match part {
            Part::Nats => (numbered(part, 0), parts.nats.first_mut().map(super::Nats::start)),
            _ => (part.name().to_owned(), parts.postgres.as_mut().map(super::Postgres::start)),
        };
        match started {
            Some(Ok(pid)) => self.nodes.processes.begin(&name, part, pid),
            Some(Err(trouble)) => return After { trouble: Some(trouble.to_string()), ..After::default() },
            // The run is over.
            None => {}
        }
        After::default()
    }

    fn new_home(&self) -> After {
        let mut after = After::default();
        if self.nodes.store == StoreKind::Sqlite {
            self.pause(AWAY);
            let mut parts = self.nodes.lock();
            if parts.homes.is_empty() {
                return after;
            }
            match self.nodes.home.start() {
                Ok(home) => {
                    self.nodes.processes.begin(&numbered(Part::Home, 0), Part::Home, home.running.pid);
                    parts.homes[0] = home;
                }
                Err(trouble) => return After { trouble: Some(trouble.to_string()), ..after },
            }
        }
        let mut settled = None;
        while after.adoption.is_none() && !self.is_over() {
            let (http, has_lease) = {
                let parts = self.nodes.lock();
                // The one that stands by, else the one that was started again.
                let Some(home) = parts.homes.last() else { return after };
                let looks = self.nodes.store == StoreKind::Postgres && after.lease.is_none();
                (home.running.http, looks && home.log().contains("this node is the home"))
            };
            if has_lease {
                after.lease = Some(self.died.elapsed());
            }
            self.look(http, &mut after, &mut settled);
            thread::sleep(LOOK / if after.serving.is_none() { 4 } else { 1 });
        }
        after
    }

    /// `settled`: when all fronts had a link, and how many sessions they had brought. It counts if the next look finds nothing
    /// new, because a front brings its sessions a moment after its link begins.
    fn look(&self, http: SocketAddr, after: &mut After, settled: &mut Option<(Duration, Option<f64>)>) {
        let names =
            ["kith_cluster_links", "kith_chat_sessions_adopting", "kith_cluster_sessions_adopted_total"];
        // A home that stands by has none of them.
        let Some([Some(links), Some(adopting), adopted]) = load::metrics(http, None, names) else { return };
        after.serving.get_or_insert_with(|| self.died.elapsed());
        after.adopted = adopted;
        if links < f64::from(self.nodes.fronts) || adopting > 0.0 {
            *settled = None;
            return;
        }
        match *settled {
            Some((since, count)) if count == adopted => after.adoption = Some(since),
            _ => *settled = Some((self.died.elapsed(), adopted)),
        }
    }
}
