//! The phases of a visit plan: scan the site, let all visitors arrive, measure, wait for the last answers.

use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use edge::{Edge, Mailboxes, mailboxes};

use super::VisitPlan;
use super::browsers::{ANSWER_PATIENCE, Browsers, Mail};
use super::report::{Findings, report};
use super::scan::Scan;
use super::state::{Counts, State};
use super::tally::Tally;
use crate::RunOptions;
use crate::client::Masks;
use crate::conductor::{self, BEAT, LoadError, Snapshot, now_unix};
use crate::latency_stamp::Stamps;
use crate::node_api::NodeApi;
use crate::observer::{Lines, Until};
use crate::probe::Probe;
use crate::report::Run;
use crate::series::{Point, Series};
use crate::settings::Plan;
use crate::tls;
use crate::token::{self, Signer};
use crate::traffic::Traffic;
use crate::worker::read;

/// The last answers may take this long.
const SETTLE_PATIENCE: Duration = Duration::from_secs(10).saturating_add(ANSWER_PATIENCE);

pub(super) fn run(
    plan: &VisitPlan,
    options: &RunOptions,
    say: &mut dyn FnMut(&str),
) -> Result<Run, LoadError> {
    let mut drive = Drive::start(plan, options, say)?;
    let tls = drive.state.tls.as_ref().map(|(config, _)| Arc::clone(config));
    let site = Scan::site(&plan.page, NodeApi::new(&options.target, tls))?;
    drive.state.site.set(site).expect("it is looked at once");
    drive.fill();
    let begin = drive.snapshot();
    drive.go(begin.at);
    let end = drive.snapshot();
    drive.each(|| Mail::End);
    drive.stage("drain", Until::ItIsDone);
    let unanswered = drive.settle();
    drive.line();
    let tallies = drive.report()?;
    drive.each(|| Mail::Leave);
    thread::sleep(Duration::from_millis(200));
    let findings = Findings {
        interrupted: options.stopped(),
        probe: drive.probe,
        before: drive.before,
        begin,
        end,
        unanswered,
        tallies,
        pages: drive.state.site.get().map_or(0, |site| site.pages.len()),
        files: drive.state.site.get().map_or(0, |site| site.files.len()),
        slow_beats: drive.slow_beats,
        beats: drive.beats,
        workers: drive.workers,
        series: drive.series.take(),
    };
    Ok(report(plan, &options.target.url(), findings))
}

struct Drive<'a> {
    state: Arc<State>,
    probe: Probe,
    before: Snapshot,
    cpu_before: f64,
    series: Series,
    start: Instant,
    workers: usize,
    mail: Mailboxes<Mail>,
    say: &'a mut dyn FnMut(&str),
    lines: Lines,
    last_beat: Instant,
    beats: u64,
    slow_beats: u64,
    /// Ends its workers when dropped.
    _edge: Edge,
}

