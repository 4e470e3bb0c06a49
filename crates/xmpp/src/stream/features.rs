//! The features that a stream offers at each step (RFC 6120 §4.3.2).

use xmpp_proto::ns;
use xmpp_proto::payload::{csi, stream_management as management};
use xmpp_proto::sasl::{self, Mechanism};
use xmpp_proto::xml::Open;

use crate::config::ListenerRole;

pub(super) struct Features {
    starttls: Option<Need>,
    mechanisms: &'static [Mechanism],
    is_authenticated: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

pub(super) const MECHANISMS: &[Mechanism] =
    &[Mechanism::ScramSha256, Mechanism::ScramSha1, Mechanism::Plain, Mechanism::Anonymous];

pub(super) const AFTER_SASL: Features = Features { starttls: None, mechanisms: &[], is_authenticated: true };

/// Without TLS, a listener offers only STARTTLS, unless the operator allows more.
pub(super) fn before_sasl(tls: bool, role: &ListenerRole) -> Features {
    let starttls = (!tls && role.tls.is_some()).then_some(if role.allows_plain {
        Need::Optional
    } else {
        Need::Required
    });
    let mechanisms = if offers_sasl(tls, role) { MECHANISMS } else { &[] };
    Features { starttls, mechanisms, is_authenticated: false }
}

pub(super) fn offers_sasl(tls: bool, role: &ListenerRole) -> bool {
    tls || role.allows_plain
}

impl Features {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        Open::new(out, "stream:features").children(|out| {
            if let Some(need) = self.starttls {
                Open::new(out, "starttls").attr("xmlns", ns::TLS).children(|out| {
                    if need == Need::Required {
                        Open::new(out, "required").empty();
                    }
                });
            }
            if !self.mechanisms.is_empty() {
                sasl::write_mechanisms(out, self.mechanisms);
            }
            if self.is_authenticated {
                Open::new(out, "bind").attr("xmlns", ns::BIND).empty();
                // RFC 3921 §3: older clients ask for a session only if it is offered.
                Open::new(out, "session").attr("xmlns", ns::SESSION).children(|out| {
                    Open::new(out, "optional").empty();
                });
                management::write_feature(out);
                csi::write_feature(out);
            }
        });
    }
}
