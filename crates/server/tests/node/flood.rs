//! `kith load` against a node, called as by a script.

use serde_json::Value;

use crate::running::{Running, Scratch, text};

#[test]
fn a_small_flood_ends_with_one_json_object_that_has_the_keys_scripts_read() {
    let scratch = Scratch::new("flood");
    let node = Running::demo(&scratch);
    for transport in ["websocket", "stream", "sse", "poll"] {
        let url = format!("http://{}", node.http);
        let output = scratch.run([
            "load",
            "flood",
            "--url",
            &url,
            "--site",
            "demo",
            "--transport",
            transport,
            "--connections",
            "40",
            "--rate",
            "200",
            "--hold",
            "1s",
            "--json",
        ]);
        assert!(output.status.success(), "{transport}: {}", text(&output.stderr));
        let printed = text(&output.stdout);
        let last = printed.find('{').map(|begin| &printed[begin..]).expect("an object");
        let report: Value = serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {printed}"));
        for key in [
            "user_bytes_per_connection",
            "kernel_bytes_per_connection",
            "cpu_us_per_connect",
            "connections",
            "failed",
            "valid",
        ] {
            assert!(!report[key].is_null(), "{transport}: {key} is missing in {report}");
        }
        assert_eq!(report["connections"], 40, "{transport}: {report}");
        assert_eq!(report["failed"], 0, "{transport}: {report}");
    }
}

#[test]
fn a_small_stress_loses_nothing_and_doubles_nothing() {
    let scratch = Scratch::new("stress");
    let node = Running::demo(&scratch);
    let url = format!("http://{}", node.http);
    for transport in ["websocket", "poll"] {
        // Slow enough for the default limits of a node: 120 messages per minute of each member.
        let line = format!(
            "load stress --url {url} --site demo --transport {transport} --members 40 --rate 100 --time 1s --json"
        );
        let printed = scratch.say(&line);
        let report: Value =
            serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
        assert!(report["sent"].as_u64().is_some_and(|sent| sent > 20), "{report}");
        assert_eq!(report["acknowledged"], report["sent"], "{report}");
        assert_eq!(report["delivered"], report["sent"], "{report}");
        for wrong in ["lost", "doubled", "misordered", "holes", "strange", "unanswered", "failed"] {
            assert_eq!(report[wrong], 0, "{transport}: {wrong} in {report}");
        }
    }
}
