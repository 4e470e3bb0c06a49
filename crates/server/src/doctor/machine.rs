//! Reads limits of this machine and of the serving process from the kernel. Other files evaluate them.

use std::fs;
use std::path::Path;

use rustix::process::{Resource, getrlimit};

/// The state of the machine. None: not visible, in a container or on another system than Linux.
#[derive(Debug, Clone, Default)]
pub(crate) struct Machine {
    /// The running node, whose limits of descriptors and memory count; else this command.
    pub(super) pid: Option<u32>,
    /// `u64::MAX` without a limit.
    pub(crate) soft_descriptors: Option<u64>,
    pub(super) hard_descriptors: Option<u64>,
    pub(super) nr_open: Option<u64>,
    pub(super) file_max: Option<u64>,
    pub(super) files_open: Option<u64>,
    pub(super) port_range: Option<(u64, u64)>,
    pub(super) somaxconn: Option<u64>,
    pub(super) syn_backlog: Option<u64>,
    pub(super) netdev_max_backlog: Option<u64>,
    /// Packets dropped since boot by all cores, because that queue was full.
    pub(super) packets_dropped: Option<u64>,
    /// Pages: low, pressure, max.
    pub(crate) tcp_mem: Option<[u64; 3]>,
    /// Bytes of one socket: least, at the start, most.
    pub(super) tcp_rmem: Option<[u64; 3]>,
    pub(super) tcp_wmem: Option<[u64; 3]>,
    /// Only with the loaded module.
    pub(super) conntrack_max: Option<u64>,
    pub(super) conntrack_count: Option<u64>,
    pub(super) page_size: u64,
    /// Bytes.
    pub(super) memory_available: Option<u64>,
    pub(super) memory_total: Option<u64>,
    /// Bytes that the control group of the process has left.
    pub(super) memory_of_group: Option<u64>,
    pub(super) cores: u64,
    /// Those of [`HARMFUL`](super::harmful) that this kernel has, with their values.
    pub(super) settings: Vec<(&'static str, String)>,
}

impl Machine {
    pub(crate) fn read(pid: Option<u32>) -> Machine {
        let (soft_descriptors, hard_descriptors) = match pid {
            Some(pid) => limits_of(pid),
            None => own_limits(),
        };
        Machine {
            pid,
            soft_descriptors,
            hard_descriptors,
            nr_open: number("fs/nr_open"),
            file_max: number("fs/file-max"),
            files_open: numbers("fs/file-nr").and_then(|numbers| numbers.first().copied()),
            port_range: numbers("net/ipv4/ip_local_port_range")
                .and_then(|range| Some((*range.first()?, *range.get(1)?))),
            somaxconn: number("net/core/somaxconn"),
            syn_backlog: number("net/ipv4/tcp_max_syn_backlog"),
            netdev_max_backlog: number("net/core/netdev_max_backlog"),
            packets_dropped: fs::read_to_string("/proc/net/softnet_stat")
                .ok()
                .and_then(|text| dropped_in(&text)),
            tcp_mem: three("net/ipv4/tcp_mem"),
            tcp_rmem: three("net/ipv4/tcp_rmem"),
            tcp_wmem: three("net/ipv4/tcp_wmem"),
            conntrack_max: number("net/netfilter/nf_conntrack_max"),
            conntrack_count: number("net/netfilter/nf_conntrack_count"),
            page_size: rustix::param::page_size() as u64,
            memory_available: of_meminfo("MemAvailable:"),
            memory_total: of_meminfo("MemTotal:"),
            memory_of_group: room_of_group(pid),
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64),
            settings: super::harmful::keys().filter_map(|key| Some((key, setting(key)?))).collect(),
        }
    }

    /// Bytes that the process, and the kernel for it, can still allocate.
    pub(crate) fn room(&self) -> Option<u64> {
        let available = self.memory_available?;
        Some(self.memory_of_group.map_or(available, |group| group.min(available)))
    }
}

/// The value of a setting, by its dotted name.
pub(super) fn setting(key: &str) -> Option<String> {
    // Names of interfaces may contain a dot; no such setting is read.
    sys(&key.replace('.', "/"))
}

fn sys(path: &str) -> Option<String> {
    let text = fs::read_to_string(Path::new("/proc/sys").join(path)).ok()?;
    Some(text.split_whitespace().collect::<Vec<&str>>().join(" "))
}

fn number(path: &str) -> Option<u64> {
    sys(path)?.parse().ok()
}

fn numbers(path: &str) -> Option<Vec<u64>> {
    sys(path)?.split(' ').map(|word| word.parse().ok()).collect()
}

