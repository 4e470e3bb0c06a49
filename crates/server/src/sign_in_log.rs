//! `log.sign_ins`: a line for each sign-in and each refused token, for operators and for fail2ban.
//!
//! `docs/operate.md` documents the format. Values that a stranger chooses come last in a line, quoted, so that they cannot imitate another
//! field. A separate thread writes, so that a slow disk delays no sign-in.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv6Addr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use chat::{SignInLog, SignInOutcome, SignInRecord, Timestamp};

use crate::trouble::{Outcome, Trouble};

/// Lines per second of one IPv4 address or IPv6 /64; the rest is counted.
const PER_ADDRESS: u32 = 10;
/// Lines per second, and distinct addresses per second; the rest is counted together.
const PER_SECOND: u32 = 1_000;
/// Lines in the queue for the disk; the rest is counted.
const MOST_WAITING: usize = 4_096;

/// In seconds.
const CLOCK_JUMP: u64 = 60;

/// The target of the lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Stderr,
    File(PathBuf),
}

impl Target {
    /// None for an empty setting: no log.
    pub(crate) fn of(setting: &str) -> Option<Target> {
        match setting {
            "" => None,
            "stderr" => Some(Target::Stderr),
            path => Some(Target::File(path.into())),
        }
    }

    fn open(&self) -> io::Result<Box<dyn Write + Send>> {
        match self {
            Target::Stderr => Ok(Box::new(io::stderr())),
            Target::File(path) => Ok(Box::new(append_to(path)?)),
        }
    }
}

/// Readable by its owner and group, because it contains addresses.
fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o640).open(path)
}

/// The log of a running node.
pub(crate) struct SignIns {
    throttle: Mutex<Throttle>,
    jobs: SyncSender<Job>,
    /// Lines that did not fit into the queue.
    dropped: AtomicU64,
}

enum Job {
    Line(String),
    Reopen,
    /// Acknowledged by the drop of the sender after all earlier lines are written.
    Flush(#[allow(dead_code, reason = "its end is the answer")] mpsc::Sender<()>),
}

impl SignIns {
    pub(crate) fn begin(target: Target) -> Outcome<std::sync::Arc<SignIns>> {
        let out = target.open().map_err(|error| {
            Trouble::new("cannot write the log of sign-ins").because(error).remedy(
                "set log.sign_ins to a file that this user may write, as in /var/log/kith/sign-ins.log, or to stderr",
            )
        })?;
        let (jobs, waiting) = mpsc::sync_channel(MOST_WAITING);
        let log = SignIns { throttle: Mutex::default(), jobs, dropped: AtomicU64::new(0) };
        let log = std::sync::Arc::new(log);
        let of_writer = std::sync::Arc::downgrade(&log);
        let write = move || {
            let mut writer = Writer { target, out };
            while writer.work(&waiting) {
                let Some(log) = of_writer.upgrade() else { break };
                log.note_left_out(crate::now());
            }
        };
        let begun = thread::Builder::new().name("sign-ins".into()).spawn(write);
        begun.map_err(|error| Trouble::new("cannot start the node's threads").because(error))?;
        Ok(log)
    }

    /// After a rotation the next line goes into a new file.
    pub(crate) fn reopen(&self) {
        let _ = self.jobs.try_send(Job::Reopen);
    }

    /// Waits until recorded lines are written, but not for a disk that hangs.
    pub(crate) fn flush(&self) {
        self.note_left_out(Timestamp(crate::now().0 + 1_000));
        let (done, ended) = mpsc::channel();
        if self.jobs.try_send(Job::Flush(done)).is_ok() {
            let _ = ended.recv_timeout(Duration::from_secs(1));
        }
    }

    fn note_left_out(&self, now: Timestamp) {
        let lines = self.throttle().end_of_second(now);
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        let of_disk = (dropped > 0).then(|| left_out(now, None, dropped));
        lines.into_iter().chain(of_disk).for_each(|line| self.send(line));
    }

