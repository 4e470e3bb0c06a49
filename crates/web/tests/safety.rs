//! Order on a site over the wire, as clients speak it: a stranger's request, a report, a moderator, a ban.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::token::{Claims, sign};
use chat::{SiteStore, Timestamp};
use edge::testing::START_UNIX_MS;
use scene::{CARRIERS, Carrier, Client, SITE, Scene};
use serde_json::{Value, json};

#[allow(clippy::needless_pass_by_value, reason = "a request is said once")]
fn ask(client: &mut Client, scene: &mut Scene, request: Value) -> Value {
    client.say(scene, &request.to_string());
    let heard = client.hear(scene);
    let (number, as_answered) = if request["rid"].is_null() { ("id", "id") } else { ("rid", "re") };
    let answer = heard.iter().find(|event| event[as_answered] == request[number]);
    answer.unwrap_or_else(|| panic!("no answer to {request}: {heard:?}")).clone()
}

fn send(client: &mut Client, scene: &mut Scene, to: &str, id: &str, body: &str) -> Value {
    ask(client, scene, json!({"t": "send", "id": id, "to": {"user": to}, "body": body}))
}

fn moderator(scene: &mut Scene, carrier: Carrier) -> Client {
    let claims = Claims {
        sub: "mia".into(),
        role: Some("moderator".into()),
        exp: (START_UNIX_MS / 1000 + 3600) as f64,
        ..Claims::default()
    };
    let token = sign(&claims, &scene::secret()).unwrap();
    let hello = json!({"t": "hello", "v": 1, "site": SITE, "token": token, "device": "mia-1"});
    let mut client = Client::open(scene, carrier, &hello.to_string());
    let welcome = client.hear(scene).remove(0);
    assert_eq!(welcome["role"], "moderator", "{welcome}");
    client
}

