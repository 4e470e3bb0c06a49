//! A member in an XMPP app: a stream over TCP without TLS, over WebSocket, or over BOSH.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use edge::Handle;
use edge::testing::TlsEnd;
use ring::{digest, hmac};
use xmpp_proto::xml::{Item, Limits, Reader, Tree, document};

use super::http::At;
use super::scram;
use super::web_client::{frame_length, text_frame};
use super::{FOR_COMPONENTS, OTHER, SITE, Scene};

const SASL: &str = "urn:ietf:params:xml:ns:xmpp-sasl";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Over {
    Tcp,
    WebSocket,
    Bosh,
}

pub(crate) struct XmppClient {
    pub(crate) handle: Handle,
    reader: Reader,
    input: Vec<u8>,
    pub(crate) received: Vec<Tree>,
    /// The server has closed the stream.
    pub(crate) is_over: bool,
    pub(crate) user: String,
    /// The domain.
    site: &'static str,
    over: Over,
    /// The namespace of its stanzas.
    pub(crate) namespace: &'static str,
    /// The id of its stream.
    stream: String,
    /// After STARTTLS.
    tls: Option<Box<TlsEnd>>,
    pub(crate) bosh: BoshClient,
    /// The code of the server's close frame.
    pub(crate) close_code: Option<u16>,
    /// Pongs of the server.
    pub(crate) pongs: Vec<Vec<u8>>,
}

impl XmppClient {
    /// A connection with an open stream; the features have been read.
    pub(crate) fn open(scene: &mut Scene) -> XmppClient {
        XmppClient::open_over(scene, Over::Tcp)
    }

    pub(crate) fn open_over(scene: &mut Scene, over: Over) -> XmppClient {
        let mut client = XmppClient::connect(scene, over, "");
        client.open_stream(scene);
        client
    }

    /// A connection without a stream. `fields`: further header fields of the handshake.
    pub(crate) fn connect(scene: &mut Scene, over: Over, fields: &str) -> XmppClient {
        let handle = match over {
            Over::Tcp => scene.xmpp.connect(),
            Over::WebSocket => {
                let at = scene.connect_to_web();
                let At::Xmpp(handle) = scene.feed_http(at, upgrade(fields).as_bytes()) else {
                    panic!("the web has kept the connection")
                };
                let answer = String::from_utf8(scene.xmpp.output(handle)).unwrap();
                assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
                handle
            }
            // Each request has a connection of its own.
            Over::Bosh => Handle::from_bits(0),
        };
        XmppClient {
            handle,
            reader: Reader::new(),
            input: Vec::new(),
            received: Vec::new(),
            is_over: false,
            user: String::new(),
            site: SITE,
            over,
            namespace: "jabber:client",
            stream: String::new(),
            tls: None,
            bosh: BoshClient::new(),
            close_code: None,
            pongs: Vec::new(),
        }
    }

    pub(crate) fn open_stream(&mut self, scene: &mut Scene) {
        let site = self.site;
        if self.over == Over::WebSocket {
            let open =
                format!("<open xmlns='urn:ietf:params:xml:ns:xmpp-framing' to='{site}' version='1.0'/>");
            self.send(scene, &open);
            return self.read(scene);
        }
        if self.over == Over::Bosh {
            let attributes = match self.bosh.sid.is_empty() {
                true => format!("to='{site}' wait='60' hold='1' ver='1.6' xmpp:version='1.0' ack='1'"),
                false => format!("to='{site}' xmpp:restart='true'"),
            };
            self.bosh.post(scene, &attributes, "");
            return self.read(scene);
        }
        self.reader.restart();
        self.send(
            scene,
            &format!(
                "<?xml version='1.0'?><stream:stream to='{site}' version='1.0' xmlns='jabber:client' \
                 xmlns:stream='http://etherx.jabber.org/streams'>"
            ),
        );
        self.read(scene);
    }

