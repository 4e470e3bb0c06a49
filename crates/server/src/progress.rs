//! The progress of a long command on stderr: in place on a terminal, else a line at intervals.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

const ON_TERMINAL: Duration = Duration::from_millis(500);
const ELSEWHERE: Duration = Duration::from_secs(10);

pub(crate) struct ProgressLine {
    begin: Instant,
    shown: Instant,
    is_terminal: bool,
}

impl ProgressLine {
    pub(crate) fn begin() -> ProgressLine {
        let now = Instant::now();
        ProgressLine { begin: now, shown: now, is_terminal: io::stderr().is_terminal() }
    }

    /// Shows the text if it is time. `text`: made from the time since the begin.
    pub(crate) fn show(&mut self, text: impl FnOnce(Duration) -> String) {
        if self.shown.elapsed() < if self.is_terminal { ON_TERMINAL } else { ELSEWHERE } {
            return;
        }
        self.shown = Instant::now();
        let text = text(self.begin.elapsed());
        // A failed write of the progress is ignored.
        let _ = match self.is_terminal {
            true => write!(io::stderr(), "\r{text}\x1b[K"),
            false => writeln!(io::stderr(), "{text}"),
        };
    }

    pub(crate) fn say(&self, text: &str) {
        let clear = if self.is_terminal { "\r\x1b[K" } else { "" };
        let _ = writeln!(io::stderr(), "{clear}{text}");
    }

    pub(crate) fn end(&self) {
        if self.is_terminal {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

/// Of some items that took so long.
pub(crate) fn per_second(items: u64, time: Duration) -> f64 {
    (items as f64 / time.as_secs_f64().max(0.001)).round()
}
