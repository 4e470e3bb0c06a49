//! Commands beside a node, and without one.

use std::fs;

use serde_json::Value;

use crate::client::Client;
use crate::running::{Running, Scratch, poll, text};

#[test]
fn the_token_command_prints_only_a_token_and_finds_the_data() {
    let scratch = Scratch::new("token");
    let node = Running::demo(&scratch);
    let printed = scratch.say("token --site demo --user anna --name Anna");
    let token = printed.strip_suffix('\n').unwrap();
    assert_eq!(token.split('.').count(), 3);
    assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)), "{printed:?}");
    let client = Client::try_enter(node.http, token, "a", None).unwrap();
    assert_eq!(client.welcome["me"]["name"], "Anna");
}

/// A build that reads no `.cargo/config.toml` would have the allocator's own settings, which need more memory.
#[cfg(not(target_env = "msvc"))]
#[test]
fn the_settings_of_the_allocator_are_built_in_and_can_be_overridden() {
    let scratch = Scratch::new("allocator");
    let settings = |more: &str| {
        let mut command = scratch.kith();
        command
            .arg("--version")
            .env("MALLOC_CONF", format!("stats_print:true,stats_print_opts:mdablxeh{more}"));
        text(&command.output().unwrap().stderr)
    };
    let built_in = settings("");
    for line in [
        "opt.narenas: 1\n",
        "opt.tcache_max: 256\n",
        "opt.dirty_decay_ms: 1000 ",
        "opt.muzzy_decay_ms: 0 ",
        "opt.background_thread: true ",
        "max_background_threads:1\"",
    ] {
        assert!(built_in.contains(line), "{line:?} in {built_in}");
    }
    assert!(settings(",narenas:3").contains("opt.narenas: 3\n"));
}

#[test]
fn a_site_added_while_the_node_runs_is_seen() {
    let scratch = Scratch::new("site-add");
    let node = Running::start(&scratch, "serve", &[]);
    let added: Value =
        serde_json::from_str(&scratch.say("site add garden --origin https://garden.example --json")).unwrap();
    assert_eq!(added["key"], "garden");
    assert!(added["embed"].as_str().unwrap().contains("data-site=\"garden\""));
    let token = scratch.say("token --site garden --user ida").trim().to_owned();
    poll("the site", || {
        let mut client = Client::connect(node.http)?;
        client.say(serde_json::json!({
            "t": "hello", "v": 1, "site": "garden", "token": token, "device": "d"
        }))?;
        (client.next()?["t"] == "welcome").then_some(())
    });
}

#[test]
fn sites_are_listed_shown_rotated_and_removed() {
    let scratch = Scratch::new("sites");
    let data = format!("--data {}", scratch.data().display());
    let _node = Running::demo(&scratch);
    let json = |line: &str| -> Value { serde_json::from_str(&scratch.say(line)).unwrap() };
    let secret = json(&format!("site add garden --mode contacts --json {data}"))["secret"].clone();
    let keys: Vec<Value> = json(&format!("site list --json {data}"))
        .as_array()
        .unwrap()
        .iter()
        .map(|site| site["key"].clone())
        .collect();
    assert_eq!(keys, ["demo", "garden"]);
    let rotated = json(&format!("site rotate-secret garden --overlap 1h --json {data}"));
    assert_ne!(rotated["secret"], secret);
    let shown = json(&format!("site show garden --json {data}"));
    assert_eq!(shown["mode"], "contacts");
    let secrets = shown["secrets"].as_array().unwrap();
    assert_eq!(secrets.len(), 2, "the old secret is valid for a while");
    assert!(secrets[0]["expires"].is_null() && secrets[1]["expires"].is_u64(), "{secrets:?}");
    let set =
        scratch.say(&format!("site set garden --name Bees --guests true --origin https://a.example {data}"));
    assert!(set.contains("garden: changed"), "{set}");
    let shown = json(&format!("site show garden --json {data}"));
    assert_eq!((&shown["name"], &shown["guests"]), (&"Bees".into(), &true.into()));
    assert_eq!(
        (shown["origins"][0].as_str(), shown["mode"].as_str()),
        (Some("https://a.example"), Some("contacts"))
    );
    let kid = secrets[1]["kid"].as_str().unwrap();
    scratch.say(&format!("site key end garden {kid} {data}"));
    let kid = secrets[0]["kid"].as_str().unwrap();
    assert!(scratch.fails(&format!("site key end garden {kid} {data}")).contains("last key"));
    scratch.say(&format!("site sign-out garden --everybody {data}"));
    let keys = json(&format!("site key list garden --json {data}"));
    assert_eq!(keys["secrets"].as_array().unwrap().len(), 1, "{keys}");
    assert!(keys["guest_keys"][0]["signed_out"].is_u64(), "{keys}");
    assert!(scratch.fails(&format!("site remove garden {data}")).contains("--yes"));
    scratch.say(&format!("site remove garden --yes {data}"));
    assert!(scratch.fails(&format!("site show garden {data}")).contains("there is: demo"));
    assert!(scratch.fails(&format!("site add demo {data}")).contains("already"));
    assert!(scratch.fails(&format!("site add Demo {data}")).contains("garden-forum"));
}

