//! The connections of streams between servers: bytes to and from the two sides of the negotiation.

use std::time::Duration;

use edge::tls::ServerName;
use edge::{Handle, Io, Now};
use rand::Rng;
use xmpp_proto::ns;
use xmpp_proto::payload::dialback::Verdict;
use xmpp_proto::stream::{StreamCondition, StreamError, write_footer};
use xmpp_proto::xml::{Element, Item, Reader};

use super::components::{self, ComponentStream};
use super::initiator::{self, Credentials, Initiator, Pair, Purpose};
use super::responder::{self, Responder, World};
use super::{Content, Letter, owner};
use crate::config::Shared;
use crate::gateway::{Gateway, Mail, State, Step};
use crate::stream::UNAUTHENTICATED;

/// A stream of ours that carried nothing for so long is closed.
pub(super) const IDLE: Duration = Duration::from_secs(600);
/// A stream of another server that was silent for so long is closed. Longer than most servers keep theirs.
const SILENT: Duration = Duration::from_secs(3_600);
/// Elements of one incoming stream in a second; then reading stops until the next one.
const MOST_PER_SECOND: u32 = 500;

pub(crate) enum Stream {
    In(Incoming),
    Out(Outgoing),
    Component(ComponentStream),
}

/// A stream that another server has opened.
pub(crate) struct Incoming {
    pub(super) responder: Responder,
    reader: Reader,
    listener: usize,
    pace: Pace,
    /// Pairs of [`Responder::carries`] whose links know of this stream.
    pub(super) offered: usize,
}

/// A stream that we open.
pub(crate) struct Outgoing {
    initiator: Initiator,
    reader: Reader,
    dial: u64,
    tls: bool,
    has_certificate: bool,
    /// Of what the other server sends (XEP-0288).
    pace: Pace,
    /// The dial is over: the stream carries stanzas, or has brought its answer.
    is_done: bool,
}

impl Stream {
    pub(crate) fn accepted(tls: bool, listener: usize) -> Stream {
        let (responder, reader) = (Responder::new(tls), Reader::new());
        Stream::In(Incoming { responder, reader, listener, pace: Pace::default(), offered: 0 })
    }

    pub(crate) fn of_component() -> Stream {
        Stream::Component(ComponentStream::new())
    }

    fn pace(&mut self) -> &mut Pace {
        match self {
            Stream::In(incoming) => &mut incoming.pace,
            Stream::Out(outgoing) => &mut outgoing.pace,
            Stream::Component(component) => &mut component.pace,
        }
    }

    /// The time in which something must happen on an authenticated stream.
    fn silence(&self) -> Duration {
        match self {
            Stream::In(_) => SILENT,
            Stream::Out(_) => IDLE,
            Stream::Component(_) => components::SILENT,
        }
    }

    /// Stanzas were written to it.
    pub(super) fn is_in_use(&self, io: &mut Io<'_>) {
        if let Stream::Out(outgoing) = self
            && !outgoing.pace.is_over()
        {
            io.set_timer(Some(IDLE));
        }
    }
}

impl Outgoing {
    pub(super) fn new(pair: Pair, purpose: Purpose, dial: u64, tls: bool, has_certificate: bool) -> Outgoing {
        let (initiator, reader) = (Initiator::new(pair, purpose), Reader::new());
        let pace = Pace::default();
        Outgoing { initiator, reader, dial, tls, has_certificate, pace, is_done: false }
    }
}

/// The sites of this node, and the certificate of one peer.
struct Here<'a> {
    shared: &'a Shared,
    io: &'a Io<'a>,
    secret: [u8; 32],
}

impl World for Here<'_> {
    fn talks(&self, pair: &Pair) -> bool {
        let site = self.shared.node.site_of_domain(&pair.local);
        // A component proves its domain by its secret alone.
        site.is_some_and(|(site, _)| self.shared.talks_with(site, &pair.remote))
            && self.shared.component(&pair.remote).is_none()
    }

    fn is_local(&self, domain: &str) -> bool {
        let site = self.shared.node.site_of_domain(domain);
        site.is_some_and(|(site, _)| self.shared.node.is_federated(site))
    }

    fn proves(&self, domain: &str) -> bool {
        let (chain, now) = (self.io.peer_certificates(), self.io.now().unix_ms);
        let servers = self.shared.config.servers.as_ref();
        servers.is_some_and(|servers| servers.authorities.vouch(chain, domain, now))
    }

    fn secret(&self) -> &[u8; 32] {
        &self.secret
    }
}

impl Gateway {
    fn secret(&self) -> [u8; 32] {
        self.shared.config.servers.as_ref().map(|servers| servers.secret).unwrap_or_default()
    }

