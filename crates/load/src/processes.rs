//! The processes of a cluster that a run has started: CPU and memory of each, also after a process has died.

use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::probe;

/// The part of a process in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    Home,
    Front,
    Nats,
    Postgres,
}

impl Part {
    pub const ALL: [Part; 4] = [Part::Home, Part::Front, Part::Nats, Part::Postgres];

    pub fn name(self) -> &'static str {
        match self {
            Part::Home => "home",
            Part::Front => "front",
            Part::Nats => "nats",
            Part::Postgres => "postgres",
        }
    }
}

/// CPU since the start, and memory now. Of a dead process, its CPU until its death.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Usage {
    pub cpu_seconds: f64,
    pub resident_bytes: u64,
    /// The part of it without file pages. PostgreSQL: unknown, 0.
    pub anonymous_bytes: u64,
}

impl Usage {
    fn plus(self, other: Usage) -> Usage {
        Usage {
            cpu_seconds: self.cpu_seconds + other.cpu_seconds,
            resident_bytes: self.resident_bytes + other.resident_bytes,
            anonymous_bytes: self.anonymous_bytes + other.anonymous_bytes,
        }
    }
}

/// The sums of the processes of each part, in the order of [`Part::ALL`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usages([Usage; 4]);

impl Usages {
    pub fn of(&self, part: Part) -> Usage {
        self.0[part as usize]
    }

    /// Without PostgreSQL, because the figures of a single node have none of a database either, except its own.
    pub fn server(&self) -> Usage {
        self.of(Part::Home).plus(self.of(Part::Front)).plus(self.of(Part::Nats))
    }

    pub fn all(&self) -> Usage {
        self.server().plus(self.of(Part::Postgres))
    }

    fn add(&mut self, part: Part, usage: Usage) {
        let sum = &mut self.0[part as usize];
        *sum = sum.plus(usage);
    }
}

/// Shared by the threads that start, kill and measure the processes.
#[derive(Debug, Default)]
pub struct Processes(Mutex<Vec<Process>>);

#[derive(Debug)]
struct Process {
    name: String,
    part: Part,
    /// None: it is dead.
    pid: Option<u32>,
    /// CPU seconds of the dead processes of this name.
    earlier_cpu_seconds: f64,
    last: Usage,
    most_resident_bytes: u64,
}

/// One process at the end of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Figures {
    pub(crate) name: String,
    pub(crate) part: Part,
    /// Since its start. A process that was started again has the sum.
    pub(crate) cpu_seconds: f64,
    /// The most that was seen.
    pub(crate) resident_bytes: u64,
}

impl PartialEq for Processes {
    fn eq(&self, other: &Processes) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Processes {}

impl Processes {
    /// A process runs, for the first time or again.
    pub fn begin(&self, name: &str, part: Part, pid: u32) {
        let mut all = self.lock();
        match all.iter_mut().find(|process| process.name == name) {
            Some(process) => process.pid = Some(pid),
            None => all.push(Process {
                name: name.to_owned(),
                part,
                pid: Some(pid),
                earlier_cpu_seconds: 0.0,
                last: Usage::default(),
                most_resident_bytes: 0,
            }),
        }
    }

    /// Call it before a process is killed, because nothing can be read of a dead one.
    pub fn end(&self, name: &str) {
        let mut all = self.lock();
        let Some(process) = all.iter_mut().find(|process| process.name == name) else { return };
        process.look();
        process.pid = None;
        process.earlier_cpu_seconds += process.last.cpu_seconds;
        process.last = Usage::default();
    }

    pub(crate) fn look(&self) -> Usages {
        let mut sums = Usages::default();
        for process in self.lock().iter_mut() {
            process.look();
            let cpu_seconds = process.earlier_cpu_seconds + process.last.cpu_seconds;
            sums.add(process.part, Usage { cpu_seconds, ..process.last });
        }
        sums
    }