#[test]
fn a_banned_user_is_sent_away_and_let_in_again_later() {
    let scratch = Scratch::new("ban");
    let node = Running::demo(&scratch);
    let mut tom = Client::enter(&scratch, &node, "tom");
    scratch.say("user ban --site demo tom");
    let bye = tom.expect("bye", |event| event["t"] == "bye");
    assert_eq!(bye["code"], "banned");
    let shown: Value = serde_json::from_str(&scratch.say("user show --site demo tom --json")).unwrap();
    assert_eq!(shown["banned"], true);
    scratch.say("user unban --site demo tom");
    let token = scratch.say("token --site demo --user tom").trim().to_owned();
    poll("an open door", || {
        let mut client = Client::connect(node.http)?;
        client.say(
            serde_json::json!({ "t": "hello", "v": 1, "site": "demo", "token": token, "device": "d" }),
        )?;
        (client.next()?["t"] == "welcome").then_some(())
    });
    let users: Value = serde_json::from_str(&scratch.say("user list --site demo --json")).unwrap();
    assert!(users.as_array().unwrap().iter().any(|user| user["user"] == "anna"));
}

#[test]
fn the_operator_makes_lists_and_revokes_app_passwords() {
    let scratch = Scratch::new("app-passwords");
    let node = Running::demo(&scratch);
    let _anna = Client::enter(&scratch, &node, "anna");
    let json = |line: &str| -> Value { serde_json::from_str(&scratch.say(line)).unwrap() };
    let made = json("user set-password --site demo anna --name Tablet --json");
    assert_eq!((made["address"].as_str(), made["name"].as_str()), (Some("anna@demo"), Some("Tablet")));
    assert_eq!(made["password"].as_str().unwrap().len(), 29);
    let said = scratch.say("user set-password --site demo anna");
    assert!(said.contains("anna@demo") && said.contains("only this once"), "{said}");

    let with_input = |input: &str| {
        let file = scratch.path().join("password.txt");
        fs::write(&file, input).unwrap();
        let mut command = scratch.kith();
        command.args(["user", "set-password", "--site", "demo", "anna", "--name", "Chosen", "--stdin"]);
        command.stdin(fs::File::open(file).unwrap()).output().unwrap()
    };
    let chosen = with_input("correct horse battery\n");
    assert!(chosen.status.success() && !text(&chosen.stdout).contains("horse"), "{}", text(&chosen.stderr));
    for (bad, why) in [("too short\n", "12 characters"), ("with a\tcontrol character", "SASLprep")] {
        let refused = with_input(bad);
        assert!(
            !refused.status.success() && text(&refused.stderr).contains(why),
            "{}",
            text(&refused.stderr)
        );
    }

    let list = json("user passwords --site demo anna --json");
    let names: Vec<_> = list.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Chosen", "Operator", "Tablet"]);
    assert!(!list.to_string().contains(made["password"].as_str().unwrap()));
    assert!(scratch.say("user passwords --site demo anna").contains("used never  Tablet"));
    let number = made["number"].as_u64().unwrap();
    scratch.say(&format!("user revoke-password --site demo anna {number}"));
    let said = scratch.fails(&format!("user revoke-password --site demo anna {number}"));
    assert!(said.contains("kith user passwords"), "{said}");
    assert_eq!(json("user passwords --site demo anna --json").as_array().unwrap().len(), 2);
    assert!(scratch.fails("user set-password --site demo nobody").contains("no user nobody"));
}

