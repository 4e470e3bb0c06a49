//! A member in an XMPP app: a stream over TCP, without TLS.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use edge::Handle;
use xmpp_proto::xml::{Item, Limits, Reader, Tree};

use super::{SITE, Scene};

pub(crate) struct XmppClient {
    pub(crate) handle: Handle,
    reader: Reader,
    input: Vec<u8>,
    pub(crate) received: Vec<Tree>,
    /// The server has closed the stream.
    pub(crate) is_over: bool,
    pub(crate) user: String,
}

impl XmppClient {
    /// A connection with an open stream; the features have been read.
    pub(crate) fn open(scene: &mut Scene) -> XmppClient {
        let handle = scene.xmpp.connect();
        let mut client = XmppClient {
            handle,
            reader: Reader::new(),
            input: Vec::new(),
            received: Vec::new(),
            is_over: false,
            user: String::new(),
        };
        client.open_stream(scene);
        client
    }

    pub(crate) fn open_stream(&mut self, scene: &mut Scene) {
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
        let mut client = XmppClient::authenticated(scene, user);
        client.bind(scene, resource);
        assert_eq!(client.take().root().attr("type"), Some("result"));
        client
    }

    /// A new stream that continues an earlier one of the user.
    pub(crate) fn resume(scene: &mut Scene, user: &str, previd: &str, h: &str) -> XmppClient {
        let mut client = XmppClient::authenticated(scene, user);
        client.send(scene, &format!("<resume xmlns='urn:xmpp:sm:3' previd='{previd}' h='{h}'/>"));
        client
    }

    fn authenticated(scene: &mut Scene, user: &str) -> XmppClient {
        let mut client = XmppClient::open(scene);
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

    pub(crate) fn send(&mut self, scene: &mut Scene, xml: &str) {
        scene.xmpp.feed(self.handle, xml.as_bytes());
        scene.settle();
    }

    pub(crate) fn disconnect(&mut self, scene: &mut Scene) {
        scene.xmpp.reset(self.handle);
        scene.settle();
    }

    pub(crate) fn read(&mut self, scene: &mut Scene) {
        self.input.extend(scene.xmpp.output(self.handle));
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