    /// A connection of ours is established, or a TLS handshake is finished.
    pub(crate) fn server_connected(&mut self, stream: &mut Stream, io: &mut Io<'_>) {
        io.set_timer(Some(self.shared.config.negotiation));
        match stream {
            Stream::In(incoming) => incoming.responder.tls_is_on(),
            Stream::Out(outgoing) => {
                let acts = outgoing.initiator.connected(outgoing.tls);
                // A header alone cannot fail.
                let _ = self.initiate(outgoing, acts, io);
            }
            Stream::Component(_) => {}
        }
    }

    /// Reads one part of a stream.
    pub(crate) fn read_server(&mut self, state: &mut State, input: &[u8], io: &mut Io<'_>) -> Step {
        let State::Server(stream) = state else { return Step::Wait(input.len()) };
        let (reader, is_known) = match &mut **stream {
            Stream::In(incoming) => (&mut incoming.reader, incoming.responder.is_proved()),
            Stream::Out(outgoing) => (&mut outgoing.reader, outgoing.initiator.is_ready()),
            Stream::Component(component) => {
                let is_known = component.is_ready();
                (&mut component.reader, is_known)
            }
        };
        let limits = if is_known { &self.shared.config.limits } else { &UNAUTHENTICATED };
        let outcome = match reader.read(input, limits) {
            Ok((used, None)) => return Step::Wait(used),
            Ok((_, Some(Item::End))) => {
                self.close_server(state, io);
                return Step::Wait(input.len());
            }
            Ok((used, Some(Item::Header(header)))) => {
                let opened = match &mut **stream {
                    Stream::In(incoming) => {
                        // Nobody else may guess it (XEP-0185 §3).
                        let id = format!("{:032x}", self.rng.random::<u128>()).into();
                        let most = self.shared.config.limits.stanza_bytes;
                        let mut out = Vec::new();
                        let secret = self.secret();
                        let here = Here { shared: &self.shared, io: &io.reborrow(), secret };
                        let opened = incoming.responder.opened(&header, id, most, &here, &mut out);
                        io.send(&out);
                        self.offer_to_links(incoming, io.handle());
                        opened
                    }
                    Stream::Out(outgoing) => outgoing.initiator.opened(&header),
                    Stream::Component(component) => {
                        let mut out = Vec::new();
                        let opened = self.component_header(component, &header, &mut out);
                        io.send(&out);
                        opened
                    }
                };
                opened.map(|()| Step::Again(used))
            }
            Ok((used, Some(Item::Stanza(tree)))) => {
                let is_last = used == input.len();
                match &mut **stream {
                    Stream::In(incoming) => self.server_element(incoming, tree.root(), is_last, io),
                    Stream::Out(outgoing) => self.initiator_element(outgoing, tree.root(), is_last, io),
                    Stream::Component(component) => self.component_element(component, tree.root(), io),
                }
                .map(|goes_on| if goes_on { Step::Again(used) } else { Step::Wait(used) })
            }
            Err(error) => Err(error),
        };
        outcome.unwrap_or_else(|error| {
            self.fail_server(state, &error, io);
            Step::Wait(input.len())
        })
    }

    /// False: the next bytes wait, or belong to TLS.
    fn server_element(
        &mut self,
        incoming: &mut Incoming,
        element: Element<'_>,
        is_last: bool,
        io: &mut Io<'_>,
    ) -> Result<bool, StreamError> {
        let secret = self.secret();
        let here = Here { shared: &self.shared, io: &io.reborrow(), secret };
        let acts = incoming.responder.element(element, is_last, &here)?;
        let mut goes_on = true;
        for act in acts {
            match act {
                responder::Act::Send(bytes) => io.send(&bytes),
                responder::Act::StartTls => {
                    let acceptor = self.shared.config.role(incoming.listener).tls;
                    if !acceptor.is_some_and(|acceptor| io.start_tls(&acceptor)) {
                        return Err(StreamError::new(StreamCondition::ResourceConstraint));
                    }
                    incoming.reader.restart();
                    goes_on = false;
                }
                responder::Act::Restart => {
                    io.set_timer(Some(SILENT));
                    incoming.reader.restart();
                }
                responder::Act::Check { pair, id, key } => {
                    self.dial(pair, Purpose::Verify { id, key }, Some(io.handle()));
                }
                responder::Act::Stanza(pair) => {
                    self.shared.counters.stanzas_in.add(1);
                    self.stanza_of_server(pair, element)?;
                    goes_on = incoming.pace.may_go_on(io, SILENT);
                }
            }
        }
        self.offer_to_links(incoming, io.handle());
        Ok(goes_on)
    }

