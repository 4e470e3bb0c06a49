//! Another XMPP server and a component talk with members through a front, which passes their bytes on to the home.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};

use crate::client::token;
use crate::cluster::{Cluster, PASSWORD, linked};
use crate::running::{PATIENCE, Running, Scratch, poll, text};
use crate::take_over::free_port;
use crate::upload_of_app::{App, between};

const SECRET: &str = "the-secret-of-the-bot";

/// An authority, and a certificate of it for each domain.
fn write_certificates(folder: &Path, domains: &[&str]) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    fs::write(folder.join("authority.pem"), authority.pem()).unwrap();
    for domain in domains {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![(*domain).to_owned()]).unwrap();
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = params.signed_by(&key, &authority).unwrap();
        fs::write(folder.join(format!("{domain}.pem")), certificate.pem()).unwrap();
        fs::write(folder.join(format!("{domain}.key")), key.serialize_pem()).unwrap();
    }
}

/// The settings of a node with the certificate of a domain, and with a listener for servers.
fn write_settings(path: &Path, certificates: &Path, domain: &str, xmpp: &str) -> String {
    let at = |name: &str| certificates.join(name);
    let lines = format!(
        "https = \"127.0.0.1:0\"\ntls_cert = {:?}\ntls_key = {:?}\n[log]\nlevel = \"info,xmpp=debug,kith=debug\"\n\
         [xmpp]\nweb = \"on\"\nallow_plain = true\ns2s_authority = {:?}\n{xmpp}\n",
        at(&format!("{domain}.pem")),
        at(&format!("{domain}.key")),
        at("authority.pem"),
    );
    fs::write(path, lines).unwrap();
    path.display().to_string()
}

/// Returns when the node has read the settings. The domain is the last one.
fn federates(scratch: &Scratch, node: &Running, domain: &str) {
    let data = scratch.data();
    scratch.say(&format!("site set demo federation.on=true --data {}", data.display()));
    scratch.say(&format!("site domain demo {domain} --data {}", data.display()));
    let ask = format!("GET /.well-known/host-meta HTTP/1.1\r\nHost: {domain}\r\nConnection: close\r\n\r\n");
    poll("the domain", || node.raw(ask.as_bytes()).starts_with("HTTP/1.1 200").then_some(()));
}

fn message(to: &str, id: &str, body: &str) -> String {
    format!("<message xmlns='jabber:client' type='chat' to='{to}' id='{id}'><body>{body}</body></message>")
}

/// A site of another server, and a cluster whose front alone can be reached by it.
struct TwoServers {
    cluster: Cluster,
    settings_of_home: String,
    settings_of_front: String,
    other: Scratch,
    b: Running,
}

impl TwoServers {
    /// With a home and a front. `by`: how the other server connects, as in `xmpp.s2s_hosts`.
    fn new(name: &str, by: &str) -> (TwoServers, Running, Running) {
        let cluster = Cluster::new(name);
        let folder = cluster.scratch.path();
        write_certificates(folder, &["a.example", "b.example"]);
        let front_port = free_port();
        // The home reaches nobody, so its answers take the stream of the other server (XEP-0288).
        let xmpp = "s2s_listen = \"127.0.0.1:0\"\ns2s_hosts = \"b.example=127.0.0.1:9\"";
        let settings_of_home = write_settings(&folder.join("home.toml"), folder, "a.example", xmpp);
        let settings_of_front = folder.join("front.toml");
        fs::write(&settings_of_front, format!("[xmpp]\ns2s_listen = \"127.0.0.1:{front_port}\"\n")).unwrap();
        let other = Scratch::new("streams-other-server");
        let xmpp =
            format!("s2s_listen = \"127.0.0.1:0\"\ns2s_hosts = \"a.example={by}127.0.0.1:{front_port}\"");
        let of_b = write_settings(&other.path().join("b.toml"), folder, "b.example", &xmpp);
        let b = Running::start(&other, "demo", &["--config", &of_b]);
        federates(&other, &b, "b.example");
        let settings_of_front = settings_of_front.display().to_string();
        let servers = TwoServers { cluster, settings_of_home, settings_of_front, other, b };
        let home = servers.home();
        federates(&servers.cluster.scratch, &home, "a.example");
        let front = servers.cluster.start_front("a", PASSWORD, &servers.more());
        linked(&front, true);
        (servers, home, front)
    }

