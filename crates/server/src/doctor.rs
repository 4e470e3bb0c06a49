//! `kith doctor`: what on this machine would limit or break a node, and the line that mends it.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit};
use serde::Serialize;

use crate::config::{Config, Loaded};
use crate::trouble::Outcome;
use crate::{data_dir, print_json, print_with};

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    topic: &'static str,
    state: State,
    /// What was found, with figures.
    found: String,
    /// Why it matters; empty where all is well.
    why: &'static str,
    /// The line to type, or the setting to change; empty where all is well.
    mend: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warn,
    Fail,
}

impl Finding {
    fn ok(topic: &'static str, found: impl Into<String>) -> Finding {
        Finding { topic, state: State::Ok, found: found.into(), why: "", mend: String::new() }
    }

    fn warn(
        topic: &'static str,
        found: impl Into<String>,
        why: &'static str,
        mend: impl Into<String>,
    ) -> Finding {
        Finding { topic, state: State::Warn, found: found.into(), why, mend: mend.into() }
    }

    fn fail(self) -> Finding {
        Finding { state: State::Fail, ..self }
    }
}

/// Exit code 1 where something fails, so that a script can ask.
pub(crate) fn run(loaded: &Loaded, json: bool) -> Outcome<ExitCode> {
    let config = &loaded.config;
    let data = data_dir::locate(loaded, Some(config.http.port()))?;
    let machine = Machine::read(&data);
    let mut findings = machine.findings(config);
    findings.extend([free_space(&data), sync_time(&data), clock(crate::now().0)]);
    if let Some(cert) = &config.tls_cert {
        findings.push(certificate(cert, crate::now().0));
    }
    let worst = findings.iter().map(|finding| finding.state).max().unwrap_or(State::Ok);
    if json {
        print_json(&serde_json::json!({ "state": worst, "findings": findings }))?;
    } else {
        print_with(|out| print(out, &findings))?;
    }
    Ok(if worst == State::Fail { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print(out: &mut dyn Write, findings: &[Finding]) -> io::Result<()> {
    for finding in findings {
        let state = match finding.state {
            State::Ok => "ok  ",
            State::Warn => "WARN",
            State::Fail => "FAIL",
        };
        writeln!(out, "{state}  {:<14} {}", finding.topic, finding.found)?;
        if !finding.why.is_empty() {
            writeln!(out, "      {:<14} why: {}", "", finding.why)?;
        }
        if !finding.mend.is_empty() {
            writeln!(out, "      {:<14} try: {}", "", finding.mend)?;
        }
    }
    Ok(())
}

/// What the kernel says of itself. None: not known here (another system than Linux).
#[derive(Debug, Default)]
struct Machine {
    soft_descriptors: Option<u64>,
    hard_descriptors: Option<u64>,
    nr_open: Option<u64>,
    port_range: Option<(u64, u64)>,
    somaxconn: Option<u64>,
    /// Pages.
    tcp_mem_max: Option<u64>,
    page_size: u64,
    /// Bytes.
    memory_available: Option<u64>,
    memory_total: Option<u64>,
}

/// Kernel memory of an idle socket and our own part of it, rounded up.
const BYTES_PER_CONNECTION: u64 = 5 * 1024;
/// Descriptors that are no connections: database, listeners, logs, wake-ups.
const OTHER_DESCRIPTORS: u64 = 200;
/// Below this, nobody would call it a server of many.
const FEW_CONNECTIONS: u64 = 10_000;

impl Machine {
    fn read(_data: &Path) -> Machine {
        let limits = getrlimit(Resource::Nofile);
        let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse().ok();
        let numbers = |path: &str| -> Option<Vec<u64>> {
            fs::read_to_string(path).ok()?.split_whitespace().map(|word| word.parse().ok()).collect()
        };
        let memory = |name: &str| -> Option<u64> {
            let text = fs::read_to_string("/proc/meminfo").ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
        };
        Machine {
            soft_descriptors: limits.current,
            hard_descriptors: limits.maximum,
            nr_open: number("/proc/sys/fs/nr_open"),
            port_range: numbers("/proc/sys/net/ipv4/ip_local_port_range")
                .and_then(|range| Some((*range.first()?, *range.get(1)?))),
            somaxconn: number("/proc/sys/net/core/somaxconn"),
            tcp_mem_max: numbers("/proc/sys/net/ipv4/tcp_mem").and_then(|pages| pages.get(2).copied()),
            page_size: rustix::param::page_size() as u64,
            memory_available: memory("MemAvailable"),
            memory_total: memory("MemTotal"),
        }
    }

    fn findings(&self, config: &Config) -> Vec<Finding> {
        let wanted = match config.edge.max_connections {
            0 => FEW_CONNECTIONS,
            most => u64::from(most),
        };
        [
            Some(self.descriptors(config, wanted)),
            self.ports(),
            self.backlog(),
            self.tcp_memory(wanted),
            self.memory(wanted),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The node raises its soft limit to the hard one by itself.
    fn descriptors(&self, config: &Config, wanted: u64) -> Finding {
        let hard = self.hard_descriptors.unwrap_or(u64::MAX);
        let tables = if config.edge.private_descriptors { config.edge.workers.max(1) as u64 } else { 1 };
        let room = hard.saturating_mul(tables).saturating_sub(OTHER_DESCRIPTORS);
        let nr_open = self.nr_open.map_or("unknown".into(), |most| most.to_string());
        let limit = |limit: Option<u64>| limit.map_or("unlimited".into(), |limit| limit.to_string());
        let found = format!(
            "soft {}, hard {}, nr_open {nr_open}: room for {} connections",
            limit(self.soft_descriptors),
            limit(self.hard_descriptors),
            if room > 1 << 40 { "any number of".into() } else { room.to_string() },
        );
        if room >= wanted {
            return Finding::ok("descriptors", found);
        }
        let needed = wanted + OTHER_DESCRIPTORS;
        let mend = if self.nr_open.is_some_and(|most| most < needed) {
            format!("sysctl -w fs.nr_open={needed}, then LimitNOFILE={needed} in the service")
        } else {
            format!(
                "LimitNOFILE={needed} in the [Service] of systemd, or `ulimit -Hn {needed}` as root before the start"
            )
        };
        let why = "every connection needs a descriptor; beyond the limit nobody can connect";
        Finding::warn(
            "descriptors",
            found,
            why,
            mend + "; where that is not allowed: --private-descriptors --workers N",
        )
    }

    /// Only the load generator and a reverse proxy on this machine use up ports.
    fn ports(&self) -> Option<Finding> {
        let (first, last) = self.port_range?;
        let found = format!("{first} to {last}");
        Some(if last.saturating_sub(first) >= 28_000 {
            Finding::ok("port range", found)
        } else {
            Finding::warn(
                "port range",
                found,
                "a reverse proxy or load generator on this machine needs a port per connection and address",
                "sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"",
            )
        })
    }

    fn backlog(&self) -> Option<Finding> {
        let somaxconn = self.somaxconn?;
        let found = somaxconn.to_string();
        Some(if somaxconn >= 4_096 {
            Finding::ok("somaxconn", found)
        } else {
            Finding::warn(
                "somaxconn",
                found,
                "when many members reconnect at once, the kernel turns away those who do not fit into the backlog",
                "sysctl -w net.core.somaxconn=4096",
            )
        })
    }

    /// An idle socket holds no buffer page; half of a page each covers those that talk.
    fn tcp_memory(&self, wanted: u64) -> Option<Finding> {
        let max = self.tcp_mem_max?;
        let needed = wanted / 2;
        let found = format!("tcp_mem allows {} MB of buffers", max.saturating_mul(self.page_size) >> 20);
        Some(if max >= needed {
            Finding::ok("tcp memory", found)
        } else {
            Finding::warn(
                "tcp memory",
                found,
                "when buffers are used up, the kernel drops segments of all connections",
                format!("sysctl -w net.ipv4.tcp_mem=\"{} {} {}\"", needed / 2, needed * 3 / 4, needed),
            )
        })
    }

    fn memory(&self, wanted: u64) -> Option<Finding> {
        let (available, total) = (self.memory_available?, self.memory_total?);
        let needed = wanted.saturating_mul(BYTES_PER_CONNECTION) + (64 << 20);
        let found = format!("{} MB available of {} MB", available >> 20, total >> 20);
        Some(if available >= needed {
            Finding::ok("memory", found)
        } else {
            Finding::warn(
                "memory",
                found,
                "kernel and node together need about 5 KB per connection",
                format!("--max-connections {}", available.saturating_sub(64 << 20) / BYTES_PER_CONNECTION),
            )
        })
    }
}

fn free_space(data: &Path) -> Finding {
    let existing = data.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("."));
    let why = "when the disk is full, messages are refused; reading goes on";
    let mend = "make room, or name another directory with --data DIR";
    match rustix::fs::statvfs(existing) {
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let found = format!("{} MB free at {}", free >> 20, data.display());
            match free >> 20 {
                0..64 => Finding::warn("disk", found, why, mend).fail(),
                64..1_024 => Finding::warn("disk", found, why, mend),
                _ => Finding::ok("disk", found),
            }
        }
        Err(error) => Finding::warn("disk", error.to_string(), why, mend).fail(),
    }
}

/// Every group of messages waits for one fsync before it is acknowledged.
fn sync_time(data: &Path) -> Finding {
    let why = "a message is acknowledged only after the disk has it: this is the least that a sender waits";
    match measure_sync(data) {
        Ok(Some(median)) => {
            let found = format!("fsync takes {:.1} ms", median.as_secs_f64() * 1e3);
            if median < Duration::from_millis(20) {
                Finding::ok("disk speed", found)
            } else {
                Finding::warn(
                    "disk speed",
                    found,
                    why,
                    "put --data on an SSD, or set store.sync = \"normal\"",
                )
            }
        }
        Ok(None) => Finding::ok("disk speed", "not measured: the data directory does not exist yet"),
        Err(error) => {
            let mend =
                format!("chown the directory to this user, or name another: --data DIR ({})", data.display());
            Finding::warn("disk speed", error.to_string(), "the node cannot write its database", mend).fail()
        }
    }
}

fn measure_sync(data: &Path) -> io::Result<Option<Duration>> {
    if !data.is_dir() {
        return Ok(None);
    }
    let path = data.join(format!(".doctor-{}", std::process::id()));
    let mut file = fs::File::create(&path)?;
    let measured = (0..9)
        .map(|_| {
            let begin = Instant::now();
            file.write_all(&[0; 4096])?;
            file.sync_data()?;
            Ok(begin.elapsed())
        })
        .collect::<io::Result<Vec<Duration>>>();
    fs::remove_file(&path)?;
    let mut times = measured?;
    times.sort_unstable();
    Ok(times.get(times.len() / 2).copied())
}

/// Without another clock to ask, only what cannot be right is found.
fn clock(unix_ms: u64) -> Finding {
    // 2026-01-01: this version of Kith did not exist before.
    const BUILT_AFTER: u64 = 1_767_225_600_000;
    if unix_ms >= BUILT_AFTER {
        return Finding::ok("clock", "plausible");
    }
    Finding::warn(
        "clock",
        "it is before 2026 on this machine",
        "tokens are judged by the clock; with a wrong one nobody can sign in",
        "timedatectl set-ntp true",
    )
    .fail()
}

fn certificate(path: &Path, unix_ms: u64) -> Finding {
    let why = "browsers refuse a node whose certificate has expired";
    let mend = "renew it, then send SIGHUP to the node: kill -HUP PID";
    match fs::read(path).map_err(|error| error.to_string()).and_then(|pem| not_after(&pem)) {
        Ok(end) => {
            let days = (end as i64 - (unix_ms / 1_000) as i64) / 86_400;
            let found = format!("valid for {days} more days");
            match days {
                ..1 => Finding::warn("certificate", found, why, mend).fail(),
                1..15 => Finding::warn("certificate", found, why, mend),
                _ => Finding::ok("certificate", found),
            }
        }
        Err(error) => Finding::warn("certificate", error, why, "name a PEM file with --tls-cert").fail(),
    }
}

/// Unix seconds at which the first certificate of a chain ends.
fn not_after(pem: &[u8]) -> Result<u64, String> {
    let block = x509_parser::pem::Pem::iter_from_buffer(pem)
        .find_map(|block| block.ok().filter(|block| block.label == "CERTIFICATE"))
        .ok_or("there is no certificate in the file")?;
    let certificate = block.parse_x509().map_err(|error| error.to_string())?;
    u64::try_from(certificate.validity().not_after.timestamp()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn big_machine() -> Machine {
        Machine {
            soft_descriptors: Some(1_024),
            hard_descriptors: Some(1_048_576),
            nr_open: Some(1_048_576),
            port_range: Some((32_768, 60_999)),
            somaxconn: Some(4_096),
            tcp_mem_max: Some(1 << 20),
            page_size: 4_096,
            memory_available: Some(8 << 30),
            memory_total: Some(16 << 30),
        }
    }

    fn state_of(findings: &[Finding], topic: &str) -> State {
        findings.iter().find(|finding| finding.topic == topic).expect(topic).state
    }

    #[test]
    fn a_usual_machine_is_well() {
        let findings = big_machine().findings(&Config::default());
        assert_eq!(findings.len(), 5);
        assert!(findings.iter().all(|finding| finding.state == State::Ok), "{findings:?}");
    }

    #[test]
    fn every_shortage_is_told_with_a_reason_and_a_line_to_type() {
        let small = Machine {
            hard_descriptors: Some(4_096),
            port_range: Some((50_000, 60_000)),
            somaxconn: Some(128),
            tcp_mem_max: Some(100),
            memory_available: Some(64 << 20),
            ..big_machine()
        };
        let findings = small.findings(&Config::default());
        for topic in ["descriptors", "port range", "somaxconn", "tcp memory", "memory"] {
            assert_eq!(state_of(&findings, topic), State::Warn, "{topic}");
        }
        assert!(findings.iter().all(|finding| !finding.why.is_empty() && !finding.mend.is_empty()));
        assert!(findings[0].mend.contains("LimitNOFILE=10200"), "{}", findings[0].mend);
        assert!(
            !findings.iter().any(|finding| finding.mend.contains("tw_re")),
            "recycling was harmful and is gone"
        );
    }

    #[test]
    fn the_limit_of_a_process_cannot_pass_that_of_the_kernel() {
        let machine = Machine { hard_descriptors: Some(20_000), nr_open: Some(20_000), ..big_machine() };
        let mut config = Config::default();
        config.edge.max_connections = 1_000_000;
        let findings = machine.findings(&config);
        assert!(findings[0].mend.contains("fs.nr_open=1000200"), "{}", findings[0].mend);
        config.edge.max_connections = 100_000;
        config.edge.private_descriptors = true;
        config.edge.workers = 8;
        assert_eq!(state_of(&machine.findings(&config), "descriptors"), State::Ok);
    }

    #[test]
    fn the_end_of_a_certificate_is_read_and_judged() {
        let dir = std::env::temp_dir().join(format!("kith-doctor-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("the temporary directory is writable");
        let mut params = rcgen::CertificateParams::new(vec!["localhost".into()]).expect("a name");
        params.not_after = rcgen::date_time_ymd(2030, 1, 1);
        let key = rcgen::KeyPair::generate().expect("a key");
        let path = dir.join("cert.pem");
        fs::write(&path, params.self_signed(&key).expect("a certificate").pem()).expect("it is written");
        const END: u64 = 1_893_456_000;
        assert_eq!(not_after(&fs::read(&path).expect("it is there")), Ok(END));
        let at = |seconds: u64| certificate(&path, seconds * 1_000).state;
        assert_eq!(at(END - 90 * 86_400), State::Ok);
        assert_eq!(at(END - 5 * 86_400), State::Warn);
        assert_eq!(at(END + 1), State::Fail);
        assert_eq!(certificate(&dir, 0).state, State::Fail);
        fs::remove_dir_all(&dir).expect("it is ours");
    }

    #[test]
    fn a_clock_that_cannot_be_right_is_found() {
        assert_eq!(clock(0).state, State::Fail);
        assert_eq!(clock(1_800_000_000_000).state, State::Ok);
    }
}
