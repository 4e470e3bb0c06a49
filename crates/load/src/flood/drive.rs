//! The acts of a flood: all come, stay, talk once if wanted, and leave.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use web_proto::{Command, Event, SendTo};

use super::FloodPlan;
use super::report::{Exchange, Findings, Report};
use crate::arrivals::Arrivals;
use crate::conductor::{BEAT, Conductor, LoadError, Setup, Snapshot};
use crate::failures;
use crate::latency_stamp::Stamps;
use crate::observer::Until;
use crate::retry::{Delay, Refusal};
use crate::series::Point;
use crate::token;
use crate::traffic::Traffic;
use crate::worker::{Commands, Mail, Script, add, read};

const EXCHANGES_PER_SECOND: f64 = 2000.0;

pub(super) fn run(plan: &FloodPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    let traffic = Arc::new(Traffic::default());
    let setup = Setup {
        options: &plan.options,
        transport: plan.transport,
        members: plan.connections,
        arrivals: Arrivals::Even(plan.rate),
        traffic: Arc::clone(&traffic),
    };
    let talk = Arc::new(Talk { stamps: Stamps::new_run(), traffic });
    let of_workers = Arc::clone(&talk);
    let mut flood = Conductor::new(setup, say, move |worker, workers| Exchanging {
        worker: worker as u32,
        workers: workers as u32,
        talk: Arc::clone(&of_workers),
        body: "".into(),
        refused: HashMap::new(),
        refusals: BTreeMap::new(),
    })?;

    let ramp = flood.ramp();
    let ramped = flood.snapshot();
    flood.line();
    flood.stage("hold", Until::Time(plan.hold));
    let idle_from = flood.hold(plan.hold / 3);
    flood.hold(plan.hold - plan.hold / 3);
    let held = flood.snapshot();
    let exchange = plan.exchange.filter(|_| !flood.stopped());
    let exchange = exchange.map(|bytes| exchange_all(&mut flood, &talk, bytes, plan));
    let at_leave = flood.snapshot();
    flood.each(|| Mail::Leave);
    let (left, left_settled) = settle(&mut flood, plan.settle);
    let reports = flood.reports()?;
    let failures = failures::joined(std::iter::once(&reports.failures).chain(&reports.results));
    let interrupted = flood.stopped();
    let Conductor { before, probe, mut series, state, .. } = flood;
    let findings = Findings {
        interrupted,
        before,
        ramp,
        ramped,
        idle_from,
        held,
        exchange,
        at_leave,
        left,
        left_settled,
        login: reports.login,
        failures,
        series: series.take(),
        workers: state.workers,
        failed: read(&state.counts.failed),
    };
    Ok(Report::new(plan, probe, findings))
}

/// Every member sends one message to its neighbour.
fn exchange_all(
    flood: &mut Conductor<'_, Exchanging>,
    talk: &Talk,
    bytes: usize,
    plan: &FloodPlan,
) -> Exchange {
    let body: Arc<str> = "x".repeat(bytes).into();
    let pairs = plan.connections / 2 * 2;
    let expected = u64::from(pairs).min(flood.state.counts.active());
    flood.stage("exchange", Until::ItIsDone);
    let start = Instant::now();
    let (mut asked, mut last, mut last_change) = (0, 0, start);
    loop {
        let now = Instant::now();
        let until = (((now - start).as_secs_f64() * EXCHANGES_PER_SECOND) as u32 + 1).min(pairs);
        if until > asked {
            flood.each(|| Mail::Order(Order { from: asked, until, body: Arc::clone(&body) }));
            asked = until;
        }
        flood.sample_if_due(now);
        let settled =
            read(&talk.traffic.acknowledged).min(read(&talk.traffic.delivered)) + read(&talk.traffic.refused);
        if settled != last {
            (last, last_change) = (settled, now);
        }
        if settled >= expected || now - last_change > Duration::from_secs(10) || flood.stopped() {
            break;
        }
        thread::sleep(BEAT);
    }
    let (_, settled_seconds) = settle(flood, plan.settle);
    Exchange {
        body_bytes: bytes,
        sent: expected,
        acknowledged: read(&talk.traffic.acknowledged),
        received: read(&talk.traffic.delivered),
        refused: read(&talk.traffic.refused),
        user_bytes_per_connection: None,
        settled_seconds,
    }
}