fn requests_on(scene: &Scene) {
    let site = scene.store.sites().unwrap().remove(0);
    let settings = site.settings.with("requests.on", "true").unwrap();
    scene.store.set_settings(site.id, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
}

#[test]
fn a_strangers_request_a_report_and_a_ban() {
    let mut scene = Scene::new();
    requests_on(&scene);
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut tom = scene.enter(Carrier::Stream, "tom");
    let mut mia = moderator(&mut scene, Carrier::WebSocket);
    assert!(anna.welcome.get("role").is_none());

    let ack = send(&mut tom, &mut scene, "anna", "t-1", "You fool");
    assert_eq!((&ack["t"], &ack["request"]), (&json!("ack"), &json!(true)));
    let id = ack["conversation"].as_str().unwrap().to_owned();
    let heard = anna.hear(&mut scene);
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!(
        (&heard[0]["t"], &heard[0]["conversation"]["request"]),
        (&json!("conversation"), &json!("received"))
    );
    assert_eq!(heard[0]["conversation"]["last"]["body"], "You fool");
    let refused = send(&mut tom, &mut scene, "anna", "t-2", "see evil.com");
    assert_eq!((&refused["code"], &refused["id"]), (&json!("first_contact"), &json!("t-2")));

    let report = json!({"t": "report", "rid": 1, "conversation": id, "seq": 1, "reason": "abuse", "text": "He insults me"});
    assert_eq!(ask(&mut anna, &mut scene, report), json!({"t": "reported", "re": 1, "report": 1}));
    let heard = mia.hear(&mut scene);
    let report = &heard[0]["report"];
    assert_eq!(
        (&report["user"], &report["by"], &report["reason"]),
        (&json!("tom"), &json!("anna"), &json!("abuse"))
    );
    assert_eq!(report["lines"][0]["body"], "You fool");
    let page = ask(&mut mia, &mut scene, json!({"t": "reports", "rid": 1, "state": "open"}));
    assert_eq!(page["reports"][0], *report);
    let dismissed = ask(
        &mut anna,
        &mut scene,
        json!({"t": "request", "rid": 2, "conversation": id, "answer": "dismiss"}),
    );
    assert_eq!(dismissed["conversation"]["archived"], true);

    let gone = ask(
        &mut mia,
        &mut scene,
        json!({"t": "moderate", "rid": 2, "act": "delete", "conversation": id, "seq": 1}),
    );
    assert_eq!(gone, json!({"t": "moderated", "re": 2}));
    let heard = anna.hear(&mut scene);
    assert_eq!((&heard[0]["t"], &heard[0]["message"]["deleted"]), (&json!("update"), &json!(true)));
    let until = START_UNIX_MS + 86_400_000;
    let ban =
        json!({"t": "moderate", "rid": 3, "act": "ban", "user": "tom", "until": until, "reason": "Insults"});
    assert_eq!(ask(&mut mia, &mut scene, ban)["t"], "moderated");
    let heard = tom.hear(&mut scene);
    let bye = heard.iter().find(|event| event["t"] == "bye").unwrap();
    assert_eq!(
        (&bye["code"], &bye["until"], &bye["reason"]),
        (&json!("banned"), &json!(until), &json!("Insults"))
    );
    let closed = ask(
        &mut mia,
        &mut scene,
        json!({"t": "moderate", "rid": 4, "act": "close_report", "report": 1, "reason": "Banned"}),
    );
    assert_eq!((&closed["report"]["state"], &closed["report"]["note"]), (&json!("closed"), &json!("Banned")));
    let audit = ask(&mut mia, &mut scene, json!({"t": "audit", "rid": 5}));
    let words: Vec<&str> =
        audit["entries"].as_array().unwrap().iter().map(|entry| entry["act"].as_str().unwrap()).collect();
    assert_eq!(words, ["close_report", "ban", "delete", "set_role"]);
}

#[test]
fn a_ban_is_told_on_every_transport() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        let mut tom = scene.enter(carrier, "tom");
        let mut mia = moderator(&mut scene, Carrier::WebSocket);
        let ban = json!({"t": "moderate", "rid": 1, "act": "ban", "user": "tom", "reason": "Insults"});
        assert_eq!(ask(&mut mia, &mut scene, ban)["t"], "moderated");
        let heard = tom.hear_waiting(&mut scene);
        let heard = if heard.is_empty() { tom.hear(&mut scene) } else { heard };
        let bye = heard
            .iter()
            .find(|event| event["t"] == "bye")
            .unwrap_or_else(|| panic!("{carrier:?}: {heard:?}"));
        assert_eq!((&bye["reason"], bye.get("until")), (&json!("Insults"), None), "{carrier:?}");
        let hello = scene.hello("tom", "tom-2", None);
        let mut again = Client::open(&mut scene, carrier, &hello);
        let text = match carrier {
            Carrier::WebSocket => serde_json::to_string(&again.hear(&mut scene)).unwrap(),
            _ => scene.text(again.down),
        };
        assert!(text.contains(r#""code":"banned""#) && text.contains("Insults"), "{carrier:?}: {text}");
    }
}

#[test]
fn what_cannot_be_reported_or_done_says_so() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut mia = moderator(&mut scene, Carrier::WebSocket);
    let mut rid = 10;
    let mut code = |client: &mut Client, scene: &mut Scene, mut request: Value| {
        rid += 1;
        request["rid"] = rid.into();
        let answer = ask(client, scene, request);
        assert_eq!(answer["t"], "error", "{answer}");
        answer["code"].as_str().unwrap().to_owned()
    };
    for (request, expected) in [
        (json!({"t": "report", "reason": "spam"}), "bad_value"),
        (json!({"t": "report", "reason": "spam", "user": "mia", "seq": 1}), "bad_value"),
        (json!({"t": "report", "reason": "filter", "user": "mia"}), "bad_value"),
        (json!({"t": "settings"}), "not_allowed"),
        (json!({"t": "configure", "patch": {}}), "not_allowed"),
        (json!({"t": "test_filter", "body": "x"}), "not_allowed"),
        (json!({"t": "report", "reason": "spam", "conversation": "no"}), "no_such_conversation"),
        (json!({"t": "report", "reason": "spam", "user": "nobody"}), "no_such_user"),
        (json!({"t": "report", "reason": "spam", "user": "mia", "text": "x".repeat(1_001)}), "bad_value"),
        (json!({"t": "reports"}), "not_allowed"),
        (json!({"t": "audit"}), "not_allowed"),
        (json!({"t": "moderate", "act": "kick", "user": "mia"}), "not_allowed"),
        (json!({"t": "request", "conversation": "10", "answer": "accept"}), "no_such_conversation"),
    ] {
        assert_eq!(code(&mut anna, &mut scene, request.clone()), expected, "{request}");
    }
    for (request, expected) in [
        (json!({"t": "moderate", "act": "mute"}), "bad_value"),
        (json!({"t": "moderate", "act": "mute", "user": "nobody"}), "no_such_user"),
        (json!({"t": "moderate", "act": "mute", "user": "anna", "until": 1}), "bad_value"),
        (json!({"t": "moderate", "act": "mute", "user": "mia"}), "not_allowed"),
        (json!({"t": "moderate", "act": "delete", "seq": 1}), "bad_value"),
        (json!({"t": "moderate", "act": "take_report"}), "bad_value"),
        (json!({"t": "moderate", "act": "take_report", "report": 7}), "no_such_report"),
        (json!({"t": "moderate", "act": "approve", "report": 7}), "no_such_report"),
        (json!({"t": "moderate", "act": "refuse", "report": 7}), "no_such_report"),
        (json!({"t": "moderate", "act": "refuse"}), "bad_value"),
        (json!({"t": "moderate", "act": "raid"}), "bad_value"),
        (json!({"t": "moderate", "act": "raid", "until": START_UNIX_MS + 8 * 86_400_000}), "bad_value"),
        (json!({"t": "moderate", "act": "set_level", "user": "mia"}), "not_allowed"),
        (json!({"t": "moderate", "act": "shadow_ban", "user": "nobody"}), "no_such_user"),
        (json!({"t": "test_filter", "body": ""}), "bad_body"),
        (json!({"t": "moderate", "act": "set_role", "user": "anna"}), "bad_value"),
        (json!({"t": "moderate", "act": "set_role", "user": "anna", "role": "admin"}), "not_allowed"),
    ] {
        assert_eq!(code(&mut mia, &mut scene, request.clone()), expected, "{request}");
    }
}

