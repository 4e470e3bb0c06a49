//! The observation of a run: its stages, snapshots of server and generator, the time series, and progress lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::conductor::{BEAT, own_cpu};
use crate::kill::{Kill, Pending};
use crate::observer::{Lines, Observer, Until};
use crate::outage::Outage;
use crate::outcome::{Cluster, Outcome};
use crate::probe::{Probe, Sample};
use crate::run_state::Counts;
use crate::series::{self, Point, Series};
use crate::tally::Tally;
use crate::traffic::{Drain, Traffic};
use crate::worker::{WorkerReport, read};

pub(crate) struct Watch<'a> {
    pub(crate) probe: Probe,
    /// The server, before the first member connected.
    pub(crate) before: Sample,
    /// CPU seconds of this process, before the first member connected.
    cpu_before: f64,
    /// The time series and the progress lines count from here.
    pub(crate) start: Instant,
    pub(crate) series: Series,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) stop: Arc<AtomicBool>,
    kill: Option<Pending>,
    outage: Option<Arc<Outage>>,
    striking: Option<JoinHandle<()>>,
    observer: Arc<dyn Observer>,
    say: &'a mut dyn FnMut(&str),
    lines: Lines,
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

impl<'a> Watch<'a> {
    pub(crate) fn new(
        probe: Probe,
        workers: usize,
        stop: &Arc<AtomicBool>,
        observer: &Arc<dyn Observer>,
        say: &'a mut dyn FnMut(&str),
    ) -> Watch<'a> {
        let (now, before) = (Instant::now(), probe.look());
        Watch {
            probe,
            before,
            cpu_before: own_cpu().unwrap_or(0.0),
            start: now,
            series: Series::default(),
            traffic: Arc::default(),
            counts: Arc::new(Counts::new(workers)),
            stop: Arc::clone(stop),
            kill: None,
            outage: None,
            striking: None,
            observer: Arc::clone(observer),
            say,
            lines: Lines::new(now),
        }
    }

    /// A process dies in mid-run. `outage` gets the time.
    pub(crate) fn kill(&mut self, kill: Kill, outage: Arc<Outage>) {
        (self.kill, self.outage) = (Some(Pending::new(kill)), Some(outage));
    }

    /// The process dies when the plan [says so](Self::kill_now), not at a time after the beginning of the first stage with a known
    /// length. Answers the time after the beginning of the traffic that was asked for.
    pub(crate) fn kill_by_order(&mut self) -> Option<Duration> {
        self.kill.as_mut()?.wait_for_order()
    }

    /// The next look kills the process.
    pub(crate) fn kill_now(&mut self) {
        if let Some(kill) = &mut self.kill {
            kill.order(Instant::now());
        }
    }

    /// Reports the next stage to the observer.
    pub(crate) fn stage(&mut self, name: &'static str, until: Until) {
        self.observer.stage(name, until);
        if let Some(kill) = &mut self.kill {
            kill.stage(until, Instant::now());
        }
    }

    /// Whether the run was stopped from outside.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let workers = self.counts.cpu_us.iter().map(read);
        Snapshot {
            at: Instant::now(),
            sample: self.probe.look(),
            active: self.counts.active(),
            generator_cpu_seconds: own_cpu().map(|seconds| seconds - self.cpu_before),
            busiest_worker_seconds: workers.max().unwrap_or(0) as f64 / 1e6,
        }
    }

    /// Every waiting plan calls this. It continues the time series and sometimes prints a line.
    pub(crate) fn sample_if_due(&mut self, now: Instant) {
        self.look_if_due(now);
        if self.lines.are_due(now) {
            self.line();
        }
    }

    /// Continues the time series.
    pub(crate) fn look_if_due(&mut self, now: Instant) {
        if let Some(outage) = &self.outage
            && let Some(kill) = self.kill.take_if(|kill| kill.is_due(now))
        {
            // Connections end before the process is seen to be dead. Its end takes seconds if it has many, and the plan goes on
            // meanwhile.
            outage.expect(Instant::now());
            let outage = Arc::clone(outage);
            let strike = move || outage.begin(kill.strike(), Instant::now());
            self.striking = thread::Builder::new().name("kill".into()).spawn(strike).ok();
        }
        let seconds = now.saturating_duration_since(self.start).as_secs_f64();
        let look = || Point::look(seconds, &self.probe, self.counts.active(), &self.traffic);
        self.series.look_if_due(seconds, &*self.observer, look);
    }

    /// Waits; returns the snapshot of its begin.
    pub(crate) fn hold(&mut self, time: Duration) -> Snapshot {
        let (from, start) = (self.snapshot(), Instant::now());
        while start.elapsed() < time && !self.stopped() {
            thread::sleep(series::EVERY.min(time.saturating_sub(start.elapsed())));
            self.sample_if_due(Instant::now());
        }
        from
    }

    /// Waits until every message is acknowledged and delivered, or nothing has changed for `patience`. Returns the time
    /// of the last change.
    pub(crate) fn drain(&mut self, patience: Duration) -> Instant {
        self.stage("drain", Until::ItIsDone);
        let mut drain = Drain::new(patience, Instant::now());
        loop {
            let waiting = read(&self.counts.waiting);
            if let Some(last_change) = drain.over(&self.traffic, waiting, Instant::now()) {
                return last_change;
            }
            self.sample_if_due(Instant::now());
            thread::sleep(BEAT);
        }
    }

    /// The progress line of the classic flood test. Users without the live view see it sometimes.
    pub(crate) fn line(&mut self) {
        let Counts { closed, chunks, .. } = &*self.counts;
        let counts =
            format!("Active: {}, Closed: {}, Chunks: {}", self.counts.active(), read(closed), read(chunks));
        self.print(&counts);
    }

    pub(crate) fn say(&mut self, line: &str) {
        (self.say)(line);
    }

    pub(crate) fn print(&mut self, counts: &str) {
        self.lines.printed(Instant::now());
        (self.say)(&format!("{:4} s  {{{counts}}}", self.start.elapsed().as_secs()));
    }

    pub(crate) fn line_is_due(&self) -> bool {
        self.lines.are_due(Instant::now())
    }

    /// The counts of the run. `members`: logged in at the end. `all`: of all workers.
    pub(crate) fn outcome<T: Tally>(&mut self, members: u64, all: WorkerReport<T>) -> Outcome<T> {
        if let Some(striking) = self.striking.take() {
            // A panic is on stderr already.
            let _ = striking.join();
        }
        Outcome {
            url: String::new(),
            transport: "calls",
            tls: false,
            probe: self.probe.clone(),
            before: self.before,
            interrupted: self.stopped(),
            members,
            traffic: self.traffic.counted(),
            login: all.login,
            returns: all.returns,
            failed: read(&self.counts.failed),
            failures: all.failures,
            tally: all.tally,
            workers: self.counts.cpu_us.len(),
            series: self.series.take(),
            cluster: Cluster::of(&self.probe, &self.before),
        }
    }
}
