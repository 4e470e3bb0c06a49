//! `kith load` with plans, with its own node, and with errors before the run.

use std::fs;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use crate::running::{Running, Scratch, poll, text};

#[test]
fn a_plan_runs_on_a_node_of_its_own_that_leaves_nothing_behind() {
    let scratch = Scratch::new("own-node");
    fs::write(scratch.path().join("small.toml"), SMALL).unwrap();
    let line = "load run small.toml --report out --json";
    let output = scratch.kith().args(line.split(' ')).env("TMPDIR", scratch.path()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    // A single plan prints its own object.
    assert_eq!((&report["lost"], &report["doubled"], &report["failed"]), (&0.into(), &0.into(), &0.into()));
    assert!(report["delivered"].as_u64().is_some_and(|count| (30..=60).contains(&count)), "{report}");
    let whole: Value =
        serde_json::from_str(&fs::read_to_string(scratch.path().join("out/report.json")).unwrap()).unwrap();
    assert_eq!(whole["runs"][0]["name"], "small");
    assert!(whole["runs"][0]["series"].as_array().unwrap().len() > 4, "{whole}");
    assert!(fs::read_to_string(scratch.path().join("out/report.html")).unwrap().contains("</html>"));
    let left: Vec<_> =
        fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("kith-load")), "{left:?}");
    assert_eq!(fs::read_dir(scratch.path().join("run/kith")).unwrap().count(), 0, "a node still runs");
}

/// Each of 20 members writes twice.
const SMALL: &str = "[stress]\ngroups = 4\nper-group = 5\nevery = \"1s\"\ntime = \"2s\"\n";

#[test]
fn every_call_is_set_up_held_hung_up_and_leaves_its_message() {
    let scratch = Scratch::new("calls");
    let plan = "[calls]\npairs = 12\nwindow = 4\ntime = \"1s\"\nhold = \"500ms\"\n";
    fs::write(scratch.path().join("calls.toml"), plan).unwrap();
    let report: Value = serde_json::from_str(&scratch.say("load run calls.toml --json")).unwrap();
    assert_eq!((&report["held_calls"], &report["hung_up"]), (&12.into(), &12.into()), "{report}");
    assert_eq!((&report["strange"], &report["failed"]), (&0.into(), &0.into()), "{report}");
    let invited = report["invited"].as_u64().unwrap();
    assert!(invited > 24, "{report}");
    assert_eq!(report["entries"], 2 * invited, "{report}");
    assert!(report["ring_to_accept_ms"]["p99"].as_f64().unwrap() > 0.0, "{report}");
}

#[test]
fn requests_relays_and_data_of_turn_are_counted_with_their_cost() {
    let scratch = Scratch::new("load-turn");
    fs::write(scratch.path().join("turn.toml"), "[turn]\nrelays = 30\nflows = 6\ntime = \"300ms\"\n")
        .unwrap();
    let report: Value = serde_json::from_str(&scratch.say("load run turn.toml --json")).unwrap();
    assert_eq!(
        (&report["valid"], &report["relays"], &report["flows"]),
        (&true.into(), &30.into(), &6.into()),
        "{report}"
    );
    assert!(report["cpu_micros_per_packet"].is_number() && report["packets_per_second"].as_f64() > Some(0.0));
    let wrong = "[turn]\nserver = \"127.0.0.1:3478\"\n";
    fs::write(scratch.path().join("wrong.toml"), wrong).unwrap();
    assert!(scratch.fails("load run wrong.toml").contains("turn-secret-file"));
}

#[test]
fn a_node_of_its_own_speaks_tls_and_has_the_settings_of_the_plan() {
    let scratch = Scratch::new("own-tls");
    let plan = "tls = true\n[node]\nedge.workers = 1\nstore.sync = \"normal\"\n[flood]\nconnections = 30\nhold = \"1s\"\n";
    fs::write(scratch.path().join("tls.toml"), plan).unwrap();
    let report: Value = serde_json::from_str(&scratch.say("load run tls.toml --json")).unwrap();
    assert_eq!(
        (&report["tls"], &report["connections"], &report["failed"]),
        (&true.into(), &30.into(), &0.into())
    );
    assert!(report["url"].as_str().is_some_and(|url| url.starts_with("https://127.0.0.1:")), "{report}");
    let said = scratch.fails("load run tls.toml --set node.edge.wrkers=2");
    assert!(said.contains("unknown field `wrkers`") && said.contains("`workers` is meant"), "{said}");
    assert!(scratch.fails("load flood --tls --url http://127.0.0.1:1").contains("cannot be used with"));
}

