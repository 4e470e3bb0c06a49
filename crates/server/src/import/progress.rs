//! Progress of an import on stderr: in place on a terminal, else a line at intervals.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

const ON_TERMINAL: Duration = Duration::from_millis(500);
const ELSEWHERE: Duration = Duration::from_secs(10);

pub(super) struct Progress {
    /// Size of the file, if known.
    bytes: Option<u64>,
    begin: Instant,
    shown: Instant,
    /// Lines from before this run.
    before: Option<u64>,
    is_terminal: bool,
}

impl Progress {
    pub(super) fn begin(bytes: Option<u64>) -> Progress {
        let now = Instant::now();
        let is_terminal = io::stderr().is_terminal();
        Progress { bytes, begin: now, shown: now, before: None, is_terminal }
    }

    pub(super) fn show(&mut self, line: u64, offset: u64) {
        let before = *self.before.get_or_insert(line);
        if self.shown.elapsed() < if self.is_terminal { ON_TERMINAL } else { ELSEWHERE } {
            return;
        }
        self.shown = Instant::now();
        let text = text(line, line - before, self.begin.elapsed(), offset, self.bytes);
        // A failed write of the progress is ignored.
        let _ = match self.is_terminal {
            true => write!(io::stderr(), "\r{text}\x1b[K"),
            false => writeln!(io::stderr(), "{text}"),
        };
    }

    pub(super) fn say(&self, text: &str) {
        let clear = if self.is_terminal { "\r\x1b[K" } else { "" };
        let _ = writeln!(io::stderr(), "{clear}{text}");
    }

    pub(super) fn end(&self) {
        if self.is_terminal {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn text(line: u64, since: u64, time: Duration, offset: u64, bytes: Option<u64>) -> String {
    let per_second = (since as f64 / time.as_secs_f64().max(0.001)).round();
    let share = bytes.filter(|bytes| *bytes > 0).map(|bytes| format!(", {}%", offset * 100 / bytes));
    format!("{line} lines, {per_second} per second{}", share.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_has_lines_speed_and_share() {
        let two = Duration::from_secs(2);
        assert_eq!(text(3_000, 2_000, two, 50, Some(200)), "3000 lines, 1000 per second, 25%");
        assert_eq!(text(10, 10, two, 50, None), "10 lines, 5 per second");
    }
}
