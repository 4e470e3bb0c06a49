//! The features that a stream offers at each step (RFC 6120 §4.3.2).

use xmpp_proto::ns;
use xmpp_proto::payload::caps::Caps;
use xmpp_proto::payload::fast::write_feature as write_tokens;
use xmpp_proto::payload::{bind2, csi, stream_limits, stream_management as management};
use xmpp_proto::sasl::{self, BindingKind, ChannelBinding, HtMechanism, Mechanism, ScramHash};
use xmpp_proto::xml::Open;

use super::fast;
use crate::config::ListenerRole;
use crate::extensions::{Extension, Spec};
use crate::gateway::Gateway;
use crate::transport::Io;

pub(crate) const CHANNEL_BINDING: Extension = Extension {
    spec: Spec::Xep(440),
    name: "SASL Channel-Binding Type Capability",
    version: "0.4.2",
    scenario: "channel_binding",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// A client learns from the challenge of SCRAM whether somebody in the middle has removed an offer.
pub(crate) const DOWNGRADE_PROTECTION: Extension = Extension {
    spec: Spec::Xep(474),
    name: "SASL SCRAM Downgrade Protection",
    version: "0.3.1",
    ..CHANNEL_BINDING
};

pub(super) struct Features {
    starttls: Option<Need>,
    mechanisms: &'static [Mechanism],
    bindings: Vec<BindingKind>,
    tokens: Vec<HtMechanism>,
    is_authenticated: bool,
    is_bound: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

/// With channel binding first.
const MECHANISMS: &[Mechanism] = &[
    Mechanism::ScramSha256Plus,
    Mechanism::ScramSha1Plus,
    Mechanism::ScramSha256,
    Mechanism::ScramSha1,
    Mechanism::Plain,
    Mechanism::Anonymous,
];
const WITHOUT_BINDING: usize = 2;

pub(super) const AFTER_SASL: Features = Features {
    starttls: None,
    mechanisms: &[],
    bindings: Vec::new(),
    tokens: Vec::new(),
    is_authenticated: true,
    is_bound: false,
};
/// After an authentication that has bound a resource.
pub(super) const AFTER_BIND: Features = Features {
    starttls: None,
    mechanisms: &[],
    bindings: Vec::new(),
    tokens: Vec::new(),
    is_authenticated: true,
    is_bound: true,
};

/// The channel bindings of this connection, with their data.
pub(super) fn bindings<'a>(io: &'a Io<'_>) -> Vec<ChannelBinding<'a>> {
    let Some(found) = io.channel_bindings() else { return Vec::new() };
    let exporter = found.exporter.as_ref().map(|data| (BindingKind::TlsExporter, &data[..]));
    let end_point = found.end_point.as_deref().map(|data| (BindingKind::TlsServerEndPoint, data));
    [exporter, end_point].into_iter().flatten().map(|(kind, data)| ChannelBinding { kind, data }).collect()
}

pub(super) fn mechanisms(io: &Io<'_>) -> &'static [Mechanism] {
    if bindings(io).is_empty() { &MECHANISMS[WITHOUT_BINDING..] } else { MECHANISMS }
}

/// XEP-0474 §6: what was offered on this connection, for the challenge of a mechanism with this hash.
pub(super) fn downgrade_hash(hash: ScramHash, io: &Io<'_>) -> String {
    let kinds: Vec<BindingKind> = bindings(io).iter().map(|binding| binding.kind).collect();
    sasl::downgrade_hash(hash, mechanisms(io), &kinds)
}

/// Without TLS, a listener offers only STARTTLS, unless the operator allows more.
pub(super) fn before_sasl(tls: bool, role: &ListenerRole, io: &Io<'_>) -> Features {
    let starttls = (!tls && role.tls.is_some()).then_some(if role.allows_plain {
        Need::Optional
    } else {
        Need::Required
    });
    let mechanisms = if offers_sasl(tls, role) { mechanisms(io) } else { &[] };
    let bindings = bindings(io).iter().map(|binding| binding.kind).collect();
    let tokens = fast::mechanisms(io);
    Features { starttls, mechanisms, bindings, tokens, is_authenticated: false, is_bound: false }
}

pub(super) fn offers_sasl(tls: bool, role: &ListenerRole) -> bool {
    tls || role.allows_plain
}

pub(crate) const STREAM_LIMITS: Extension = Extension {
    spec: Spec::Xep(478),
    name: "Stream Limits Advertisement",
    version: "0.2.0",
    scenario: "stream_limits",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

impl Gateway {
    pub(super) fn send_features(&mut self, features: &Features, io: &mut Io<'_>) {
        let most = self.shared.config.limits.stanza_bytes;
        let caps = if features.is_authenticated { self.server_caps() } else { None };
        self.send(io, |out| features.write(out, most, caps.as_deref()));
    }
}

impl Features {
    /// `most`: bytes of a stanza.
    fn write(&self, out: &mut Vec<u8>, most: usize, caps: Option<&[Caps; 2]>) {
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
                sasl::write_channel_bindings(out, self.bindings.iter().copied());
                sasl::write_authentication(out, self.mechanisms, |out| {
                    bind2::write_feature(out);
                    management::write_feature(out);
                    write_tokens(out, &self.tokens);
                });
            }
            if self.is_authenticated {
                if !self.is_bound {
                    Open::new(out, "bind").attr("xmlns", ns::BIND).empty();
                    // RFC 3921 §3: older clients ask for a session only if it is offered.
                    Open::new(out, "session").attr("xmlns", ns::SESSION).children(|out| {
                        Open::new(out, "optional").empty();
                    });
                }
                Open::new(out, "ver").attr("xmlns", ns::ROSTER_VERSIONS).empty();
                Open::new(out, "sub").attr("xmlns", ns::PRE_APPROVAL).empty();
                management::write_feature(out);
                csi::write_feature(out);
                stream_limits::write(out, most, None);
                // XEP-0115 §6.3.
                caps.into_iter().flatten().for_each(|caps| caps.write(out));
            }
        });
    }
}