#[test]
fn xmpp_clients_sign_in_and_lose_nothing() {
    let scratch = Scratch::new("load-xmpp");
    for line in [
        "load flood --protocol xmpp --connections 30 --hold 1s --json",
        "load flood --protocol xmpp --tls --connections 30 --hold 1s --json",
        "load flood --protocol xmpp-websocket --connections 30 --hold 1s --json",
    ] {
        let report: Value = serde_json::from_str(&scratch.say(line)).unwrap();
        assert_eq!((&report["connections"], &report["failed"]), (&30.into(), &0.into()), "{line}: {report}");
    }
    let report = scratch.say("load stress --protocol xmpp --members 20 --time 2s --json");
    let report: Value = serde_json::from_str(&report).unwrap();
    assert!(report["delivered"].as_u64() > Some(0), "{report}");
    assert_eq!((&report["lost"], &report["doubled"]), (&0.into(), &0.into()), "{report}");
    fs::write(scratch.path().join("typing.toml"), "[typing]\ntransport = \"xmpp\"\n").unwrap();
    assert!(scratch.fails("load run typing.toml").contains("the web protocol only"));
}

#[test]
fn a_protocol_of_another_server_needs_its_url_and_a_plan_that_it_can_carry_out() {
    let scratch = Scratch::new("load-peer");
    let said = scratch.fails("load stress --protocol centrifugo --members 20");
    assert!(said.contains("no node of ours speaks centrifugo") && said.contains("--url URL"), "{said}");
    let said = scratch.fails("load storm --protocol line --url http://127.0.0.1:1");
    assert!(said.contains("flood and stress"), "{said}");
}

#[test]
fn a_started_node_ends_with_a_killed_load_run() {
    let scratch = Scratch::new("killed");
    let mut load = scratch.kith();
    load.args("load flood --connections 10 --hold 10m".split(' ')).env("TMPDIR", scratch.path());
    let mut load = load.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let run_files = || fs::read_dir(scratch.path().join("run/kith")).into_iter().flatten().flatten();
    let of_node =
        poll("the node", || run_files().find(|file| file.path().extension().is_some_and(|it| it == "json")));
    let node: Value = poll("what it says", || serde_json::from_slice(&fs::read(of_node.path()).ok()?).ok());
    let pid = node["pid"].as_i64().and_then(|pid| Pid::from_raw(pid.try_into().ok()?)).unwrap();
    load.kill().unwrap();
    load.wait().unwrap();
    poll("the end of the node", || test_kill_process(pid).is_err().then_some(()));
    let data = node["data"].as_str().unwrap();
    poll("the end of its data", || (!fs::exists(data).unwrap()).then_some(()));
    assert_eq!(run_files().count(), 0);
}

#[test]
fn a_stress_of_the_core_loses_and_doubles_nothing() {
    let scratch = Scratch::new("core");
    for (memory, durable) in [("", true), ("--memory", false)] {
        let line = format!("load stress --core {memory} --groups 3 --per-group 4 --time 500ms --json");
        let report: Value = serde_json::from_str(&scratch.say(&line)).unwrap();
        assert_eq!((&report["valid"], &report["durable"]), (&true.into(), &durable.into()), "{report}");
        assert!(report["sent"].as_u64().is_some_and(|sent| sent > 48), "{report}");
        assert_eq!(
            (&report["delivered"], &report["acknowledged"]),
            (&report["sent"], &report["sent"]),
            "{report}"
        );
        for wrong in ["lost", "doubled", "misordered", "holes", "strange", "unanswered"] {
            assert_eq!(report[wrong], 0, "{wrong} in {report}");
        }
    }
    assert!(scratch.fails("load stress --core --url http://127.0.0.1:1").contains("leave out --url"));
}

#[test]
fn after_a_storm_all_are_back_and_nothing_is_lost_or_doubled() {
    let scratch = Scratch::new("storm");
    for spread in ["0s", "1s"] {
        let printed = scratch.say(&format!(
            "load storm --members 60 --watchers 3 --writes 100 --calm 1s --spread {spread} --json"
        ));
        let report: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!((&report["returned"], &report["watched"]), (&60.into(), &60.into()), "{report}");
        // A watcher writes for at least two seconds; some messages reach members while they are away.
        assert!(report["sent"].as_u64().is_some_and(|sent| sent >= 150), "{report}");
        assert_eq!(report["delivered"], report["sent"], "{report}");
        for wrong in ["lost", "doubled", "gaps", "not_resumed", "flapped", "failed"] {
            assert_eq!(report[wrong], 0, "{spread}: {wrong} in {report}");
        }
        assert!(spread == "0s" || report["caught_up"].as_u64() > Some(0), "{report}");
    }
}