    /// A component (XEP-0114) that has sent its proof. The answer is still to be read.
    pub(crate) fn component(scene: &mut Scene, host: &str, secret: &str) -> XmppClient {
        let mut client = XmppClient::connect(scene, Over::Tcp, "");
        client.handle = scene.xmpp.connect_silent(FOR_COMPONENTS);
        client.namespace = "jabber:component:accept";
        client.send(
            scene,
            &format!(
                "<stream:stream to='{host}' xmlns='jabber:component:accept' \
                 xmlns:stream='http://etherx.jabber.org/streams'>"
            ),
        );
        client.read(scene);
        if !client.is_over {
            let proof = xmpp_proto::payload::components::proof(&client.stream, secret);
            client.send(scene, &format!("<handshake>{proof}</handshake>"));
            client.read(scene);
        }
        client
    }

    /// Signs in with a token of the site, and binds the resource.
    pub(crate) fn sign_in(scene: &mut Scene, user: &str, resource: &str) -> XmppClient {
        XmppClient::sign_in_over(scene, Over::Tcp, user, resource)
    }

    /// Signs in at the other site.
    pub(crate) fn sign_in_elsewhere(scene: &mut Scene, user: &str, resource: &str) -> XmppClient {
        let mut client = XmppClient::connect(scene, Over::Tcp, "");
        client.site = OTHER;
        client.open_stream(scene);
        client.user = user.to_owned();
        let token = scene.token(user);
        client.authenticate_plain(scene, user, &token);
        assert_eq!(client.take().root().name(), "success");
        client.open_stream(scene);
        client.received.clear();
        client.bind(scene, resource);
        assert_eq!(client.take().root().attr("type"), Some("result"));
        client
    }

    pub(crate) fn sign_in_over(scene: &mut Scene, over: Over, user: &str, resource: &str) -> XmppClient {
        let mut client = XmppClient::authenticated(scene, over, user);
        client.bind(scene, resource);
        assert_eq!(client.take().root().attr("type"), Some("result"));
        client
    }

    /// A new stream that continues this one.
    pub(crate) fn resume(&self, scene: &mut Scene, previd: &str, h: &str) -> XmppClient {
        let mut client = XmppClient::authenticated(scene, self.over, &self.user);
        client.send(scene, &format!("<resume xmlns='urn:xmpp:sm:3' previd='{previd}' h='{h}'/>"));
        client
    }

    fn authenticated(scene: &mut Scene, over: Over, user: &str) -> XmppClient {
        let mut client = XmppClient::open_over(scene, over);
        client.user = user.to_owned();
        let token = scene.token(user);
        client.authenticate_plain(scene, user, &token);
        assert_eq!(client.take().root().name(), "success");
        client.open_stream(scene);
        client.received.clear();
        client
    }

    pub(crate) fn authenticate_plain(&mut self, scene: &mut Scene, user: &str, password: &str) {
        self.received.clear();
        let message = STANDARD.encode(format!("\0{user}\0{password}"));
        self.send(
            scene,
            &format!("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{message}</auth>"),
        );
        self.read(scene);
    }

    /// A connection with TLS, and the features of its stream.
    pub(crate) fn open_with_tls(scene: &mut Scene) -> XmppClient {
        let mut client = XmppClient::open(scene);
        client.received.clear();
        client.send(scene, "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>");
        client.read(scene);
        assert_eq!(client.take().root().name(), "proceed");
        let mut tls = scene.certificate.client();
        tls.receive(&mut []).unwrap();
        while tls.is_handshaking() {
            scene.xmpp.feed(client.handle, &tls.unsent());
            tls.receive(&mut scene.xmpp.output(client.handle)).unwrap();
        }
        scene.xmpp.feed(client.handle, &tls.unsent());
        client.tls = Some(Box::new(tls));
        client.open_stream(scene);
        client
    }

