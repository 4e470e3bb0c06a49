//! The phases of a visit plan: scan the site, let all visitors arrive, measure, wait for the last answers.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use super::VisitPlan;
use super::browsers::{ANSWER_PATIENCE, Browsers, Mail};
use super::report::{Phases, report};
use super::scan::Scan;
use super::state::State;
use super::tally::Tally;
use crate::RunOptions;
use crate::client::Masks;
use crate::conductor::{self, BEAT, LoadError, Workers, now_unix};
use crate::latency_stamp::Stamps;
use crate::node_api::NodeApi;
use crate::observer::Until;
use crate::outcome::Outcome;
use crate::probe::Probe;
use crate::report::Run;
use crate::settings::Plan;
use crate::tally::Tally as _;
use crate::target::Transport;
use crate::tls;
use crate::token::SiteTokens;
use crate::watch::Watch;
use crate::worker::{WorkerReport, read};

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
    let begin = drive.watch.snapshot();
    drive.go(begin.at);
    let end = drive.watch.snapshot();
    drive.workers.each(|| Mail::End);
    drive.watch.stage("drain", Until::ItIsDone);
    let unanswered = drive.settle();
    drive.line();
    let mut tally = Tally::default();
    drive.workers.ask(Mail::Report)?.iter().for_each(|of_worker| tally.add(of_worker));
    drive.workers.each(|| Mail::Leave);
    thread::sleep(Duration::from_millis(200));
    let failures = std::mem::take(&mut tally.failures);
    let all = WorkerReport { failures, tally, ..WorkerReport::default() };
    let outcome = Outcome {
        url: options.target.url(),
        transport: "websocket",
        tls: drive.state.tls.is_some(),
        ..drive.watch.outcome(end.active, all)
    };
    let Drive { state, beats, slow_beats, .. } = drive;
    let (pages, files) = (state.site().pages.len(), state.site().files.len());
    Ok(report(plan, outcome, &Phases { begin, end, unanswered, pages, files, beats, slow_beats }))
}

struct Drive<'a> {
    state: Arc<State>,
    watch: Watch<'a>,
    workers: Workers<Mail>,
    last_beat: Instant,
    beats: u64,
    slow_beats: u64,
}

impl<'a> Drive<'a> {
    fn start(
        plan: &VisitPlan,
        options: &RunOptions,
        say: &'a mut dyn FnMut(&str),
    ) -> Result<Drive<'a>, LoadError> {
        let (workers, private) = conductor::workers(options.threads, plan.members());
        let probe = Probe::of(options);
        let watch = Watch::new(probe, workers, &options.stop, &options.observer, say);
        let state = Arc::new(State {
            plan: plan.clone(),
            options: options.clone(),
            tokens: SiteTokens::new(options, now_unix().as_secs()),
            tls: tls::of_target(options, Transport::Websocket)?,
            site: OnceLock::new(),
            stamps: Stamps::new_run(),
            traffic: Arc::clone(&watch.traffic),
            counts: Arc::clone(&watch.counts),
            given_up: AtomicU64::new(0),
        });
        let of_workers = Arc::clone(&state);
        let workers = Workers::start(workers, private, move |worker, mail| {
            Browsers::new(Arc::clone(&of_workers), worker, mail.clone())
        })?;
        let last_beat = watch.start;
        Ok(Drive { state, watch, workers, last_beat, beats: 0, slow_beats: 0 })
    }

    /// Starts all visitors of the beginning, and waits for their answers.
    fn fill(&mut self) {
        let (visitors, rate, begin) = (self.state.plan.visitors, self.state.plan.rate, Instant::now());
        let mut come = 0;
        self.watch.stage("ramp", Until::Members(u64::from(visitors)));
        while come < visitors && !self.watch.stopped() {
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
        let mut chance = Masks::new(self.state.stamps.seed() ^ 0x5bd1_e995);
        let mut wait = || Duration::from_secs_f64(-mean * (1.0 - chance.chance() * 0.999_999).ln());
        self.watch.stage("visits", Until::Time(time));
        self.workers.each(|| Mail::Count { from: begin });
        (self.beats, self.slow_beats) = (0, 0);
        let (mut next, mut number) = (begin + wait(), visitors);
        while begin.elapsed() < time && !self.watch.stopped() {
            while next <= Instant::now() {
                self.come(number, next, false);
                next += wait();
                number += 1;
            }
            self.beat();
            if self.watch.line_is_due() {
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
            let over = read(&traffic.delivered) + read(&counts.failed) + read(&self.state.given_up);
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
        self.workers.send(visitor, Mail::Come { visitor, due, warm });
    }

    fn beat(&mut self) {
        self.workers.each(|| Mail::Beat);
        self.watch.look_if_due(Instant::now());
        thread::sleep(BEAT);
        self.beats += 1;
        self.slow_beats += u64::from(self.last_beat.elapsed() > BEAT * 25);
        self.last_beat = Instant::now();
    }

    fn line(&mut self) {
        let (counts, traffic) = (&self.state.counts, &self.state.traffic);
        let (gone, failed) = (read(&counts.closed), read(&counts.failed));
        let (there, answers) = (read(&counts.begun).saturating_sub(gone), read(&traffic.delivered));
        self.watch.print(&format!("Visitors: {there}, Gone: {gone}, Answers: {answers}, Failed: {failed}"));
    }
}
