//! Both sides of the negotiation against each other, and against wrong peers. Bytes are carried by hand.

use xmpp_proto::payload::dialback::{self, Verdict};
use xmpp_proto::stream::{StreamCondition, StreamError};
use xmpp_proto::xml::{Item, Limits, Reader, Tree};

use super::initiator::{self, Credentials, Initiator, Pair, Purpose};
use super::responder::{self, Responder, World};

const A: &str = "a.example";
const B: &str = "b.example";
const OUR_SECRET: [u8; 32] = [1; 32];

fn pair(local: &str, remote: &str) -> Pair {
    Pair { local: local.into(), remote: remote.into() }
}

/// The server of B, which talks with A.
struct Bs {
    /// The domain of A's certificate, if it has one.
    certificate: Option<&'static str>,
    talks: bool,
    secret: [u8; 32],
}

impl Default for Bs {
    fn default() -> Bs {
        Bs { certificate: None, talks: true, secret: [2; 32] }
    }
}

impl World for Bs {
    fn talks(&self, pair: &Pair) -> bool {
        self.talks && &*pair.local == B
    }

    fn is_local(&self, domain: &str) -> bool {
        domain == B
    }

    fn proves(&self, domain: &str) -> bool {
        self.certificate == Some(domain)
    }

    fn secret(&self) -> &[u8; 32] {
        &self.secret
    }
}

/// One stream from A to B.
struct Stream {
    initiator: Initiator,
    responder: Responder,
    to_responder: Reader,
    to_initiator: Reader,
    /// What the responder wants of its driver, besides bytes.
    asked: Vec<responder::Act>,
    verified: Option<bool>,
    streams: u32,
    tls: bool,
}

impl Stream {
    fn new(purpose: Purpose) -> Stream {
        Stream {
            initiator: Initiator::new(pair(A, B), purpose),
            responder: Responder::new(false),
            to_responder: Reader::new(),
            to_initiator: Reader::new(),
            asked: Vec::new(),
            verified: None,
            streams: 0,
            tls: false,
        }
    }

    /// Runs until nothing moves.
    fn run(&mut self, world: &Bs, has_certificate: bool) -> Result<(), StreamError> {
        let acts = self.initiator.connected(false);
        self.carry(acts, world, has_certificate)
    }

    fn carry(
        &mut self,
        acts: Vec<initiator::Act>,
        world: &Bs,
        has_certificate: bool,
    ) -> Result<(), StreamError> {
        for act in acts {
            match act {
                initiator::Act::Send(bytes) => {
                    let back = self.feed_b(&bytes, world)?;
                    self.feed_a(&back, world, has_certificate)?;
                }
                initiator::Act::StartTls => {
                    assert!(std::mem::replace(&mut self.tls, true) || self.streams == 1);
                    let acts = self.initiator.connected(true);
                    self.carry(acts, world, has_certificate)?;
                }
                initiator::Act::Restart => self.to_initiator.restart(),
                initiator::Act::Ready | initiator::Act::Stanza => {}
                initiator::Act::Verified(is_right) => self.verified = Some(is_right),
            }
        }
        Ok(())
    }

    /// The responder's answer to these bytes.
    fn feed_b(&mut self, mut bytes: &[u8], world: &Bs) -> Result<Vec<u8>, StreamError> {
        let mut out = Vec::new();
        while let (used, Some(item)) = self.to_responder.read(bytes, &Limits::default())? {
            bytes = &bytes[used..];
            match item {
                Item::Header(header) => {
                    self.streams += 1;
                    let id = format!("stream-{}", self.streams).into();
                    self.responder.opened(&header, id, 1000, world, &mut out)?;
                }
                Item::Stanza(tree) => {
                    for act in self.responder.element(tree.root(), bytes.is_empty(), world)? {
                        self.act(act, &mut out);
                    }
                }
                Item::End => {}
            }
        }
        Ok(out)
    }

    fn act(&mut self, act: responder::Act, out: &mut Vec<u8>) {
        match act {
            responder::Act::Send(bytes) => out.extend(bytes),
            responder::Act::StartTls => {
                self.responder.tls_is_on();
                self.to_responder.restart();
            }
            responder::Act::Restart => self.to_responder.restart(),
            other => self.asked.push(other),
        }
    }

    fn feed_a(&mut self, mut bytes: &[u8], world: &Bs, has_certificate: bool) -> Result<(), StreamError> {
        while let (used, Some(item)) = self.to_initiator.read(bytes, &Limits::default())? {
            bytes = &bytes[used..];
            match item {
                Item::Header(header) => self.initiator.opened(&header)?,
                Item::Stanza(tree) => {
                    let credentials = Credentials { has_certificate, secret: &OUR_SECRET };
                    let acts = self.initiator.element(tree.root(), &credentials)?;
                    self.carry(acts, world, has_certificate)?;
                }
                Item::End => {}
            }
        }
        Ok(())
    }

