//! Runs the members of a plan on the workers: connects them, samples the server, and collects the counts at the end.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use edge::{Edge, EdgeConfig, Mailboxes, mailboxes};

use crate::arrivals::Arrivals;
use crate::latency_stamp::Stamps;
use crate::observer::{Lines, Until};
use crate::options::RunOptions;
use crate::outcome::Outcome;
use crate::probe::{self, Probe, Sample};
use crate::run_state::{Counts, RunState};
use crate::series::{self, Point, Series};
use crate::target::Transport;
use crate::tls::{self, TlsError};
use crate::token::SiteTokens;
use crate::traffic::{Drain, Traffic};
use crate::worker::{Mail, Script, Share, Worker, WorkerReport, read};

/// The connections if the ramp is not measured.
pub(crate) const RAMP: Arrivals = Arrivals::Even(2000.0);
/// Interval at which the conductor wakes up and orders due actions.
pub(crate) const BEAT: Duration = Duration::from_millis(2);
/// Interval for actions with their own due times, if few workers need a wake-up for them. Latency counts from the due
/// time, so a late generator looks like a slow server. With a check every 2 ms, a message that took 1.2 ms seemed to
/// take 2.2.
pub(crate) const SHORT_BEAT: Duration = Duration::from_micros(250);
/// A worker that does not answer within this time is dead.
pub(crate) const ANSWER_PATIENCE: Duration = Duration::from_secs(10);
/// Most connections that wait for their welcome. More would overflow the server's backlog and be dropped there.
const IN_FLIGHT: u64 = 3000;
/// Most wake-ups per second of all workers together. Two workers order actions every 500 µs in time, even if the
/// previous order was late.
const RINGS: u32 = 8_000;
/// After this time without progress, missing members will not connect.
const GIVE_UP: Duration = Duration::from_secs(35);
/// A connection that begins later than this after its due time is late.
const LATE: Duration = Duration::from_millis(50);
/// The server may still be busy after the last welcome.
const AFTER_RAMP: Duration = Duration::from_millis(500);
/// The time to wait for the end of all sessions.
const LEAVE_TIME: Duration = Duration::from_millis(300);
/// Descriptors of the process that are not connections.
const OTHER_DESCRIPTORS: u64 = 200;

/// The reason why a plan could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{0}")]
    Plan(&'static str),
    #[error(transparent)]
    Trust(#[from] TlsError),
    #[error("cannot start the generator: {0}")]
    Start(#[from] std::io::Error),
    #[error("{0}")]
    Login(String),
    #[error("no visit can begin at {0}: {1}")]
    Page(String, String),
    #[error("a worker of the generator has ended; its error is above")]
    Worker,
}

/// The members of a run and their connection times.
pub(crate) struct Setup<'a> {
    pub(crate) options: &'a RunOptions,
    pub(crate) transport: Transport,
    pub(crate) members: u32,
    pub(crate) arrivals: Arrivals,
}

/// The server and the generator at one moment.
pub(crate) struct Snapshot {
    pub(crate) at: Instant,
    pub(crate) sample: Sample,
    pub(crate) active: u64,
    pub(crate) generator_cpu_seconds: Option<f64>,
    pub(crate) busiest_worker_seconds: f64,
}

impl Snapshot {
    /// Never 0.
    pub(crate) fn seconds_since(&self, before: &Snapshot) -> f64 {
        self.at.saturating_duration_since(before.at).as_secs_f64().max(0.001)
    }

    /// Seconds of the server's CPU.
    pub(crate) fn cpu_since(&self, before: &Snapshot) -> Option<f64> {
        self.sample.cpu_since(&before.sample)
    }

    /// The use of one core by the generator's busiest thread since `before`.
    pub(crate) fn busiest_percent_since(&self, before: &Snapshot) -> f64 {
        let used = self.busiest_worker_seconds - before.busiest_worker_seconds;
        used / self.seconds_since(before) * 100.0
    }
}

#[derive(Default)]
pub(crate) struct Ramp {
    pub(crate) seconds: f64,
    pub(crate) beats: u64,
    pub(crate) late_beats: u64,
}

impl Ramp {
    /// Share of beats in which fewer connections had begun than were due.
    pub(crate) fn late_percent(&self) -> f64 {
        self.late_beats as f64 / self.beats.max(1) as f64 * 100.0
    }
}

pub(crate) struct Conductor<'a, S: Script> {
    pub(crate) state: Arc<RunState>,
    pub(crate) probe: Probe,
    /// The server, before the first member connected.
    pub(crate) before: Sample,
    /// CPU seconds of this process, before the first member connected.
    cpu_before: f64,
    pub(crate) series: Series,
    options: RunOptions,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) stamps: Stamps,
    mail: Mailboxes<Mail<S>>,
    say: &'a mut dyn FnMut(&str),
    lines: Lines,
    /// Ends its workers when dropped.
    _edge: Edge,
}