    pub(crate) fn each(&self) -> Vec<Figures> {
        let figures = |process: &mut Process| {
            process.look();
            Figures {
                name: process.name.clone(),
                part: process.part,
                cpu_seconds: process.earlier_cpu_seconds + process.last.cpu_seconds,
                resident_bytes: process.most_resident_bytes,
            }
        };
        self.lock().iter_mut().map(figures).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Process>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    /// Keeps the last figures if nothing can be read.
    fn look(&mut self) {
        let Some(pid) = self.pid else { return };
        let now = match self.part {
            Part::Postgres => of_family(pid),
            Part::Home | Part::Front | Part::Nats => of_process(pid),
        };
        self.last = now.unwrap_or(self.last);
        self.most_resident_bytes = self.most_resident_bytes.max(self.last.resident_bytes);
    }
}

fn of_process(pid: u32) -> Option<Usage> {
    Some(Usage {
        cpu_seconds: probe::cpu_seconds(&format!("/proc/{pid}/stat"))?,
        resident_bytes: probe::of_status(pid, "VmRSS:")?,
        anonymous_bytes: probe::of_status(pid, "RssAnon:")?,
    })
}

/// A process with its children, which share memory: each page counts once (`Pss`, proc_pid_smaps(5)). The CPU of children
/// that have ended is that of their parent.
fn of_family(pid: u32) -> Option<Usage> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    let children = children.split_whitespace().filter_map(|child| child.parse::<u32>().ok());
    let of_one = |pid: u32, cpu_seconds: Option<f64>| {
        let shares = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok();
        let resident_bytes = shares.and_then(|shares| probe::kilobytes(&shares, "Pss:"));
        Some(Usage {
            cpu_seconds: cpu_seconds?,
            resident_bytes: resident_bytes.unwrap_or(0),
            anonymous_bytes: 0,
        })
    };
    let own = of_one(pid, probe::cpu_seconds_with_children(&format!("/proc/{pid}/stat")))?;
    // A child may end meanwhile.
    let of_child = |child: u32| of_one(child, probe::cpu_seconds(&format!("/proc/{child}/stat")));
    Some(children.filter_map(of_child).fold(own, Usage::plus))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_cpu_of_a_dead_process_stays_in_the_sums() {
        let processes = Processes::default();
        processes.begin("front-1", Part::Front, std::process::id());
        let before = processes.look();
        assert!(before.of(Part::Front).resident_bytes > 500_000, "{before:?}");
        assert_eq!(before.of(Part::Home), Usage::default());
        processes.end("front-1");
        let dead = processes.look().of(Part::Front);
        assert!(
            dead.cpu_seconds >= before.of(Part::Front).cpu_seconds && dead.resident_bytes == 0,
            "{dead:?}"
        );
        // The new process of the name adds its own.
        processes.begin("front-1", Part::Front, std::process::id());
        let again = processes.look().of(Part::Front);
        assert!(again.cpu_seconds >= 2.0 * dead.cpu_seconds && again.resident_bytes > 500_000, "{again:?}");
        let each = processes.each();
        assert_eq!((each.len(), &*each[0].name), (1, "front-1"));
        assert!(each[0].resident_bytes >= before.of(Part::Front).resident_bytes, "{each:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn postgresql_is_a_process_with_its_children_and_stands_apart() {
        let processes = Processes::default();
        processes.begin("nats-1", Part::Nats, std::process::id());
        processes.begin("postgres", Part::Postgres, std::process::id());
        let sums = processes.look();
        assert!(sums.of(Part::Postgres).resident_bytes > 500_000, "{sums:?}");
        assert_eq!(sums.server(), sums.of(Part::Nats));
        assert_eq!(sums.all(), sums.server().plus(sums.of(Part::Postgres)));
    }

    #[test]
    fn a_process_that_cannot_be_read_counts_nothing() {
        let processes = Processes::default();
        processes.begin("home-1", Part::Home, u32::MAX);
        assert_eq!(processes.look().all(), Usage::default());
    }
}
