//! Plans against the line router in C, on machines with a compiler.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use load::flood::FloodPlan;
use load::stress::StressPlan;
use load::target::{Target, Transport};
use load::{Plan, RunOptions, defaults};

#[test]
fn each_message_arrives_once_and_none_counts_as_durable() {
    let Some(router) = Router::start("stress") else { return };
    let transport = Transport::Line;
    let plan = StressPlan { transport, groups: 2, time: Duration::from_millis(500), ..defaults() };
    let run = plan.run(&router.options(), &mut |_| {}).unwrap();
    let report = run.object();
    let sent = &report["sent"];
    assert!(sent.as_u64() > Some(80), "{report}");
    assert_eq!((&report["acknowledged"], &report["delivered"]), (sent, sent), "{report}");
    for wrong in ["lost", "doubled", "strange", "failed"] {
        assert_eq!(report[wrong], 0, "{wrong} in {report}");
    }
    assert_eq!((&report["members"], &report["durable"]), (&20.into(), &false.into()));
    assert!(run.headline.ends_with("none durable"), "{}", run.headline);
}

#[test]
fn all_members_come_and_leave() {
    let Some(router) = Router::start("flood") else { return };
    let plan = FloodPlan {
        transport: Transport::Line,
        connections: 50,
        rate: 5000.0,
        hold: Duration::from_millis(100),
        exchange: Some(5000),
        settle: Some(Duration::from_millis(200)),
    };
    let report = plan.run(&router.options(), &mut |_| {}).unwrap().object();
    assert_eq!((&report["connections"], &report["failed"]), (&50.into(), &0.into()), "{report}");
    assert_eq!(report["exchange"]["received"], 50, "{report}");
    assert_eq!(report["after_left"]["active"], 0, "{report}");
}

/// Ends with the test.
struct Router {
    process: Child,
    port: u16,
}

impl Router {
    /// None: this machine has no C compiler. `name`: of the program, since tests run at the same time.
    fn start(name: &str) -> Option<Router> {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("router-{name}"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/router.c");
        let compiled = Command::new("cc").arg("-O1").arg("-o").arg(&program).arg(source).status().ok()?;
        assert!(compiled.success());
        let mut process = Command::new(program).arg("0").stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Some(Router { process, port: line.trim().parse().unwrap() })
    }

    fn options(&self) -> RunOptions {
        let target = Target::parse(&format!("http://127.0.0.1:{}", self.port)).unwrap();
        let options = RunOptions::new(target, "demo", b"secret");
        RunOptions { server: Some(self.process.id()), threads: 2, ..options }
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
