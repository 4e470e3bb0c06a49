//! `kith load stress --core`: members in the node's own process call its core, without sockets.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::members::{Members, Shared, Tally};
use super::report::{Phases, report};
use super::{DRAIN_PATIENCE, StressPlan};
use crate::conductor::{ANSWER_PATIENCE, BEAT, LoadError, Snapshot, own_cpu};
use crate::latency_stamp::Stamps;
use crate::observer::{Observer, Until};
use crate::outcome::Outcome;
use crate::probe::{Probe, Sample};
use crate::report::Run;
use crate::series::{Point, Series};
use crate::settings::Plan;
use crate::tally::{Tally as _, histogram};
use crate::token;
use crate::traffic::{Drain, Traffic};
use crate::worker::{Script, Share, add, read};

/// Most pending logins. A node admits a limited number at a time, and these members do not retry a refused login.
const COMING: u64 = 500;

/// A node's work after the bytes are read. Its binary implements it, because this crate does not know the server's
/// internals.
pub trait Core: Send + Sync {
    /// Begins the session of a member, which has this number from then on.
    fn sign_in(&self, member: u32, user: &str);
    fn send(&self, member: u32, id: String, to: &str, body: &str);
}

/// Receives events for the members. Called from any thread of the node; does not block.
pub trait EventSink: Send + Sync {
    fn deliver(&self, member: u32, event: CoreEvent);
}

/// The events of the web protocol.
#[derive(Debug)]
pub enum CoreEvent {
    Welcome,
    Acknowledged {
        id: Box<str>,
        conversation: Box<str>,
        seq: u64,
    },
    Message {
        id: Box<str>,
        conversation: Box<str>,
        seq: u64,
    },
    /// The name of its code.
    Refused(&'static str),
}

/// The node of a run.
#[derive(Debug, Clone)]
pub struct CoreOptions {
    /// Threads that play the members and run the node's decisions, as its event loops would.
    pub threads: usize,
    /// The name of the store, for people.
    pub store: &'static str,
    pub stop: Arc<AtomicBool>,
    pub observer: Arc<dyn Observer>,
}

/// Runs the plan on the core that `make` builds around the members' inboxes.
pub fn run(
    plan: &StressPlan,
    options: &CoreOptions,
    make: impl FnOnce(Arc<dyn EventSink>) -> Arc<dyn Core>,
) -> Result<Run, LoadError> {
    let mut stress = Stress::begin(plan, options, make)?;
    stress.sign_in()?;
    let begin = stress.snapshot();
    stress.each(|| Note::Fill);
    options.observer.stage("write", Until::Time(plan.time));
    stress.wait(|stress| stress.begun.elapsed() >= plan.time);
    let written = stress.snapshot();
    stress.traffic.over.store(true, Ordering::Relaxed);
    let drained_at = stress.drain();
    let end = stress.snapshot();
    let tally = stress.tally()?;
    let traffic = &stress.traffic;
    let outcome = Outcome {
        url: String::new(),
        transport: "calls",
        tls: false,
        probe: probe(),
        before: stress.before,
        interrupted: options.stop.load(Ordering::Relaxed),
        members: read(&stress.welcomed),
        sent: read(&traffic.sent),
        acknowledged: read(&traffic.acknowledged),
        refused: read(&traffic.refused),
        delivered: read(&traffic.delivered),
        login: histogram(),
        returns: histogram(),
        failed: 0,
        failures: Default::default(),
        tally,
        workers: options.threads,
        series: stress.series.take(),
    };
    Ok(report(plan, Some(options.store), outcome, &Phases { begin, written, end, drained_at }))
}

/// Node and members are one process.
fn probe() -> Probe {
    Probe::Process(std::process::id())
}

/// Messages to a thread of members.
enum Note {
    CoreEvent(u32, CoreEvent),
    Fill,
    Report(mpsc::Sender<Tally>),
    End,
}

struct Inboxes(Vec<mpsc::Sender<Note>>);

impl EventSink for Inboxes {
    fn deliver(&self, member: u32, event: CoreEvent) {
        // The threads are gone after the end.
        let _ = self.0[member as usize % self.0.len()].send(Note::CoreEvent(member, event));
    }
}

struct Stress<'a> {
    plan: &'a StressPlan,
    options: &'a CoreOptions,
    traffic: Arc<Traffic>,
    core: Arc<dyn Core>,
    inboxes: Arc<Inboxes>,
    welcomed: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
    begun: Instant,
    zero: Instant,
    before: Sample,
    series: Series,
}