    /// Sends a stanza to the worker that owns its domain.
    pub(super) fn stanza_of_server(&self, pair: Pair, element: Element<'_>) -> Result<(), StreamError> {
        let worker = owner(&pair.remote, self.shared.mailboxes.workers());
        let document = document_of(element);
        // A mailbox counts events of usual size.
        let weight = 1 + document.len() / 1024;
        let letter = Letter(Content::Stanza { pair, document });
        let taken = self.shared.mailboxes.offer(worker, Mail::Servers(Box::new(letter)), weight);
        taken.map_err(|_| StreamError::new(StreamCondition::ResourceConstraint))
    }

    fn initiator_element(
        &mut self,
        outgoing: &mut Outgoing,
        element: Element<'_>,
        is_last: bool,
        io: &mut Io<'_>,
    ) -> Result<bool, StreamError> {
        let secret = self.secret();
        let credentials = Credentials { has_certificate: outgoing.has_certificate, secret: &secret };
        let acts = outgoing.initiator.element(element, &credentials)?;
        // Plain bytes behind `proceed` could be injected by somebody on the path.
        if acts.contains(&initiator::Act::StartTls) && !is_last {
            return Err(StreamError::new(StreamCondition::PolicyViolation));
        }
        if acts.contains(&initiator::Act::Stanza) {
            self.shared.counters.stanzas_in.add(1);
            self.stanza_of_server(outgoing.initiator.pair.clone(), element)?;
            return Ok(outgoing.pace.may_go_on(io, IDLE));
        }
        self.initiate(outgoing, acts, io)
    }

    fn initiate(
        &mut self,
        outgoing: &mut Outgoing,
        acts: Vec<initiator::Act>,
        io: &mut Io<'_>,
    ) -> Result<bool, StreamError> {
        let mut goes_on = true;
        for act in acts {
            match act {
                initiator::Act::Send(bytes) => io.send(&bytes),
                initiator::Act::Restart => outgoing.reader.restart(),
                initiator::Act::StartTls => {
                    let Pair { local, remote } = &outgoing.initiator.pair;
                    let servers = self.shared.config.servers.as_ref();
                    let config = servers.and_then(|servers| servers.names.client(local));
                    let name = ServerName::try_from(String::from(&**remote)).ok();
                    let begun = config
                        .zip(name)
                        .is_some_and(|((config, _), name)| io.start_tls_as_client(config, name));
                    if !begun {
                        return Err(StreamError::new(StreamCondition::ResourceConstraint));
                    }
                    outgoing.tls = true;
                    goes_on = false;
                }
                initiator::Act::Ready => {
                    outgoing.is_done = true;
                    self.dial_is_done(outgoing.dial);
                    self.link_is_open(&outgoing.initiator.pair, io.handle());
                    io.set_timer(Some(IDLE));
                }
                initiator::Act::Verified(is_right) => {
                    outgoing.is_done = true;
                    let verdict = if is_right { Verdict::Valid } else { Verdict::Invalid };
                    if let Some(to) = self.dial_is_done(outgoing.dial) {
                        let content = Content::Checked { to, pair: outgoing.initiator.pair.clone(), verdict };
                        self.shared.send_to_worker(to.worker(), content);
                    }
                    end(io);
                    goes_on = false;
                }
                // It is handled where its element is.
                initiator::Act::Stanza => {}
            }
        }
        Ok(goes_on)
    }

    /// The server of `pair.remote` has answered about a key of this stream.
    pub(super) fn key_checked(&mut self, state: &mut State, pair: &Pair, verdict: Verdict, io: &mut Io<'_>) {
        let State::Server(stream) = state else { return };
        let Stream::In(incoming) = &mut **stream else { return };
        if let Some(responder::Act::Send(bytes)) = incoming.responder.checked(pair, verdict) {
            io.send(&bytes);
            if incoming.responder.is_proved() {
                io.set_timer(Some(SILENT));
            }
            self.offer_to_links(incoming, io.handle());
        }
    }

    pub(super) fn fail_server(&mut self, state: &mut State, error: &StreamError, io: &mut Io<'_>) {
        tracing::debug!(%error, "ending a stream between servers");
        self.shared.counters.stream_errors.add(1);
        let mut out = Vec::new();
        error.write(&mut out);
        io.send(&out);
        self.close_server(state, io);
    }

    pub(crate) fn close_server(&mut self, state: &mut State, io: &mut Io<'_>) {
        let handle = io.handle();
        if let State::Server(stream) = std::mem::replace(state, State::Closing) {
            end(io);
            self.server_closed(*stream, handle);
        }
    }

