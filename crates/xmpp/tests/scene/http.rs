//! Requests on the port of the web, which moves connections to the gateway that answers.

use edge::Handle;

use super::Scene;

/// A connection, at the gateway that has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum At {
    Web(Handle),
    Xmpp(Handle),
}

impl Scene {
    pub(crate) fn connect_to_web(&mut self) -> At {
        At::Web(self.web.connect())
    }

    /// Sends bytes, and moves the connection until its gateway answers. Returns the place of the connection.
    pub(crate) fn feed_http(&mut self, at: At, bytes: &[u8]) -> At {
        let mut at = at;
        match at {
            At::Web(handle) => self.web.feed(handle, bytes),
            At::Xmpp(handle) => self.xmpp.feed(handle, bytes),
        }
        loop {
            self.settle();
            if let Some(moving) = self.web.handed_over().pop() {
                at = At::Xmpp(self.xmpp.take_over(moving).unwrap());
            } else if let Some(moving) = self.xmpp.handed_over().pop() {
                at = At::Web(self.web.take_over(moving).unwrap());
            } else {
                return at;
            }
        }
    }

    pub(crate) fn http_output(&mut self, at: At) -> Vec<u8> {
        match at {
            At::Web(handle) => self.web.output(handle),
            At::Xmpp(handle) => self.xmpp.output(handle),
        }
    }

    /// One request on a connection of its own: the answer.
    pub(crate) fn http(&mut self, request: &str) -> String {
        let at = self.connect_to_web();
        let at = self.feed_http(at, request.as_bytes());
        String::from_utf8(self.http_output(at)).unwrap()
    }
}