/// With these of the site's settings.
fn set(scene: &Scene, settings: &[(&str, &str)]) {
    let site = scene.store.sites().unwrap().remove(0);
    let now = settings.iter().fold(site.settings, |now, (path, value)| now.with(path, value).unwrap());
    scene.store.set_settings(site.id, &now).unwrap();
    scene.node.refresh_sites().unwrap();
}

#[test]
fn a_held_message_is_approved_and_another_one_refused() {
    let mut scene = Scene::new();
    set(&scene, &[("filters.patterns", r#"[{"pattern":"cas[i1]no","act":"hold"}]"#)]);
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut tom = scene.enter(Carrier::Stream, "tom");
    let mut mia = moderator(&mut scene, Carrier::WebSocket);
    let send = |tom: &mut Client, scene: &mut Scene, id: &str| {
        tom.say(
            scene,
            &json!({"t": "send", "id": id, "to": {"user": "anna"}, "body": "Cas1no!"}).to_string(),
        );
        tom.hear(scene).remove(0)["held"].clone()
    };
    let held = send(&mut tom, &mut scene, "t-1");
    assert_eq!(
        (&held["state"], &held["user"], &held["id"]),
        (&json!("waiting"), &json!("anna"), &json!("t-1"))
    );
    assert!(anna.hear(&mut scene).is_empty());
    let report = &mia.hear(&mut scene)[0]["report"];
    assert_eq!(
        (&report["held"], report.get("by"), &report["reason"]),
        (&json!(true), None, &json!("filter"))
    );
    let approve = json!({"t": "moderate", "rid": 1, "act": "approve", "report": 1});
    assert_eq!(ask(&mut mia, &mut scene, approve)["report"]["state"], "closed");
    let heard = tom.hear(&mut scene);
    assert_eq!(
        (&heard[0]["t"], &heard[0]["id"], &heard[0]["seq"]),
        (&json!("message"), &json!("t-1"), &json!(1))
    );
    assert_eq!(anna.hear(&mut scene)[0]["body"], "Cas1no!");
    send(&mut tom, &mut scene, "t-2");
    let refuse = json!({"t": "moderate", "rid": 2, "act": "refuse", "report": 2, "reason": "No advertising"});
    ask(&mut mia, &mut scene, refuse);
    let held = &tom.hear(&mut scene)[0]["held"];
    assert_eq!((&held["state"], &held["reason"]), (&json!("refused"), &json!("No advertising")));
    assert!(anna.hear(&mut scene).is_empty());
    let test = json!({"t": "test_filter", "rid": 3, "body": "casino"});
    let expected = json!([{"kind": "pattern", "what": "cas[i1]no", "act": "hold"}]);
    assert_eq!(ask(&mut mia, &mut scene, test)["hits"], expected);
}

#[test]
fn an_admin_configures_and_a_moderator_begins_a_raid_mode() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::Sse, "anna");
    let mut mia = moderator(&mut scene, Carrier::WebSocket);
    let (_, done) = rest(
        &scene,
        "POST",
        &format!("/v1/sites/{SITE}/moderate"),
        Some("service"),
        json!({"act": "set_role", "user": "anna", "role": "moderator"}),
    );
    assert!(done["report"].is_null());
    let configure = json!({"t": "configure", "rid": 1, "patch": {"access": "read_only"}});
    assert_eq!(ask(&mut mia, &mut scene, configure)["code"], "not_allowed");
    assert_eq!(ask(&mut mia, &mut scene, json!({"t": "settings", "rid": 2}))["code"], "not_allowed");
    let claims = Claims {
        sub: "ada".into(),
        role: Some("admin".into()),
        exp: (START_UNIX_MS / 1000 + 3600) as f64,
        ..Claims::default()
    };
    let token = sign(&claims, &scene::secret()).unwrap();
    let hello = json!({"t": "hello", "v": 1, "site": SITE, "token": token, "device": "ada-1"});
    let mut ada = Client::open(&mut scene, Carrier::WebSocket, &hello.to_string());
    assert_eq!(ada.hear(&mut scene)[0]["role"], "admin");
    let settings = ask(&mut ada, &mut scene, json!({"t": "settings", "rid": 1}));
    assert_eq!((&settings["t"], &settings["settings"]["access"]), (&json!("settings"), &json!("open")));
    let wrong = json!({"t": "configure", "rid": 2, "patch": {"requests": {"messages": 0}}});
    let wrong = ask(&mut ada, &mut scene, wrong);
    assert_eq!(
        (&wrong["code"], &wrong["text"]),
        (&json!("bad_value"), &json!("requests.messages: 1 to 100"))
    );
    let closed =
        json!({"t": "configure", "rid": 3, "patch": {"access": "read_only", "access_text": "Back at noon"}});
    assert_eq!(ask(&mut ada, &mut scene, closed)["settings"]["access"], "read_only");
    let told = json!({"t": "site", "site": {"access": "read_only", "text": "Back at noon"}});
    assert!(mia.hear(&mut scene).contains(&told) && anna.hear(&mut scene).contains(&told));
    let until = START_UNIX_MS + 600_000;
    let raid = json!({"t": "moderate", "rid": 3, "act": "raid", "until": until});
    assert_eq!(ask(&mut mia, &mut scene, raid)["t"], "moderated");
    assert!(ada.hear(&mut scene).iter().any(|event| event["site"]["raid_until"] == until));
    let ended = json!({"t": "moderate", "rid": 4, "act": "end_raid"});
    assert_eq!(ask(&mut mia, &mut scene, ended)["t"], "moderated");
}

/// The router alone, as the gateway calls it.
#[allow(clippy::needless_pass_by_value, reason = "written where it is asked")]
fn rest(scene: &Scene, method: &str, path: &str, role: Option<&str>, body: Value) -> (u16, Value) {
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use tower::ServiceExt;
    let router = web::site_api(scene.node.clone(), || Timestamp(START_UNIX_MS));
    let mut request = Request::builder().method(method).uri(path);
    if let Some(role) = role {
        let exp = (START_UNIX_MS / 1000 + 3600) as f64;
        let claims = Claims { sub: "server".into(), role: Some(role.into()), exp, ..Claims::default() };
        let token = sign(&claims, &scene::secret()).unwrap();
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let request = request.body(Body::from(body.to_string())).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let response = router.oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    })
}