    /// Signs in with an app password by SCRAM-SHA-256-PLUS, and binds the resource.
    pub(crate) fn sign_in_with_tls(
        scene: &mut Scene,
        user: &str,
        resource: &str,
        password: &str,
    ) -> XmppClient {
        let mut client = XmppClient::open_with_tls(scene);
        client.user = user.to_owned();
        let data = digest::digest(&digest::SHA256, &scene.certificate.der);
        client.authenticate_plus(scene, "p=tls-server-end-point,,", password, data.as_ref());
        assert_eq!(client.take().root().name(), "success");
        client.open_stream(scene);
        client.received.clear();
        client.bind(scene, resource);
        assert_eq!(client.take().root().attr("type"), Some("result"));
        client
    }

    /// Authenticates, and binds a resource, in one step (XEP-0388, XEP-0386). `inline`: the other requests.
    pub(crate) fn authenticate2(scene: &mut Scene, over: Over, user: &str, inline: &str) -> XmppClient {
        let token = scene.token(user);
        XmppClient::authenticate2_by(scene, over, user, &token, inline)
    }

    /// The same with this password.
    pub(crate) fn authenticate2_by(
        scene: &mut Scene,
        over: Over,
        user: &str,
        password: &str,
        inline: &str,
    ) -> XmppClient {
        let mut client = XmppClient::open_over(scene, over);
        client.authenticate2_with(scene, user, password, inline);
        client
    }

    pub(crate) fn authenticate2_with(&mut self, scene: &mut Scene, user: &str, password: &str, inline: &str) {
        let message = format!("\0{user}\0{password}");
        self.send_authenticate2(scene, user, "PLAIN", message.as_bytes(), inline);
    }

    /// The same with a token (XEP-0484), without channel binding.
    pub(crate) fn authenticate_by_token(
        scene: &mut Scene,
        user: &str,
        token: &str,
        inline: &str,
    ) -> XmppClient {
        let mut client = XmppClient::open(scene);
        client.prove_token(scene, user, "HT-SHA-256-NONE", token, b"", inline);
        client
    }

    /// Sends the proof of a token, for this data of the channel.
    pub(crate) fn prove_token(
        &mut self,
        scene: &mut Scene,
        user: &str,
        mechanism: &str,
        token: &str,
        data: &[u8],
        inline: &str,
    ) {
        let key = hmac::Key::new(hmac::HMAC_SHA256, token.as_bytes());
        let proof = hmac::sign(&key, &[b"Initiator", data].concat());
        let message = [user.as_bytes(), b"\0", proof.as_ref()].concat();
        self.send_authenticate2(scene, user, mechanism, &message, inline);
    }

    fn send_authenticate2(
        &mut self,
        scene: &mut Scene,
        user: &str,
        mechanism: &str,
        message: &[u8],
        inline: &str,
    ) {
        self.received.clear();
        self.user = user.to_owned();
        let message = STANDARD.encode(message);
        let agent = match inline.contains("<user-agent") {
            true => "",
            false => {
                "<user-agent id='d4565fa7-4d72-4749-b3d3-740edbf87770'><software>App</software></user-agent>"
            }
        };
        self.send(
            scene,
            &format!(
                "<authenticate xmlns='urn:xmpp:sasl:2' mechanism='{mechanism}'>\
                 <initial-response>{message}</initial-response>{agent}{inline}</authenticate>"
            ),
        );
        self.read(scene);
    }

    /// With this GS2 header, and this data of the channel.
    pub(crate) fn authenticate_plus(&mut self, scene: &mut Scene, header: &str, password: &str, data: &[u8]) {
        self.received.clear();
        let bare = format!("n={},r=fyko+d2lbbFgONRv9qkxdawL", self.user);
        let mechanism = if header.starts_with('p') { "SCRAM-SHA-256-PLUS" } else { "SCRAM-SHA-256" };
        let first = STANDARD.encode(format!("{header}{bare}"));
        self.send(scene, &format!("<auth xmlns='{SASL}' mechanism='{mechanism}'>{first}</auth>"));
        self.read(scene);
        if self.received.first().is_none_or(|answer| answer.root().name() != "challenge") {
            return;
        }
        let server_first = STANDARD.decode(&*self.take().root().text()).unwrap();
        let server_first = String::from_utf8(server_first).unwrap();
        let last = scram::client_final(header, &bare, &server_first, password, data);
        self.send(scene, &format!("<response xmlns='{SASL}'>{}</response>", STANDARD.encode(last)));
        self.read(scene);
    }

