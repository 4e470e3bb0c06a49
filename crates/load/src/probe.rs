//! Measures the server from outside: its memory and CPU, and the kernel's memory of this machine.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::node_api;
use crate::options::RunOptions;
use crate::processes::{Processes, Usages};
use crate::target::Target;

/// The source of the server's figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// `/proc/PID`, on this machine.
    Process(u32),
    /// The processes of a cluster, on this machine. The figures are the sums of homes, fronts and NATS.
    Cluster(Arc<Processes>),
    /// `process_resident_memory_bytes` and `process_cpu_seconds_total` of `/metrics`, if it requires no token
    /// (`metrics_public`).
    Metrics(SocketAddr),
    /// This process: the server and the members are one, and there are no sockets.
    Inside,
    /// No source; the report then has no figures of the server.
    Blind,
}

/// One sample. Unreadable values are None.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sample {
    pub resident_bytes: Option<u64>,
    /// The part of it without file pages, so without the program's own pages, which are loaded as it first runs.
    pub anonymous_bytes: Option<u64>,
    pub cpu_seconds: Option<f64>,
    /// Slab and socket buffers of the whole machine.
    pub kernel_bytes: Option<u64>,
    /// Of a cluster.
    pub parts: Option<Usages>,
}

/// The growth since an earlier sample; negative if it has shrunk.
impl Sample {
    pub(crate) fn resident_since(&self, before: &Sample) -> Option<f64> {
        grown(before.resident_bytes, self.resident_bytes)
    }

    pub(crate) fn anonymous_since(&self, before: &Sample) -> Option<f64> {
        grown(before.anonymous_bytes, self.anonymous_bytes)
    }

    pub(crate) fn kernel_since(&self, before: &Sample) -> Option<f64> {
        grown(before.kernel_bytes, self.kernel_bytes)
    }

    /// Seconds.
    pub(crate) fn cpu_since(&self, before: &Sample) -> Option<f64> {
        Some(self.cpu_seconds? - before.cpu_seconds?)
    }
}

fn grown(before: Option<u64>, after: Option<u64>) -> Option<f64> {
    Some(after? as f64 - before? as f64)
}

impl Probe {
    /// Chooses the processes of the run's own cluster; else like [`Probe::find`].
    pub(crate) fn of(options: &RunOptions) -> Probe {
        match &options.processes {
            Some(processes) => Probe::Cluster(Arc::clone(processes)),
            None => Probe::find(&options.target, options.server),
        }
    }

    /// Chooses the given process, else the process that listens on the port if it is visible, else `/metrics`.
    pub fn find(target: &Target, server: Option<u32>) -> Probe {
        if let Some(pid) = server.or_else(|| listener(target.addr.port())) {
            return Probe::Process(pid);
        }
        let metrics = Probe::Metrics(target.addr);
        let seen = !target.tls && metrics.look().resident_bytes.is_some();
        if seen { metrics } else { Probe::Blind }
    }

    pub fn look(&self) -> Sample {
        match self {
            Probe::Process(pid) => Sample {
                resident_bytes: of_status(*pid, "VmRSS:"),
                anonymous_bytes: of_status(*pid, "RssAnon:"),
                cpu_seconds: cpu_seconds(&format!("/proc/{pid}/stat")),
                kernel_bytes: kernel_bytes(),
                parts: None,
            },
            Probe::Cluster(processes) => {
                let parts = processes.look();
                let server = parts.server();
                Sample {
                    resident_bytes: Some(server.resident_bytes),
                    anonymous_bytes: Some(server.anonymous_bytes),
                    cpu_seconds: Some(server.cpu_seconds),
                    kernel_bytes: kernel_bytes(),
                    parts: Some(parts),
                }
            }
            Probe::Metrics(addr) => {
                let text = node_api::metrics(*addr, None).unwrap_or_default();
                let kernel_bytes = if addr.ip().is_loopback() { kernel_bytes() } else { None };
                Sample {
                    anonymous_bytes: None,
                    resident_bytes: figure(&text, "process_resident_memory_bytes").map(|bytes| bytes as u64),
                    cpu_seconds: figure(&text, "process_cpu_seconds_total"),
                    kernel_bytes,
                    parts: None,
                }
            }
            Probe::Inside => Sample { kernel_bytes: None, ..Probe::Process(std::process::id()).look() },
            Probe::Blind => Sample::default(),
        }
    }
}

/// User and system time of a process or thread, from its `stat` file (proc(5)).
pub(crate) fn cpu_seconds(stat: &str) -> Option<f64> {
    cpu_times(stat).map(|[user, system, ..]| user + system)
}