impl<'a> Stress<'a> {
    fn begin(
        plan: &'a StressPlan,
        options: &'a CoreOptions,
        make: impl FnOnce(Arc<dyn EventSink>) -> Arc<dyn Core>,
    ) -> Result<Stress<'a>, LoadError> {
        let (shared, traffic) = (Arc::new(Shared::new(plan)), Arc::new(Traffic::default()));
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..options.threads).map(|_| mpsc::channel()).unzip();
        let inboxes = Arc::new(Inboxes(senders));
        let before = probe().look();
        let core = make(Arc::clone(&inboxes) as Arc<dyn EventSink>);
        let welcomed = Arc::new(AtomicU64::new(0));
        let (mut threads, stamps) = (Vec::new(), Stamps::new_run());
        for (number, inbox) in receivers.into_iter().enumerate() {
            let share = Share::new(number, options.threads, Arc::clone(&traffic), stamps);
            let members = Members::new(Arc::clone(&shared), share);
            let players = Players {
                members,
                core: Arc::clone(&core),
                shared: Arc::clone(&shared),
                welcomed: Arc::clone(&welcomed),
            };
            threads.push(
                thread::Builder::new().name(format!("members {number}")).spawn(|| players.play(inbox))?,
            );
        }
        let now = Instant::now();
        let series = Series::default();
        Ok(Stress {
            plan,
            options,
            traffic,
            core,
            inboxes,
            welcomed,
            threads,
            begun: now,
            zero: now,
            before,
            series,
        })
    }

    /// Returns when all members have their welcome, or nothing changes any more.
    fn sign_in(&mut self) -> Result<(), LoadError> {
        self.options.observer.stage("ramp", Until::Members(self.plan.members().into()));
        let until = |stress: &Stress<'_>, welcomed: u64| {
            read(&stress.welcomed) >= welcomed || stress.begun.elapsed() > ANSWER_PATIENCE
        };
        for member in 0..self.plan.members() {
            let before = u64::from(member).saturating_sub(COMING);
            self.wait(|stress| until(stress, before));
            if read(&self.welcomed) < before {
                break;
            }
            self.core.sign_in(member, &token::user(member));
        }
        self.wait(|stress| until(stress, self.plan.members().into()));
        if read(&self.welcomed) == 0 {
            return Err(LoadError::Login("no welcome".to_owned()));
        }
        Ok(())
    }

    /// Waits until a condition holds, or the run is stopped.
    fn wait(&mut self, until: impl Fn(&Stress<'_>) -> bool) {
        self.begun = Instant::now();
        while !until(self) && !self.options.stop.load(Ordering::Relaxed) {
            self.sample_if_due();
            thread::sleep(BEAT);
        }
    }

    fn drain(&mut self) -> Instant {
        self.options.observer.stage("drain", Until::ItIsDone);
        let mut drain = Drain::new(DRAIN_PATIENCE, Instant::now());
        loop {
            if let Some(last_change) = drain.over(&self.traffic, 0, Instant::now()) {
                return last_change;
            }
            self.sample_if_due();
            thread::sleep(BEAT);
        }
    }

    fn sample_if_due(&mut self) {
        let seconds = self.zero.elapsed().as_secs_f64();
        // There are no sockets, and the CPU is that of both sides.
        let look = || Point {
            kernel_bytes: None,
            generator_cpu_seconds: None,
            ..Point::look(seconds, probe(), read(&self.welcomed), &self.traffic)
        };
        self.series.look_if_due(seconds, &*self.options.observer, look);
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            at: Instant::now(),
            sample: probe().look(),
            active: read(&self.welcomed),
            generator_cpu_seconds: own_cpu(),
            // The members' share of the CPU is unknown.
            busiest_worker_seconds: 0.0,
        }
    }

    fn each(&self, note: impl Fn() -> Note) {
        for thread in &self.inboxes.0 {
            let _ = thread.send(note());
        }
    }

    fn tally(&self) -> Result<Tally, LoadError> {
        let (to, from) = mpsc::channel();
        self.each(|| Note::Report(to.clone()));
        let mut all = Tally::default();
        for _ in &self.inboxes.0 {
            all.add(&from.recv_timeout(ANSWER_PATIENCE).map_err(|_| LoadError::Worker)?);
        }
        Ok(all)
    }
}

impl Drop for Stress<'_> {
    fn drop(&mut self) {
        self.each(|| Note::End);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The members of one thread.
struct Players {
    members: Members,
    core: Arc<dyn Core>,
    shared: Arc<Shared>,
    welcomed: Arc<AtomicU64>,
}

impl Players {
    #[allow(clippy::needless_pass_by_value, reason = "the thread owns its inbox")]
    fn play(mut self, inbox: mpsc::Receiver<Note>) {
        for note in inbox {
            match note {
                Note::CoreEvent(member, event) => self.deliver(member, &event),
                Note::Fill => {
                    for member in self.members.window() {
                        self.write(member, Instant::now());
                    }
                }
                Note::Report(to) => drop(to.send(self.members.tally())),
                Note::End => return,
            }
        }
    }

    fn deliver(&mut self, member: u32, event: &CoreEvent) {
        let now = Instant::now();
        match event {
            CoreEvent::Welcome => add(&self.welcomed, 1),
            CoreEvent::Acknowledged { id, conversation, seq } => {
                let room = self.members.acknowledged(member, id, conversation, *seq, now);
                if room {
                    self.write(member, now);
                }
            }
            CoreEvent::Message { id, conversation, seq } => {
                self.members.received(member, id, conversation, *seq, now);
            }
            CoreEvent::Refused(code) => self.members.refused(code),
        }
    }

    fn write(&mut self, member: u32, due: Instant) {
        let (id, to) = self.members.compose(member, due);
        self.core.send(member, id, &token::user(to), &self.shared.body);
    }
}