    fn send(&self, line: String) {
        if self.jobs.try_send(Job::Line(line)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn throttle(&self) -> std::sync::MutexGuard<'_, Throttle> {
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SignInLog for SignIns {
    fn record(&self, record: &SignInRecord<'_>) {
        let (before, admitted) = self.throttle().admit(record.address, record.time);
        before.into_iter().for_each(|line| self.send(line));
        if admitted {
            self.send(line(record));
        }
    }
}

/// Writes on its own thread.
struct Writer {
    target: Target,
    out: Box<dyn Write + Send>,
}

impl Writer {
    /// Works for about a second; false at the end of the log.
    fn work(&mut self, waiting: &Receiver<Job>) -> bool {
        match waiting.recv_timeout(Duration::from_secs(1)) {
            Ok(Job::Line(line)) => self.write(&line),
            Ok(Job::Reopen) => match self.target.open() {
                Ok(out) => self.out = out,
                Err(error) => {
                    tracing::error!(%error, "cannot reopen the log of sign-ins; the old file stays in use")
                }
            },
            Ok(Job::Flush(done)) => drop(done),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return false,
        }
        true
    }

    /// One write per line, so that lines of two processes do not mix.
    fn write(&mut self, line: &str) {
        if let Err(error) = self.out.write_all(line.as_bytes()) {
            tracing::error!(%error, "cannot write a line to the log of sign-ins");
        }
    }
}

fn line(record: &SignInRecord<'_>) -> String {
    let SignInRecord { time, door, site, user, address, outcome } = *record;
    let mut line = format!("{} kith sign-in ", moment(time));
    let (word, refusal) = match outcome {
        SignInOutcome::Accepted => ("accepted", None),
        SignInOutcome::Refused(refusal) => ("refused", Some(refusal)),
        SignInOutcome::Deferred(refusal) => ("deferred", Some(refusal)),
    };
    let reason = refusal.map_or("-", chat::Refusal::word);
    let (door, site) = (door.word(), site.unwrap_or("-"));
    let _ = write!(line, "{word} address={} reason={reason} door={door} site={site} user=", shown(address));
    match user {
        Some(user) => quote(user, &mut line),
        None => line.push('-'),
    }
    line.push('\n');
    line
}

fn left_out(time: Timestamp, address: Option<IpAddr>, count: u64) -> String {
    format!("{} kith sign-in left-out address={} lines={count}\n", moment(time), shown(address))
}

/// With milliseconds, in UTC.
fn moment(time: Timestamp) -> String {
    let date = crate::date(time);
    let date = date.strip_suffix('Z').unwrap_or(&date);
    format!("{date}.{:03}Z", time.0 % 1_000)
}

fn shown(address: Option<IpAddr>) -> String {
    address.map_or_else(|| "-".into(), |address| address.to_canonical().to_string())
}

/// Escapes as in JSON all characters that could end the line or the quotes, or mislead a terminal.
fn quote(text: &str, line: &mut String) {
    line.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => line.extend(['\\', c]),
            c if c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric() => line.push(c),
            c => {
                let _ = write!(line, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    line.push('"');
}

/// Bounds lines per second, in total and per address. A line with a count of the rest follows after the second.
#[derive(Default)]
struct Throttle {
    second: u64,
    lines: u32,
    by_address: HashMap<Option<IpAddr>, Lines>,
    /// Left-out lines of addresses beyond the distinct ones.
    others: u64,
}

#[derive(Default, Clone, Copy)]
struct Lines {
    written: u32,
    left_out: u64,
}

impl Throttle {
    /// Count lines of the ended second, and whether this line may be written.
    fn admit(&mut self, address: Option<IpAddr>, now: Timestamp) -> (Vec<String>, bool) {
        let before = self.end_of_second(now);
        let address = address.map(network);
        let is_known = self.by_address.contains_key(&address);
        if !is_known && self.by_address.len() >= PER_SECOND as usize {
            self.others += 1;
            return (before, false);
        }
        let lines = self.by_address.entry(address).or_default();
        if lines.written >= PER_ADDRESS || self.lines >= PER_SECOND {
            lines.left_out += 1;
            return (before, false);
        }
        lines.written += 1;
        self.lines += 1;
        (before, true)
    }

    fn end_of_second(&mut self, now: Timestamp) -> Vec<String> {
        let second = now.0 / 1_000;
        // Threads may differ by a moment. A clock that goes back further must not silence the log.
        if (self.second.saturating_sub(CLOCK_JUMP)..=self.second).contains(&second) {
            return Vec::new();
        }
        let end = Timestamp(self.second * 1_000 + 999);
        self.second = second;
        self.lines = 0;
        let left = self.by_address.drain().filter(|(_, lines)| lines.left_out > 0);
        let mut lines: Vec<String> =
            left.map(|(address, lines)| left_out(end, address, lines.left_out)).collect();
        let others = std::mem::take(&mut self.others);
        lines.extend((others > 0).then(|| left_out(end, None, others)));
        lines
    }
}

/// An IPv6 client has at least the 2^64 addresses of its network (RFC 4291 §2.5.4).
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use chat::{Door, Refusal};

    use super::*;

    const NOW: Timestamp = Timestamp(1_764_000_000_123);

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().expect("an address"))
    }

    #[test]
    fn a_line_has_the_documented_fields_and_quotes_foreign_values() {
        let record = SignInRecord {
            time: NOW,
            door: Door::Hello,
            site: Some("garden"),
            user: None,
            address: address("::ffff:203.0.113.5"),
            outcome: SignInOutcome::Refused(Refusal::BadToken),
        };
        assert_eq!(
            line(&record),
            "2025-11-24T16:00:00.123Z kith sign-in refused address=203.0.113.5 reason=bad_token door=hello site=garden user=-\n"
        );
        let user = Some("a\" reason=bad_token address=192.0.2.1 \\ \u{202e}\u{2028}ü");
        let accepted = line(&SignInRecord {
            user,
            address: None,
            outcome: SignInOutcome::Accepted,
            site: None,
            ..record
        });
        let end = r#"accepted address=- reason=- door=hello site=- user="a\" reason=bad_token address=192.0.2.1 \\ \u{202e}\u{2028}ü""#;
        assert!(accepted.trim_end().ends_with(end), "{accepted}");
        assert_eq!(accepted.lines().count(), 1);
    }

    #[test]
    fn a_flood_of_one_address_leaves_the_lines_of_others_and_is_counted() {
        let mut throttle = Throttle::default();
        let mut written = |from: &str, at: u64| throttle.admit(address(from), Timestamp(at));
        let flood = (0..5_000).filter(|_| written("192.0.2.1", 1_000).1).count();
        assert_eq!(flood, PER_ADDRESS as usize);
        assert!(written("192.0.2.2", 1_000).1);
        assert!(!(0..=PER_ADDRESS).all(|host| written(&format!("2001:db8::{host}"), 1_000).1), "one /64");
        let (before, again) = written("192.0.2.1", 2_000);
        assert!(again && before.len() == 2, "{before:?}");
        assert!(
            before.iter().any(|line| line.contains("left-out address=192.0.2.1 lines=4990\n")),
            "{before:?}"
        );
    }

    #[test]
    fn a_flood_of_many_addresses_is_bounded_in_lines_and_memory() {
        let mut throttle = Throttle::default();
        let from = |number: u32| Some(IpAddr::from(std::net::Ipv4Addr::from_bits(number)));
        let written = (0..100_000).filter(|number| throttle.admit(from(*number), NOW).1).count();
        assert_eq!(written, PER_SECOND as usize);
        assert!(throttle.by_address.len() <= PER_SECOND as usize);
        let counted = throttle.end_of_second(Timestamp(NOW.0 + 1_000));
        assert_eq!(counted.len(), 1, "{counted:?}");
        assert!(counted[0].contains("address=- lines=99000"), "{counted:?}");
    }
}