    pub(crate) fn authenticate_anonymously(&mut self, scene: &mut Scene) {
        self.received.clear();
        self.send(scene, "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='ANONYMOUS'/>");
        self.read(scene);
    }

    pub(crate) fn bind(&mut self, scene: &mut Scene, resource: &str) {
        self.send(
            scene,
            &format!(
                "<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
                 <resource>{resource}</resource></bind></iq>"
            ),
        );
        self.read(scene);
    }

    /// Sends XML. Over WebSocket it is one element; stanzas of scripts get the namespace that they need there.
    pub(crate) fn send(&mut self, scene: &mut Scene, xml: &str) {
        match self.over {
            Over::Bosh => {
                self.bosh.post(scene, "", &with_namespace(xml));
                self.read(scene);
            }
            Over::Tcp => {
                let sealed = self.tls.as_mut().map(|tls| tls.seal(xml.as_bytes()).unwrap());
                scene.xmpp.feed(self.handle, sealed.as_deref().unwrap_or(xml.as_bytes()));
            }
            Over::WebSocket => {
                let xml = with_namespace(xml);
                scene.xmpp.feed(self.handle, &text_frame(&xml));
            }
        }
        scene.settle();
    }

    pub(crate) fn send_bytes(&mut self, scene: &mut Scene, bytes: &[u8]) {
        scene.xmpp.feed(self.handle, bytes);
        scene.settle();
    }

    pub(crate) fn disconnect(&mut self, scene: &mut Scene) {
        if self.over == Over::Bosh {
            return self.bosh.go_away(scene);
        }
        scene.xmpp.reset(self.handle);
        scene.settle();
    }

    pub(crate) fn read(&mut self, scene: &mut Scene) {
        if self.over == Over::Bosh {
            self.is_over |= self.bosh.read(scene, &mut self.received);
            return;
        }
        let mut output = scene.xmpp.output(self.handle);
        if let Some(tls) = &mut self.tls {
            output = tls.receive(&mut output).unwrap();
        }
        self.input.extend(output);
        if self.over == Over::WebSocket {
            return self.read_frames();
        }
        loop {
            let (used, item) = self.reader.read(&self.input, &Limits::default()).unwrap();
            self.input.drain(..used);
            match item {
                Some(Item::Stanza(tree)) => self.received.push(tree),
                Some(Item::Header(header)) => self.stream = header.id.unwrap_or_default().into(),
                Some(Item::End) => self.is_over = true,
                None => return,
            }
        }
    }

    fn read_frames(&mut self) {
        while let Some((header, length)) =
            frame_length(&self.input).filter(|(h, l)| self.input.len() >= h + l)
        {
            let payload = self.input[header..header + length].to_vec();
            match self.input[0] & 0x0f {
                1 => {
                    // RFC 7395 §3.3: one element, which declares its namespaces.
                    let tree = document(&payload, &Limits::default()).unwrap();
                    match (tree.root().name(), tree.root().ns()) {
                        ("close", "urn:ietf:params:xml:ns:xmpp-framing") => self.is_over = true,
                        ("open", "urn:ietf:params:xml:ns:xmpp-framing") => {}
                        _ => self.received.push(tree),
                    }
                }
                8 => self.close_code = Some(u16::from_be_bytes([payload[0], payload[1]])),
                10 => self.pongs.push(payload),
                opcode => panic!("an unexpected frame: {opcode}"),
            }
            self.input.drain(..header + length);
        }
    }

    /// The oldest element that was received.
    pub(crate) fn take(&mut self) -> Tree {
        assert!(!self.received.is_empty(), "nothing was received");
        self.received.remove(0)
    }
}