/// CPU seconds of a process and of its children that have ended, from `/proc/PID/stat`.
pub(crate) fn cpu_seconds_with_children(stat: &str) -> Option<f64> {
    cpu_times(stat).map(|times| times.iter().sum())
}

/// User and system time, then those of children that have ended.
fn cpu_times(stat: &str) -> Option<[f64; 4]> {
    let text = fs::read_to_string(stat).ok()?;
    // The name, in parentheses, may contain any character.
    let (_, fields) = text.rsplit_once(") ")?;
    let mut ticks = fields.split(' ').skip(11).map(|ticks| ticks.parse::<u64>().ok());
    let mut seconds = [0.0; 4];
    for time in &mut seconds {
        *time = ticks.next()?? as f64 / rustix::param::clock_ticks_per_second() as f64;
    }
    Some(seconds)
}

/// Bytes, from `/proc/PID/status`.
pub(crate) fn of_status(pid: u32, field: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    kilobytes(&text, field)
}

/// The kernel's memory for all sockets of the machine, and for everything else. It is the sum of `Slab` of /proc/meminfo
/// (socket, file and epoll structures) and the pages of TCP buffers from /proc/net/sockstat. Only its growth is
/// meaningful.
fn kernel_bytes() -> Option<u64> {
    let slab = kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "Slab:")?;
    let sockets = fs::read_to_string("/proc/net/sockstat").ok()?;
    let tcp = sockets.lines().find(|line| line.starts_with("TCP:"))?;
    let (_, pages) = tcp.rsplit_once("mem ")?;
    Some(slab + pages.trim().parse::<u64>().ok()? * rustix::param::page_size() as u64)
}

pub(crate) fn kilobytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

/// The process that listens on a TCP port of this machine.
fn listener(port: u16) -> Option<u32> {
    let inode = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .find_map(|table| listening_inode(&fs::read_to_string(table).ok()?, port))?;
    let wanted = format!("socket:[{inode}]");
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.into_iter().find(|pid| {
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        descriptors
            .filter_map(|fd| fs::read_link(fd.path()).ok())
            .any(|link| link.as_os_str() == wanted.as_str())
    })
}

/// From a table like /proc/net/tcp: `sl local_address rem_address st … inode`, state 0A is listening.
fn listening_inode(table: &str, port: u16) -> Option<u64> {
    let suffix = format!(":{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let ours = fields.get(1)?.ends_with(&suffix) && *fields.get(3)? == "0A";
        if ours { fields.get(9)?.parse().ok() } else { None }
    })
}

/// One figure of a node's `/metrics`, by its full name. `token`: if the node requires one.
pub fn metric(addr: SocketAddr, token: Option<&str>, name: &str) -> Option<f64> {
    figure(&node_api::metrics(addr, token)?, name)
}

/// Several figures at once. None: the node does not answer. A figure that it does not have is None, too.
pub fn metrics<const N: usize>(
    addr: SocketAddr,
    token: Option<&str>,
    names: [&str; N],
) -> Option<[Option<f64>; N]> {
    let text = node_api::metrics(addr, token)?;
    Some(names.map(|name| figure(&text, name)))
}

fn figure(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn sees_this_process() {
        let sample = Probe::Process(std::process::id()).look();
        assert!(sample.resident_bytes.is_some_and(|bytes| bytes > 500_000), "{sample:?}");
        assert!(sample.cpu_seconds.is_some() && sample.kernel_bytes.is_some(), "{sample:?}");
        assert_eq!(Probe::Process(u32::MAX).look().resident_bytes, None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_listening_process_is_found() {
        let listening = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(listener(listening.local_addr().unwrap().port()), Some(std::process::id()));
    }

    #[test]
    fn reads_metrics_and_tables() {
        let text = "# TYPE x gauge\nprocess_resident_memory_bytes 5.5e+06\nprocess_cpu_seconds_total 0.25\n";
        assert_eq!(figure(text, "process_resident_memory_bytes"), Some(5.5e6));
        assert_eq!(figure(text, "process_cpu_seconds_total"), Some(0.25));
        assert_eq!(figure(text, "process_cpu"), None);
        let table = "  sl  local_address rem_address   st\n   0: 0100007F:1F90 00000000:0000 0A \
                     00000000:00000000 00:00000000 00000000     0        0 4242 1\n";
        assert_eq!(listening_inode(table, 8080), Some(4242));
        assert_eq!(listening_inode(table, 8081), None);
        assert_eq!(kilobytes("VmPeak:\t 9 kB\nVmRSS:\t    12 kB\n", "VmRSS:"), Some(12 * 1024));
    }
}