    fn home(&self) -> Running {
        let mut flags = self.cluster.flags(PASSWORD);
        flags.extend(["--config".into(), self.settings_of_home.clone()]);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        Running::start(&self.cluster.scratch, "demo", &flags)
    }

    /// Flags of the front.
    fn more(&self) -> [&str; 2] {
        ["--config", &self.settings_of_front]
    }

    fn tom(&self) -> App {
        App::sign_in_at(&self.b, "b.example", "tom", &token(&self.other, "tom"))
    }
}

#[test]
fn another_server_talks_with_members_through_a_front_and_comes_back_after_the_home_died() {
    let (servers, mut home, mut front) = TwoServers::new("streams-servers", "");
    let TwoServers { cluster, b, .. } = &servers;
    let mut anna = cluster.enter(&front, "anna");
    let mut tom = servers.tom();
    let before = b.metric("kith_edge_open");
    // Until the other server knows of the end, it would write into the old stream, and nobody would get it.
    let is_over = || poll("the end of its stream", || (b.metric("kith_edge_open") <= before).then_some(()));
    tom.say(&message("anna@a.example", "m1", "through the front"));
    let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| anna.message("through the front")));
    let logs =
        || format!("the other server: {}\nthe front: {}\nthe home: {}", b.log(), front.log(), home.log());
    assert_eq!(seen.unwrap_or_else(|_| panic!("{}", logs()))["from"], "xmpp:tom@b.example");
    assert_eq!(front.metric("kith_cluster_streams"), 1.0);
    assert!(front.metric("kith_cluster_streams_bytes_total{to=\"home\"}") > 1_000.0);
    anna.sent("a1", "xmpp:tom@b.example", "and back");
    tom.ask("<presence xmlns='jabber:client'/>", "and back");

    // A new process takes the place of the front: the other server connects again.
    front = cluster.replace_front(&mut front, "a", &servers.more());
    is_over();
    tom.say(&message("anna@a.example", "m2", "through the new process"));
    anna.message("through the new process");
    assert_eq!(front.metric("kith_cluster_streams"), 1.0);

    home.signal("KILL");
    home.wait();
    poll("the end of the stream", || (front.metric("kith_cluster_streams") == 0.0).then_some(()));
    is_over();
    home = servers.home();
    linked(&front, true);
    tom.say(&message("anna@a.example", "m3", "after the home died"));
    let event = anna.expect("the message, or behind", |event| {
        event["t"] == "behind" || event["t"] == "message" && event["body"] == "after the home died"
    });
    if event["t"] == "behind" {
        poll("the message", || {
            let all = anna.history("xmpp:tom@b.example");
            all.iter().any(|message| message["body"] == "after the home died").then_some(())
        });
    }
    assert_eq!(front.metric("kith_cluster_streams_opened_total"), 2.0);
    assert_eq!(home.metric("kith_edge_panics_total"), 0.0);
}

/// XEP-0368: the front sees that its first byte begins TLS, and the home answers the hello.
#[test]
fn a_server_that_begins_with_tls_talks_with_members_through_a_front() {
    let (servers, home, front) = TwoServers::new("streams-tls", "tls:");
    let (mut anna, mut tom) = (servers.cluster.enter(&front, "anna"), servers.tom());
    tom.say(&message("anna@a.example", "m1", "with TLS from the first byte"));
    assert_eq!(anna.message("with TLS from the first byte")["from"], "xmpp:tom@b.example");
    anna.sent("a1", "xmpp:tom@b.example", "and back");
    tom.ask("<presence xmlns='jabber:client'/>", "and back");
    assert_eq!(front.metric("kith_cluster_streams"), 1.0);
    assert_eq!(home.metric("kith_edge_panics_total"), 0.0);
}

