//! A member in an XMPP app: a stream over TCP without TLS, or over WebSocket.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use edge::Handle;
use xmpp_proto::xml::{Item, Limits, Reader, Tree, document};

use super::http::At;
use super::web_client::{frame_length, text_frame};
use super::{SITE, Scene};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Over {
    Tcp,
    WebSocket,
}

pub(crate) struct XmppClient {
    pub(crate) handle: Handle,
    reader: Reader,
    input: Vec<u8>,
    pub(crate) received: Vec<Tree>,
    /// The server has closed the stream.
    pub(crate) is_over: bool,
    pub(crate) user: String,
    over: Over,
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
        };
        XmppClient {
            handle,
            reader: Reader::new(),
            input: Vec::new(),
            received: Vec::new(),
            is_over: false,
            user: String::new(),
            over,
            close_code: None,
            pongs: Vec::new(),
        }
    }

    pub(crate) fn open_stream(&mut self, scene: &mut Scene) {
        if self.over == Over::WebSocket {
            let open =
                format!("<open xmlns='urn:ietf:params:xml:ns:xmpp-framing' to='{SITE}' version='1.0'/>");
            self.send(scene, &open);
            return self.read(scene);
        }
        self.reader.restart();
        self.send(
            scene,
            &format!(
                "<?xml version='1.0'?><stream:stream to='{SITE}' version='1.0' xmlns='jabber:client' \
                 xmlns:stream='http://etherx.jabber.org/streams'>"
            ),
        );
        self.read(scene);
    }

    /// Signs in with a token of the site, and binds the resource.
    pub(crate) fn sign_in(scene: &mut Scene, user: &str, resource: &str) -> XmppClient {
        XmppClient::sign_in_over(scene, Over::Tcp, user, resource)
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
            Over::Tcp => scene.xmpp.feed(self.handle, xml.as_bytes()),
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
        scene.xmpp.reset(self.handle);
        scene.settle();
    }

    pub(crate) fn read(&mut self, scene: &mut Scene) {
        self.input.extend(scene.xmpp.output(self.handle));
        if self.over == Over::WebSocket {
            return self.read_frames();
        }
        loop {
            let (used, item) = self.reader.read(&self.input, &Limits::default()).unwrap();
            self.input.drain(..used);
            match item {
                Some(Item::Stanza(tree)) => self.received.push(tree),
                Some(Item::Header(_)) => {}
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