    pub(crate) fn server_timer(&mut self, state: &mut State, io: &mut Io<'_>) {
        let State::Server(stream) = state else { return };
        if stream.pace().is_over() {
            *stream.pace() = Pace::default();
            io.set_timer(Some(stream.silence()));
            return io.set_reading(true);
        }
        let is_done = match &**stream {
            Stream::In(incoming) => incoming.responder.is_proved(),
            Stream::Out(outgoing) => outgoing.is_done,
            Stream::Component(component) if component.is_ready() => {
                io.set_timer(Some(components::SILENT));
                return io.send(b" ");
            }
            Stream::Component(_) => false,
        };
        match is_done {
            true => self.close_server(state, io),
            false => self.fail_server(state, &StreamError::new(StreamCondition::ConnectionTimeout), io),
        }
    }

    /// The connection has ended.
    pub(crate) fn server_closed(&mut self, stream: Stream, handle: Handle) {
        let outgoing = match stream {
            Stream::In(incoming) => return self.withdraw_from_links(&incoming, handle),
            Stream::Component(component) => return self.component_closed(component, handle),
            Stream::Out(outgoing) => outgoing,
        };
        match (outgoing.is_done, &outgoing.initiator.purpose) {
            (true, Purpose::Stanzas) => self.link_is_closed(&outgoing.initiator.pair, handle),
            (true, Purpose::Verify { .. }) => {}
            (false, _) => self.attempt_failed(outgoing.dial),
        }
    }

    pub(crate) fn server_rests(stream: &Stream, io: &mut Io<'_>, now: Now) {
        // Stanzas of a stream that is over its rate wait for its timer.
        let pace = match stream {
            Stream::In(incoming) => &incoming.pace,
            Stream::Out(outgoing) => &outgoing.pace,
            Stream::Component(component) => &component.pace,
        };
        if !(pace.is_over() && pace.second == now.steady_ms / 1000) {
            io.set_reading(true);
        }
    }
}

/// The rate at which a stream is read.
#[derive(Default)]
pub(super) struct Pace {
    /// The second of [`Pace::count`].
    second: u64,
    count: u32,
}

impl Pace {
    fn is_over(&self) -> bool {
        self.count > MOST_PER_SECOND
    }

    /// Counts a stanza. False: the stream reads no further before the next second. `silence`: until its timer fires.
    pub(super) fn may_go_on(&mut self, io: &mut Io<'_>, silence: Duration) -> bool {
        let second = io.now().steady_ms / 1000;
        if second != self.second {
            (self.second, self.count) = (second, 0);
        }
        self.count += 1;
        if self.is_over() {
            io.set_reading(false);
            io.set_timer(Some(Duration::from_secs(1)));
            return false;
        }
        io.set_timer(Some(silence));
        true
    }
}

fn end(io: &mut Io<'_>) {
    let mut out = Vec::new();
    write_footer(&mut out);
    io.send(&out);
    io.close();
}

/// A stanza as a document of `jabber:client`, the namespace in which sessions read.
fn document_of(stanza: Element<'_>) -> Box<[u8]> {
    let mut out = Vec::new();
    if ![ns::SERVER, ns::COMPONENT].contains(&stanza.ns()) {
        stanza.write(&mut out, "");
        return out.into();
    }
    stanza.write(&mut out, stanza.ns());
    let name = 1 + stanza.name().len();
    let mut document = Vec::with_capacity(out.len() + 24);
    document.extend_from_slice(&out[..name]);
    document.extend_from_slice(b" xmlns='jabber:client'");
    document.extend_from_slice(&out[name..]);
    document.into()
}

#[cfg(test)]
mod tests {
    use xmpp_proto::xml::{Limits, document};

    use super::*;

    #[test]
    fn a_stanza_between_servers_becomes_one_of_a_client() {
        for (xml, expected) in [
            (
                "<message xmlns='jabber:server' from='a'><body>x</body><y xmlns='urn:y'><z/></y></message>",
                "<message xmlns='jabber:client' from='a'><body>x</body><y xmlns='urn:y'><z/></y></message>",
            ),
            ("<iq xmlns='jabber:component:accept'><x/></iq>", "<iq xmlns='jabber:client'><x/></iq>"),
            ("<iq xmlns='jabber:server'/>", "<iq xmlns='jabber:client'/>"),
            ("<iq xmlns='jabber:client' id='1'/>", "<iq xmlns='jabber:client' id='1'/>"),
        ] {
            let tree = document(xml.as_bytes(), &Limits::default()).unwrap();
            assert_eq!(String::from_utf8(document_of(tree.root()).into()).unwrap(), expected);
        }
    }
}
