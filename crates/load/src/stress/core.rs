//! `kith load stress --core`: members in the node's own process call its core, without sockets.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::members::{Members, Shared, Tally, refused};
use super::report::{Phases, report};
use super::{DRAIN_PATIENCE, StressPlan};
use crate::conductor::{ANSWER_PATIENCE, BEAT, LoadError};
use crate::latency_stamp::Stamps;
use crate::observer::{Observer, Until};
use crate::probe::Probe;
use crate::report::Run;
use crate::run_state::Counts;
use crate::settings::Plan;
use crate::tally::Tally as _;
use crate::token;
use crate::watch::Watch;
use crate::worker::{Context, Script, WorkerReport, add};

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
    let mut say = |_: &str| {};
    let watch = Watch::new(Probe::Inside, options.threads, &options.stop, &options.observer, &mut say);
    let mut stress = Stress::begin(plan, watch, options.threads, make)?;
    stress.sign_in()?;
    let begin = stress.watch.snapshot();
    stress.each(|| Note::Fill);
    stress.watch.stage("write", Until::Time(plan.time));
    stress.watch.hold(plan.time);
    let written = stress.watch.snapshot();
    stress.watch.traffic.over.store(true, Ordering::Relaxed);
    let drained_at = stress.watch.drain(DRAIN_PATIENCE);
    let end = stress.watch.snapshot();
    let all = WorkerReport { tally: stress.tally()?, ..WorkerReport::default() };
    let members = stress.watch.counts.active();
    let outcome = stress.watch.outcome(members, all);
    Ok(report(plan, Some(options.store), None, outcome, &Phases { begin, written, end, drained_at }))
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
    watch: Watch<'a>,
    core: Arc<dyn Core>,
    inboxes: Arc<Inboxes>,
    threads: Vec<JoinHandle<()>>,
}

impl<'a> Stress<'a> {
    fn begin(
        plan: &'a StressPlan,
        watch: Watch<'a>,
        threads: usize,
        make: impl FnOnce(Arc<dyn EventSink>) -> Arc<dyn Core>,
    ) -> Result<Stress<'a>, LoadError> {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..threads).map(|_| mpsc::channel()).unzip();
        let inboxes = Arc::new(Inboxes(senders));
        let core = make(Arc::clone(&inboxes) as Arc<dyn EventSink>);
        let (shared, stamps) = (Arc::new(Shared::new(plan)), Stamps::new_run());
        let start = |(number, inbox)| {
            let traffic = Arc::clone(&watch.traffic);
            let players = Players {
                members: Members::default(),
                cx: Context::new(number, threads, traffic, stamps, Arc::clone(&shared)),
                core: Arc::clone(&core),
                counts: Arc::clone(&watch.counts),
            };
            thread::Builder::new().name(format!("members {number}")).spawn(|| players.play(inbox))
        };
        let threads = receivers.into_iter().enumerate().map(start).collect::<Result<Vec<_>, _>>()?;
        Ok(Stress { plan, watch, core, inboxes, threads })
    }

    /// Returns when all members have their welcome, or nothing changes any more.
    fn sign_in(&mut self) -> Result<(), LoadError> {
        let members = self.plan.members();
        self.watch.stage("ramp", Until::Members(members.into()));
        for member in 0..members {
            if !self.await_welcomes(u64::from(member).saturating_sub(COMING)) {
                break;
            }
            self.core.sign_in(member, &token::user(member));
        }
        self.await_welcomes(members.into());
        if self.watch.counts.active() == 0 {
            return Err(LoadError::Login("no welcome".to_owned()));
        }
        Ok(())
    }

    /// False: they do not come.
    fn await_welcomes(&mut self, welcomes: u64) -> bool {
        let begin = Instant::now();
        while self.watch.counts.active() < welcomes {
            if begin.elapsed() > ANSWER_PATIENCE || self.watch.stopped() {
                return false;
            }
            self.watch.sample_if_due(Instant::now());
            thread::sleep(BEAT);
        }
        true
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
    cx: Context<Members>,
    core: Arc<dyn Core>,
    counts: Arc<Counts>,
}

impl Players {
    #[allow(clippy::needless_pass_by_value, reason = "the thread owns its inbox")]
    fn play(mut self, inbox: mpsc::Receiver<Note>) {
        for note in inbox {
            self.cx.now = Instant::now();
            match note {
                Note::CoreEvent(member, event) => self.deliver(member, &event),
                Note::Fill => {
                    for member in Members::window(&self.cx) {
                        self.cx.now = Instant::now();
                        self.write(member);
                    }
                }
                Note::Report(to) => {
                    self.members.complete(&mut self.cx.tally);
                    let _ = to.send(self.cx.tally.clone());
                }
                Note::End => return,
            }
        }
    }

    fn deliver(&mut self, member: u32, event: &CoreEvent) {
        let Players { members, cx, counts, .. } = self;
        match event {
            CoreEvent::Welcome => add(&counts.welcomed, 1),
            CoreEvent::Acknowledged { id, conversation, seq } => {
                if members.acknowledged(member, id, conversation, *seq, cx) {
                    self.write(member);
                }
            }
            CoreEvent::Message { id, conversation, seq } => {
                members.received(member, id, conversation, *seq, cx);
            }
            CoreEvent::Refused(code) => refused(code, cx),
        }
    }

    fn write(&mut self, member: u32) {
        let (id, to) = self.members.compose(member, self.cx.now, &mut self.cx);
        self.core.send(member, id, &token::user(to), &self.cx.shared.body);
    }
}
