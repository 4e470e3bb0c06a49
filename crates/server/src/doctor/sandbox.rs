//! The lines of a systemd unit that confine a node. Missing lines are found by the state of the process, not by the
//! file, so drop-ins and older versions of systemd count correctly.

use std::fs;

use super::finding::Finding;

const TOPIC: &str = "sandbox";

/// CAP_NET_BIND_SERVICE of capabilities(7), for ports below 1024.
const MAY_BIND: u64 = 1 << 10;

/// Fields of proc(5) of a process.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Confinement {
    /// The unit of systemd; None: the process runs in a terminal or a container.
    unit: Option<String>,
    is_root: bool,
    no_new_privileges: bool,
    filters_calls: bool,
    capabilities: u64,
    umask: u32,
    mounts: Vec<Mount>,
}

/// proc_pid_mountinfo(5).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mount {
    /// The mounted root.
    root: String,
    at: String,
    read_only: bool,
    kind: String,
}

/// None: unreadable, such as on another system than Linux.
pub(super) fn read(pid: u32) -> Option<Confinement> {
    let text = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
    Some(parse(&text("status")?, &text("cgroup")?, &text("mountinfo")?))
}

fn parse(status: &str, cgroup: &str, mountinfo: &str) -> Confinement {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|line| line.split_whitespace().next()).unwrap_or_default()
    };
    let units = cgroup.lines().filter_map(|line| line.rsplit('/').next());
    Confinement {
        unit: units.into_iter().find(|unit| unit.ends_with(".service")).map(str::to_owned),
        is_root: field("Uid") == "0",
        no_new_privileges: field("NoNewPrivs") == "1",
        filters_calls: field("Seccomp") == "2",
        capabilities: u64::from_str_radix(field("CapEff"), 16).unwrap_or(0),
        umask: u32::from_str_radix(field("Umask"), 8).unwrap_or(0),
        mounts: mountinfo.lines().filter_map(mount).collect(),
    }
}

fn mount(line: &str) -> Option<Mount> {
    let (of_mount, of_system) = line.split_once(" - ")?;
    let mut words = of_mount.split(' ').skip(3);
    let (root, at, options) = (words.next()?, words.next()?, words.next()?);
    let read_only = options.split(',').any(|option| option == "ro");
    let kind = of_system.split(' ').next()?.to_owned();
    Some(Mount { root: root.to_owned(), at: at.to_owned(), read_only, kind })
}

impl Confinement {
    /// The last mount at a place hides those before it.
    fn at(&self, place: &str) -> Option<&Mount> {
        self.mounts.iter().rev().find(|mount| mount.at == place)
    }

    fn hides(&self, place: &str) -> bool {
        self.at(place).is_some_and(|mount| mount.root.contains("inaccessible") || mount.kind == "tmpfs")
    }

    /// Lines for the section [Service], in the order of the example unit.
    fn missing(&self) -> Vec<&'static str> {
        let lines = [
            (self.is_root, "User=kith"),
            (self.umask & 0o077 != 0o077, "UMask=0077"),
            (self.capabilities & !MAY_BIND != 0, "AmbientCapabilities=CAP_NET_BIND_SERVICE"),
            (self.capabilities & !MAY_BIND != 0, "CapabilityBoundingSet=CAP_NET_BIND_SERVICE"),
            (!self.no_new_privileges, "NoNewPrivileges=yes"),
            (!self.at("/").is_some_and(|mount| mount.read_only), "ProtectSystem=strict"),
            (!self.hides("/home"), "ProtectHome=yes"),
            (!self.at("/tmp").is_some_and(|mount| mount.root.contains("systemd-private")), "PrivateTmp=yes"),
            (self.at("/dev").is_none_or(|mount| mount.kind != "tmpfs"), "PrivateDevices=yes"),
            (!self.filters_calls, "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX"),
            (!self.filters_calls, "MemoryDenyWriteExecute=yes"),
            (!self.filters_calls, "SystemCallFilter=@system-service seccomp"),
            (!self.filters_calls, "SystemCallErrorNumber=EPERM"),
        ];
        lines.into_iter().filter_map(|(is_missing, line)| is_missing.then_some(line)).collect()
    }
}

