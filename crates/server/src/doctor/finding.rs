//! What the doctor says of one thing that was looked at.

use std::io::{self, Write};

use serde::Serialize;

/// One thing that was looked at.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) topic: &'static str,
    pub(super) state: State,
    /// What was found, with figures.
    pub(super) found: String,
    /// Why it matters; empty where all is well.
    pub(super) why: &'static str,
    /// What to do; empty where all is well.
    pub(super) mend: String,
    /// What of it is to be typed or pasted as it stands.
    pub(super) lines: Vec<String>,
    /// What of it belongs into the sysctl file.
    pub(super) sysctl: Vec<Setting>,
}

/// Of the kernel, by its dotted name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Setting {
    pub(super) key: String,
    pub(super) value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Ok,
    /// It cannot be seen from here: in a container, or on another system than Linux.
    Unknown,
    Warn,
    Fail,
}

impl Finding {
    pub(super) fn ok(topic: &'static str, found: impl Into<String>) -> Finding {
        Finding {
            topic,
            state: State::Ok,
            found: found.into(),
            why: "",
            mend: String::new(),
            lines: Vec::new(),
            sysctl: Vec::new(),
        }
    }

    pub(super) fn unknown(topic: &'static str, what: &str) -> Finding {
        let found = format!("{what} cannot be seen from here");
        Finding { state: State::Unknown, ..Finding::ok(topic, found) }
    }

    pub(super) fn warn(
        topic: &'static str,
        found: impl Into<String>,
        why: &'static str,
        mend: impl Into<String>,
    ) -> Finding {
        Finding { state: State::Warn, why, mend: mend.into(), ..Finding::ok(topic, found) }
    }

    /// As bad as it can be, where that is so.
    pub(super) fn fail_if(self, fatal: bool) -> Finding {
        if fatal { Finding { state: State::Fail, ..self } } else { self }
    }

    pub(super) fn line(mut self, line: impl Into<String>) -> Finding {
        self.lines.push(line.into());
        self
    }

    pub(super) fn sysctl(mut self, key: &str, value: impl Into<String>) -> Finding {
        self.sysctl.push(Setting { key: key.to_owned(), value: value.into() });
        self
    }

    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let state = match self.state {
            State::Ok => "ok  ",
            State::Unknown => "?   ",
            State::Warn => "WARN",
            State::Fail => "FAIL",
        };
        writeln!(out, "{state}  {:<14} {}", self.topic, self.found)?;
        if !self.why.is_empty() {
            writeln!(out, "      {:<14} why: {}", "", self.why)?;
        }
        if !self.mend.is_empty() {
            writeln!(out, "      {:<14} try: {}", "", self.mend)?;
        }
        for line in &self.lines {
            writeln!(out, "      {:<14}      {line}", "")?;
        }
        for Setting { key, value } in &self.sysctl {
            writeln!(out, "      {:<14}      sysctl -w {key}=\"{value}\"", "")?;
        }
        Ok(())
    }
}
