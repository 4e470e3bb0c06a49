//! Tables of machines and the expected findings.

use super::finding::{Setting, State};
use super::*;
use crate::config::Config;
use crate::need;

/// As Debian sets up a machine of 16 GB.
fn usual() -> Machine {
    Machine {
        pid: None,
        soft_descriptors: Some(1_024),
        hard_descriptors: Some(1_048_576),
        nr_open: Some(1_048_576),
        file_max: Some(u64::MAX >> 1),
        files_open: Some(1_000),
        port_range: Some((32_768, 60_999)),
        somaxconn: Some(4_096),
        syn_backlog: Some(4_096),
        netdev_max_backlog: Some(1_000),
        packets_dropped: Some(7),
        tcp_mem: Some([190_000, 254_000, 381_000]),
        tcp_rmem: Some([4_096, 131_072, 6_291_456]),
        tcp_wmem: Some([4_096, 16_384, 4_194_304]),
        conntrack_max: Some(262_144),
        conntrack_count: Some(10),
        page_size: 4_096,
        memory_available: Some(8 << 30),
        memory_total: Some(16 << 30),
        memory_of_group: None,
        cores: 2,
        settings: vec![("net.ipv4.tcp_tw_reuse", "2".into()), ("net.ipv4.tcp_syncookies", "1".into())],
    }
}

fn plan(connections: u64) -> Plan {
    let (private_descriptors, relays) = (false, None);
    Plan {
        connections,
        asked: true,
        tls: false,
        workers: 2,
        private_descriptors,
        relays,
        behind_proxy: false,
    }
}

fn of(machine: &Machine, plan: &Plan, topic: &str) -> Finding {
    let mut findings = of_machine(machine, &[], plan);
    let at = findings.iter().position(|finding| finding.topic == topic).expect(topic);
    findings.swap_remove(at)
}

fn value(finding: &Finding, key: &str) -> Option<String> {
    finding.sysctl.iter().find(|setting| setting.key == key).map(|setting| setting.value.clone())
}

#[test]
fn a_usual_machine_holds_ten_thousand() {
    let machine = usual();
    let plan = Plan::new(&Config::default(), None, &machine);
    assert_eq!((plan.connections, plan.asked, plan.workers), (10_000, false, 2));
    let findings = of_machine(&machine, &[], &plan);
    assert_eq!(findings.len(), 10);
    assert!(findings.iter().all(|finding| finding.state == State::Ok), "{findings:?}");
    assert_eq!(sysctl::text(&findings, &[], "net.core.somaxconn = 4096", &plan), None);
}

