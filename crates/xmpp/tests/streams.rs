//! Negotiation of streams: what a client may do before it is signed in, and how a stream ends.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chat::{
    Hello, PortAnswer, PortNote, PortQuestion, PublishedSites, Refusal, RemoteNode, Request, SessionHandle,
    SessionId, SitesOfSlot, Timestamp,
};
use ring::digest;
use xmpp_proto::xml::Element;

use crate::scene::Scene;
use crate::scene::web_client::WebClient;
use crate::scene::xmpp_client::{Over, XmppClient};

/// The condition of the stream error that ends the stream.
fn ends_with(client: &mut XmppClient, scene: &mut Scene, xml: &str) -> String {
    client.received.clear();
    client.send(scene, xml);
    client.read(scene);
    assert!(client.is_over, "the stream goes on after {xml}");
    let error = client.received.pop().expect("a stream error");
    assert_eq!(error.root().name(), "error", "{xml}");
    error.root().first().expect("a condition").name().to_owned()
}

#[test]
fn a_stanza_before_authentication_ends_the_stream() {
    let mut scene = Scene::new();
    for stanza in
        ["<message to='anna@forum'><body>hi</body></message>", "<presence/>", "<iq type='get' id='1'/>"]
    {
        let mut client = XmppClient::open(&mut scene);
        assert_eq!(ends_with(&mut client, &mut scene, stanza), "not-authorized");
    }
}

#[test]
fn an_unknown_domain_is_refused() {
    let mut scene = Scene::new();
    let mut client = XmppClient::open(&mut scene);
    let header = "<stream:stream to='other.example' version='1.0' xmlns='jabber:client' \
                  xmlns:stream='http://etherx.jabber.org/streams'>";
    client.handle = scene.xmpp.connect();
    client.open_raw();
    assert_eq!(ends_with(&mut client, &mut scene, header), "host-unknown");
}

/// The sites of a front, and nothing else.
struct Sites(Vec<Option<SitesOfSlot>>);

impl RemoteNode for Sites {
    fn sites(&self) -> Arc<PublishedSites> {
        Arc::new(PublishedSites::new(self.0.iter().map(Option::as_ref)))
    }

    fn is_crowded(&self) -> bool {
        false
    }