    /// Sends a stanza after the negotiation.
    fn stanza(&mut self, xml: &str, world: &Bs) -> Result<Vec<responder::Act>, StreamError> {
        self.feed_b(xml.as_bytes(), world)?;
        Ok(std::mem::take(&mut self.asked))
    }
}

fn message(from: &str, to: &str) -> String {
    format!("<message from='{from}' to='{to}'><body>hi</body></message>")
}

#[test]
fn a_certificate_proves_a_domain() {
    let world = Bs { certificate: Some(A), ..Bs::default() };
    let mut stream = Stream::new(Purpose::Stanzas);
    stream.run(&world, true).unwrap();
    assert!(stream.initiator.is_ready() && stream.responder.is_proved());
    assert_eq!(stream.streams, 3, "plain, TLS, authenticated");
    let acts = stream.stanza(&message("romeo@a.example/x", "juliet@b.example"), &world).unwrap();
    assert_eq!(acts, [responder::Act::Stanza(pair(B, A))]);
}

#[test]
fn a_key_proves_a_domain_once_its_server_has_confirmed_it() {
    let world = Bs::default();
    for (verdict, is_ready) in [(Verdict::Valid, true), (Verdict::Invalid, false), (Verdict::Error, false)] {
        let mut stream = Stream::new(Purpose::Stanzas);
        stream.run(&world, true).unwrap();
        let [responder::Act::Check { pair: of, id, key }] = &stream.asked[..] else {
            panic!("{:?}", stream.asked)
        };
        assert_eq!(*of, pair(B, A));
        assert!(dialback::is_key(key, &OUR_SECRET, B, A, id));
        assert!(!stream.initiator.is_ready() && !stream.responder.is_proved());
        stream.asked.clear();
        let early = stream.stanza(&message("romeo@a.example", "juliet@b.example"), &world).unwrap_err();
        assert_eq!(early.condition, StreamCondition::NotAuthorized);

        let mut stream = Stream::new(Purpose::Stanzas);
        stream.run(&world, true).unwrap();
        let Some(responder::Act::Send(bytes)) = stream.responder.checked(&pair(B, A), verdict) else {
            panic!("an answer")
        };
        assert_eq!(stream.responder.checked(&pair(B, A), Verdict::Valid), None, "only once");
        let outcome = stream.feed_a(&bytes, &world, true);
        assert_eq!((outcome.is_ok(), stream.initiator.is_ready()), (is_ready, is_ready));
        assert_eq!(stream.responder.is_proved(), is_ready);
    }
}

#[test]
fn a_server_without_a_certificate_uses_a_key_although_external_is_offered() {
    let world = Bs { certificate: Some(A), ..Bs::default() };
    let mut stream = Stream::new(Purpose::Stanzas);
    stream.run(&world, false).unwrap();
    assert!(stream.initiator.is_ready() && stream.asked.is_empty(), "the certificate is proof enough");
}

/// B is asked whether a key of a stream from B to A is right.
#[test]
fn an_authoritative_server_knows_its_keys() {
    let world = Bs::default();
    let right = dialback::key(&world.secret, A, B, "theirs");
    for (key, id, expected) in [
        (&*right, "theirs", true),
        (&*right, "other", false),
        ("", "theirs", false),
        (&*dialback::key(&[3; 32], A, B, "theirs"), "theirs", false),
    ] {
        let mut stream = Stream::new(Purpose::Verify { id: id.into(), key: key.into() });
        stream.run(&world, true).unwrap();
        assert_eq!(stream.verified, Some(expected), "{key} {id}");
        assert!(!stream.responder.is_proved());
    }
    let mut stream = Stream::new(Purpose::Verify { id: "theirs".into(), key: right.into() });
    stream.run(&Bs { talks: false, ..Bs::default() }, true).unwrap();
    assert_eq!(stream.verified, Some(false), "the site does not talk with A any more");
}

#[test]
fn a_site_that_does_not_talk_with_a_domain_refuses_its_proof() {
    let world = Bs { certificate: Some(A), talks: false, ..Bs::default() };
    let mut stream = Stream::new(Purpose::Stanzas);
    let outcome = stream.run(&world, true).unwrap_err();
    assert_eq!(outcome.condition, StreamCondition::NotAuthorized);
    assert!(!stream.responder.is_proved() && stream.asked.is_empty());
}