fn three(path: &str) -> Option<[u64; 3]> {
    numbers(path)?.try_into().ok()
}

fn own_limits() -> (Option<u64>, Option<u64>) {
    let limits = getrlimit(Resource::Nofile);
    (Some(limits.current.unwrap_or(u64::MAX)), Some(limits.maximum.unwrap_or(u64::MAX)))
}

fn limits_of(pid: u32) -> (Option<u64>, Option<u64>) {
    let text = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
    limits_in(&text)
}

/// The line `Max open files  SOFT  HARD  files` (proc_pid_limits(5)).
fn limits_in(text: &str) -> (Option<u64>, Option<u64>) {
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap_or_default();
    let mut words = line.split_whitespace().map(|word| match word {
        "unlimited" => Some(u64::MAX),
        word => word.parse().ok(),
    });
    (words.next().flatten(), words.next().flatten())
}

/// A line for each core; the second column counts packets that its full queue dropped, in hexadecimal.
fn dropped_in(text: &str) -> Option<u64> {
    let of_core = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
    text.lines().map(of_core).sum()
}

fn of_meminfo(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(rest.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Memory of the sockets is charged to the group too (cgroups(7)).
fn room_of_group(pid: Option<u32>) -> Option<u64> {
    let of = pid.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
    let text = fs::read_to_string(format!("/proc/{of}/cgroup")).ok()?;
    let (folder, limit, usage) = group_files(&text)?;
    // In a container, its own group is the visible root.
    let read = |file: &str| {
        let own = fs::read_to_string(format!("{}{}/{file}", folder.0, folder.1));
        own.or_else(|_| fs::read_to_string(format!("{}/{file}", folder.0))).ok()?.trim().parse::<u64>().ok()
    };
    // `max` means no limit; in version 1 it is a number beyond any memory.
    let limit = read(limit).filter(|limit| *limit < 1 << 60)?;
    Some(limit.saturating_sub(read(usage).unwrap_or(0)))
}

/// Mount point and path of the group, and the names of its limit and usage files, for both versions.
fn group_files(text: &str) -> Option<((&'static str, &str), &'static str, &'static str)> {
    let first = text.lines().find_map(|line| line.split_once(":memory:").map(|(_, path)| path));
    let first =
        first.map(|path| (("/sys/fs/cgroup/memory", path), "memory.limit_in_bytes", "memory.usage_in_bytes"));
    let second = || text.lines().find_map(|line| line.strip_prefix("0::"));
    first.or_else(|| Some((("/sys/fs/cgroup", second()?), "memory.max", "memory.current")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_can_be_read() {
        let machine = Machine::read(None);
        assert!(machine.hard_descriptors >= machine.soft_descriptors && machine.soft_descriptors > Some(0));
        assert!(machine.memory_total >= machine.memory_available && machine.cores > 0);
        let other = Machine::read(Some(std::process::id()));
        assert_eq!(other.hard_descriptors, machine.hard_descriptors, "the same process by its number");
        assert_eq!(Machine::read(Some(u32::MAX)).hard_descriptors, None, "there is no such process");
    }

    #[test]
    fn limits_are_read_from_their_line() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max processes             95908                95908                processes \n\
                    Max open files            1024                 1048576              files     \n";
        assert_eq!(limits_in(text), (Some(1_024), Some(1_048_576)));
        assert_eq!(
            limits_in("Max open files  unlimited  unlimited  files"),
            (Some(u64::MAX), Some(u64::MAX))
        );
        assert_eq!(limits_in("Max open files  many"), (None, None));
        assert_eq!(limits_in(""), (None, None));
    }

    #[test]
    fn dropped_packets_are_added_up() {
        let text = "0a188c1b 000b3b92 0000004d 00000000\n087e3b31 0000000a 0000004d 00000000\n";
        assert_eq!(dropped_in(text), Some(0xb3b92 + 10));
        assert_eq!(dropped_in(""), Some(0));
        assert_eq!(dropped_in("1 x"), None);
        assert_eq!(dropped_in("1"), None);
    }

    #[test]
    fn the_group_is_found_in_both_versions() {
        let path = |text| group_files(text).map(|(folder, limit, _)| (folder.1, limit));
        assert_eq!(
            path("0::/system.slice/kith.service\n"),
            Some(("/system.slice/kith.service", "memory.max"))
        );
        let mixed = "9:name=systemd:/\n4:memory:/a/b\n0::/\n";
        assert_eq!(path(mixed), Some(("/a/b", "memory.limit_in_bytes")));
        assert_eq!(path("7:blkio:/\n"), None);
    }
}