impl XmppClient {
    /// Expects a header of the server, for tests that send their own.
    pub(crate) fn open_raw(&mut self) {
        self.reader.restart();
        self.received.clear();
        self.is_over = false;
    }
}

/// The handshake of RFC 7395 §3.1.
pub(crate) fn upgrade(fields: &str) -> String {
    format!(
        "GET /xmpp-websocket HTTP/1.1\r\nHost: chat.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: xmpp\r\n{fields}\r\n"
    )
}

fn with_namespace(xml: &str) -> String {
    let end = xml.find([' ', '/', '>']).unwrap_or(xml.len());
    match &xml[..end] {
        "<iq" | "<message" | "<presence" if !xml.contains("xmlns='jabber:client'") => {
            format!("{} xmlns='jabber:client'{}", &xml[..end], &xml[end..])
        }
        _ => xml.to_owned(),
    }
}

/// The requests of a client of BOSH, which always keeps one of them waiting.
pub(crate) struct BoshClient {
    pub(crate) sid: String,
    pub(crate) rid: u64,
    /// Connections whose request is not answered.
    pending: Vec<At>,
    /// The condition of the last answer.
    pub(crate) condition: Option<String>,
}

impl BoshClient {
    fn new() -> BoshClient {
        BoshClient { sid: String::new(), rid: 1_573_741_820, pending: Vec::new(), condition: None }
    }

    /// Sends a request with the next number.
    pub(crate) fn post(&mut self, scene: &mut Scene, attributes: &str, elements: &str) {
        self.rid += 1;
        let at = self.post_as(scene, self.rid, attributes, elements);
        self.pending.push(at);
    }

    /// Sends a request with this number. Its answer can be read from the connection.
    pub(crate) fn post_as(&self, scene: &mut Scene, rid: u64, attributes: &str, elements: &str) -> At {
        let sid = if self.sid.is_empty() { String::new() } else { format!(" sid='{}'", self.sid) };
        let body = format!(
            "<body xmlns='http://jabber.org/protocol/httpbind' xmlns:xmpp='urn:xmpp:xbosh' rid='{rid}'{sid} {attributes}>\
             {elements}</body>"
        );
        let at = scene.connect_to_web();
        scene.feed_http(at, bosh_post(&body).as_bytes())
    }

    /// Reads answers, and polls. True: the session is over.
    fn read(&mut self, scene: &mut Scene, received: &mut Vec<Tree>) -> bool {
        loop {
            let mut unanswered = Vec::new();
            for at in std::mem::take(&mut self.pending) {
                let output = String::from_utf8(scene.http_output(at)).unwrap();
                if output.is_empty() {
                    unanswered.push(at);
                    continue;
                }
                let body = bosh_answer(&output);
                let root = body.root();
                if let Some(sid) = root.attr("sid") {
                    self.sid = sid.to_owned();
                }
                for element in root.children() {
                    let mut xml = Vec::new();
                    element.write(&mut xml, "");
                    received.push(document(&xml, &Limits::default()).unwrap());
                }
                if root.attr("type") == Some("terminate") {
                    self.condition = root.attr("condition").map(Into::into);
                    return true;
                }
            }
            self.pending = unanswered;
            if !self.pending.is_empty() {
                return false;
            }
            self.post(scene, "", "");
        }
    }

    /// The client is gone, and all its connections.
    fn go_away(&mut self, scene: &mut Scene) {
        for at in std::mem::take(&mut self.pending) {
            if let At::Xmpp(handle) = at {
                scene.xmpp.reset(handle);
            }
        }
        scene.settle();
    }
}

pub(crate) fn bosh_post(body: &str) -> String {
    let length = body.len();
    format!("POST /http-bind HTTP/1.1\r\nHost: chat.example\r\nContent-Length: {length}\r\n\r\n{body}")
}

/// The body of an answer of BOSH.
pub(crate) fn bosh_answer(output: &str) -> Tree {
    let (head, body) = output.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("access-control-allow-origin: *"), "{output}");
    document(body.as_bytes(), &Limits::default()).unwrap()
}