#[test]
fn stanzas_have_addresses_of_the_proved_domains() {
    let world = Bs { certificate: Some(A), ..Bs::default() };
    let condition = |xml: &str| {
        let mut stream = Stream::new(Purpose::Stanzas);
        stream.run(&world, true).unwrap();
        stream.stanza(xml, &world).unwrap_err().condition
    };
    let forged = condition(&message("romeo@c.example", "juliet@b.example"));
    assert_eq!(forged, StreamCondition::InvalidFrom);
    let other_site = condition(&message("romeo@a.example", "juliet@c.example"));
    assert_eq!(other_site, StreamCondition::HostUnknown);
    for xml in
        ["<message to='x@b.example'/>", "<iq from='a.example'/>", "<presence from='@' to='b.example'/>"]
    {
        assert_eq!(condition(xml), StreamCondition::ImproperAddressing, "{xml}");
    }
    assert_eq!(condition("<other/>"), StreamCondition::UnsupportedStanzaType);
}

/// What a wrong peer gets. `steps`: headers and elements, each answered before the next.
fn end(tls: bool, steps: &[&str]) -> StreamCondition {
    let world = Bs::default();
    let mut stream = Stream::new(Purpose::Stanzas);
    stream.responder = Responder::new(tls);
    for step in steps {
        if let Err(error) = stream.feed_b(step.as_bytes(), &world) {
            return error.condition;
        }
    }
    panic!("the stream goes on")
}

const HEADER: &str = "<stream:stream xmlns='jabber:server' xmlns:stream='http://etherx.jabber.org/streams' \
                      xmlns:db='jabber:server:dialback' version='1.0' from='a.example' to='b.example'>";

#[test]
fn wrong_peers_are_refused() {
    let key = "<db:result from='a.example' to='b.example'>k</db:result>";
    assert_eq!(end(false, &[HEADER, key]), StreamCondition::PolicyViolation, "keys need TLS");
    let other = HEADER.replace("b.example", "c.example");
    assert_eq!(end(true, &[&other]), StreamCondition::HostUnknown);
    let client = HEADER.replace("'jabber:server'", "'jabber:client'");
    assert_eq!(end(true, &[&client]), StreamCondition::InvalidNamespace);
    let old = HEADER.replace(" version='1.0'", "");
    assert_eq!(end(true, &[&old]), StreamCondition::UnsupportedVersion);
    let tls = "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>";
    assert_eq!(end(true, &[HEADER, tls]), StreamCondition::NotAuthorized, "twice");
    let injected = format!("{tls}<presence/>");
    assert_eq!(end(false, &[HEADER, &injected]), StreamCondition::NotAuthorized);
    let auth = "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='EXTERNAL'>=</auth>";
    assert_eq!(end(true, &[HEADER, auth, auth, auth]), StreamCondition::PolicyViolation);
    assert_eq!(end(true, &[HEADER, key, key]), StreamCondition::PolicyViolation, "the same key twice");
    let no_domain = key.replace("a.example", "romeo@a.example");
    assert_eq!(end(true, &[HEADER, &no_domain]), StreamCondition::ImproperAddressing);
}

#[test]
fn the_domains_of_a_stream_do_not_change_with_tls() {
    let world = Bs::default();
    let mut stream = Stream::new(Purpose::Stanzas);
    stream.feed_b(HEADER.as_bytes(), &world).unwrap();
    stream.feed_b(b"<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>", &world).unwrap();
    let other = HEADER.replace("a.example", "c.example");
    let error = stream.feed_b(other.as_bytes(), &world).unwrap_err();
    assert_eq!(error.condition, StreamCondition::InvalidFrom);
}

/// The checks of keys that one stream causes are bounded.
#[test]
fn a_stream_asks_for_few_checks() {
    let world = Bs::default();
    let mut stream = Stream::new(Purpose::Stanzas);
    stream.responder = Responder::new(true);
    stream.feed_b(HEADER.as_bytes(), &world).unwrap();
    let mut checks = 0;
    let error = loop {
        let key = format!("<db:result from='a{checks}.example' to='b.example'>k</db:result>");
        match stream.feed_b(key.as_bytes(), &world) {
            Ok(_) => checks += 1,
            Err(error) => break error,
        }
    };
    assert_eq!((checks, error.condition), (4, StreamCondition::PolicyViolation));
}