#[test]
fn a_sites_server_sets_and_acts_over_rest() {
    let mut scene = Scene::new();
    let path = format!("/v1/sites/{SITE}/settings");
    let none = Value::Null;
    assert_eq!(rest(&scene, "GET", &path, None, none.clone()).0, 401);
    assert_eq!(rest(&scene, "GET", &path, Some("moderator"), none.clone()).0, 403);
    assert_eq!(rest(&scene, "GET", "/v1/sites/other/settings", Some("service"), none.clone()).0, 404);
    let (status, settings) = rest(&scene, "GET", &path, Some("service"), none.clone());
    assert_eq!((status, &settings["requests"]["on"]), (200, &json!(false)));
    let on = json!({"requests": {"on": true}});
    assert_eq!(
        rest(&scene, "PATCH", &path, Some("admin"), on.clone()).0,
        403,
        "nobody has signed in as this admin"
    );
    let (status, settings) = rest(&scene, "PATCH", &path, Some("service"), on);
    assert_eq!((status, &settings["requests"]["on"]), (200, &json!(true)));
    let (status, why) = rest(&scene, "PATCH", &path, Some("service"), json!({"request": {}}));
    assert_eq!((status, &why["code"]), (400, &json!("bad_value")));
    assert!(why["text"].as_str().unwrap().contains("`request`"), "{why}");

    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut tom = scene.enter(Carrier::WebSocket, "tom");
    assert_eq!(send(&mut tom, &mut scene, "anna", "t-1", "Hello")["request"], true, "it holds at once");
    let report = json!({"t": "report", "rid": 1, "user": "tom", "reason": "spam"});
    anna.hear(&mut scene);
    ask(&mut anna, &mut scene, report);
    let act = format!("/v1/sites/{SITE}/moderate");
    let (status, done) =
        rest(&scene, "POST", &act, Some("service"), json!({"act": "close_report", "report": 1}));
    assert_eq!((status, &done["report"]["state"]), (200, &json!("closed")));
    let test = format!("/v1/sites/{SITE}/test-filter");
    let (status, found) = rest(&scene, "POST", &test, Some("service"), json!({"body": "Hello"}));
    assert_eq!((status, found), (200, json!({"act": null, "hits": []})));
    assert_eq!(rest(&scene, "POST", &test, Some("service"), json!({"text": 1})).0, 400);
    assert_eq!(rest(&scene, "POST", &test, Some("moderator"), json!({"body": "Hello"})).0, 403);
    let patch = json!({"filters": {"words": ["casino"], "words_act": "hold"}});
    assert_eq!(rest(&scene, "PATCH", &path, Some("service"), patch).0, 200);
    let (_, found) = rest(&scene, "POST", &test, Some("service"), json!({"body": "A casino"}));
    assert_eq!(found["act"], "hold");
    let shadow = json!({"act": "shadow_ban", "user": "anna"});
    assert_eq!(rest(&scene, "POST", &act, Some("service"), shadow).0, 200);
    let level = json!({"act": "set_level", "user": "tom", "level": "trusted"});
    assert_eq!(rest(&scene, "POST", &act, Some("service"), level).0, 200);
    let mute = json!({"act": "mute", "user": "tom", "reason": "Spam"});
    assert_eq!(rest(&scene, "POST", &act, Some("service"), mute).0, 200);
    scene.settle();
    assert_eq!(tom.hear(&mut scene)[0]["notice"], json!({"kind": "mute", "reason": "Spam"}));
    assert_eq!(rest(&scene, "POST", &act, Some("service"), json!({"act": "dance"})).0, 400);
    assert_eq!(rest(&scene, "POST", &act, Some("service"), json!([1])).0, 400);
    let (_, page) = rest(
        &scene,
        "GET",
        &format!("/v1/sites/{SITE}/reports?state=closed&limit=5"),
        Some("service"),
        none.clone(),
    );
    assert_eq!(page["reports"][0]["by"], "anna", "{page}");
    assert_eq!(
        rest(&scene, "GET", &format!("/v1/sites/{SITE}/reports?state=asleep"), Some("service"), none.clone())
            .0,
        400
    );
    let (_, page) = rest(&scene, "GET", &format!("/v1/sites/{SITE}/audit"), Some("service"), none);
    assert_eq!((&page["entries"][0]["act"], page["entries"][0].get("by")), (&json!("mute"), None), "{page}");
}

