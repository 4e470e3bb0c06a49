//! Requests and sessions of BOSH (XEP-0124, XEP-0206).

use std::time::Duration;

use crate::scene::Scene;
use crate::scene::http::At;
use crate::scene::xmpp_client::{Over, XmppClient, bosh_answer, bosh_post};

const PING: &str =
    "<iq xmlns='jabber:client' type='get' id='ID' to='forum'><ping xmlns='urn:xmpp:ping'/></iq>";

fn ping(id: &str) -> String {
    PING.replace("ID", id)
}

fn output(scene: &mut Scene, at: At) -> String {
    String::from_utf8(scene.http_output(at)).unwrap()
}

/// A signed-in client, whose requests are all answered but the last one.
fn signed_in(scene: &mut Scene) -> XmppClient {
    let mut client = XmppClient::sign_in_over(scene, Over::Bosh, "ben", "browser");
    client.send(scene, "<presence/>");
    client.received.clear();
    client
}

fn present(scene: &mut Scene) -> XmppClient {
    let mut anna = XmppClient::sign_in(scene, "anna", "phone");
    anna.send(scene, "<presence/>");
    anna
}

/// The condition with which a request is refused, or its session has ended.
fn condition(scene: &mut Scene, body: &str) -> String {
    let at = scene.connect_to_web();
    let at = scene.feed_http(at, bosh_post(body).as_bytes());
    let answer = bosh_answer(&output(scene, at));
    assert_eq!(answer.root().attr("type"), Some("terminate"));
    answer.root().attr("condition").unwrap_or("none").to_owned()
}

#[test]
fn a_request_that_begins_no_session_gets_the_reason() {
    let mut scene = Scene::new();
    let body = |rest: &str| format!("<body xmlns='http://jabber.org/protocol/httpbind' {rest}/>");
    let long = format!("rid='1' to='{}'", "a".repeat(10_000));
    let table = [
        ("", "bad-request"),
        ("rid='x' to='forum'", "bad-request"),
        (&long, "bad-request"),
        ("rid='1'", "improper-addressing"),
        ("rid='1' to='other.example'", "host-unknown"),
        ("rid='1' sid=''", "item-not-found"),
        ("rid='1' sid='0000000800000000AAAA'", "item-not-found"),
        ("rid='1' sid='ffffffffffffffffAAAA'", "item-not-found"),
    ];
    for (rest, expected) in table {
        assert_eq!(condition(&mut scene, &body(rest)), expected, "{rest}");
    }
    for wrong in ["<body", "<!DOCTYPE x><body/>", "<body xmlns='urn:x' rid='1' to='forum'/>", "x"] {
        assert_eq!(condition(&mut scene, wrong), "bad-request", "{wrong}");
    }
}

#[test]
fn a_new_session_has_the_properties_that_the_client_may_use() {
    let mut scene = Scene::new();
    let at = scene.connect_to_web();
    let body =
        "<body xmlns='http://jabber.org/protocol/httpbind' rid='7' to='forum' wait='900' hold='9' ack='1'/>";
    let at = scene.feed_http(at, bosh_post(body).as_bytes());
    let answer = bosh_answer(&output(&mut scene, at));
    let root = answer.root();
    let attributes =
        ["wait", "hold", "requests", "inactivity", "maxpause", "ack", "from"].map(|name| root.attr(name));
    assert_eq!(attributes, ["60", "1", "2", "60", "120", "7", "forum"].map(Some));
    assert_eq!(root.first().map(|features| features.name()), Some("features"));
}

#[test]
fn a_jump_of_the_clock_ends_no_session() {
    let mut scene = Scene::new();
    let mut anna = present(&mut scene);
    let mut ben = signed_in(&mut scene);
    let (minutes, days) = (20 * 60_000, 2 * 86_400_000);
    for jump_ms in [minutes, -minutes, -days, days] {
        scene.set_clock(jump_ms);
        scene.wait(Duration::from_secs(85));
        ben.send(&mut scene, &ping("p"));
        ben.read(&mut scene);
        assert_eq!(ben.take().root().attr("id"), Some("p"), "{jump_ms}");
        anna.read(&mut scene);
        assert!(anna.received.iter().all(|one| one.root().name() == "presence"), "{jump_ms}: no ping");
        anna.received.clear();
        anna.send(&mut scene, &ping("q"));
        anna.read(&mut scene);
        assert_eq!(anna.take().root().attr("id"), Some("q"), "{jump_ms}");
    }
}

