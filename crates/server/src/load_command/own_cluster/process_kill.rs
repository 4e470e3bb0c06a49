//! Kills one process of the cluster, and carries out what follows: NATS, PostgreSQL and a home on SQLite are started again, a home on
//! PostgreSQL is replaced by the one that stands by, and a front stays dead.

use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use load::report::{Measure, Run};
use load::{Fault, Part};

use super::super::cluster_plan::StoreKind;
use super::super::own_node::NodeProcess;
use super::program::{Nats, Postgres};
use super::{Nodes, numbered};

/// A service manager, or a person, needs this time for a new start.
const AWAY: Duration = Duration::from_secs(2);
/// A new home that does not serve after this time is not waited for.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(100);

pub(in super::super) struct ProcessKill {
    nodes: Arc<Nodes>,
    part: Part,
    stop: Arc<AtomicBool>,
    after: Mutex<Option<JoinHandle<After>>>,
}

/// The figures of the next home. Times count from the kill.
#[derive(Debug, Default)]
struct After {
    /// Until the new home has the lease; on PostgreSQL.
    lease: Option<Duration>,
    /// Until it answers requests.
    serving: Option<Duration>,
    /// Until all fronts have a link, and the home has adopted all sessions that they have brought.
    adoption: Option<Duration>,
    adopted: Option<f64>,
    /// The process could not be started again.
    trouble: Option<String>,
}

impl fmt::Debug for ProcessKill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kill of {}", self.part.name())
    }
}

impl Fault for ProcessKill {
    fn strike(&self) -> Instant {
        let brought_before = self.nodes.brought().unwrap_or(0.0);
        let killed = self.kill();
        let (nodes, part, stop) = (Arc::clone(&self.nodes), self.part, Arc::clone(&self.stop));
        let after = thread::Builder::new().name("after the kill".into()).spawn(move || {
            let watch = Watch { nodes: &nodes, killed, stop: &stop, brought_before };
            match part {
                Part::Front => After::default(),
                Part::Home => watch.new_home(),
                Part::Nats | Part::Postgres => watch.start_again(part),
            }
        });
        *self.after.lock().unwrap_or_else(PoisonError::into_inner) = after.ok();
        killed
    }
}

impl ProcessKill {
    pub(super) fn new(nodes: Arc<Nodes>, part: Part, stop: &Arc<AtomicBool>) -> Arc<ProcessKill> {
        Arc::new(ProcessKill { nodes, part, stop: Arc::clone(stop), after: Mutex::default() })
    }

    /// The index of the front that dies.
    pub(in super::super) fn front(&self) -> Option<usize> {
        (self.part == Part::Front).then_some(self.nodes.fronts as usize - 1)
    }

    /// Returns the time of the signal when the process is dead.
    fn kill(&self) -> Instant {
        let mut parts = self.nodes.lock();
        let front = self.nodes.fronts as usize - 1;
        let name = match self.part {
            Part::Front => numbered(self.part, front),
            Part::Home | Part::Nats => numbered(self.part, 0),
            Part::Postgres => self.part.name().to_owned(),
        };
        self.nodes.processes.end(&name);
        let killed = match self.part {
            Part::Front => parts.fronts.get_mut(front).map(NodeProcess::kill),
            Part::Home => parts.homes.first_mut().map(NodeProcess::kill),
            Part::Nats => parts.nats.first_mut().and_then(Nats::kill),
            Part::Postgres => parts.postgres.as_mut().and_then(Postgres::kill),
        };
        killed.unwrap_or_else(Instant::now)
    }

    /// Adds the figures of the new home. Waits for them.
    pub(in super::super) fn note(&self, run: &mut Run) {
        let after = self.after.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(after) = after.and_then(|after| after.join().ok()) else { return };
        run.lines.extend(after.trouble.map(|why| format!("After the outage: {why}")));
        if self.part != Part::Home {
            return;
        }
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        let count = after.adopted.map(|count| count as u64);
        run.measures.extend([
            Measure::new(
                "kill.lease_seconds",
                "outage: until the new home has the lease",
                "s",
                seconds(after.lease),
            ),
            Measure::new(
                "kill.serving_seconds",
                "outage: until the new home serves",
                "s",
                seconds(after.serving),
            ),
            Measure::new(
                "kill.adoption_seconds",
                "outage: until all sessions are adopted",
                "s",
                seconds(after.adoption),
            ),
            Measure::new("kill.adopted", "outage: adopted sessions", "", count),
        ]);
    }
}

struct Watch<'a> {
    nodes: &'a Nodes,
    killed: Instant,
    stop: &'a AtomicBool,
    /// The sessions that the fronts had brought to a home before the kill.
    brought_before: f64,
}

impl Nodes {
    /// The sessions that all fronts have brought to a home since their start. None: a front has no link.
    fn brought(&self) -> Option<f64> {
        let fronts: Vec<SocketAddr> = self.lock().fronts.iter().map(|front| front.running.http).collect();
        fronts.into_iter().map(brought_by).sum()
    }
}

fn brought_by(front: SocketAddr) -> Option<f64> {
    let [linked, brought] = load::metrics(
        front,
        None,
        ["kith_cluster_linked{slot=\"0\"}", "kith_cluster_sessions_adopted_total"],
    )?;
    brought.filter(|_| linked == Some(1.0))
}

impl Watch<'_> {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.killed.elapsed() > PATIENCE
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
            Part::Nats => (numbered(part, 0), parts.nats.first_mut().map(Nats::start)),
            _ => (part.name().to_owned(), parts.postgres.as_mut().map(Postgres::start)),
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
        while after.adoption.is_none() && !self.is_over() {
            let (http, has_lease) = {
                let parts = self.nodes.lock();
                // The one that stands by, else the one that was started again.
                let Some(home) = parts.homes.last() else { return after };
                let looks = self.nodes.store == StoreKind::Postgres && after.lease.is_none();
                (home.running.http, looks && home.log().contains("this node is the home"))
            };
            if has_lease {
                after.lease = Some(self.killed.elapsed());
            }
            self.look(http, &mut after);
            thread::sleep(LOOK / if after.serving.is_none() { 4 } else { 1 });
        }
        after
    }

    fn look(&self, http: SocketAddr, after: &mut After) {
        let names =
            ["kith_cluster_links", "kith_chat_sessions_adopting", "kith_cluster_sessions_adopted_total"];
        // A home that stands by has none of them.
        let Some([Some(links), Some(adopting), adopted]) = load::metrics(http, None, names) else { return };
        after.serving.get_or_insert_with(|| self.killed.elapsed());
        after.adopted = adopted;
        // A busy front brings its sessions some seconds after its link begins.
        if links >= f64::from(self.nodes.fronts)
            && adopting == 0.0
            && self.nodes.brought().map(|brought| brought - self.brought_before) == adopted
        {
            after.adoption = Some(self.killed.elapsed());
        }
    }
}