#[test]
fn a_server_without_tls_gets_nothing() {
    let mut initiator = Initiator::new(pair(A, B), Purpose::Stanzas);
    initiator.connected(false);
    let tree = |xml: &str| -> Tree {
        let mut reader = Reader::new();
        reader.read(HEADER.as_bytes(), &Limits::default()).unwrap();
        match reader.read(xml.as_bytes(), &Limits::default()).unwrap() {
            (_, Some(Item::Stanza(tree))) => tree,
            _ => panic!("an element"),
        }
    };
    let mut reader = Reader::new();
    let (_, Some(Item::Header(header))) = reader.read(HEADER.as_bytes(), &Limits::default()).unwrap() else {
        panic!("a header")
    };
    initiator.opened(&header).unwrap();
    let features = tree("<stream:features><dialback xmlns='urn:xmpp:features:dialback'/></stream:features>");
    let credentials = Credentials { has_certificate: true, secret: &OUR_SECRET };
    let error = initiator.element(features.root(), &credentials).unwrap_err();
    assert_eq!(error.condition, StreamCondition::PolicyViolation);
    let early = tree("<db:result from='b.example' to='a.example' type='valid'/>");
    assert!(initiator.element(early.root(), &credentials).is_err() && !initiator.is_ready());
}

/// XEP-0288: one stream carries both directions, after the proof.
#[test]
fn a_stream_carries_our_stanzas_once_its_server_has_proved_its_domain() {
    let by_certificate = Bs { certificate: Some(A), ..Bs::default() };
    let mut stream = Stream::new(Purpose::Stanzas);
    stream.run(&by_certificate, true).unwrap();
    assert_eq!(stream.responder.carries(), [pair(B, A)]);

    let by_key = Bs::default();
    let mut stream = Stream::new(Purpose::Stanzas);
    stream.run(&by_key, true).unwrap();
    assert!(stream.responder.carries().is_empty(), "the key is not checked yet");
    stream.responder.checked(&pair(B, A), Verdict::Invalid);
    assert!(stream.responder.carries().is_empty());

    let mut verifying = Stream::new(Purpose::Verify { id: "x".into(), key: "y".into() });
    verifying.run(&by_certificate, true).unwrap();
    assert!(verifying.responder.carries().is_empty());
}

/// A server that has not asked for it gets nothing on its stream, and none can ask before TLS or after the proof.
#[test]
fn a_stream_carries_our_stanzas_only_on_request() {
    let world = Bs { certificate: Some(A), ..Bs::default() };
    let key = "<db:result from='a.example' to='b.example'>k</db:result>";
    let bidi = "<bidi xmlns='urn:xmpp:bidi'/>";
    let mut stream = Stream::new(Purpose::Stanzas);
    stream.responder = Responder::new(true);
    stream.feed_b(HEADER.as_bytes(), &world).unwrap();
    stream.feed_b(key.as_bytes(), &world).unwrap();
    assert!(stream.responder.is_proved() && stream.responder.carries().is_empty());
    let late = stream.feed_b(bidi.as_bytes(), &world).unwrap_err();
    assert_eq!(late.condition, StreamCondition::UnsupportedStanzaType);

    let mut plain = Stream::new(Purpose::Stanzas);
    plain.feed_b(HEADER.as_bytes(), &world).unwrap();
    let early = plain.feed_b(bidi.as_bytes(), &world).unwrap_err();
    assert_eq!(early.condition, StreamCondition::UnsupportedStanzaType);
}

/// The certificate of the other server has proved its domain alone.
#[test]
fn stanzas_on_our_own_stream_are_of_its_pair() {
    let world = Bs { certificate: Some(A), ..Bs::default() };
    for (xml, expected) in [
        (message("juliet@b.example", "romeo@a.example/x"), None),
        (message("juliet@c.example", "romeo@a.example"), Some(StreamCondition::InvalidFrom)),
        (message("romeo@a.example", "romeo@a.example"), Some(StreamCondition::InvalidFrom)),
        (message("juliet@b.example", "romeo@c.example"), Some(StreamCondition::HostUnknown)),
        (message("", "romeo@a.example"), Some(StreamCondition::ImproperAddressing)),
    ] {
        for bidi in [true, false] {
            let mut stream = Stream::new(Purpose::Stanzas);
            stream.initiator.bidi = bidi;
            stream.run(&world, true).unwrap();
            assert!(stream.initiator.is_ready() && stream.initiator.bidi);
            stream.initiator.bidi = bidi;
            let (_, Some(Item::Stanza(tree))) =
                stream.to_initiator.read(xml.as_bytes(), &Limits::default()).unwrap()
            else {
                panic!("a stanza")
            };
            let credentials = Credentials { has_certificate: true, secret: &OUR_SECRET };
            let acts = stream.initiator.element(tree.root(), &credentials).map_err(|error| error.condition);
            let expected = match expected {
                _ if !bidi => Ok(Vec::new()),
                Some(condition) => Err(condition),
                None => Ok(vec![initiator::Act::Stanza]),
            };
            assert_eq!(acts, expected, "{xml} {bidi}");
        }
    }
}
