//! A finding of the doctor.

use std::io::{self, Write};

use serde::Serialize;

/// The result of one check.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) topic: &'static str,
    pub(super) state: State,
    /// The measured state, with figures.
    pub(super) found: String,
    /// Why it matters; empty if the state is good.
    pub(super) why: &'static str,
    /// How to fix it; empty if the state is good.
    pub(super) mend: String,
    /// Lines to type or paste verbatim.
    pub(super) lines: Vec<String>,
    /// Lines for the sysctl file.
    pub(super) sysctl: Vec<Setting>,
}

/// A kernel setting, by its dotted name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Setting {
    pub(super) key: String,
    pub(super) value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Ok,
    /// Not visible: in a container, or on another system than Linux.
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
        let found = format!("cannot read {what} here");
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

    /// Turns a warning into a failure if the condition holds.
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

    /// `width`: wrap text at this column. Lines to paste are not wrapped.
    pub(super) fn print(&self, out: &mut dyn Write, width: Option<usize>) -> io::Result<()> {
        let state = match self.state {
            State::Ok => "ok  ",
            State::Unknown => "?   ",
            State::Warn => "WARN",
            State::Fail => "FAIL",
        };
        paragraph(out, &format!("{state}  {:<14} ", self.topic), &self.found, width)?;
        for (name, text) in [("why", self.why), ("try", &self.mend)] {
            if !text.is_empty() {
                paragraph(out, &format!("{:INDENT$}{name}: ", ""), text, width)?;
            }
        }
        for line in &self.lines {
            writeln!(out, "{:DEEP_INDENT$}{line}", "")?;
        }
        for Setting { key, value } in &self.sysctl {
            // The shell would split several words.
            let quote = if value.contains(' ') { "\"" } else { "" };
            writeln!(out, "{:DEEP_INDENT$}sysctl -w {key}={quote}{value}{quote}", "")?;
        }
        Ok(())
    }
}

/// Indentation of a finding's details, and of their lines.
const INDENT: usize = 21;
const DEEP_INDENT: usize = INDENT + 5;
/// Narrowest readable column of text.
const NARROWEST: usize = 30;

/// Text behind a label, with later lines indented below.
fn paragraph(out: &mut dyn Write, begin: &str, text: &str, width: Option<usize>) -> io::Result<()> {
    let indent = begin.chars().count();
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(indent).max(NARROWEST));
    write!(out, "{begin}")?;
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > room {
            write!(out, "\n{:indent$}", "")?;
            used = 0;
        } else if used > 0 {
            write!(out, " ")?;
            used += 1;
        }
        write!(out, "{word}")?;
        used += length;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(finding: &Finding, width: Option<usize>) -> String {
        let mut out = Vec::new();
        finding.print(&mut out, width).expect("memory takes it");
        String::from_utf8(out).expect("it was text")
    }

    #[test]
    fn text_is_broken_between_words_and_lines_to_paste_are_not() {
        let finding = Finding::warn("ports", "one two three", "four five six seven eight nine ten", "x")
            .line("a line that is longer than the terminal is wide, but somebody will paste it")
            .sysctl("net.a", "1 2")
            .sysctl("net.b", "3");
        let pasted = "                          a line that is longer than the terminal is wide, but somebody will paste it\n\
                      \x20                         sysctl -w net.a=\"1 2\"\n\
                      \x20                         sysctl -w net.b=3\n";
        let wide = format!(
            "WARN  ports          one two three\n\
             \x20                    why: four five six seven eight nine ten\n\
             \x20                    try: x\n{pasted}"
        );
        assert_eq!(printed(&finding, None), wide);
        let narrow = format!(
            "WARN  ports          one two three\n\
             \x20                    why: four five six seven eight nine\n\
             \x20                         ten\n\
             \x20                    try: x\n{pasted}"
        );
        for width in [0, 56, 59] {
            assert_eq!(printed(&finding, Some(width)), narrow, "{width}");
        }
    }
}