/// A component over TCP.
struct Bot {
    stream: TcpStream,
    received: String,
}

impl Bot {
    fn connect(port: u16) -> Bot {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut bot = Bot { stream, received: String::new() };
        bot.say(
            "<stream:stream xmlns='jabber:component:accept' xmlns:stream='http://etherx.jabber.org/streams' to='bot.example'>",
        );
        let header = bot.until("'>").expect("a header");
        let proof = xmpp_proto::payload::components::proof(between(&header, " id='", "'"), SECRET);
        bot.say(&format!("<handshake>{proof}</handshake>"));
        bot.until("<handshake/>").expect("the home takes the secret");
        bot
    }

    fn say(&mut self, xml: &str) {
        self.stream.write_all(xml.as_bytes()).unwrap();
    }

    /// Reads the stream up to these words. None: the connection has ended.
    fn until(&mut self, words: &str) -> Option<String> {
        loop {
            if let Some(at) = self.received.find(words) {
                let rest = self.received.split_off(at + words.len());
                return Some(std::mem::replace(&mut self.received, rest));
            }
            let mut bytes = [0; 4_096];
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(length) => self.received.push_str(&text(&bytes[..length])),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("no {words}: {error}"),
            }
        }
    }
}

#[test]
fn a_component_talks_with_members_through_a_front_and_nobody_else_gets_a_stream_at_the_home() {
    let cluster = Cluster::new("streams-components");
    let folder = cluster.scratch.path();
    let (settings, components) = (folder.join("home.toml"), folder.join("components"));
    fs::write(&components, format!("bot.example {SECRET}\n")).unwrap();
    fs::write(
        &settings,
        format!("[xmpp]\nweb = \"on\"\nallow_plain = true\ncomponent_listen = \"127.0.0.1:0\"\ncomponents = {components:?}\n"),
    )
    .unwrap();
    let mut flags = cluster.flags(PASSWORD);
    flags.extend(["--config".into(), settings.display().to_string()]);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let mut home = Running::start(&cluster.scratch, "demo", &flags);
    federates(&cluster.scratch, &home, "a.example");
    let (port, servers) = (free_port(), free_port());
    let of_front = folder.join("front.toml");
    fs::write(
        &of_front,
        format!(
            "[xmpp]\nweb = \"on\"\nallow_plain = true\ncomponent_listen = \"127.0.0.1:{port}\"\ns2s_listen = \"127.0.0.1:{servers}\"\n"
        ),
    )
    .unwrap();
    let front = cluster.start_front("a", PASSWORD, &["--config", of_front.to_str().unwrap()]);
    linked(&front, true);

    let mut anna = cluster.enter(&front, "anna");
    let mut bot = Bot::connect(port);
    bot.say("<message type='chat' from='helper@bot.example' to='anna@a.example' id='b1'><body>How can I help?</body></message>");
    assert_eq!(anna.message("How can I help?")["from"], "xmpp:helper@bot.example");
    anna.sent("a1", "xmpp:helper@bot.example", "not at all");
    bot.until("not at all").expect("her answer");

    // An app on the front writes first, to a user whom the home does not know yet.
    let mut app = App::sign_in_at(&front, "a.example", "anna", &token(&cluster.scratch, "anna"));
    app.say("<presence xmlns='jabber:client'/>");
    app.say(&message("weather@bot.example", "x1", "Will it rain?"));
    let question = bot.until("Will it rain?").expect("her question");
    assert!(question.contains("to='weather@bot.example'"), "{question}");
    bot.say("<message type='chat' from='weather@bot.example' to='anna@a.example' id='b2'><body>No</body></message>");
    app.ask("<presence xmlns='jabber:client'/>", "<body>No</body>");
    let ping =
        "<iq xmlns='jabber:client' type='get' id='p1' to='bot.example'><ping xmlns='urn:xmpp:ping'/></iq>";
    app.say(ping);
    bot.until("urn:xmpp:ping").expect("her ping of the component itself");
    // The home knows which domains are components.
    let refused = app.ask(&ping.replace("p1", "p2").replace("bot.example", "nobody.example"), "id='p2'");
    assert!(refused.contains("remote-server-not-found"), "{refused}");

    let services = "<iq xmlns='jabber:client' type='get' id='d1' to='a.example'><query xmlns='http://jabber.org/protocol/disco#items'/></iq>";
    let services = app.ask(services, "</iq>");
    assert!(services.contains("jid='rooms.a.example'"), "{services}");
    assert!(services.contains("jid='bot.example'"), "the home knows the components: {services}");

    // A message that is not delivered comes back to the app that has sent it, once, and to no other app of hers.
    let id = question.split_once(" id='").and_then(|(_, rest)| rest.split_once('\'')).expect("an id").0;
    let comes_back = |id: &str| {
        format!(
            "<message type='error' from='weather@bot.example' to='anna@a.example/kith' id='{id}'><error type='cancel'>\
             <gone xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>"
        )
    };
    let mut other_app = App::sign_in_at(&front, "a.example", "anna", &token(&cluster.scratch, "anna"));
    other_app.say("<presence xmlns='jabber:client'/>");
    bot.say(&comes_back("a message that she has not sent"));
    bot.say(&comes_back(id));
    bot.say(&comes_back(id));
    bot.say("<message type='chat' from='weather@bot.example' to='anna@a.example' id='b3'><body>Closed</body></message>");
    let errors = |app: &mut App| -> Vec<String> {
        app.until("<body>Closed</body>").into_iter().filter(|one| one.contains("type='error'")).collect()
    };
    let [returned] = &errors(&mut app)[..] else { panic!("one error") };
    assert!(returned.contains("from='weather@bot.example'") && returned.contains("id='x1'"), "{returned}");
    assert!(returned.contains("<gone "), "{returned}");
    assert_eq!(errors(&mut other_app), [] as [&str; 0]);

    // The home has no listener for servers, so a server gets nothing. The front says nothing of its own.
    let mut server = TcpStream::connect(("127.0.0.1", servers)).unwrap();
    server.set_read_timeout(Some(PATIENCE)).unwrap();
    server.write_all(b"<?xml version='1.0'?>").unwrap();
    let mut answer = Vec::new();
    let _ = server.read_to_end(&mut answer);
    assert_eq!(text(&answer), "");
    assert_eq!(front.metric("kith_cluster_streams_refused_total{why=\"home\"}"), 1.0);

    // A client on the web cannot begin a stream: not at the home, and not with the proof that a front adds to requests.
    for node in [&home, &front] {
        for path in ["/cluster/streams/components", "/cluster/streams/servers"] {
            let forged = format!(
                "GET {path} HTTP/1.1\r\nHost: x\r\nkith-cluster-stream: guessed\r\nkith-cluster-stream-client: 192.0.2.7\r\n\
                 kith-cluster-stream-tls: 0\r\nConnection: close\r\n\r\n"
            );
            let answer = node.raw(forged.as_bytes());
            assert!(answer.starts_with("HTTP/1.1 403"), "{path}: {answer}");
        }
        for path in ["/cluster/remote-user", "/cluster/components"] {
            let forged = format!(
                "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer guessed\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
            );
            let answer = node.raw(forged.as_bytes());
            assert!(answer.starts_with("HTTP/1.1 403"), "{path}: {answer}");
        }
    }

    home.signal("KILL");
    home.wait();
    assert!(bot.until("no such words").is_none(), "the stream ends with the home");
    drop(bot);
    poll("the end of the stream", || (front.metric("kith_cluster_streams") == 0.0).then_some(()));
}