#[test]
fn other_methods_and_plain_connections_are_refused() {
    let mut scene = Scene::new();
    let preflight = scene.http("OPTIONS /http-bind HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\n\r\n");
    assert!(preflight.starts_with("HTTP/1.1 200 "), "{preflight}");
    assert!(
        preflight.contains("access-control-allow-origin: *") && preflight.contains("POST"),
        "{preflight}"
    );
    assert!(!preflight.contains("credentials"), "{preflight}");
    let table = [
        ("GET /http-bind HTTP/1.1\r\nHost: x\r\n\r\n", "405 "),
        ("POST /http-bind HTTP/1.1\r\nHost: x\r\n\r\n", "400 "),
        ("POST /http-bind HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n", "413 "),
    ];
    for (request, status) in table {
        let answer = scene.http(request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
    let mut scene = Scene::behind_a_proxy();
    let answer =
        scene.http(&bosh_post("<body xmlns='http://jabber.org/protocol/httpbind' rid='1' to='forum'/>"));
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
}

#[test]
fn a_lost_answer_is_sent_again_and_its_request_is_handled_once() {
    let mut scene = Scene::new();
    let mut anna = present(&mut scene);
    let mut ben = signed_in(&mut scene);
    let rid = ben.bosh.rid + 1;
    let message =
        "<message xmlns='jabber:client' type='chat' to='anna@forum' id='1'><body>Once</body></message>";
    let elements = format!("{message}{}", ping("p"));
    let first = ben.bosh.post_as(&mut scene, rid, "", &elements);
    // The request before it waits, and takes the answer; this one waits in its place.
    assert_eq!(output(&mut scene, first), "");
    ben.bosh.rid = rid;
    ben.read(&mut scene);
    assert_eq!(ben.take().root().attr("id"), Some("p"));
    let again = ben.bosh.post_as(&mut scene, rid - 1, "", "");
    let answer = bosh_answer(&output(&mut scene, again));
    assert_eq!(answer.root().first().and_then(|iq| iq.attr("id")), Some("p"));
    anna.read(&mut scene);
    assert_eq!(anna.received.iter().filter(|stanza| stanza.root().name() == "message").count(), 1);
}

#[test]
fn a_request_that_comes_again_while_it_waits_moves_to_the_new_connection() {
    let mut scene = Scene::new();
    let ben = signed_in(&mut scene);
    let next = ben.bosh.post_as(&mut scene, ben.bosh.rid + 1, "", "");
    assert_eq!(output(&mut scene, next), "");
    let again = ben.bosh.post_as(&mut scene, ben.bosh.rid + 1, "", "");
    let lost = bosh_answer(&output(&mut scene, next));
    assert_eq!((lost.root().attr("type"), lost.root().first().is_none()), (None, true));
    let mut anna = present(&mut scene);
    anna.send(&mut scene, "<message type='chat' to='ben@forum' id='1'><body>Hi</body></message>");
    let answer = bosh_answer(&output(&mut scene, again));
    assert_eq!(answer.root().first().map(|stanza| stanza.name()), Some("message"));
}

#[test]
fn requests_that_overtake_each_other_are_handled_in_order() {
    let mut scene = Scene::new();
    let mut ben = signed_in(&mut scene);
    let rid = ben.bosh.rid;
    let second = ben.bosh.post_as(&mut scene, rid + 2, "", &ping("second"));
    assert_eq!(output(&mut scene, second), "");
    let first = ben.bosh.post_as(&mut scene, rid + 1, "", &ping("first"));
    // The elements go with the request that waits, the next request makes room, and the last one waits.
    assert!(bosh_answer(&output(&mut scene, first)).root().first().is_none());
    assert_eq!(output(&mut scene, second), "");
    ben.bosh.rid += 2;
    ben.read(&mut scene);
    assert_eq!(ben.take().root().attr("id"), Some("first"));
    assert_eq!(ben.take().root().attr("id"), Some("second"));
}

#[test]
fn a_request_outside_the_window_ends_the_session() {
    let mut scene = Scene::new();
    for distance in [3, 1_000_000] {
        let ben = signed_in(&mut scene);
        let at = ben.bosh.post_as(&mut scene, ben.bosh.rid + distance, "", "");
        let answer = bosh_answer(&output(&mut scene, at));
        assert_eq!(answer.root().attr("condition"), Some("item-not-found"));
    }
    // An old one is refused alone.
    let mut ben = signed_in(&mut scene);
    let at = ben.bosh.post_as(&mut scene, ben.bosh.rid - 5, "", "");
    assert_eq!(bosh_answer(&output(&mut scene, at)).root().attr("condition"), Some("item-not-found"));
    ben.send(&mut scene, &ping("p"));
    assert_eq!(ben.take().root().attr("id"), Some("p"));
}

#[test]
fn a_gap_that_is_never_filled_ends_the_session() {
    let mut scene = Scene::new();
    let ben = signed_in(&mut scene);
    let early = ben.bosh.post_as(&mut scene, ben.bosh.rid + 2, "", "");
    scene.wait(Duration::from_secs(59));
    assert_eq!(output(&mut scene, early), "");
    scene.wait(Duration::from_secs(2));
    assert_eq!(bosh_answer(&output(&mut scene, early)).root().attr("condition"), Some("item-not-found"));
}

#[test]
fn somebody_who_guesses_the_place_of_a_session_does_not_reach_it() {
    let mut scene = Scene::new();
    let mut ben = signed_in(&mut scene);
    let known = ben.bosh.sid.clone();
    ben.bosh.sid = format!("{}{}", &known[..16], "A".repeat(24));
    let at = ben.bosh.post_as(&mut scene, ben.bosh.rid + 1, "type='terminate'", "");
    assert_eq!(bosh_answer(&output(&mut scene, at)).root().attr("condition"), Some("item-not-found"));
    ben.bosh.sid = known;
    ben.send(&mut scene, &ping("p"));
    assert_eq!(ben.take().root().attr("id"), Some("p"));
}

#[test]
fn a_session_without_requests_ends_and_a_pause_extends_it() {
    let mut scene = Scene::new();
    for (pause, lives, ends) in [(None, 58, 4), (Some(900), 118, 4)] {
        let mut ben = signed_in(&mut scene);
        if let Some(pause) = pause {
            let at = ben.bosh.post_as(&mut scene, ben.bosh.rid + 1, &format!("pause='{pause}'"), "");
            assert!(bosh_answer(&output(&mut scene, at)).root().first().is_none());
            ben.bosh.rid += 1;
        } else {
            // The request that waits is answered, and no other one follows.
            scene.wait(Duration::from_secs(61));
        }
        scene.wait(Duration::from_secs(lives));
        assert_eq!(scene.sessions(), 1, "{pause:?}");
        scene.wait(Duration::from_secs(ends));
        assert_eq!(scene.sessions(), 0, "{pause:?}");
        let at = ben.bosh.post_as(&mut scene, ben.bosh.rid + 1, "", "");
        assert_eq!(bosh_answer(&output(&mut scene, at)).root().attr("condition"), Some("item-not-found"));
    }
}

#[test]
fn a_client_ends_its_session_with_its_last_stanzas() {
    let mut scene = Scene::new();
    let mut anna = present(&mut scene);
    let ben = signed_in(&mut scene);
    let last = "<message xmlns='jabber:client' type='chat' to='anna@forum' id='1'><body>Bye</body></message>";
    let at = ben.bosh.post_as(&mut scene, ben.bosh.rid + 1, "type='terminate'", last);
    let answer = bosh_answer(&output(&mut scene, at));
    assert_eq!((answer.root().attr("type"), answer.root().attr("condition")), (Some("terminate"), None));
    anna.read(&mut scene);
    assert!(anna.received.iter().any(|stanza| stanza.root().name() == "message"));
    assert_eq!(scene.sessions(), 1);
}

#[test]
fn a_stream_error_is_in_the_last_answer() {
    let mut scene = Scene::new();
    let mut ben = signed_in(&mut scene);
    ben.send(&mut scene, "<message xmlns='jabber:client' from='anna@forum'/>");
    assert!(ben.is_over);
    assert_eq!(ben.bosh.condition.as_deref(), Some("remote-stream-error"));
    assert_eq!(ben.take().root().first().map(|condition| condition.name()), Some("invalid-from"));

    let mut early = XmppClient::open_over(&mut scene, Over::Bosh);
    early.received.clear();
    early.send(&mut scene, "<presence/>");
    assert_eq!(early.take().root().first().map(|condition| condition.name()), Some("not-authorized"));
}

#[test]
fn a_request_that_cannot_be_read_ends_the_session() {
    let mut scene = Scene::new();
    for (elements, expected) in [("<a>", "bad-request"), ("<!-- x -->", "bad-request")] {
        let ben = signed_in(&mut scene);
        let at = ben.bosh.post_as(&mut scene, ben.bosh.rid + 1, "", elements);
        assert_eq!(bosh_answer(&output(&mut scene, at)).root().attr("condition"), Some(expected));
    }
    let mut early = XmppClient::open_over(&mut scene, Over::Bosh);
    early.send(&mut scene, &format!("<a xmlns='urn:x'>{}</a>", "a".repeat(20_000)));
    assert_eq!(early.bosh.condition.as_deref(), Some("policy-violation"));
}

#[test]
fn one_address_opens_a_bounded_number_of_sessions_at_once() {
    let mut scene = Scene::new();
    let create = "<body xmlns='http://jabber.org/protocol/httpbind' rid='1' to='forum'/>";
    for _ in 0..64 {
        let at = scene.connect_to_web();
        let at = scene.feed_http(at, bosh_post(create).as_bytes());
        assert!(bosh_answer(&output(&mut scene, at)).root().attr("sid").is_some());
    }
    assert_eq!(condition(&mut scene, create), "policy-violation");
    // They end, because they do not sign in.
    scene.wait(Duration::from_secs(95));
    signed_in(&mut scene);
}

#[test]
fn a_client_that_does_not_ask_for_its_stanzas_is_dropped() {
    let mut scene = Scene::new();
    let mut ben = signed_in(&mut scene);
    ben.disconnect(&mut scene);
    // The answer of the request that waited is lost; the rest is queued.
    let mut anna = present(&mut scene);
    assert_eq!(scene.sessions(), 2);
    for number in 0..2_000 {
        let body = "a".repeat(1_000);
        anna.send(
            &mut scene,
            &format!("<message type='chat' to='ben@forum' id='{number}'><body>{body}</body></message>"),
        );
    }
    assert_eq!(scene.sessions(), 1);
}

#[test]
fn a_connection_carries_one_request_after_the_other() {
    let mut scene = Scene::new();
    let ben = signed_in(&mut scene);
    let body = |rid: u64, rest: &str| {
        format!(
            "<body xmlns='http://jabber.org/protocol/httpbind' sid='{}' rid='{rid}'>{rest}</body>",
            ben.bosh.sid
        )
    };
    let at = scene.connect_to_web();
    let page = "GET /v1/websocket HTTP/1.1\r\nHost: x\r\n\r\n";
    let rid = ben.bosh.rid;
    let requests = [bosh_post(&body(rid + 1, "")), bosh_post(&body(rid + 3, "")), page.to_owned()];
    let at = scene.feed_http(at, requests.concat().as_bytes());
    assert_eq!(output(&mut scene, at), "");
    // Requests on other connections end the wait of those on this one.
    ben.bosh.post_as(&mut scene, rid + 2, "", &ping("b"));
    let answer = output(&mut scene, at);
    assert!(answer.matches("HTTP/1.1 200 ").count() == 1 && answer.contains("id='b'"), "{answer}");
    ben.bosh.post_as(&mut scene, rid + 4, "", &ping("d"));
    let answers = output(&mut scene, at);
    assert!(answers.contains("id='d'") && answers.contains("HTTP/1.1 426 "), "{answers}");
}
