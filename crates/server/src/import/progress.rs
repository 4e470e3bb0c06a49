//! The progress of an import on stderr.

use std::time::Duration;

use crate::progress::{ProgressLine, per_second};

pub(super) struct Progress {
    /// Size of the file, if known.
    bytes: Option<u64>,
    /// Lines from before this run.
    before: Option<u64>,
    on: ProgressLine,
}

impl Progress {
    pub(super) fn begin(bytes: Option<u64>) -> Progress {
        Progress { bytes, before: None, on: ProgressLine::begin() }
    }

    pub(super) fn show(&mut self, line: u64, offset: u64) {
        let (before, bytes) = (*self.before.get_or_insert(line), self.bytes);
        self.on.show(|time| text(line, line - before, time, offset, bytes));
    }

    pub(super) fn say(&self, text: &str) {
        self.on.say(text);
    }

    pub(super) fn end(&self) {
        self.on.end();
    }
}

fn text(line: u64, since: u64, time: Duration, offset: u64, bytes: Option<u64>) -> String {
    let per_second = per_second(since, time);
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