#[test]
fn a_warning_waits_until_it_is_read() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        let mut tom = scene.enter(carrier, "tom");
        let mut mia = moderator(&mut scene, Carrier::WebSocket);
        let warn =
            json!({"t": "moderate", "rid": 1, "act": "warn", "user": "tom", "reason": "Please be kind"});
        assert_eq!(ask(&mut mia, &mut scene, warn)["t"], "moderated");
        let warning = json!({"kind": "warning", "reason": "Please be kind"});
        assert_eq!(tom.hear(&mut scene)[0]["notice"], warning, "{carrier:?}");
        let waiting = ask(&mut tom, &mut scene, json!({"t": "notices", "rid": 1}));
        assert_eq!(waiting, json!({"t": "notices", "re": 1, "notices": [warning]}), "{carrier:?}");
        let read = ask(&mut tom, &mut scene, json!({"t": "notices", "rid": 2, "seen": true}));
        assert_eq!(read["notices"], json!([]), "{carrier:?}");
    }
}

#[test]
fn a_site_changes_itself_over_rest_and_its_old_tokens_end() {
    let mut scene = Scene::new();
    let path = format!("/v1/sites/{SITE}");
    let none = Value::Null;
    let (status, site) = rest(&scene, "GET", &path, Some("service"), none.clone());
    assert_eq!((status, &site["name"], &site["keys"][0]["of"]), (200, &json!("Forum"), &json!("members")));
    assert!(!site.to_string().contains("a secret"), "{site}");
    let (status, site) =
        rest(&scene, "PATCH", &path, Some("service"), json!({"name": "Bees", "guests": true}));
    assert_eq!((status, &site["name"], &site["guests"]), (200, &json!("Bees"), &json!(true)));
    for wrong in [json!({"public_url": "https://evil.example"}), json!({"origins": ["evil"]}), json!(1)] {
        assert_eq!(rest(&scene, "PATCH", &path, Some("service"), wrong).0, 400);
    }
    let pem = include_str!("../../chat/tests/keys/es256.pub.pem");
    let key = json!({"public_key": pem, "kid": "2026-11"});
    let (status, site) = rest(&scene, "POST", &format!("{path}/keys"), Some("service"), key.clone());
    assert_eq!((status, &site["keys"][0]["kind"]), (200, &json!("ES256")), "{site}");
    assert_eq!(rest(&scene, "POST", &format!("{path}/keys"), Some("service"), key.clone()).0, 400, "again");
    let ended = rest(&scene, "DELETE", &format!("{path}/keys/2026-11"), Some("service"), none.clone());
    assert_eq!((ended.0, ended.1["keys"].as_array().unwrap().len()), (200, 2));

    // An admin changes what the pages need, and no keys.
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let promote = json!({"act": "set_role", "user": "anna", "role": "moderator"});
    rest(&scene, "POST", &format!("{path}/moderate"), Some("service"), promote);
    assert_eq!(rest(&scene, "PATCH", &path, Some("admin"), json!({"name": "Mine"})).0, 403);

    let (status, _) = rest(&scene, "POST", &format!("{path}/sign-out"), Some("service"), json!({}));
    assert_eq!(status, 200);
    scene.settle();
    let heard = anna.hear(&mut scene);
    let bye = heard.iter().find(|event| event["t"] == "bye").expect("her session ends");
    assert_eq!(bye["code"], "key_ended");
}