#[test]
fn each_shortage_is_reported_with_a_reason_and_the_lines_that_fix_it() {
    use State::{Fail, Ok, Warn};
    let base = usual;
    type Case = (&'static str, &'static str, State, Machine, u64, &'static [(&'static str, &'static str)]);
    let cases: Vec<Case> = vec![
        ("just fits", "descriptors", Ok, base(), 1_048_376, &[]),
        ("nr_open first", "descriptors", Fail, base(), 1_048_377, &[("fs.nr_open", "1048577")]),
        ("service", "descriptors", Fail, Machine { hard_descriptors: Some(4_096), ..base() }, 10_000, &[]),
        (
            "all files",
            "open files",
            Fail,
            Machine { file_max: Some(50_000), ..base() },
            49_000,
            &[("fs.file-max", "131072")],
        ),
        ("all files", "open files", Ok, Machine { file_max: Some(50_000), ..base() }, 48_800, &[]),
        ("memory", "memory", Ok, base(), 1_520_000, &[]),
        ("memory", "memory", Fail, base(), 1_530_000, &[]),
        ("group", "memory", Fail, Machine { memory_of_group: Some(100 << 20), ..base() }, 10_000, &[]),
        ("wide group", "memory", Ok, Machine { memory_of_group: Some(90 << 30), ..base() }, 10_000, &[]),
        ("pressure", "tcp memory", Ok, base(), 508_000, &[]),
        ("pressure", "tcp memory", Warn, base(), 508_001, &[("net.ipv4.tcp_mem", "190503 254004 381006")]),
        (
            "a paper's",
            "tcp memory",
            Warn,
            Machine { tcp_mem: Some([50_576, 64_768, 98_152]), ..base() },
            200_000,
            &[],
        ),
        ("hopeless", "tcp memory", Fail, Machine { tcp_mem: Some([1, 2, 100]), ..base() }, 10_000, &[]),
        (
            "no window",
            "tcp buffers",
            Warn,
            Machine { tcp_rmem: Some([1_024, 2_048, 4_096]), ..base() },
            100,
            &[("net.ipv4.tcp_rmem", "4096 131072 6291456")],
        ),
        ("stalled", "tcp buffers", Ok, base(), 37_000, &[]),
        ("stalled", "tcp buffers", Warn, base(), 1_000_000, &[("net.ipv4.tcp_wmem", "4096 16384 262144")]),
        (
            "queues",
            "backlog",
            Warn,
            Machine { somaxconn: Some(128), syn_backlog: Some(512), ..base() },
            100,
            &[("net.core.somaxconn", "4096"), ("net.ipv4.tcp_max_syn_backlog", "4096")],
        ),
        (
            "one queue",
            "backlog",
            Warn,
            Machine { syn_backlog: Some(512), ..base() },
            100,
            &[("net.ipv4.tcp_max_syn_backlog", "4096")],
        ),
        ("a burst", "packet queue", Ok, base(), 64_063, &[]),
        ("a burst", "packet queue", Warn, base(), 64_064, &[("net.core.netdev_max_backlog", "1024")]),
        ("a burst", "packet queue", Warn, base(), 1_000_000, &[("net.core.netdev_max_backlog", "16384")]),
        (
            "shortened",
            "packet queue",
            Warn,
            Machine { netdev_max_backlog: Some(300), ..base() },
            100,
            &[("net.core.netdev_max_backlog", "1024")],
        ),
        ("unused", "conntrack", Warn, Machine { conntrack_count: Some(0), ..base() }, 300_000, &[]),
        (
            "ports",
            "port range",
            Warn,
            Machine { port_range: Some((50_000, 50_100)), ..base() },
            10,
            &[("net.ipv4.ip_local_port_range", "10240 65535")],
        ),
        ("firewall", "conntrack", Ok, base(), 131_072, &[]),
        ("firewall", "conntrack", Warn, base(), 131_073, &[("net.netfilter.nf_conntrack_max", "524288")]),
        ("firewall", "conntrack", Fail, base(), 300_000, &[("net.netfilter.nf_conntrack_max", "1048576")]),
    ];
    for (name, topic, state, machine, connections, settings) in cases {
        let finding = of(&machine, &plan(connections), topic);
        assert_eq!(finding.state, state, "{name}: {finding:?}");
        assert_eq!(finding.why.is_empty(), state == Ok, "{name}");
        assert_eq!(finding.mend.is_empty(), state == Ok, "{name}");
        for (key, expected) in settings {
            assert_eq!(value(&finding, key).as_deref(), Some(*expected), "{name} {key}");
        }
        if state == Ok {
            assert_eq!(finding.sysctl, [], "{name}");
        }
    }
}

#[test]
fn written_output_is_complete() {
    for connections in [10_000, 131_073, 508_001, 1_000_000, 3_000_000] {
        let plan = plan(connections);
        let small = Machine {
            tcp_mem: Some([10, 20, 30]),
            conntrack_max: Some(1),
            somaxconn: Some(1),
            syn_backlog: Some(1),
            netdev_max_backlog: Some(1),
            tcp_wmem: Some([1, 1, 1]),
            port_range: Some((1, 2)),
            file_max: Some(1),
            ..usual()
        };
        let number = |topic: &str, key: &str| {
            let words = value(&of(&small, &plan, topic), key).expect(key);
            words.split(' ').map(|word| word.parse().expect("a number")).collect::<Vec<u64>>()
        };
        let mended = Machine {
            tcp_mem: number("tcp memory", "net.ipv4.tcp_mem").try_into().ok(),
            conntrack_max: Some(number("conntrack", "net.netfilter.nf_conntrack_max")[0]),
            tcp_wmem: number("tcp buffers", "net.ipv4.tcp_wmem").try_into().ok(),
            somaxconn: Some(number("backlog", "net.core.somaxconn")[0]),
            syn_backlog: Some(number("backlog", "net.ipv4.tcp_max_syn_backlog")[0]),
            netdev_max_backlog: Some(number("packet queue", "net.core.netdev_max_backlog")[0]),
            file_max: Some(number("open files", "fs.file-max")[0]),
            port_range: Some((
                number("port range", "net.ipv4.ip_local_port_range")[0],
                number("port range", "net.ipv4.ip_local_port_range")[1],
            )),
            ..small.clone()
        };
        for topic in ["tcp memory", "conntrack", "backlog", "packet queue", "open files", "port range"] {
            assert_eq!(of(&mended, &plan, topic).state, State::Ok, "{topic} at {connections}");
        }
        let [low, pressure, most] = mended.tcp_mem.expect("it was written");
        assert!(low < pressure && pressure < most);
    }
}

#[test]
fn a_default_number_only_warns() {
    let small = Machine { hard_descriptors: Some(1_024), memory_available: Some(64 << 20), ..usual() };
    let unasked = Plan { asked: false, ..plan(10_000) };
    for topic in ["descriptors", "memory"] {
        assert_eq!(of(&small, &plan(10_000), topic).state, State::Fail);
        assert_eq!(of(&small, &unasked, topic).state, State::Warn);
    }
}

#[test]
fn tables_of_the_workers_carry_past_a_limit_that_cannot_be_raised() {
    let machine = Machine { hard_descriptors: Some(20_000), nr_open: Some(20_000), ..usual() };
    let wanted = plan(100_000);
    let finding = of(&machine, &wanted, "descriptors");
    assert!(finding.mend.contains("--private-descriptors --workers 6"), "{}", finding.mend);
    assert!(finding.lines.contains(&"LimitNOFILE=100200".to_owned()), "{:?}", finding.lines);
    assert_eq!(value(&finding, "fs.nr_open").as_deref(), Some("100200"));
    let with = |workers| Plan { private_descriptors: true, workers, ..wanted };
    assert_eq!(of(&machine, &with(5), "descriptors").state, State::Fail);
    assert_eq!(of(&machine, &with(6), "descriptors").state, State::Ok);
    // There are no more than 127 workers.
    let finding = of(&machine, &plan(3_000_000), "descriptors");
    assert!(!finding.mend.contains("--private-descriptors"), "{}", finding.mend);
}

#[test]
fn a_limit_that_is_none_is_no_limit() {
    let machine = Machine { hard_descriptors: Some(u64::MAX), soft_descriptors: Some(u64::MAX), ..usual() };
    let finding = of(&machine, &plan(4_000_000), "descriptors");
    assert_eq!(finding.state, State::Ok);
    assert!(finding.found.contains("room for unlimited connections"), "{}", finding.found);
}

#[test]
fn tls_needs_more_memory() {
    let machine = Machine { memory_available: Some(1 << 30), ..usual() };
    let plain = plan(170_000);
    assert_eq!(of(&machine, &plain, "memory").state, State::Ok);
    let finding = of(&machine, &Plan { tls: true, ..plain }, "memory");
    assert_eq!(finding.state, State::Fail);
    let short = of(&machine, &plan(300_000), "memory");
    for (why, bytes) in [(short.why, need::NODE), (finding.why, need::NODE_WITH_TLS)] {
        for bytes in [bytes, need::KERNEL] {
            assert!(why.contains(&format!("{:.1} kB", bytes as f64 / 1_000.0)), "{why}");
        }
    }
    assert!(finding.mend.contains("--max-connections 165"), "{}", finding.mend);
}

#[test]
fn a_proxy_needs_an_address_for_every_so_many_members() {
    let members = plan(100_000);
    assert_eq!(of(&usual(), &members, "port range").state, State::Ok);
    let behind = Plan { behind_proxy: true, ..members };
    let finding = of(&usual(), &behind, "port range");
    assert!(finding.state == State::Warn && finding.mend.contains("2 source addresses"), "{finding:?}");
    assert_eq!(of(&usual(), &Plan { connections: 20_000, ..behind }, "port range").state, State::Ok);
}

#[test]
fn relays_of_calls_take_a_part_of_the_descriptors_or_have_their_own() {
    let machine = Machine { hard_descriptors: Some(20_000), ..usual() };
    let with = |relays| Plan { relays: Some(relays), ..plan(10_000) };
    assert_eq!(of(&machine, &with(2_500), "relays").state, State::Ok);
    assert_eq!(of(&machine, &with(0), "relays").state, State::Ok, "as many as there is room for");
    let finding = of(&machine, &with(15_000), "relays");
    assert_eq!(finding.state, State::Warn);
    assert!(finding.mend.contains("--private-descriptors"), "{}", finding.mend);
    assert_eq!(finding.lines, ["LimitNOFILE=120000"]);
    let raised = Machine { hard_descriptors: Some(120_000), nr_open: Some(120_000), ..usual() };
    assert_eq!(of(&raised, &with(15_000), "relays").state, State::Ok);
    let private = Plan { private_descriptors: true, ..with(15_000) };
    assert_eq!(of(&machine, &private, "relays").state, State::Ok);
    // Descriptors for relays are not available to members.
    assert_eq!(of(&machine, &Plan { connections: 14_800, ..with(0) }, "descriptors").state, State::Ok);
    let finding = of(&machine, &Plan { connections: 14_801, ..with(0) }, "descriptors");
    assert_eq!((finding.state, &*finding.lines[2]), (State::Fail, "LimitNOFILE=20002"));
    let private = Plan { connections: 14_801, ..private };
    assert_eq!(of(&machine, &private, "descriptors").state, State::Ok);
}

#[test]
fn values_hidden_by_a_container_are_reported_as_unknown() {
    let blind = Machine { page_size: 16_384, cores: 8, ..Machine::default() };
    let findings = of_machine(&blind, &[], &plan(1_000_000));
    assert!(findings.iter().all(|finding| finding.state == State::Unknown), "{findings:?}");
    assert!(findings.iter().all(|finding| finding.found.starts_with("cannot read")));
    let topics: Vec<&str> = findings.iter().map(|finding| finding.topic).collect();
    assert_eq!(
        topics,
        [
            "descriptors",
            "memory",
            "tcp memory",
            "tcp buffers",
            "backlog",
            "packet queue",
            "port range",
            "tcp settings"
        ]
    );
    // A table of the firewall that nobody has is no shortage, a network of its own has its own queue.
    let container = Machine { tcp_mem: None, conntrack_max: None, file_max: None, ..usual() };
    let findings = of_machine(&container, &[], &plan(10_000));
    assert!(findings.iter().all(|finding| finding.state <= State::Unknown), "{findings:?}");
}

#[test]
fn harmful_settings_are_found_in_force_and_in_files_and_refused_when_asked_for() {
    let machine = Machine {
        settings: vec![
            ("net.ipv4.tcp_tw_recycle", "1".into()),
            ("net.ipv4.tcp_tw_reuse", "1".into()),
            ("net.ipv4.tcp_timestamps", "0".into()),
            ("net.ipv4.tcp_syncookies", "1".into()),
        ],
        ..usual()
    };
    let plan = plan(1_000_000);
    let line = |key: &str, value: &str| Line {
        file: "/etc/sysctl.conf".into(),
        key: key.to_owned(),
        value: value.to_owned(),
    };
    let lines = [
        line("net.ipv4.tcp_tw_recycle", "1"),
        line("net.ipv4.tcp_mem", "50576 64768 98152"),
        line("net.core.somaxconn", "65535"),
    ];
    let findings = of_machine(&machine, &lines, &plan);
    let findings = |topic: &str| -> Vec<&str> {
        findings
            .iter()
            .filter(|finding| finding.topic == topic)
            .map(|finding| finding.found.as_str())
            .collect()
    };
    assert_eq!(
        findings("tcp settings"),
        ["net.ipv4.tcp_tw_recycle = 1", "net.ipv4.tcp_tw_reuse = 1", "net.ipv4.tcp_timestamps = 0"]
    );
    assert_eq!(
        findings("sysctl files"),
        [
            "/etc/sysctl.conf says net.ipv4.tcp_tw_recycle = 1",
            "/etc/sysctl.conf says net.ipv4.tcp_mem = 50576 64768 98152"
        ]
    );
    for (asked, why) in [
        ("net.ipv4.tcp_tw_recycle=1", "Linux 4.12"),
        ("net.ipv4.tcp_tw_reuse = 1", "that this machine opens"),
        ("net/ipv4/tcp_timestamps=0", "RFC 7323"),
        ("net.ipv4.tcp_syncookies=0", "SYN"),
        ("net.ipv4.tcp_mem=50576 64768 98152", "pages, not bytes"),
        ("net.core.somaxconn", "not a setting"),
        ("net.core.somaxconn=", "not a setting"),
        ("net.core.somaxconn=1\nnet.ipv4.tcp_tw_recycle=1", "not a setting"),
    ] {
        let trouble = sysctl::asked(asked, &plan).expect_err(asked).to_string();
        assert!(trouble.contains(why), "{trouble}");
    }
    let fine = sysctl::asked("net.ipv4.tcp_tw_reuse=2", &plan).expect("it is the default");
    assert_eq!(fine, Setting { key: "net.ipv4.tcp_tw_reuse".into(), value: "2".into() });
    assert!(sysctl::asked("net.ipv4.tcp_mem=750000 1000000 1500000", &plan).is_ok());
}

#[test]
fn the_file_has_each_line_once_and_keeps_older_lines() {
    let machine =
        Machine { somaxconn: Some(128), nr_open: Some(20_000), hard_descriptors: Some(20_000), ..usual() };
    let plan = plan(30_000);
    let findings = of_machine(&machine, &[], &plan);
    let asked = [sysctl::asked("net.core.somaxconn=8192", &plan).expect("harmless")];
    let older =
        "# old\nfs.nr_open = 5\nnet.ipv4.tcp_mem = 1000000 2000000 3000000\nnet.ipv4.tcp_tw_recycle = 1\n";
    let text = sysctl::text(&findings, &asked, older, &plan).expect("there is something to write");
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert_eq!(
        lines,
        ["net.core.somaxconn = 8192", "fs.nr_open = 30200", "net.ipv4.tcp_mem = 1000000 2000000 3000000"]
    );
    assert!(text.contains("# descriptors: each connection needs a descriptor"), "{text}");
    assert_eq!(
        sysctl::text(&findings, &asked, &text, &plan).as_ref(),
        Some(&text),
        "the second time the same"
    );
    let later =
        |file: &str, value: &str| Line { file: file.into(), key: "fs.nr_open".into(), value: value.into() };
    let lines = [
        later("/etc/sysctl.d/10-first.conf", "7"),
        later("/etc/sysctl.d/99-last.conf", "7"),
        later("/usr/lib/sysctl.d/99-same.conf", "30200"),
        later("/etc/sysctl.conf", "8"),
    ];
    let overruled = sysctl::overruled(&text, &lines, Path::new(SYSCTL_FILE));
    assert_eq!(overruled, [&lines[1], &lines[3]]);
}

#[test]
fn the_file_is_written_as_a_whole_or_not_at_all() {
    let folder = std::env::temp_dir().join(format!("kith-sysctl-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the temporary directory is writable");
    let path = folder.join("60-kith.conf");
    sysctl::write(&path, "a = 1\n").expect("it is written");
    sysctl::write(&path, "b = 2\n").expect("it is replaced");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "b = 2\n");
    assert!(sysctl::write(&folder.join("none/60-kith.conf"), "").is_err());
    // A folder is in the place of the file.
    fs::create_dir(folder.join("taken")).expect("it is new");
    assert!(sysctl::write(&folder.join("taken"), "").is_err());
    let left = fs::read_dir(&folder).expect("it is there").count();
    assert_eq!(left, 2, "nothing is left beside it");
    fs::remove_dir_all(&folder).expect("it is ours");
}

#[test]
fn the_last_line_has_the_result() {
    let said = |machine: &Machine, plan: &Plan| verdict(&of_machine(machine, &[], plan), plan);
    assert_eq!(said(&usual(), &plan(10_000)), "This machine can hold 10000 connections.");
    let unasked = Plan { asked: false, ..plan(10_000) };
    assert!(said(&usual(), &unasked).ends_with("To check another number: --connections N."));
    let hidden = Machine { tcp_mem: None, ..usual() };
    assert!(said(&hidden, &plan(10_000)).starts_with("No check failed"));
    let slow = Machine { somaxconn: Some(128), ..usual() };
    assert_eq!(said(&slow, &plan(10_000)), "Check before 10000 connections: backlog.");
    let small = Machine { hard_descriptors: Some(1_024), memory_available: Some(70 << 20), ..slow };
    let verdict = said(&small, &plan(10_000));
    assert_eq!(verdict, "This machine cannot hold 10000 connections yet: descriptors, memory.");
}

#[test]
fn requests_through_an_unknown_proxy_are_reported() {
    assert_eq!(proxies::judge(0).state, State::Ok);
    let finding = proxies::judge(7);
    assert!(finding.state == State::Warn && finding.found.starts_with("7 requests"), "{finding:?}");
}
