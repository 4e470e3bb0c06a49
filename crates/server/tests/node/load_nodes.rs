//! `kith load --nodes`: a cluster for a run, whose processes are real, and one of them may be killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::MutexGuard;

use serde_json::Value;

use crate::postgresql::wait_for_turn;
use crate::running::{Scratch, poll, text};

/// Programs that the command finds, and the temporary folder of its cluster.
struct Programs {
    scratch: Scratch,
    nats: PathBuf,
    postgres: Option<PathBuf>,
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Programs {
    fn new(name: &str) -> Programs {
        Programs { scratch: Scratch::new(name), nats: script("nats.sh"), postgres: None, _turn: None }
    }

    fn with_postgres(name: &str) -> Programs {
        let turn = wait_for_turn();
        Programs { postgres: Some(script("postgres.sh")), _turn: Some(turn), ..Programs::new(name) }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = self.scratch.kith();
        command
            .args(line.split_whitespace())
            .env("NATS_SERVER", &self.nats)
            .env("TMPDIR", self.scratch.path());
        command.envs(self.postgres.iter().map(|dir| ("POSTGRES_BIN", dir)));
        command
    }

    /// The run's object. Nothing of the run's cluster is left.
    fn report(&self, line: &str) -> Value {
        let output = self.command(line).output().unwrap();
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
        assert_eq!((self.folders().len(), processes_of(self.scratch.path()).len()), (0, 0), "{line}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Of clusters.
    fn folders(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.scratch.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.to_string_lossy().contains("kith-load-")).collect()
    }
}

/// Installs the program if it is missing, and prints its place.
fn script(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(name);
    let found = Command::new(path).output().unwrap();
    assert!(found.status.success(), "{}", text(&found.stderr));
    text(&found.stdout).trim().into()
}

/// Processes with this folder in their command line.
fn processes_of(folder: &Path) -> Vec<String> {
    let folder = folder.to_string_lossy().into_owned();
    let lines = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        Some(text(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(&folder)).collect()
}

fn number(report: &Value, key: &str) -> u64 {
    let found = key.split('.').fold(report, |value, key| &value[key]);
    found.as_f64().unwrap_or_else(|| panic!("no {key} in {report}")) as u64
}

/// Every message is stored once, acknowledged and delivered.
fn has_all(report: &Value) {
    let sent = number(report, "sent");
    assert!(sent > 0, "{report}");
    for key in ["acknowledged", "delivered", "kill.stored"] {
        assert_eq!(number(report, key), sent, "{key} in {report}");
    }
    for key in ["lost", "doubled", "holes", "strange", "unanswered", "failed", "kill.not_resumed"] {
        assert_eq!(number(report, key), 0, "{key} in {report}");
    }
}

#[test]
fn members_of_several_fronts_lose_nothing_and_each_part_has_its_cpu_and_memory() {
    let programs = Programs::new("load-nodes");
    let report =
        programs.report("load stress --nodes 2 --store sqlite --groups 3 --per-group 4 --time 2s --json");
    assert_eq!(
        (&report["delivered"], &report["acknowledged"]),
        (&report["sent"], &report["sent"]),
        "{report}"
    );
    assert_eq!((number(&report, "lost"), number(&report, "doubled")), (0, 0), "{report}");
    let processes = report["cluster"]["processes"].as_array().unwrap();
    let names: Vec<&str> = processes.iter().map(|of| of["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["nats-1", "home-1", "front-1", "front-2"]);
    for process in processes {
        assert!(process["resident_bytes"].as_u64() > Some(1_000_000), "{process}");
        // Members are on both fronts, and each message passes the home.
        assert!(process["cpu_seconds"].as_f64() > Some(0.0), "{process}");
    }
    let million = |part: &str| report["cluster"][part]["cpu_seconds_per_million"].as_f64().unwrap();
    let sum = million("home") + million("front") + million("nats");
    let whole = report["cpu_seconds_per_million"].as_f64().unwrap();
    assert!((sum - whole).abs() < whole / 100.0, "the server is the sum of its parts: {report}");
    assert_eq!(million("postgres"), 0.0);
}

#[test]
fn flood_storm_and_community_run_over_several_fronts() {
    let programs = Programs::new("load-nodes-plans");
    let report =
        programs.report("load flood --nodes 2 --store sqlite --tls --connections 30 --hold 1s --json");
    assert_eq!((number(&report, "connections"), number(&report, "failed")), (30, 0), "{report}");
    assert!(report["url"].as_str().is_some_and(|url| url.starts_with("https://")), "{report}");
    let report = programs
        .report("load storm --nodes 2 --store sqlite --members 30 --watchers 3 --writes 50 --calm 1s --json");
    assert_eq!((number(&report, "returned"), &report["delivered"]), (30, &report["sent"]), "{report}");
    for wrong in ["lost", "doubled", "gaps", "not_resumed", "failed"] {
        assert_eq!(number(&report, wrong), 0, "{wrong} in {report}");
    }
    let report = programs.report(
        "load community --nodes 2 --store sqlite --members 40 --roster 12 --online 4 --rate 200 --message-every 1s \
         --status-every 2s --time 2s --json",
    );
    assert_eq!(number(&report, "seeded.contacts"), 480, "{report}");
    assert_eq!(report["calm"]["delivered"], report["calm"]["sent"], "{report}");
    assert_eq!(report["calm"]["presence"], report["presence_expected"], "{report}");
}

#[test]
fn members_of_a_killed_front_come_back_through_the_others_and_nobody_sees_them_leave() {
    let programs = Programs::new("kill-front");
    let line = "load stress --nodes 3 --store sqlite --members 30 --rate 40 --time 6s --kill front --kill-at 2 --json";
    let report = programs.report(line);
    has_all(&report);
    assert_eq!(report["kill"]["part"], "front");
    // A third of the members, and no member of another front.
    for (key, count) in [("closed_on_dead", 10), ("closed_elsewhere", 0), ("back", 10), ("pairs", 90)] {
        assert_eq!(number(&report, &format!("kill.{key}")), count, "{key} in {report}");
    }
    assert_eq!(number(&report, "kill.flapped"), 0, "{report}");
    assert!(
        number(&report, "kill.pause_ms") > 0 && number(&report, "kill.first_ack_ms") < 30_000,
        "{report}"
    );
}

#[test]
fn a_community_goes_on_while_a_front_dies_and_reports_the_outage() {
    let programs = Programs::new("kill-front-community");
    let report = programs.report(
        "load community --nodes 3 --store sqlite --members 60 --roster 12 --online 4 --rate 100 --message-every 1s \
         --status-every 4s --time 6s --kill front --kill-at 2 --json",
    );
    assert_eq!(report["kill"]["part"], "front");
    for (key, count) in [
        ("stayed", 60),
        ("kill.closed_on_dead", 20),
        ("kill.closed_elsewhere", 0),
        ("kill.back", 20),
        ("kill.pairs", 80),
        ("kill.flapped", 0),
        ("kill.not_resumed", 0),
        ("lost", 0),
        ("unanswered", 0),
        ("doubled", 0),
    ] {
        assert_eq!(number(&report, key), count, "{key} in {report}");
    }
    for part in ["calm", "kill"] {
        assert!(number(&report, &format!("{part}.sent")) > 60, "{part} in {report}");
        assert_eq!(report[part]["delivered"], report[part]["sent"], "{part} in {report}");
    }
    assert_eq!(report["calm"]["presence"], report["presence_expected"], "{report}");
    assert!(report["kill"]["back_seconds"].as_f64().is_some_and(|seconds| seconds < 30.0), "{report}");
    assert!(report["cluster"]["front"]["bytes_per_member"].is_number(), "{report}");
}

#[test]
fn a_plan_file_may_ask_for_a_cluster_and_the_command_line_changes_it() {
    let programs = Programs::new("load-nodes-file");
    let file = programs.scratch.path().join("mine.toml");
    let plan =
        "[stress]\ngroups = 2\nper-group = 4\ntime = \"1s\"\n[cluster]\nnodes = 1\nstore = \"sqlite\"\n";
    fs::write(&file, plan).unwrap();
    let file = file.display();
    let report = programs.report(&format!("load run {file} --set cluster.nodes=2 --json"));
    let processes = report["cluster"]["processes"].as_array().unwrap();
    let names: Vec<&str> = processes.iter().map(|of| of["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["nats-1", "home-1", "front-1", "front-2"], "and no PostgreSQL");
    let output = programs.command(&format!("load run {file} --kill front")).output().unwrap();
    assert!(text(&output.stderr).contains("could not come back"));
}

#[test]
fn a_killed_home_on_sqlite_starts_again_and_adopts_the_sessions_of_its_fronts() {
    let programs = Programs::new("kill-home");
    let line =
        "load stress --nodes 2 --store sqlite --members 30 --rate 4 --time 8s --kill home --kill-at 2 --json";
    let report = programs.report(line);
    has_all(&report);
    adopts_all(&report, 30);
    assert!(report["kill"]["serving_seconds"].as_f64() > Some(1.0), "it is away for 2 s: {report}");
}

#[test]
fn a_killed_home_on_postgresql_is_replaced_by_the_one_that_stands_by() {
    let programs = Programs::with_postgres("kill-home-pg");
    let line = "load stress --nodes 2 --members 30 --rate 4 --time 10s --kill home --kill-at 2 --json";
    let report = programs.report(line);
    has_all(&report);
    adopts_all(&report, 30);
    let seconds = |key: &str| report["kill"][key].as_f64().unwrap_or_else(|| panic!("no {key} in {report}"));
    // The last renewal was at most a second before.
    assert!(
        seconds("lease_seconds") > 2.0 && seconds("serving_seconds") >= seconds("lease_seconds"),
        "{report}"
    );
    assert!(number(&report, "cluster.postgres.cpu_seconds_per_million") > 0, "{report}");
}

/// A front ends only sessions with unacknowledged messages, if no home comes for ten seconds. The next home adopts all others.
fn adopts_all(report: &Value, members: u64) {
    let [adopted, closed] = ["adopted", "closed_elsewhere"].map(|key| number(report, &format!("kill.{key}")));
    assert_eq!(number(report, "kill.closed_idle"), 0, "{report}");
    assert!(adopted > 0 && adopted <= members && adopted + closed >= members, "{report}");
    assert_eq!(number(report, "kill.back"), closed, "{report}");
    assert!(report["kill"]["adoption_seconds"].is_number(), "{report}");
}

#[test]
fn messages_survive_a_killed_server_of_nats_and_one_of_postgresql() {
    let programs = Programs::with_postgres("kill-servers");
    for (line, part) in [
        ("--store sqlite --time 6s --kill nats", "nats"),
        ("--store sqlite --nats 3 --time 6s --kill nats", "nats"),
        ("--time 8s --kill postgres", "postgres"),
    ] {
        let line = format!("load stress --nodes 2 --members 20 --rate 20 {line} --kill-at 2 --json");
        let report = programs.report(&line);
        has_all(&report);
        assert_eq!(report["kill"]["part"], part);
        assert_eq!(number(&report, "kill.closed_idle"), 0, "{line}: {report}");
        let process = report["cluster"]["processes"].as_array().unwrap();
        assert!(
            process.iter().any(|of| of["part"] == part && of["cpu_seconds"].as_f64() > Some(0.0)),
            "{report}"
        );
    }
}

#[test]
fn a_cluster_ends_with_a_killed_load_run() {
    let programs = Programs::with_postgres("kill-load");
    let line = "load flood --nodes 1 --connections 10 --hold 10m";
    let mut load = programs.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let run_files = || fs::read_dir(programs.scratch.path().join("run/kith")).into_iter().flatten().count();
    // Two homes and a front.
    poll("all nodes", || (run_files() == 3).then_some(()));
    let has = |name: &str| processes_of(programs.scratch.path()).iter().any(|line| line.contains(name));
    assert!(has("nats-1.conf") && has("postgres -D"), "{:?}", processes_of(programs.scratch.path()));
    load.kill().unwrap();
    load.wait().unwrap();
    poll("the end of all processes", || processes_of(programs.scratch.path()).is_empty().then_some(()));
    poll("the end of their data", || programs.folders().is_empty().then_some(()));
    assert_eq!(run_files(), 0);
}

#[test]
fn a_cluster_that_does_not_fit_the_run_is_refused_before_it_starts() {
    let programs = Programs::new("load-nodes-wrong");
    for (line, why) in [
        ("load stress --nodes 1 --kill front", "could not come back"),
        ("load stress --nodes 2 --store sqlite --kill postgres", "no PostgreSQL to kill"),
        ("load flood --nodes 2 --kill home", "do not recover"),
        ("load stress --nodes 2 --protocol xmpp --kill home", "do not recover"),
        ("load flood --nodes 2 --protocol sse", "cannot be spread"),
        ("load visit --nodes 2", "cannot be spread"),
        ("load stress --core --nodes 2", "leave out"),
        ("load stress --nodes 2 --url http://127.0.0.1:1", "cannot be used with"),
        ("load stress --nodes 2 --nats 2", "alone, or with three"),
        ("load stress --kill home", "--nodes"),
    ] {
        let output = programs.command(line).output().unwrap();
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains(why), "{line}: {said}");
        assert!(programs.folders().is_empty(), "{line}");
    }
}