impl<'a> Drive<'a> {
    fn start(
        plan: &VisitPlan,
        options: &RunOptions,
        say: &'a mut dyn FnMut(&str),
    ) -> Result<Drive<'a>, LoadError> {
        let signer = Signer::new(&options.secret, now_unix().as_secs());
        let state = Arc::new(State {
            plan: plan.clone(),
            options: options.clone(),
            tokens: (0..plan.all_visitors()).map(|number| signer.token(&token::user(number))).collect(),
            tls: options
                .target
                .tls
                .then(|| tls::client_config(&options.target, options.ca.as_ref()))
                .transpose()?,
            site: OnceLock::new(),
            stamps: Stamps::new_run(),
            traffic: Arc::new(Traffic::default()),
            counts: Counts::default(),
        });
        let probe = Probe::find(&options.target, options.server);
        let (workers, private) = conductor::workers(options.threads, plan.members());
        let (mail, inboxes) = mailboxes(workers);
        let (of_workers, to_workers) = (Arc::clone(&state), mail.clone());
        let edge = Edge::start(conductor::generator(private), inboxes, move |worker| {
            Browsers::new(Arc::clone(&of_workers), worker, to_workers.clone())
        })?;
        let cpu_before = conductor::own_cpu().unwrap_or(0.0);
        let start = Instant::now();
        let before = snapshot(&state, probe, cpu_before);
        Ok(Drive {
            state,
            probe,
            before,
            cpu_before,
            series: Series::default(),
            start,
            workers,
            mail,
            say,
            lines: Lines::new(start),
            last_beat: start,
            beats: 0,
            slow_beats: 0,
            _edge: edge,
        })
    }

    /// Starts all visitors of the beginning, and waits for their answers.
    fn fill(&mut self) {
        let (visitors, rate, begin) = (self.state.plan.visitors, self.state.plan.rate, Instant::now());
        let mut come = 0;
        self.stage("ramp", Until::Members(u64::from(visitors)));
        while come < visitors && !self.stopped() {
            let until = ((begin.elapsed().as_secs_f64() * rate) as u32 + 1).min(visitors);
            for visitor in come..until {
                let due = begin + Duration::from_secs_f64(f64::from(visitor) / rate);
                self.come(visitor, due, true);
            }
            come = until;
            self.beat();
        }
        self.settle();
    }

    /// Starts the measurement: as many visitors arrive as leave, at random times (a Poisson process).
    fn go(&mut self, begin: Instant) {
        let VisitPlan { visitors, stay, time, .. } = self.state.plan;
        let mean = stay.as_secs_f64() / f64::from(visitors);
        let all_visitors = self.state.tokens.len() as u32;
        let mut chance = Masks::new(self.state.stamps.seed() ^ 0x5bd1_e995);
        let mut wait = || Duration::from_secs_f64(-mean * (1.0 - chance.chance() * 0.999_999).ln());
        self.stage("visits", Until::Time(time));
        self.each(|| Mail::Count { from: begin });
        (self.beats, self.slow_beats) = (0, 0);
        let (mut next, mut number) = (begin + wait(), visitors);
        while begin.elapsed() < time && !self.stopped() {
            while next <= Instant::now() && number < all_visitors {
                self.come(number, next, false);
                next += wait();
                number += 1;
            }
            self.beat();
            if self.lines.are_due(Instant::now()) {
                self.line();
            }
        }
    }

    /// Waits for all pending answers; returns the number of missing ones.
    fn settle(&mut self) -> u64 {
        let begin = Instant::now();
        let mut quiet_from = begin;
        loop {
            let (traffic, counts) = (&self.state.traffic, &self.state.counts);
            let over = read(&traffic.delivered) + read(&counts.failed) + read(&counts.given_up);
            let missing = read(&traffic.sent).saturating_sub(over);
            if missing > 0 {
                quiet_from = Instant::now();
            }
            // A view that was due may still wait for its turn.
            if quiet_from.elapsed() > BEAT * 25 || begin.elapsed() > SETTLE_PATIENCE {
                return missing;
            }
            self.beat();
        }
    }

    fn come(&self, visitor: u32, due: Instant, warm: bool) {
        self.mail.send(visitor as usize % self.workers, Mail::Come { visitor, due, warm });
    }

    fn beat(&mut self) {
        self.each(|| Mail::Beat);
        let seconds = self.start.elapsed().as_secs_f64();
        let (probe, state) = (self.probe, &self.state);
        let look = || Point::look(seconds, probe, state.counts.active(), &state.traffic);
        self.series.look_if_due(seconds, &*state.options.observer, look);
        thread::sleep(BEAT);
        self.beats += 1;
        self.slow_beats += u64::from(self.last_beat.elapsed() > BEAT * 25);
        self.last_beat = Instant::now();
    }

    fn line(&mut self) {
        let (counts, traffic) = (&self.state.counts, &self.state.traffic);
        let there = read(&counts.come).saturating_sub(read(&counts.gone));
        let line = format!(
            "{:4} s  {{Visitors: {there}, Gone: {}, Answers: {}, Failed: {}}}",
            self.start.elapsed().as_secs(),
            read(&counts.gone),
            read(&traffic.delivered),
            read(&counts.failed)
        );
        (self.say)(&line);
        self.lines.printed(Instant::now());
    }

    fn snapshot(&self) -> Snapshot {
        snapshot(&self.state, self.probe, self.cpu_before)
    }

    fn stage(&self, name: &'static str, until: Until) {
        self.state.options.observer.stage(name, until);
    }

    fn stopped(&self) -> bool {
        self.state.options.stopped()
    }

    fn each(&self, mail: impl Fn() -> Mail) {
        (0..self.workers).for_each(|worker| self.mail.send(worker, mail()));
    }

    fn report(&self) -> Result<Vec<Tally>, LoadError> {
        let (to, from) = mpsc::channel();
        self.each(|| Mail::Report(to.clone()));
        let one = |_| from.recv_timeout(conductor::ANSWER_PATIENCE).map_err(|_| LoadError::Worker);
        (0..self.workers).map(one).collect()
    }
}

impl VisitPlan {
    /// The number of all visitors, with a reserve for the random arrivals, because their tokens are signed before.
    fn all_visitors(&self) -> u32 {
        let more = self.time.as_secs_f64() / self.stay.as_secs_f64() * f64::from(self.visitors);
        self.visitors + (more * 1.5) as u32 + 50
    }
}

fn snapshot(state: &State, probe: Probe, cpu_before: f64) -> Snapshot {
    let workers = state.counts.cpu_us.iter().map(read);
    Snapshot {
        at: Instant::now(),
        sample: probe.look(),
        active: state.counts.active(),
        generator_cpu_seconds: conductor::own_cpu().map(|seconds| seconds - cpu_before),
        busiest_worker_seconds: workers.max().unwrap_or(0) as f64 / 1e6,
    }
}