    fn sign_in(&self, _: &Hello<'_>, _: SessionHandle, _: Timestamp) {}
    fn gave_up(&self, _: SessionHandle) {}
    fn command(&self, _: SessionId, _: Request, _: Timestamp) {}
    fn disconnected(&self, _: SessionId, _: bool, _: Timestamp) {}
    fn behind(&self, _: SessionId) {}
    fn presence_missed(&self, _: SessionId) {}
    fn note(&self, _: PortNote) {}
    fn ask(&self, _: PortQuestion, _: Box<dyn FnOnce(Result<PortAnswer, Refusal>) + Send>) {}
}

/// Apps give up an unknown host.
#[test]
fn a_domain_is_not_called_unknown_before_the_homes_of_all_slots_have_published_their_sites() {
    let none = || SitesOfSlot { sites: Vec::new(), logs_sign_ins: false };
    let header = "<stream:stream to='forum' version='1.0' xmlns='jabber:client' \
                  xmlns:stream='http://etherx.jabber.org/streams'>";
    for (slots, condition) in [
        (vec![None], "resource-constraint"),
        (vec![Some(none()), None], "resource-constraint"),
        (vec![Some(none()), Some(none())], "host-unknown"),
    ] {
        let mut scene = Scene::of_remote(Arc::new(Sites(slots)));
        let mut client = XmppClient::connect(&mut scene, Over::Tcp, "");
        assert_eq!(ends_with(&mut client, &mut scene, header), condition);
    }
}

#[test]
fn hostile_xml_ends_the_stream_with_the_condition_of_the_rfc() {
    let mut scene = Scene::new();
    let deep = "<a>".repeat(100);
    let cases = [
        ("<!-- a comment -->", "restricted-xml"),
        ("<?target a processing instruction?>", "restricted-xml"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]>", "restricted-xml"),
        ("<message><body>&a;</body></message>", "restricted-xml"),
        ("<message></presence>", "not-well-formed"),
        ("<message xmlns='urn:example:x'/>", "unsupported-stanza-type"),
        (&format!("<message><body>{deep}"), "policy-violation"),
        ("<message from='anna@forum'/>", "invalid-from"),
    ];
    for (xml, condition) in cases {
        let mut client = XmppClient::sign_in(&mut scene, "ben", "phone");
        assert_eq!(ends_with(&mut client, &mut scene, xml), condition, "{xml}");
    }
}

#[test]
fn three_wrong_passwords_end_the_stream() {
    let mut scene = Scene::new();
    let mut client = XmppClient::open(&mut scene);
    for _ in 0..2 {
        client.authenticate_plain(&mut scene, "anna", "a wrong password");
        let failure = client.take();
        assert!(failure.root().child("not-authorized", "urn:ietf:params:xml:ns:xmpp-sasl").is_some());
        assert!(!client.is_over);
    }
    client.authenticate_plain(&mut scene, "anna", "a wrong password");
    assert!(client.is_over);
}

#[test]
fn a_client_with_a_wrong_password_does_not_become_a_guest() {
    let mut scene = Scene::new();
    let mut client = XmppClient::open(&mut scene);
    client.authenticate_plain(&mut scene, "anna", "a wrong password");
    assert_eq!(client.take().root().name(), "failure");
    client.authenticate_anonymously(&mut scene);
    assert_eq!(client.take().root().name(), "failure");

    let mut guest = XmppClient::open(&mut scene);
    guest.authenticate_anonymously(&mut scene);
    assert_eq!(guest.take().root().name(), "success");
}

#[test]
fn a_token_of_another_user_is_no_password() {
    let mut scene = Scene::new();
    let mut client = XmppClient::open(&mut scene);
    let token = scene.token("ben");
    client.authenticate_plain(&mut scene, "anna", &token);
    assert_eq!(client.take().root().name(), "failure");
}

#[test]
fn a_stream_without_authentication_ends_in_time() {
    let mut scene = Scene::new();
    let mut client = XmppClient::open(&mut scene);
    scene.wait(std::time::Duration::from_secs(31));
    client.read(&mut scene);
    assert!(client.is_over);
}

#[test]
fn the_same_resource_replaces_the_older_stream() {
    let mut scene = Scene::new();
    let mut first = XmppClient::sign_in(&mut scene, "anna", "phone");
    let _second = XmppClient::sign_in(&mut scene, "anna", "phone");
    first.read(&mut scene);
    assert!(first.is_over);
    let error = first.received.pop().expect("a stream error");
    assert_eq!(error.root().first().expect("a condition").name(), "conflict");
}

/// A direct conversation with `tom` and a stream of his that can be resumed. Returns its id, too.
fn with_resumption(scene: &mut Scene) -> (WebClient, XmppClient, String) {
    let anna = WebClient::sign_in(scene, "anna");
    let mut tom = XmppClient::sign_in(scene, "tom", "phone");
    tom.send(scene, "<enable xmlns='urn:xmpp:sm:3' resume='true'/><presence/>");
    tom.read(scene);
    let enabled = tom.received.iter().find(|tree| tree.root().name() == "enabled").expect("enabled");
    let id = enabled.root().attr("id").expect("an id").to_owned();
    tom.received.clear();
    (anna, tom, id)
}

/// More messages than one conversation has in the changes.
fn says_much(anna: &mut WebClient, scene: &mut Scene) {
    for number in 0..60 {
        let frame = format!(r#"{{"t": "send", "id": "m{number}", "to": {{"user": "tom"}}, "body": "x"}}"#);
        anna.send(scene, &frame);
    }
}

#[test]
fn a_stream_that_has_missed_more_than_the_changes_contain_is_not_resumed() {
    let mut scene = Scene::new();
    let (mut anna, mut tom, id) = with_resumption(&mut scene);
    tom.disconnect(&mut scene);
    says_much(&mut anna, &mut scene);
    for condition in ["reset", "item-not-found"] {
        let mut again = tom.resume(&mut scene, &id, "1");
        again.read(&mut scene);
        let last = again.received.last().expect("an answer").root();
        assert_ne!(last.name(), "resumed");
        assert_eq!(last.first().expect("a condition").name(), condition);
    }
}

#[test]
fn a_stream_that_falls_behind_by_more_than_the_changes_contain_ends() {
    let mut scene = Scene::new();
    let (mut anna, mut tom, id) = with_resumption(&mut scene);
    scene.misses_events("tom", tom.handle);
    says_much(&mut anna, &mut scene);
    scene.is_told_to_catch_up(tom.handle);
    tom.read(&mut scene);
    assert!(tom.is_over && tom.received.iter().all(|tree| tree.root().name() != "message"));
    let mut again = tom.resume(&mut scene, &id, "1");
    again.read(&mut scene);
    assert_eq!(
        again.received.last().expect("an answer").root().first().expect("a condition").name(),
        "item-not-found"
    );
}

/// A member with an app password: the password.
fn with_password(scene: &mut Scene) -> String {
    let mut anna = WebClient::sign_in(scene, "anna");
    anna.send(scene, r#"{"t": "create_app_password", "rid": 1, "name": "Phone"}"#);
    anna.read(scene);
    let answer = anna.received.iter().find(|event| event["t"] == "app_password").expect("a password");
    answer["password"].as_str().unwrap().to_owned()
}

#[test]
fn channel_bindings_are_offered_under_tls_only() {
    let mut scene = Scene::new();
    let offers = |client: &XmppClient| {
        let features = client.received.last().expect("features").root();
        let mechanisms =
            features.child("mechanisms", "urn:ietf:params:xml:ns:xmpp-sasl").expect("mechanisms");
        let plus = mechanisms.children().filter(|one| one.text().ends_with("-PLUS")).count();
        let kinds = features.child("sasl-channel-binding", "urn:xmpp:sasl-cb:0");
        let kinds =
            kinds.map(|kinds| kinds.children().map(|kind| kind.attr("type").unwrap().to_owned()).collect());
        (plus, kinds)
    };
    let plain = XmppClient::open(&mut scene);
    assert_eq!(offers(&plain), (0, None::<Vec<String>>));
    let web = XmppClient::open_over(&mut scene, Over::WebSocket);
    assert_eq!(offers(&web), (0, None));
    let with_tls = XmppClient::open_with_tls(&mut scene);
    assert_eq!(offers(&with_tls), (2, Some(vec!["tls-exporter".into(), "tls-server-end-point".into()])));
}

#[test]
fn an_authentication_of_another_tls_connection_is_refused() {
    let mut scene = Scene::new();
    let password = with_password(&mut scene);
    let right = digest::digest(&digest::SHA256, &scene.certificate.der);
    let right = right.as_ref();
    // `y`: the client believes that the server has no binding, so somebody has removed the offer.
    let cases = [
        ("p=tls-server-end-point,,", &b"another certificate"[..], "failure"),
        ("p=tls-exporter,,", right, "failure"),
        ("p=tls-unique,,", right, "failure"),
        ("y,,", b"", "failure"),
        ("n,,", b"", "success"),
        ("p=tls-server-end-point,,", right, "success"),
    ];
    for (header, data, expected) in cases {
        let mut client = XmppClient::open_with_tls(&mut scene);
        client.user = "anna".into();
        client.authenticate_plus(&mut scene, header, &password, data);
        assert_eq!(client.take().root().name(), expected, "{header}");
    }
}

/// XEP-0474: the client compares the hash with the offers that it has seen.
#[test]
fn a_challenge_has_a_hash_of_the_offers() {
    let mut scene = Scene::new();
    let mut client = XmppClient::open_with_tls(&mut scene);
    let features = client.take();
    let offers = |name: &str, ns: &str, text: fn(Element<'_>) -> String| {
        let mut offers: Vec<String> =
            features.root().child(name, ns).expect("an offer").children().map(text).collect();
        offers.sort();
        offers.join("\u{1e}")
    };
    let mechanisms = offers("mechanisms", "urn:ietf:params:xml:ns:xmpp-sasl", |one| one.text().into_owned());
    let bindings = offers("sasl-channel-binding", "urn:xmpp:sasl-cb:0", |one| {
        one.attr("type").unwrap_or_default().to_owned()
    });
    let hash = digest::digest(&digest::SHA256, format!("{mechanisms}\u{1f}{bindings}").as_bytes());
    let first = STANDARD.encode("n,,n=anna,r=fyko");
    let auth = "auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='SCRAM-SHA-256'";
    client.send(&mut scene, &format!("<{auth}>{first}</auth>"));
    client.read(&mut scene);
    let challenge = STANDARD.decode(&*client.take().root().text()).unwrap();
    let challenge = String::from_utf8(challenge).unwrap();
    assert!(challenge.ends_with(&format!(",h={}", STANDARD.encode(hash))), "{challenge}");
}

const BIND2: &str = "<bind xmlns='urn:xmpp:bind:0'><tag>App</tag></bind>";

#[test]
fn an_authentication_that_binds_works_over_every_transport() {
    let mut scene = Scene::new();
    for over in [Over::Tcp, Over::WebSocket, Over::Bosh] {
        let mut client = XmppClient::authenticate2(&mut scene, over, "anna", BIND2);
        let success = client.take();
        let success = success.root();
        assert_eq!((success.name(), success.ns()), ("success", "urn:xmpp:sasl:2"), "{over:?}");
        let jid = success.child("authorization-identifier", "urn:xmpp:sasl:2").expect("the address");
        assert!(jid.text().starts_with("anna@forum/App~"), "{over:?}");
        let features = client.take();
        assert!(features.root().child("bind", "urn:ietf:params:xml:ns:xmpp-bind").is_none());
        client.send(&mut scene, "<iq type='get' id='7' to='forum'><ping xmlns='urn:xmpp:ping'/></iq>");
        client.read(&mut scene);
        assert_eq!(client.take().root().attr("id"), Some("7"), "{over:?}");
    }
}

#[test]
fn a_device_that_signs_in_again_replaces_its_older_stream() {
    let mut scene = Scene::new();
    let mut first = XmppClient::authenticate2(&mut scene, Over::Tcp, "anna", BIND2);
    let _second = XmppClient::authenticate2(&mut scene, Over::Tcp, "anna", BIND2);
    first.read(&mut scene);
    assert!(first.is_over);
}

#[test]
fn an_authentication_without_bind_goes_on_without_a_new_stream() {
    let mut scene = Scene::new();
    let mut client = XmppClient::authenticate2(&mut scene, Over::Tcp, "anna", "");
    let success = client.take();
    assert_eq!(
        success.root().children().next().map(|one| one.text().into_owned()),
        Some("anna@forum".into())
    );
    assert!(client.take().root().child("bind", "urn:ietf:params:xml:ns:xmpp-bind").is_some());
    client.bind(&mut scene, "phone");
    assert_eq!(client.take().root().attr("type"), Some("result"));
}

#[test]
fn the_two_forms_of_authentication_do_not_mix() {
    let mut scene = Scene::new();
    let mut client = XmppClient::open(&mut scene);
    client.received.clear();
    client.send(&mut scene, "<authenticate xmlns='urn:xmpp:sasl:2' mechanism='PLAIN'/>");
    client.send(&mut scene, "<response xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>AGFubmEAeA==</response>");
    client.send(&mut scene, "<response xmlns='urn:xmpp:sasl:2'>AGFubmEAeA==</response>");
    client.send(&mut scene, "<authenticate xmlns='urn:xmpp:sasl:2' mechanism='X'/>");
    client.read(&mut scene);
    let answers: Vec<_> = client.received.iter().map(|one| one.root().name().to_owned()).collect();
    assert_eq!(answers, ["challenge", "failure", "failure", "failure", "error"]);
    assert!(client.is_over, "three failures end the stream");
}

#[test]
fn a_wrong_password_binds_nothing() {
    let mut scene = Scene::new();
    let mut client = XmppClient::open(&mut scene);
    client.received.clear();
    let inline = "<initial-response>AGFubmEAeA==</initial-response><bind xmlns='urn:xmpp:bind:0'/>";
    let request = format!("<authenticate xmlns='urn:xmpp:sasl:2' mechanism='PLAIN'>{inline}</authenticate>");
    client.send(&mut scene, &request);
    client.read(&mut scene);
    let failure = client.take();
    assert!(failure.root().child("not-authorized", "urn:ietf:params:xml:ns:xmpp-sasl").is_some());
    assert_eq!(scene.sessions(), 0);
}

const FAST: &str = "urn:xmpp:fast:0";

/// The token in the success, and the client.
fn token_of(client: &mut XmppClient) -> Option<String> {
    let success = client.take();
    assert_eq!((success.root().name(), success.root().ns()), ("success", "urn:xmpp:sasl:2"));
    Some(success.root().child("token", FAST)?.attr("token")?.to_owned())
}

fn ask_for_token(scene: &mut Scene, password: &str, mechanism: &str) -> Option<String> {
    let mut client = XmppClient::open_with_tls(scene);
    let request = format!("<request-token xmlns='{FAST}' mechanism='{mechanism}'/>");
    client.authenticate2_with(scene, "anna", password, &request);
    token_of(&mut client)
}

/// XEP-0484 §3.2: whoever learns a token cannot use it with a weaker mechanism, or on another TLS connection.
#[test]
fn a_token_is_for_one_mechanism_and_its_binding() {
    let mut scene = Scene::new();
    let password = with_password(&mut scene);
    let token = ask_for_token(&mut scene, &password, "HT-SHA-256-ENDP").expect("a token");
    let right = digest::digest(&digest::SHA256, &scene.certificate.der);
    let right = right.as_ref();
    let cases = [
        ("HT-SHA-256-ENDP", right, "success"),
        ("HT-SHA-256-ENDP", &b"another certificate"[..], "failure"),
        ("HT-SHA-256-NONE", b"", "failure"),
        ("HT-SHA-256-EXPR", right, "failure"),
        ("HT-SHA-256-UNIQ", right, "failure"),
    ];
    for (mechanism, data, expected) in cases {
        let mut client = XmppClient::open_with_tls(&mut scene);
        let inline = format!("<fast xmlns='{FAST}'/>");
        client.prove_token(&mut scene, "anna", mechanism, &token, data, &inline);
        assert_eq!(client.take().root().name(), expected, "{mechanism}");
    }
}

/// The client must learn that it talks to the server that gave the token.
#[test]
fn the_server_proves_the_token_too() {
    let mut scene = Scene::new();
    let password = with_password(&mut scene);
    let token = ask_for_token(&mut scene, &password, "HT-SHA-256-NONE").expect("a token");
    let mut client =
        XmppClient::authenticate_by_token(&mut scene, "anna", &token, &format!("<fast xmlns='{FAST}'/>"));
    let success = client.take();
    let data =
        success.root().child("additional-data", "urn:xmpp:sasl:2").expect("a proof").text().into_owned();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, token.as_bytes());
    let proof = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data).unwrap();
    assert!(ring::hmac::verify(&key, b"Responder", &proof).is_ok());
}

#[test]
fn a_token_is_given_for_a_mechanism_that_works_here() {
    let mut scene = Scene::new();
    let password = with_password(&mut scene);
    for mechanism in ["HT-SHA-256-UNIQ", "HT-SHA3-512-NONE", ""] {
        assert_eq!(ask_for_token(&mut scene, &password, mechanism), None, "{mechanism}");
    }
    // No TLS, no binding.
    let plain = format!("<request-token xmlns='{FAST}' mechanism='HT-SHA-256-ENDP'/>");
    let mut client = XmppClient::authenticate2_by(&mut scene, Over::Tcp, "anna", &password, &plain);
    assert_eq!(token_of(&mut client), None);
}

/// A token that is used every week lives as long as its password; an unused one does not.
#[test]
fn a_token_is_replaced_in_time_and_expires() {
    let mut scene = Scene::new();
    let password = with_password(&mut scene);
    let first = ask_for_token(&mut scene, &password, "HT-SHA-256-NONE").expect("a token");
    let day = chat::APP_TOKEN_REPLACED_AFTER_MS;
    let sign_in = |scene: &mut Scene, token: &str| {
        let mut client =
            XmppClient::authenticate_by_token(scene, "anna", token, &format!("<fast xmlns='{FAST}'/>"));
        match client.received[0].root().name() {
            "success" => Ok(token_of(&mut client)),
            _ => Err(client.take().root().first().expect("a condition").name().to_owned()),
        }
    };
    assert_eq!(sign_in(&mut scene, &first), Ok(None));
    scene.skip(day);
    let second = sign_in(&mut scene, &first).unwrap().expect("a new token");
    assert_ne!(first, second);
    assert_eq!(sign_in(&mut scene, &first), Ok(Some(second.clone())), "the first answer may be lost");
    assert_eq!(sign_in(&mut scene, &second), Ok(None));
    assert_eq!(sign_in(&mut scene, &first), Err("not-authorized".into()), "replaced");
    scene.skip(chat::APP_TOKEN_MS);
    assert_eq!(sign_in(&mut scene, &second), Err("credentials-expired".into()));
}