#[test]
fn a_site_gets_a_domain_that_no_other_site_has() {
    let scratch = Scratch::new("domain");
    let _node = Running::demo(&scratch);
    scratch.say("site add garden");
    assert_eq!(scratch.say("site domain garden"), "garden\n");
    assert_eq!(scratch.say("site domain garden garden.example"), "garden.example\n");
    assert!(scratch.fails("site domain demo garden.example").contains("another site"));
    assert!(scratch.fails("site domain garden demo").contains("another site"));
    assert!(scratch.fails("site domain garden Garden.example").contains("lower case"));
    assert!(scratch.say("site list").contains("garden.example"));
    assert!(scratch.say("site show garden").contains("domain   garden.example"));
    let shown: Value = serde_json::from_str(&scratch.say("site show garden --json")).unwrap();
    assert_eq!(shown["domain"], "garden.example");
    assert_eq!(scratch.say("site domain garden --clear"), "garden\n");
    scratch.say("site add -- -");
    assert!(scratch.fails("site domain -- -").contains("no domain"));
}

#[test]
fn an_impossible_import_is_explained() {
    let scratch = Scratch::new("explained");
    assert!(scratch.fails("site list").contains("kith demo"), "no database");
    assert!(scratch.fails("serve --config missing.toml").contains("missing.toml"));
    std::fs::write(scratch.path().join("bad.toml"), "http = \"127.0.0.1:0\"\n[limits]\nbody = 1\n").unwrap();
    let said = scratch.fails("config check --config bad.toml");
    assert!(said.contains("unknown field `body`") && said.contains("line 3"), "{said}");
    let said = scratch.fails("serve --http nowhere");
    assert!(said.contains("--http"), "{said}");
    let said = scratch.fails("serve --https 127.0.0.1:0");
    assert!(said.contains("--tls-cert"), "{said}");
    let file = scratch.path().join("a-file");
    std::fs::write(&file, "").unwrap();
    let said = scratch.fails(&format!("serve --http 127.0.0.1:0 --data {}/data", file.display()));
    assert!(said.contains("--data"), "{said}");
}

#[test]
fn a_port_in_use_is_reported_with_the_flag_to_change() {
    let scratch = Scratch::new("port");
    let node = Running::demo(&scratch);
    let other = Scratch::new("port-other");
    let said = other.fails(&format!("demo --data {} --http {}", other.data().display(), node.http));
    assert!(said.contains(&node.http.to_string()) && said.contains("--http"), "{said}");
}

#[test]
fn settings_are_shown_with_their_origin() {
    let scratch = Scratch::new("config");
    let output =
        scratch.kith().args(["config", "show", "--json", "--workers", "3"]).env("KITH_ECHO", "true").output();
    let output = output.unwrap();
    let settings: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(settings["edge.workers"]["value"], 3);
    assert_eq!(settings["edge.workers"]["from"], "flag");
    assert_eq!(settings["echo"]["from"], "KITH_ECHO");
    assert_eq!(settings["limits.page"]["variable"], "KITH_LIMITS_PAGE");
}

#[test]
fn unknown_variables_are_ignored_and_listed_by_check() {
    let scratch = Scratch::new("variables");
    let output =
        scratch.kith().args(["config", "check"]).env("KITH_PORT", "tcp://10.0.0.1:80").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("KITH_PORT"));
    let output = scratch.kith().args(["config", "check"]).env("KITH_HTTP", "nowhere").output().unwrap();
    assert!(!output.status.success() && text(&output.stderr).contains("KITH_HTTP=nowhere"));
}

#[test]
fn every_command_has_help_with_an_example_where_it_is_long() {
    let scratch = Scratch::new("help");
    for command in ["serve", "demo", "site add", "site rotate-secret", "token", "load flood"] {
        let help = scratch.say(&format!("{command} --help"));
        assert!(help.contains("Example: kith "), "{command}: {help}");
    }
}

#[test]
fn each_command_has_a_man_page_and_no_hidden_one_has() {
    let scratch = Scratch::new("man");
    let pages = scratch.data().join("man1");
    scratch.say(&format!("man {}", pages.display()));
    let read = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
    for (page, words) in [
        ("kith.1", "kith\\-serve(1)"),
        ("kith-serve.1", "\\-\\-tls\\-cert"),
        ("kith-site-add.1", "\\-\\-origin"),
    ] {
        let text = read(page);
        assert!(text.contains(".TH") && text.contains(words), "{page}: {text}");
    }
    assert!(!pages.join("kith-picture.1").exists());
    assert!(!read("kith.1").contains("picture"));
}

#[test]
fn completions_know_the_commands_and_their_flags() {
    let scratch = Scratch::new("completions");
    for shell in ["bash", "zsh", "fish"] {
        let script = scratch.say(&format!("completions {shell}"));
        for word in ["rotate-secret", "tls-cert", "doctor"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    assert!(scratch.fails("completions tcsh").contains("possible values: bash"));
}