pub(super) fn judge(node: Option<&Confinement>) -> Finding {
    let Some(node) = node else {
        return Finding::unknown(TOPIC, "the confinement of a node (none runs here)");
    };
    let Some(unit) = &node.unit else {
        return Finding::ok(TOPIC, "the node is not a service of systemd, so no unit was checked");
    };
    let missing = node.missing();
    if missing.is_empty() {
        return Finding::ok(TOPIC, format!("{unit} confines the node"));
    }
    let mend = format!(
        "add these lines to [Service] with `systemctl edit {unit}`, then `systemctl restart {unit}`; \
         docs/kith.service is a complete example"
    );
    let found = format!("{unit} lacks {} lines that confine the node", missing.len());
    let why = "an attacker inside the node could use files, devices and rights that it does not need";
    missing.into_iter().fold(Finding::warn(TOPIC, found, why, mend), Finding::line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::State;

    const UNIT: &str = include_str!("../../../../docs/kith.service");
    const GUIDE: &str = include_str!("../../../../docs/operate.md");
    const CGROUP: &str = "0::/system.slice/kith.service\n";
    /// As the example unit makes it, with systemd 252.
    const CONFINED: &str = "Name:\tkith\nUmask:\t0077\nUid:\t998\t998\t998\t998\nCapEff:\t0000000000000400\n\
                            NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t14\n";
    const CONFINED_MOUNTS: &str = "\
        602 565 254:1 / / ro,nosuid,relatime shared:310 - ext4 /dev/vda1 rw\n\
        603 602 0:5 / /dev rw,nosuid - devtmpfs udev rw\n\
        604 603 0:61 / /dev ro,nosuid,noexec - tmpfs tmpfs rw,mode=755\n\
        605 602 0:24 /systemd/inaccessible/dir /home ro,nosuid - tmpfs tmpfs rw\n\
        606 602 254:1 /tmp/systemd-private-0b7c-kith.service-x/tmp /tmp rw,nosuid - ext4 /dev/vda1 rw\n\
        607 602 254:1 /var/lib/kith /var/lib/kith rw,nosuid - ext4 /dev/vda1 rw\n";
    const OPEN: &str = "Name:\tkith\nUmask:\t0022\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nNoNewPrivs:\t0\nSeccomp:\t0\n";
    const OPEN_MOUNTS: &str = "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n\
                               23 22 0:5 / /dev rw,nosuid - devtmpfs udev rw\n";

    #[test]
    fn a_node_of_the_example_unit_lacks_nothing() {
        let finding = judge(Some(&parse(CONFINED, CGROUP, CONFINED_MOUNTS)));
        assert_eq!((finding.state, &finding.lines[..]), (State::Ok, &[][..]), "{}", finding.found);
    }

    #[test]
    fn each_missing_line_is_named_and_the_example_unit_has_it() {
        let finding = judge(Some(&parse(OPEN, CGROUP, OPEN_MOUNTS)));
        assert_eq!(finding.state, State::Warn);
        assert!(finding.lines.len() >= 13 && finding.mend.contains("kith.service"), "{:?}", finding.lines);
        for line in &finding.lines {
            assert!(UNIT.lines().any(|of_unit| of_unit == line), "docs/kith.service lacks {line}");
        }
        for (from, to, line) in [
            ("NoNewPrivs:\t1", "NoNewPrivs:\t0", "NoNewPrivileges=yes"),
            ("Umask:\t0077", "Umask:\t0027", "UMask=0077"),
            ("Uid:\t998", "Uid:\t0", "User=kith"),
        ] {
            let node = parse(&CONFINED.replace(from, to), CGROUP, CONFINED_MOUNTS);
            assert_eq!(node.missing(), [line]);
        }
        for (from, to, line) in [
            ("/ / ro,", "/ / rw,", "ProtectSystem=strict"),
            ("/home ro", "/srv ro", "ProtectHome=yes"),
            ("systemd-private", "other", "PrivateTmp=yes"),
            ("- tmpfs tmpfs rw,mode", "- devtmpfs tmpfs rw,mode", "PrivateDevices=yes"),
        ] {
            let node = parse(CONFINED, CGROUP, &CONFINED_MOUNTS.replace(from, to));
            assert_eq!(node.missing(), [line]);
        }
    }

    #[test]
    fn a_node_in_a_terminal_or_a_container_is_left_alone() {
        for cgroup in ["0::/\n", "0::/user.slice/user-1000.slice/session-2.scope\n", "0::/docker/0123\n"] {
            assert_eq!(judge(Some(&parse(OPEN, cgroup, OPEN_MOUNTS))).state, State::Ok, "{cgroup}");
        }
        assert_eq!(judge(None).state, State::Unknown);
        assert!(cfg!(not(target_os = "linux")) || read(std::process::id()).is_some());
    }

    #[test]
    fn the_guide_shows_the_example_unit() {
        assert!(GUIDE.contains(&format!("```ini\n{UNIT}```")), "docs/operate.md shows another unit");
    }

    /// Compares with systemd's own analysis, if it is installed.
    #[test]
    fn systemd_knows_every_line_of_the_example_unit() {
        let dir = std::env::temp_dir().join(format!("kith-unit-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("the temporary directory is writable");
        let (file, program) = (dir.join("kith.service"), std::env::current_exe().expect("this test"));
        let unit = UNIT.replace("/usr/local/bin/kith", &program.display().to_string());
        fs::write(&file, unit).expect("the temporary directory is writable");
        let verified =
            std::process::Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&file).output();
        let _ = fs::remove_dir_all(&dir);
        if let Ok(verified) = verified {
            let said = String::from_utf8_lossy(&verified.stderr);
            let of_ours = said.lines().filter(|line| line.contains("kith.service")).collect::<Vec<&str>>();
            assert!(of_ours.is_empty(), "{of_ours:?}");
        }
    }
}
