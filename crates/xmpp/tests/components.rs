//! Streams of components (XEP-0114): who may connect, and under which name they may send.

use std::time::Duration;

use crate::scene::xmpp_client::XmppClient;
use crate::scene::{OTHER, SITE, Scene};

const SECRET: &str = "the-secret-of-bot";

fn scene() -> Scene {
    let scene = Scene::new();
    [SITE, OTHER].into_iter().for_each(|site| scene.set(site, "federation.on", "true"));
    scene
}

fn connected(scene: &mut Scene) -> XmppClient {
    let mut bot = XmppClient::component(scene, "bot.example", SECRET);
    assert_eq!(bot.take().root().name(), "handshake");
    bot
}

/// The condition of the stream error that has ended the stream.
fn condition(component: &mut XmppClient, scene: &mut Scene) -> String {
    component.read(scene);
    assert!(component.is_over, "the stream goes on");
    component.received.pop().unwrap().root().first().unwrap().name().to_owned()
}

#[test]
fn a_component_needs_its_name_and_its_secret() {
    let mut scene = scene();
    for (host, secret, expected) in [
        ("bot.example", "the-secret-of-irc", "not-authorized"),
        ("bot.example", "", "not-authorized"),
        ("nobody.example", SECRET, "host-unknown"),
        ("helper@bot.example", SECRET, "host-unknown"),
        ("sub.bot.example", SECRET, "host-unknown"),
        (OTHER, "the-secret-of-garden", "host-unknown"),
    ] {
        let mut component = XmppClient::component(&mut scene, host, secret);
        assert_eq!(condition(&mut component, &mut scene), expected, "{host} {secret}");
    }
}

#[test]
fn a_second_connection_gets_a_conflict_until_the_first_one_ends() {
    let mut scene = scene();
    let mut first = connected(&mut scene);
    let mut second = XmppClient::component(&mut scene, "bot.example", SECRET);
    assert_eq!(condition(&mut second, &mut scene), "conflict");
    first.read(&mut scene);
    assert!(!first.is_over);
    first.disconnect(&mut scene);
    connected(&mut scene);
}

#[test]
fn a_component_sends_under_its_own_name_alone() {
    let mut scene = scene();
    for (from, to, expected) in [
        ("from='anna@forum'", "to='anna@forum'", "invalid-from"),
        ("from='helper@sub.bot.example'", "to='anna@forum'", "invalid-from"),
        ("from='irc.example'", "to='anna@forum'", "invalid-from"),
        ("", "to='anna@forum'", "improper-addressing"),
        ("from='helper@bot.example'", "", "improper-addressing"),
        ("from='helper@bot.example'", "to='@'", "improper-addressing"),
    ] {
        let mut bot = connected(&mut scene);
        bot.send(&mut scene, &format!("<message {from} {to}><body>Hi</body></message>"));
        assert_eq!(condition(&mut bot, &mut scene), expected, "{from} {to}");
    }
    let mut bot = connected(&mut scene);
    bot.send(&mut scene, "<enable xmlns='urn:xmpp:sm:3'/>");
    assert_eq!(condition(&mut bot, &mut scene), "unsupported-stanza-type");
}

#[test]
fn nothing_is_taken_before_the_proof() {
    let mut scene = scene();
    let mut early = XmppClient::component(&mut scene, "bot.example", "wrong");
    assert_eq!(condition(&mut early, &mut scene), "not-authorized");
    let handle = scene.xmpp.connect_silent(crate::scene::FOR_COMPONENTS);
    let header = "<stream:stream to='bot.example' xmlns='jabber:component:accept' \
                  xmlns:stream='http://etherx.jabber.org/streams'>";
    scene.xmpp.feed(handle, header.as_bytes());
    scene.xmpp.feed(handle, b"<message from='helper@bot.example' to='anna@forum'><body>Hi</body></message>");
    let output = String::from_utf8(scene.xmpp.output(handle)).unwrap();
    assert!(output.contains("<not-authorized"), "{output}");

    // A header without a proof ends in time.
    let handle = scene.xmpp.connect_silent(crate::scene::FOR_COMPONENTS);
    scene.xmpp.feed(handle, header.as_bytes());
    scene.wait(Duration::from_secs(31));
    assert!(String::from_utf8(scene.xmpp.output(handle)).unwrap().contains("<connection-timeout"));
}

/// A dead connection would keep its name for ever.
#[test]
fn a_silent_component_gets_whitespace() {
    let mut scene = scene();
    let bot = connected(&mut scene);
    scene.wait(Duration::from_secs(121));
    assert_eq!(scene.xmpp.output(bot.handle), b" ");
    assert!(scene.xmpp.closed(bot.handle).is_none());
}

/// The domain of a component is not for other servers, whatever they prove.
#[test]
fn a_component_whose_site_ends_federation_is_refused() {
    let mut scene = scene();
    let mut bot = connected(&mut scene);
    let message = "<message from='helper@bot.example' to='anna@forum' id='m1'><body>Hi</body></message>";
    scene.set(SITE, "federation.except", "[\"bot.example\"]");
    bot.send(&mut scene, message);
    bot.read(&mut scene);
    let error = bot.take();
    let condition = error.root().first().unwrap().first().unwrap().name().to_owned();
    assert_eq!((error.root().attr("type"), &*condition), (Some("error"), "remote-server-not-found"));
}

#[test]
fn a_component_that_floods_is_read_slowly() {
    let mut scene = scene();
    let mut bot = connected(&mut scene);
    let ping = "<iq type='get' from='bot.example' to='forum' id='p'><ping xmlns='urn:xmpp:ping'/></iq>";
    bot.send(&mut scene, &ping.repeat(800));
    bot.read(&mut scene);
    let first = bot.received.len();
    assert!((500..600).contains(&first), "{first}");
    scene.wait(Duration::from_secs(2));
    bot.read(&mut scene);
    assert_eq!(bot.received.len(), 800);
}

/// Anybody can make a user by one request. Without an answer, both end some day.
#[test]
fn a_request_without_an_answer_ends() {
    let mut scene = scene();
    let mut bot = connected(&mut scene);
    let mut anna = XmppClient::sign_in(&mut scene, "anna", "phone");
    anna.send(&mut scene, "<presence/>");
    for name in ["helper", "spammer"] {
        bot.send(
            &mut scene,
            &format!("<presence type='subscribe' from='{name}@bot.example' to='anna@forum'/>"),
        );
    }
    anna.send(&mut scene, "<presence type='subscribed' to='helper@bot.example'/>");
    scene.wait(Duration::from_secs(1));
    assert_eq!(scene.remote_users(), 2);
    scene.skip(chat::UNANSWERED_MS - 60_000);
    scene.wait(Duration::from_secs(1));
    assert_eq!(scene.remote_users(), 2);
    scene.skip(3_600_000);
    scene.wait(Duration::from_secs(1));
    assert_eq!(scene.remote_users(), 1, "anna has let the other one in");
    assert_eq!(scene.acts(), [("erase".to_owned(), None)], "the node has done it");

    // It may ask again, as somebody new.
    bot.send(&mut scene, "<presence type='subscribe' from='spammer@bot.example' to='anna@forum'/>");
    scene.wait(Duration::from_secs(1));
    assert_eq!(scene.remote_users(), 2);
}