impl<'a, S: Script> Conductor<'a, S> {
    /// Starts the workers, which share `shared`. No member connects yet.
    pub(crate) fn new(
        setup: Setup<'_>,
        shared: &Arc<S::Shared>,
        say: &'a mut dyn FnMut(&str),
    ) -> Result<Conductor<'a, S>, LoadError> {
        let options = setup.options;
        let tls = options
            .target
            .tls
            .then(|| tls::client_config(&options.target, options.ca.as_ref()))
            .transpose()?;
        let probe = Probe::find(&options.target, options.server);
        let (workers, private_descriptor_tables) = workers(options.threads, setup.members);
        let before = probe.look();
        let state = Arc::new(RunState {
            target: options.target.clone(),
            transport: setup.transport,
            tokens: SiteTokens::new(options, now_unix().as_secs()),
            members: setup.members,
            workers,
            tls,
            start: Instant::now() + Duration::from_millis(100),
            arrivals: setup.arrivals,
            counts: Counts::new(workers),
        });
        let (mail, inboxes) = mailboxes(workers);
        let config = generator(private_descriptor_tables);
        let (traffic, stamps) = (Arc::new(Traffic::default()), Stamps::new_run());
        let (of_workers, counted, shared) = (Arc::clone(&state), Arc::clone(&traffic), Arc::clone(shared));
        let edge = Edge::start(config, inboxes, move |worker| {
            let share = Share::new(worker, workers, Arc::clone(&counted), stamps);
            Worker::new(Arc::clone(&of_workers), worker, S::new(Arc::clone(&shared), share))
        })?;
        Ok(Conductor {
            state,
            probe,
            before,
            cpu_before: own_cpu().unwrap_or(0.0),
            series: Series::default(),
            options: options.clone(),
            traffic,
            stamps,
            mail,
            say,
            lines: Lines::new(Instant::now()),
            _edge: edge,
        })
    }

    /// Begins connections at their due times, and returns when each has its welcome or has failed.
    pub(crate) fn ramp(&mut self) -> Ramp {
        let total = u64::from(self.state.members);
        let mut ramp = Ramp::default();
        self.stage("ramp", Until::Members(total));
        let (mut asked, mut last, mut last_change) = (0, 0, Instant::now());
        loop {
            let now = Instant::now();
            let elapsed = now.saturating_duration_since(self.state.start);
            let due = self.state.arrivals.by(elapsed).min(total);
            let counts = &self.state.counts;
            let settled = read(&counts.welcomed) + read(&counts.failed);
            let room = IN_FLIGHT.saturating_sub(asked - settled.min(asked));
            let until = due.min(asked + room);
            if until > asked {
                // Workers without due members stay asleep.
                let workers = self.state.workers as u64;
                for next in asked..until.min(asked + workers) {
                    self.mail.send((next % workers) as usize, Mail::Begin(until as u32));
                }
                asked = until;
            }
            // Decides whether unanswered logins at the server or the generator caused the delay.
            let late = read(&self.state.counts.begun)
                < self.state.arrivals.by(elapsed.saturating_sub(LATE)).min(total);
            ramp.beats += 1;
            ramp.late_beats += u64::from(late && room > 0);
            self.sample_if_due(now);
            if settled != last {
                (last, last_change) = (settled, now);
            }
            if settled >= total || now - last_change > GIVE_UP || self.options.stopped() {
                ramp.seconds = last_change.saturating_duration_since(self.state.start).as_secs_f64();
                self.stage("run", Until::ItIsDone);
                self.hold(AFTER_RAMP);
                return ramp;
            }
            thread::sleep(BEAT);
        }
    }

    /// Reports the next stage to the observer.
    pub(crate) fn stage(&self, name: &'static str, until: Until) {
        self.options.observer.stage(name, until);
    }

    /// Waits; returns the snapshot of its begin.
    pub(crate) fn hold(&mut self, time: Duration) -> Snapshot {
        let (from, start) = (self.snapshot(), Instant::now());
        while start.elapsed() < time && !self.options.stopped() {
            thread::sleep(series::EVERY.min(time.saturating_sub(start.elapsed())));
            self.sample_if_due(Instant::now());
        }
        from
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let workers = self.state.counts.cpu_us.iter().map(read);
        Snapshot {
            at: Instant::now(),
            sample: self.probe.look(),
            active: self.state.counts.active(),
            generator_cpu_seconds: own_cpu().map(|seconds| seconds - self.cpu_before),
            busiest_worker_seconds: workers.max().unwrap_or(0) as f64 / 1e6,
        }
    }

    /// Every waiting plan calls this. It continues the time series and sometimes prints a line.
    pub(crate) fn sample_if_due(&mut self, now: Instant) {
        let seconds = now.saturating_duration_since(self.state.start).as_secs_f64();
        let look = || Point::look(seconds, self.probe, self.state.counts.active(), &self.traffic);
        self.series.look_if_due(seconds, &*self.options.observer, look);
        self.line_if_due(now);
    }

    /// Waits one short interval, for plans that wake all workers at each check.
    pub(crate) fn nap(&self) {
        self.nap_until(Instant::now());
    }

    /// Sleeps until a known time.
    pub(crate) fn nap_until(&self, due: Instant) {
        let spared = Duration::from_secs(1) * self.state.workers as u32 / RINGS;
        let least = spared.clamp(SHORT_BEAT, BEAT);
        thread::sleep(due.saturating_duration_since(Instant::now()).clamp(least, BEAT));
    }

    /// Whether the run was stopped from outside.
    pub(crate) fn stopped(&self) -> bool {
        self.options.stopped()
    }

    /// Waits until all connections are closed, at most half a second.
    pub(crate) fn settle(&self) {
        let start = Instant::now();
        let counts = &self.state.counts;
        while read(&counts.closed) < read(&counts.begun) && start.elapsed() < AFTER_RAMP {
            thread::sleep(BEAT);
        }
    }

    /// Prints a progress line sometimes, for users without the live view.
    fn line_if_due(&mut self, now: Instant) {
        if self.lines.are_due(now) {
            self.line();
        }
    }

    /// The progress line of the classic flood test.
    pub(crate) fn line(&mut self) {
        self.lines.printed(Instant::now());
        let counts = &self.state.counts;
        let seconds = self.state.start.elapsed().as_secs();
        (self.say)(&format!(
            "{seconds:4} s  {{Active: {}, Closed: {}, Chunks: {}}}",
            counts.active(),
            read(&counts.closed),
            read(&counts.chunks)
        ));
    }

    /// Reconnects members whose time has come. Runs for one beat; returns when the next one is due.
    pub(crate) fn bring_back(&self) {
        self.each(|| Mail::Return);
        thread::sleep((Duration::from_secs(1) * self.state.workers as u32 / RINGS).saturating_sub(BEAT));
    }

    pub(crate) fn send(&self, member: u32, order: S::Order) {
        self.mail.send(member as usize % self.state.workers, Mail::Order(order));
    }

    pub(crate) fn each(&self, mail: impl Fn() -> Mail<S>) {
        (0..self.state.workers).for_each(|worker| self.mail.send(worker, mail()));
    }

    /// Waits until the workers have carried out all orders, then until every message is acknowledged and delivered, or
    /// nothing has changed for `patience`. Returns the time of the last change.
    pub(crate) fn drain(&mut self, patience: Duration) -> Result<Instant, LoadError> {
        self.stage("drain", Until::ItIsDone);
        self.barrier()?;
        let mut drain = Drain::new(patience, Instant::now());
        loop {
            let waiting = read(&self.state.counts.waiting);
            if let Some(last_change) = drain.over(&self.traffic, waiting, Instant::now()) {
                return Ok(last_change);
            }
            self.sample_if_due(Instant::now());
            thread::sleep(BEAT);
        }
    }

    fn barrier(&self) -> Result<(), LoadError> {
        let (to, from) = mpsc::channel();
        self.each(|| Mail::Barrier(to.clone()));
        for _ in 0..self.state.workers {
            from.recv_timeout(ANSWER_PATIENCE).map_err(|_| LoadError::Worker)?;
        }
        Ok(())
    }

    /// Disconnects all members and returns the counts of the run.
    pub(crate) fn finish(mut self) -> Result<Outcome<S::Tally>, LoadError> {
        let members = self.state.counts.active();
        self.each(|| Mail::Leave);
        self.hold(LEAVE_TIME);
        self.outcome(members)
    }

    /// The counts of the run. `members`: logged in at the end.
    pub(crate) fn outcome(mut self, members: u64) -> Result<Outcome<S::Tally>, LoadError> {
        let (to, from) = mpsc::channel();
        self.each(|| Mail::Report(to.clone()));
        let mut all = WorkerReport::default();
        for _ in 0..self.state.workers {
            all.add(&from.recv_timeout(ANSWER_PATIENCE).map_err(|_| LoadError::Worker)?);
        }
        let traffic = &self.traffic;
        Ok(Outcome {
            url: self.options.target.url(),
            transport: self.state.transport.name(),
            tls: self.options.target.tls,
            probe: self.probe,
            before: self.before,
            interrupted: self.options.stopped(),
            members,
            sent: read(&traffic.sent),
            acknowledged: read(&traffic.acknowledged),
            refused: read(&traffic.refused),
            delivered: read(&traffic.delivered),
            login: all.login,
            returns: all.returns,
            failed: read(&self.state.counts.failed),
            failures: all.failures,
            tally: all.tally,
            workers: self.state.workers,
            series: self.series.take(),
        })
    }
}

pub(crate) fn own_cpu() -> Option<f64> {
    probe::cpu_seconds("/proc/self/stat")
}

/// Since the Unix epoch.
pub(crate) fn now_unix() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The configuration of the generator's connection layer.
pub(crate) fn generator(private_descriptor_tables: bool) -> EdgeConfig {
    EdgeConfig {
        first_byte_timeout: Duration::from_secs(30),
        input_limit: 8 * 1024 * 1024,
        private_descriptor_tables,
        // Keep-alive probes are the server's task: on both sides they would cost twice.
        user_timeout: None,
        ..EdgeConfig::default()
    }
}

/// The number of threads, and whether each needs a descriptor table of its own.
pub(crate) fn workers(threads: usize, connections: u32) -> (usize, bool) {
    let room = edge::raise_descriptor_limit().saturating_sub(OTHER_DESCRIPTORS).max(1);
    let needed = u64::from(connections).div_ceil(room) as usize;
    (threads.max(needed).max(1), needed > 1)
}