/// Gives the server time to tidy up. Answers how things stand then, and after how many seconds its memory was what it
/// is now, give or take 1 %.
fn settle(flood: &mut Conductor<'_, Exchanging>, time: Duration) -> (Snapshot, Option<f64>) {
    let from = flood.series.points().len();
    flood.stage("settle", Until::Time(time));
    let begin = flood.hold(time);
    let end = flood.snapshot();
    let started = begin.at.saturating_duration_since(flood.state.start).as_secs_f64();
    let settled =
        end.sample.resident_bytes.map(|last| settled_after(&flood.series.points()[from..], started, last));
    (end, settled)
}

fn settled_after(series: &[Point], started: f64, last: u64) -> f64 {
    let is_other = |point: &&Point| point.resident_bytes.is_some_and(|now| now.abs_diff(last) > last / 100);
    series.iter().rfind(is_other).map_or(0.0, |point| (point.seconds - started).max(0.0))
}

/// The results of the members' messages.
struct Talk {
    stamps: Stamps,
    traffic: Arc<Traffic>,
}

/// Members in pairs: 0 and 1, 2 and 3, and so on.
struct Exchanging {
    worker: u32,
    workers: u32,
    talk: Arc<Talk>,
    body: Arc<str>,
    /// Members whose message was refused, and how many times.
    refused: HashMap<u32, u32>,
    refusals: BTreeMap<String, u64>,
}

/// Members from..until send a message to their neighbours.
pub(super) struct Order {
    from: u32,
    until: u32,
    body: Arc<str>,
}

impl Exchanging {
    fn letter(&self, member: u32) -> Command<'static> {
        let stamps = self.talk.stamps;
        Command::Send {
            // From when it was due is not measured.
            id: stamps.write(member.into(), stamps.zero()).into(),
            to: SendTo::User(token::user(member ^ 1).into()),
            body: self.body.to_string().into(),
            reply_to: None,
            files: Vec::new(),
            thread: None,
        }
    }

    /// Repeats a refused command when the server allows it.
    fn refused(&mut self, member: u32, refusal: Refusal<'_>, commands: &mut Commands) {
        *self.refusals.entry(format!("exchange: {}", refusal.code.word())).or_default() += 1;
        let times = self.refused.entry(member).or_default();
        *times += 1;
        match refusal.id.and_then(|_| Delay::resend(refusal, *times)) {
            Some(wait) => commands.send_after(wait, member, &self.letter(member)),
            None => add(&self.talk.traffic.refused, 1),
        }
    }
}

impl Script for Exchanging {
    type Order = Order;
    type Result = BTreeMap<String, u64>;

    fn event(&mut self, member: u32, event: &Event<'_>, _: Instant, commands: &mut Commands) {
        match event {
            Event::Ack { .. } => add(&self.talk.traffic.acknowledged, 1),
            Event::Message { .. } => add(&self.talk.traffic.delivered, 1),
            event => {
                if let Some(refusal) = Refusal::of(event) {
                    self.refused(member, refusal, commands);
                }
            }
        }
    }

    fn order(&mut self, order: Order, _: Instant, commands: &mut Commands) {
        self.body = order.body;
        for member in (order.from..order.until).filter(|member| member % self.workers == self.worker) {
            add(&self.talk.traffic.sent, 1);
            commands.send(member, &self.letter(member));
        }
    }

    fn result(&mut self) -> BTreeMap<String, u64> {
        std::mem::take(&mut self.refusals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_settled_when_it_no_longer_differs_from_the_end() {
        let series = [(1.0, 2_000), (1.5, 1_000), (2.0, 1_500), (2.5, 1_009), (3.0, 995), (3.5, 1_000)];
        let point = |(seconds, bytes)| Point { seconds, resident_bytes: Some(bytes), ..Point::default() };
        let series = series.map(point);
        assert_eq!(settled_after(&series, 0.5, 1_000), 1.5);
        assert_eq!(settled_after(&series[3..], 0.5, 1_000), 0.0);
        assert_eq!(settled_after(&[], 0.5, 1_000), 0.0);
    }
}
