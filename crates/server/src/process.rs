//! Data of a process from the system; of this process for the metrics, under the names of Prometheus' clients.

use std::fs;

use rustix::process::{Resource, getrlimit};

use crate::metrics::Sample;

/// Empty without `/proc` (another system than Linux).
pub(crate) fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    if let Some(stat) = Stat::read("self") {
        let ticks = rustix::param::clock_ticks_per_second().max(1) as f64;
        samples.extend([
            Sample::seconds(
                "process_cpu_seconds",
                "User and system CPU time of the process, in seconds.",
                stat.cpu_ticks as f64 / ticks,
            ),
            Sample::gauge("process_threads", "Threads of the process.", stat.threads),
            Sample::gauge(
                "process_virtual_memory_bytes",
                "Address space of the process.",
                stat.virtual_bytes,
            ),
            Sample::gauge(
                "process_resident_memory_bytes",
                "Resident memory of the process.",
                stat.resident_pages * rustix::param::page_size() as u64,
            ),
        ]);
    }
    if let Some(at) = start_time() {
        samples.push(Sample::moment(
            "process_start_time_seconds",
            "Start time of the process, in seconds since 1970.",
            at,
        ));
    }
    // With private descriptor tables this counts the tokio side only; see kith_edge_open for connections.
    if let Ok(descriptors) = fs::read_dir("/proc/self/fd") {
        samples.push(Sample::gauge(
            "process_open_fds",
            "Open descriptors of the process.",
            descriptors.count() as u64,
        ));
    }
    if let Some(most) = getrlimit(Resource::Nofile).current {
        samples.push(Sample::gauge("process_max_fds", "Limit of open descriptors of the process.", most));
    }
    samples
}

/// When this process was started, in seconds since the epoch.
fn start_time() -> Option<f64> {
    let ticks = rustix::param::clock_ticks_per_second().max(1) as f64;
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let boot: f64 = stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(boot + Stat::read("self")?.started as f64 / ticks)
}

/// Start time of a process in clock ticks since boot, which identifies it together with its id. None without such a process, or
/// without `/proc`.
pub(crate) fn started(pid: u32) -> Option<u64> {
    Stat::read(&pid.to_string()).map(|stat| stat.started)
}

/// The fields of `/proc/PID/stat` that we need (proc_pid_stat(5)).
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    cpu_ticks: u64,
    threads: u64,
    started: u64,
    virtual_bytes: u64,
    resident_pages: u64,
}

impl Stat {
    fn read(process: &str) -> Option<Stat> {
        Stat::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    fn parse(text: &str) -> Option<Stat> {
        // The command name may hold spaces and brackets; the fields begin after the last bracket, with the third.
        let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Stat {
            cpu_ticks: field(14)? + field(15)?,
            threads: field(20)?,
            started: field(22)?,
            virtual_bytes: field(23)?,
            resident_pages: field(24)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Stat;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let text = "7 (a (b) c) S 1 7 7 0 -1 4194304 100 0 0 0 30 12 0 0 20 0 9 0 555 1048576 200 184467";
        let stat =
            Stat { cpu_ticks: 42, threads: 9, started: 555, virtual_bytes: 1_048_576, resident_pages: 200 };
        assert_eq!(Stat::parse(text), Some(stat));
        assert_eq!(Stat::parse("nonsense"), None);
    }
}