#[test]
fn a_community_with_stored_rosters_loses_no_message_and_no_news() {
    let scratch = Scratch::new("community");
    let plan = "[community]\nmembers = 80\nsites = 2\nroster = 20\nonline = 6\nrate = 200.0\nmessage-every = \"1s\"\n\
                status-every = \"2s\"\ntime = \"2s\"\nstorm = 30\nspread = \"500ms\"\n";
    fs::write(scratch.path().join("town.toml"), plan).unwrap();
    let report: Value = serde_json::from_str(&scratch.say("load run town.toml --json")).unwrap();
    // 14 offline users for each 6 online ones.
    let seeded = &report["seeded"];
    assert_eq!((&seeded["users"], &seeded["contacts"]), (&(80 + 2 * 94).into(), &1_600.into()), "{report}");
    let calm = &report["calm"];
    assert!(calm["sent"].as_u64() > Some(80) && calm["changes"].as_u64() > Some(30), "{report}");
    assert_eq!((&calm["acknowledged"], &calm["delivered"]), (&calm["sent"], &calm["sent"]), "{report}");
    assert_eq!(calm["presence"], report["presence_expected"], "{report}");
    let storm = &report["storm"];
    assert_eq!(storm["returned"], 30, "{report}");
    for wrong in ["gaps", "not_resumed", "flaps"] {
        assert_eq!(storm[wrong], 0, "{wrong} in {report}");
    }
    assert_eq!(storm["traffic"]["delivered"], storm["traffic"]["sent"], "{report}");
    assert_eq!((&report["doubled"], &report["failed"]), (&0.into(), &0.into()), "{report}");
    let said = scratch.fails("load run town.toml --set members=10 --set storm=0");
    assert!(said.contains("too few members") && said.contains("fewer `sites`"), "{said}");
    assert!(scratch.fails("load run town.toml --set storm=90").contains("more members than there are"));
}

#[test]
fn a_community_on_a_foreign_node_names_the_users_it_watches() {
    let scratch = Scratch::new("community-url");
    let node = Running::demo(&scratch);
    let line = format!(
        "load community --url http://{} --members 40 --online 4 --message-every 2s --status-every 2s --time 1s --json",
        node.http
    );
    let report: Value = serde_json::from_str(&scratch.say(&line)).unwrap();
    assert_eq!((&report["seeded"], &report["roster"]), (&Value::Null, &4.into()), "{report}");
    let calm = &report["calm"];
    assert_eq!(calm["delivered"], calm["sent"], "{report}");
    assert!(calm["changes"].as_u64() > Some(5), "{report}");
    assert_eq!(calm["presence"], report["presence_expected"], "{report}");
}

#[test]
fn a_client_that_stops_reading_catches_up_without_a_loss() {
    let scratch = Scratch::new("slow");
    let set = "--set members=6 --set slow=2 --set writes=400.0 --set calm=1s --set pause=2s";
    let report: Value = serde_json::from_str(&scratch.say(&format!("load run slow {set} --json"))).unwrap();
    assert!(report["sent"].as_u64().is_some_and(|sent| sent > 800), "{report}");
    assert_eq!(report["delivered"], report["sent"], "{report}");
    for wrong in ["lost", "doubled", "failed"] {
        assert_eq!(report[wrong], 0, "{wrong} in {report}");
    }
}

#[test]
fn visitors_fetch_everything_that_a_browser_fetches() {
    let scratch = Scratch::new("visit");
    let line = "load visit --visitors 30 --rate 100 --stay 6s --think 1s --write-every 2s --time 3s --json";
    let report: Value = serde_json::from_str(&scratch.say(line)).unwrap();
    // On a busy machine a visitor may leave a page before its answer; no other failure is allowed.
    let failures = report["failures"].as_object().unwrap();
    assert!(failures.keys().all(|why| why.ends_with("no answer before the page was left")), "{report}");
    let kinds: Vec<&str> =
        report["kinds"].as_array().unwrap().iter().map(|of| of["kind"].as_str().unwrap()).collect();
    let all = "page loader shell file avatar token login contacts history message";
    assert_eq!(kinds, all.split(' ').collect::<Vec<_>>(), "{report}");
    let number = |name: &str| report[name].as_u64().unwrap();
    assert_eq!(number("transactions"), number("successful") + number("failed"), "{report}");
    assert!(number("successful") > 9 * number("failed"), "{report}");
    assert!(report["came"].as_u64() > Some(0) && report["left"].as_u64() > Some(0), "{report}");
    let said = scratch.fails("load visit --visitors 2 --page /nowhere");
    assert!(said.contains("no visit can begin at /nowhere") && said.contains("404"), "{said}");
    assert!(scratch.fails("load visit --think 0s").contains("must be above 0"));
}

