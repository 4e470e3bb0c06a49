//! STARTTLS (RFC 6120 §5).

use xmpp_proto::ns;
use xmpp_proto::stream::{StreamCondition, StreamError};
use xmpp_proto::xml::Open;

use super::{Next, Opening, Phase};
use crate::Gateway;
use crate::transport::Io;

impl Gateway {
    /// RFC 6120 §5.4.2. Bytes behind the request were sent before `proceed`, perhaps by somebody else, so they end the stream.
    pub(super) fn start_tls(
        &mut self,
        opening: &mut Opening,
        is_last: bool,
        io: &mut Io<'_>,
    ) -> Result<Next, StreamError> {
        if !is_last || opening.is_secure || !matches!(opening.phase, Phase::Authenticating) {
            return Err(StreamError::new(StreamCondition::NotAuthorized));
        }
        let acceptor = self.shared.config.role(opening.listener).tls;
        let Some(acceptor) = acceptor else {
            self.send(io, |out| Open::new(out, "failure").attr("xmlns", ns::TLS).empty());
            return Err(StreamError::new(StreamCondition::PolicyViolation));
        };
        self.send(io, |out| Open::new(out, "proceed").attr("xmlns", ns::TLS).empty());
        if !io.start_tls(&acceptor) {
            return Err(StreamError::new(StreamCondition::ResourceConstraint));
        }
        opening.restart();
        Ok(Next::TlsHandshake)
    }
}
