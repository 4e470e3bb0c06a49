//! The progress of a run: a bar and a changing line on a terminal, otherwise the plan's lines.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use load::report::grouped;
use load::{Observer, Point, Until};

use super::progress;

/// Rates are those of the last second.
const RATES_OVER: f64 = 1.0;

#[derive(Debug)]
pub(super) struct Live {
    /// On stderr; hidden if stderr is not a terminal, so that stdout stays free for the report.
    bar: ProgressBar,
    name: String,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    until: Until,
    /// When the stage began, by the clock of the points.
    began: Option<f64>,
    points: VecDeque<Point>,
}

impl Live {
    pub(super) fn new(name: &str) -> Arc<Live> {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let seen = Seen { until: Until::ItIsDone, began: None, points: VecDeque::new() };
        Arc::new(Live { bar, name: name.to_owned(), seen: Mutex::new(seen) })
    }

    /// A line that stays.
    pub(super) fn say(&self, line: &str) {
        if self.bar.is_hidden() { progress(line) } else { self.bar.println(line) }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Live {
    fn stage(&self, name: &'static str, until: Until) {
        let length = match until {
            Until::Members(members) => members,
            Until::Time(time) => time.as_millis().try_into().unwrap_or(u64::MAX),
            Until::ItIsDone => 0,
        };
        // Reset the position first; otherwise the new stage would be shown with the old one's progress.
        self.bar.set_position(0);
        self.bar.set_length(length);
        let bar = if until == Until::ItIsDone { "{spinner}" } else { "[{bar:20}] {percent:>3} %" };
        let template = format!("{{prefix}} {bar} {{wide_msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self.bar.set_prefix(format!("{} · {name}", self.name));
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        (seen.until, seen.began) = (until, None);
    }

    fn point(&self, point: &Point) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let began = *seen.began.get_or_insert(point.seconds);
        match seen.until {
            Until::Members(_) => self.bar.set_position(point.active),
            Until::Time(_) => {
                let passed = Duration::from_secs_f64((point.seconds - began).max(0.0));
                self.bar.set_position(passed.as_millis().try_into().unwrap_or(u64::MAX));
            }
            Until::ItIsDone => self.bar.tick(),
        }
        while seen.points.get(1).is_some_and(|second| point.seconds - second.seconds >= RATES_OVER) {
            seen.points.pop_front();
        }
        self.bar.set_message(words(seen.points.front(), point));
        seen.points.push_back(*point);
    }
}

/// Unknown and zero figures are left out.
fn words(before: Option<&Point>, now: &Point) -> String {
    let mut out = format!("{} active", grouped(now.active as f64));
    if let Some(before) = before.filter(|before| now.seconds > before.seconds) {
        let passed = now.seconds - before.seconds;
        let rate = |then: u64, now: u64| (now.saturating_sub(then) as f64 / passed).round();
        let (sent, delivered) = (rate(before.sent, now.sent), rate(before.delivered, now.delivered));
        if sent + delivered > 0.0 {
            let _ = write!(out, " · {} sent/s · {} received/s", grouped(sent), grouped(delivered));
        }
        if let Some(p99) = now.p99_ms {
            let _ = write!(out, " · p99 {} ms", grouped(p99));
        }
        if let Some((then, cpu)) = before.server_cpu_seconds.zip(now.server_cpu_seconds) {
            let _ = write!(out, " · server {} % CPU", grouped(((cpu - then) / passed * 100.0).round()));
        }
    }
    if let Some(bytes) = now.resident_bytes {
        let _ = write!(out, " · {} MB", grouped((bytes as f64 / 1e6).round()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(seconds: f64, sent: u64) -> Point {
        Point {
            seconds,
            active: 1_500,
            sent,
            delivered: sent / 2,
            p99_ms: Some(3.25),
            resident_bytes: Some(12_400_000),
            server_cpu_seconds: Some(seconds * 0.5),
            ..Point::default()
        }
    }

    #[test]
    fn the_line_has_rates_of_the_last_second_and_no_more() {
        let words = words(Some(&point(1.0, 1_000)), &point(3.0, 5_000));
        let all = "1,500 active · 2,000 sent/s · 1,000 received/s · p99 3.2 ms · server 50 % CPU · 12 MB";
        assert_eq!(words, all);
        let silent = Point { active: 3, ..Point::default() };
        assert_eq!(super::words(None, &silent), "3 active");
    }

    #[test]
    fn a_bar_knows_how_far_a_stage_is() {
        let live = Live::new("flood");
        live.stage("ramp", Until::Members(2_000));
        live.point(&point(0.5, 0));
        assert_eq!((live.bar.position(), live.bar.length()), (1_500, Some(2_000)));
        live.stage("hold", Until::Time(Duration::from_secs(10)));
        for seconds in [1.0, 1.5, 3.5] {
            live.point(&point(seconds, 0));
        }
        assert_eq!((live.bar.position(), live.bar.length()), (2_500, Some(10_000)));
        assert_eq!(live.seen.lock().expect("nobody panics").points.len(), 2, "no more than a second is kept");
    }
}