#[test]
fn a_mix_grows_until_a_limit_is_met() {
    let scratch = Scratch::new("mix");
    let line = "load run mix --set members=120 --set rate=200.0 --set write-every=1s --set time=20s --json";
    let report: Value = serde_json::from_str(&scratch.say(line)).unwrap();
    assert_eq!((&report["ended_by"], &report["members"]), (&"members".into(), &120.into()), "{report}");
    for wrong in ["lost", "doubled", "failed"] {
        assert_eq!(report[wrong], 0, "{wrong} in {report}");
    }
    let report: Value = serde_json::from_str(&scratch.say("load mix --memory-limit 1MB --json")).unwrap();
    assert_eq!((&report["ended_by"], &report["valid"]), (&"memory".into(), &false.into()), "{report}");
    let said = scratch.fails("load run mix --set memory-limit=soon");
    assert!(said.contains("`soon` is no size, as in 512MB"), "{said}");
}

#[test]
fn an_interrupted_run_writes_its_report() {
    let scratch = Scratch::new("interrupted");
    let node = Running::demo(&scratch);
    let line =
        format!("load flood --url http://{} --connections 20 --hold 10m --report out --json", node.http);
    let mut load = scratch.kith();
    let child = load.args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    poll("all members are there", || (node.metric("kith_chat_sessions") >= 20.0).then_some(()));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value =
        serde_json::from_str(&fs::read_to_string(scratch.path().join("out/report.json")).unwrap()).unwrap();
    let verdict = &report["runs"][0]["verdict"];
    assert_eq!((&verdict["valid"], &verdict["interrupted"]), (&false.into(), &true.into()), "{verdict}");
}

#[test]
fn errors_are_reported_before_any_member_connects() {
    let scratch = Scratch::new("before");
    fs::write(scratch.path().join("bad.toml"), "[flood]\nconections = 5\n").unwrap();
    let said = scratch.fails("load run bad.toml");
    assert!(said.contains("bad.toml:2:1: unknown field `conections`"), "{said}");
    assert!(said.contains("`connections` is meant, perhaps"), "{said}");
    assert!(scratch.fails("load run nothing").contains("`kith load presets`"));
    assert!(scratch.fails("load run stress --set window").contains("has no value"));

    let node = Running::demo(&scratch);
    let url = format!("http://{}", node.http);
    fs::write(scratch.path().join("secret"), "not the one of the site").unwrap();
    let said = scratch.fails(&format!("load stress --url {url} --secret-file secret"));
    assert!(said.contains("bad_token") && said.contains("--secret-file"), "{said}");
    let said = scratch.fails(&format!("load flood --url {url} --secret-file secret --connections 400000000"));
    assert!(said.contains("too little memory") && said.contains("use at most"), "{said}");
    drop(node);
    let said = scratch.fails(&format!("load flood --url {url} --secret-file secret"));
    assert!(said.contains("no node answers") && said.contains("start the node"), "{said}");
    let said = scratch.fails("load flood --url http://192.0.2.1 --secret-file secret");
    assert!(said.contains("nothing was sent") && said.contains("--yes"), "{said}");
}

#[test]
fn presets_are_listed_and_shown() {
    let scratch = Scratch::new("presets");
    let listed = scratch.say("load presets");
    for name in ["all", "flood", "stress", "realistic", "chut-10x5", "chut-750x10"] {
        assert!(listed.lines().any(|line| line.split(' ').next() == Some(name)), "{name}: {listed}");
    }
    assert!(scratch.say("load show chut-10x5").contains("groups = 10"));
    assert!(scratch.fails("load show chut").contains("kith load presets"));
}

#[test]
fn a_study_repeats_its_plan_on_nodes_of_their_own_and_judges() {
    let scratch = Scratch::new("study");
    let plan = "[study]\nplan = \"flood\"\nset = { connections = 20, hold = \"500ms\", settle = \"0s\" }\nrepetitions = 1\n\
                figures = [\"server CPU per connect + login\", \"connections\"]\n[study.factors]\ntls = [false, true]\n\
                [[study.hypotheses]]\nsays = \"All come.\"\nfactor = \"tls\"\nfigure = \"connections\"\nfirst = true\n\
                second = false\nwithin = 1.0\n";
    fs::write(scratch.path().join("mine.toml"), plan).unwrap();
    let run: Value =
        serde_json::from_str(&scratch.say("load run mine.toml --set connections=30 --json")).unwrap();
    assert_eq!(run["study"]["hypotheses"][0]["outcome"], "held", "{run}");
    let connections = &run["study"]["comparisons"][1];
    assert_eq!(
        (&connections["figure"], &connections["factor"]),
        (&"connections".into(), &"tls".into()),
        "{run}"
    );
    for case in connections["cases"].as_array().unwrap() {
        assert_eq!(case["spread"]["median"], 30.0, "{run}");
    }
    let said = scratch.fails("load run mine.toml --url http://127.0.0.1:1");
    assert!(said.contains("varies tls") && said.contains("leave out --url"), "{said}");
}
