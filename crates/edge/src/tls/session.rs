//! One connection's TLS state: rustls without its buffers for the handshake, and then records with secrets only.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};
use rustls::{ClientConfig, Error, ProtocolVersion, ServerConfig};
use rustls_pki_types::{CertificateDer, ServerName};

use super::binding::ChannelBindings;
use super::keys::Keys;
use super::records::{Marks, Offence, RecordLayer, Role, whole_record};
use super::told::{Told, Traffic, take_told};
use crate::pool::{Pool, Remainder};
use crate::transfer::record::{Reader, Writer};

/// Ciphertext that is not a whole record or handshake message yet. rustls refuses larger ones long before.
const MOST_UNFINISHED: usize = 128 * 1024;

/// Most bytes that a record adds to its plaintext: RFC 8446 §5.2 allows 256 beside the header of 5.
const RECORD_OVERHEAD: usize = 5 + 256;

/// Plaintext of one record (RFC 8446 §5.1).
const RECORD_PLAINTEXT: usize = 1 << 14;

/// Keeps no buffer while idle: incomplete or unsent bytes are in buffers of the pool.
pub(crate) struct Session {
    stage: Stage,
    /// Received bytes of an incomplete record.
    unfinished: Option<Box<Remainder>>,
    /// Encrypted bytes that are not written.
    pub(crate) unsent: Option<Box<Remainder>>,
    kept: Option<Box<Kept>>,
}

enum Stage {
    /// The handshake; with [`Memory::Rustls`](super::Memory::Rustls), the whole connection.
    Rustls(Box<Rustls>),
    Records(RecordLayer),
    /// The hand-over failed.
    Broken(Marks),
}

struct Rustls {
    side: Side,
    /// The traffic secrets, for the records after the handshake.
    traffic: Traffic,
    hands_over: bool,
    marks: Marks,
}

enum Side {
    Server(UnbufferedServerConnection),
    Client(UnbufferedClientConnection),
}

/// Values of the handshake for which a protocol may ask later.
#[derive(Default)]
struct Kept {
    /// With a configuration of [`with_channel_bindings`](super::with_channel_bindings).
    bindings: Option<ChannelBindings>,
    /// Of a client that was asked for them. rustls keeps the others.
    certificates: Vec<CertificateDer<'static>>,
}

/// The result of received bytes.
#[derive(Default)]
pub(crate) struct Received {
    /// The peer's close_notify (RFC 8446 §6.1). Without it, an end is a truncation.
    pub(crate) ended: bool,
    /// A renegotiation of TLS 1.2 was refused. rustls logs the ones that it refuses.
    pub(crate) renegotiation: bool,
}

impl Session {
    pub(crate) fn server(config: Arc<ServerConfig>) -> Result<Session, Error> {
        let hands_over = config.enable_secret_extraction;
        Ok(Session::new(Side::Server(UnbufferedServerConnection::new(config)?), hands_over))
    }

    pub(crate) fn client(config: Arc<ClientConfig>, name: ServerName<'static>) -> Result<Session, Error> {
        let hands_over = config.enable_secret_extraction;
        Ok(Session::new(Side::Client(UnbufferedClientConnection::new(config, name)?), hands_over))
    }

    fn new(side: Side, hands_over: bool) -> Session {
        Session {
            stage: Stage::Rustls(Box::new(Rustls {
                side,
                traffic: Traffic::default(),
                hands_over,
                marks: Marks::default(),
            })),
            unfinished: None,
            unsent: None,
            kept: None,
        }
    }

    /// Writes it down for another process: the secrets of both directions, and incomplete and unsent bytes. False: it cannot move,
    /// because rustls has it, or its handshake failed.
    pub(crate) fn export(&self, record: &mut Writer) -> bool {
        let Stage::Records(records) = &self.stage else { return false };
        records.export(record);
        for bytes in [&self.unfinished, &self.unsent] {
            record.bytes(bytes.as_ref().map_or(&[], |bytes| &bytes.0));
        }
        let none = Kept::default();
        let kept = self.kept.as_deref().unwrap_or(&none);
        let bindings = kept.bindings.clone().unwrap_or_default();
        record.bytes(bindings.exporter.as_ref().map_or(&[], |exporter| exporter));
        record.bytes(bindings.end_point.as_deref().unwrap_or_default());
        record.u8(kept.certificates.len() as u8);
        for certificate in kept.certificates.iter().take(u8::MAX.into()) {
            record.bytes(certificate);
        }
        true
    }

    pub(crate) fn import(record: &mut Reader<'_>) -> Option<Session> {
        let records = RecordLayer::import(record)?;
        let mut bytes = || {
            let bytes = record.bytes()?;
            Some((!bytes.is_empty()).then(|| Box::new(Remainder(bytes.to_vec()))))
        };
        let (unfinished, unsent) = (bytes()?, bytes()?);
        let exporter = record.bytes()?.first_chunk().copied();
        let end_point = Some(record.bytes()?).filter(|bytes| !bytes.is_empty()).map(Into::into);
        let has_bindings = exporter.is_some() || end_point.is_some();
        let bindings = has_bindings.then_some(ChannelBindings { exporter, end_point });
        let count = record.u8()?;
        let certificate = |_| Some(CertificateDer::from(record.bytes()?.to_vec()));
        let certificates = (0..count).map(certificate).collect::<Option<Vec<_>>>()?;
        let is_kept = has_bindings || !certificates.is_empty();
        let kept = is_kept.then(|| Box::new(Kept { bindings, certificates }));
        Some(Session { stage: Stage::Records(records), unfinished, unsent, kept })
    }

    fn marks(&mut self) -> &mut Marks {
        match &mut self.stage {
            Stage::Rustls(rustls) => &mut rustls.marks,
            Stage::Records(records) => &mut records.marks,
            Stage::Broken(marks) => marks,
        }
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        matches!(&self.stage, Stage::Rustls(rustls) if rustls.side.is_handshaking())
    }

    /// Decrypts: appends plaintext to `plain`, and bytes for the peer to `unsent`. Without bytes it begins a client's handshake. After an
    /// error, `unsent` has the alert for the peer.
    pub(crate) fn receive(
        &mut self,
        bytes: &mut [u8],
        plain: &mut Vec<u8>,
        pool: &mut Pool,
        keys: &mut Keys,
    ) -> Result<Received, Error> {
        let mut unsent = self.unsent.take().unwrap_or_else(|| pool.take_remainder());
        let (before, was_handshaking) = (unsent.0.len(), self.is_handshaking());
        if was_handshaking {
            drop(take_told());
        }
        let result = guarded(|| self.advance(bytes, plain, &mut unsent.0, (pool, keys)));
        if was_handshaking {
            self.keep_told();
        }
        // The answer to the peer's Finished consists of tickets only (RFC 8446 §4.6.1).
        let finished = was_handshaking && !self.is_handshaking() && before == 0 && self.is_server_of_tls13();
        let marks = self.marks();
        marks.only_ticket = result.is_ok() && (finished || marks.only_ticket && unsent.0.len() == before);
        self.keep_unsent(unsent, pool);
        result
    }

    /// The certificates that the peer has shown, its own first. With [`Memory::Low`](super::Memory::Low), only those of a client.
    pub(crate) fn peer_certificates(&self) -> Option<&[CertificateDer<'static>]> {
        match &self.stage {
            Stage::Rustls(rustls) => rustls.side.peer_certificates(),
            Stage::Records(_) | Stage::Broken(_) => self.kept.as_ref().map(|kept| &kept.certificates[..]),
        }
    }

    pub(crate) fn bindings(&self) -> Option<&ChannelBindings> {
        self.kept.as_ref()?.bindings.as_ref()
    }

    pub(crate) fn drop_bindings(&mut self) {
        self.kept.take_if(|kept| {
            kept.bindings = None;
            kept.certificates.is_empty()
        });
    }

    /// Encrypts into `sealed`. Only after the handshake.
    pub(crate) fn seal(&mut self, plain: &[u8], sealed: &mut Vec<u8>, keys: &mut Keys) -> Result<(), Error> {
        guarded(|| self.write(sealed, Write::Data(plain), keys))
    }

    /// A record of any type, for fuzzing. Only with [`Memory::Low`](super::Memory::Low).
    #[cfg(feature = "testing")]
    pub(crate) fn seal_as(&mut self, kind: u8, content: &[u8], keys: &mut Keys) -> Result<Vec<u8>, Error> {
        let Stage::Records(records) = &mut self.stage else { return Err(Error::HandshakeNotComplete) };
        let mut sealed = Vec::new();
        records.seal_record(kind, content, &mut sealed, keys).map(|()| sealed).map_err(general)
    }

    /// Sends close_notify once. Returns whether `unsent` has new bytes.
    pub(crate) fn notify_close(&mut self, pool: &mut Pool, keys: &mut Keys) -> Result<bool, Error> {
        if std::mem::replace(&mut self.marks().notified, true) || self.is_handshaking() {
            return Ok(false);
        }
        let mut unsent = self.unsent.take().unwrap_or_else(|| pool.take_remainder());
        let result = guarded(|| self.write(&mut unsent.0, Write::CloseNotify, keys));
        self.keep_unsent(unsent, pool);
        result.map(|()| true)
    }

    /// Takes the unwritten encrypted bytes.
    pub(crate) fn take_unsent(&mut self) -> Option<Box<Remainder>> {
        self.marks().only_ticket = false;
        self.unsent.take()
    }

    pub(crate) fn keep_unsent(&mut self, unsent: Box<Remainder>, pool: &mut Pool) {
        if unsent.0.is_empty() {
            pool.give_remainder(unsent);
        } else {
            self.unsent = Some(unsent);
        }
    }

    /// Returns its buffers to the pool; call it before the drop.
    pub(crate) fn release(&mut self, pool: &mut Pool) {
        for buffer in [self.unfinished.take(), self.unsent.take()].into_iter().flatten() {
            pool.give_remainder(buffer);
        }
    }

    /// Whether the unsent bytes may wait for the next output, which saves a packet.
    pub(crate) fn may_wait(&mut self) -> bool {
        self.marks().only_ticket && self.unsent.is_some()
    }

    /// Whether a record is incomplete.
    pub(crate) fn is_in_record(&self) -> bool {
        self.unfinished.is_some()
    }

    fn is_server_of_tls13(&self) -> bool {
        match &self.stage {
            Stage::Rustls(rustls) => rustls.side.is_server_of_tls13(),
            Stage::Records(records) => records.is_server_of_tls13(),
            Stage::Broken(_) => false,
        }
    }

    fn keep_told(&mut self) {
        let Told { bindings: ChannelBindings { exporter, end_point }, traffic } = take_told();
        if let Stage::Rustls(rustls) = &mut self.stage {
            let Traffic { client, server } = &mut rustls.traffic;
            *client = traffic.client.or(client.take());
            *server = traffic.server.or(server.take());
        }
        if exporter.is_some() || end_point.is_some() {
            let kept = self.kept.get_or_insert_default().bindings.get_or_insert_default();
            kept.exporter = exporter.or(kept.exporter);
            kept.end_point = end_point.or(kept.end_point.take());
        }
    }

    fn advance(
        &mut self,
        bytes: &mut [u8],
        plain: &mut Vec<u8>,
        unsent: &mut Vec<u8>,
        (pool, keys): (&mut Pool, &mut Keys),
    ) -> Result<Received, Error> {
        let Some(mut unfinished) = self.unfinished.take() else {
            let (used, received) = self.process(bytes, plain, unsent, keys)?;
            if used < bytes.len() {
                let mut unfinished = pool.take_remainder();
                unfinished.0.extend_from_slice(&bytes[used..]);
                self.unfinished = Some(unfinished);
            }
            return Ok(received);
        };
        unfinished.0.extend_from_slice(bytes);
        let processed = self.process(&mut unfinished.0, plain, unsent, keys);
        let used = processed.as_ref().map_or(unfinished.0.len(), |(used, _)| *used);
        unfinished.0.drain(..used);
        if unfinished.0.is_empty() {
            pool.give_remainder(unfinished);
        } else if unfinished.0.len() > MOST_UNFINISHED {
            return Err(Error::General("a record without end".into()));
        } else {
            self.unfinished = Some(unfinished);
        }
        processed.map(|(_, received)| received)
    }

    /// Processes all complete records. Returns their bytes.
    fn process(
        &mut self,
        bytes: &mut [u8],
        plain: &mut Vec<u8>,
        unsent: &mut Vec<u8>,
        keys: &mut Keys,
    ) -> Result<(usize, Received), Error> {
        let mut used = 0;
        if let Stage::Rustls(rustls) = &mut self.stage {
            if !rustls.hands_over {
                return rustls.side.process(bytes, plain, unsent);
            }
            let (handshake, received) = self.process_handshake(bytes, plain, unsent)?;
            if self.is_handshaking() {
                return Ok((handshake, received));
            }
            self.hand_over()?;
            used = handshake;
        }
        let Stage::Records(records) = &mut self.stage else { return Err(Error::HandshakeNotComplete) };
        let opened = records.open(&mut bytes[used..], plain, unsent, keys).map_err(general)?;
        let received = Received { ended: records.has_ended(), renegotiation: opened.warned };
        Ok((used + opened.used, received))
    }

    /// Passes one record after the other to rustls until the handshake is finished, so that it sees none behind it.
    fn process_handshake(
        &mut self,
        bytes: &mut [u8],
        plain: &mut Vec<u8>,
        unsent: &mut Vec<u8>,
    ) -> Result<(usize, Received), Error> {
        let (mut used, mut end) = (0, 0);
        loop {
            // An incomplete one too: its header may be wrong already.
            end += whole_record(&bytes[end..]).unwrap_or(bytes.len() - end);
            let Stage::Rustls(rustls) = &mut self.stage else { return Err(Error::HandshakeNotComplete) };
            let (processed, received) = rustls.side.process(&mut bytes[used..end], plain, unsent)?;
            used += processed;
            let finished = !rustls.side.is_handshaking();
            self.keep_told();
            if finished || end == bytes.len() {
                return Ok((used, received));
            }
        }
    }

    /// Keeps the secrets of a finished handshake, and drops the rest.
    fn hand_over(&mut self) -> Result<(), Error> {
        let marks = *self.marks();
        let Stage::Rustls(rustls) = std::mem::replace(&mut self.stage, Stage::Broken(marks)) else {
            return Err(Error::HandshakeNotComplete);
        };
        let Rustls { side, traffic, .. } = *rustls;
        let version = side.version().ok_or(Error::HandshakeNotComplete)?;
        let (role, extracted) = match side {
            Side::Server(conn) => {
                let certificates = conn.peer_certificates().unwrap_or_default();
                if !certificates.is_empty() {
                    self.kept.get_or_insert_default().certificates = certificates.to_vec();
                }
                (Role::Server, conn.dangerous_into_kernel_connection()?.0)
            }
            Side::Client(conn) => (Role::Client, conn.dangerous_into_kernel_connection()?.0),
        };
        let traffic = traffic.client.as_ref().zip(traffic.server.as_ref());
        let records = RecordLayer::new(role, version, &extracted, traffic);
        let mut records = records.ok_or_else(|| Error::General("unknown secrets".into()))?;
        records.marks = marks;
        self.stage = Stage::Records(records);
        Ok(())
    }

    fn write(&mut self, sealed: &mut Vec<u8>, what: Write<'_>, keys: &mut Keys) -> Result<(), Error> {
        let side = match (&mut self.stage, what) {
            (Stage::Rustls(rustls), _) => &mut rustls.side,
            (Stage::Records(records), Write::Data(plain)) => {
                return records.seal(plain, sealed, keys).map_err(general);
            }
            (Stage::Records(records), Write::CloseNotify) => {
                return records.close(sealed, keys).map_err(general);
            }
            (Stage::Broken(_), _) => return Err(Error::HandshakeNotComplete),
        };
        loop {
            // rustls stores positions in the unfinished bytes and would look for them in an empty buffer.
            let mut nothing = [];
            let unfinished =
                self.unfinished.as_mut().map_or(&mut nothing[..], |unfinished| &mut unfinished.0);
            let (discard, written) = match side {
                Side::Server(conn) => write_step(conn.process_tls_records(unfinished), sealed, what),
                Side::Client(conn) => write_step(conn.process_tls_records(unfinished), sealed, what),
            };
            if let Some(unfinished) = &mut self.unfinished {
                unfinished.0.drain(..discard);
            }
            if written? {
                return Ok(());
            }
        }
    }
}

impl Side {
    fn is_handshaking(&self) -> bool {
        match self {
            Side::Server(conn) => conn.is_handshaking(),
            Side::Client(conn) => conn.is_handshaking(),
        }
    }

    fn version(&self) -> Option<ProtocolVersion> {
        match self {
            Side::Server(conn) => conn.protocol_version(),
            Side::Client(conn) => conn.protocol_version(),
        }
    }

    fn is_server_of_tls13(&self) -> bool {
        matches!(self, Side::Server(_)) && self.version() == Some(ProtocolVersion::TLSv1_3)
    }

    fn peer_certificates(&self) -> Option<&[CertificateDer<'static>]> {
        match self {
            Side::Server(conn) => conn.peer_certificates(),
            Side::Client(conn) => conn.peer_certificates(),
        }
    }

    /// Processes all complete records. Returns their bytes.
    fn process(
        &mut self,
        bytes: &mut [u8],
        plain: &mut Vec<u8>,
        unsent: &mut Vec<u8>,
    ) -> Result<(usize, Received), Error> {
        let mut used = 0;
        let mut received = Received::default();
        loop {
            let (discard, step) = self.step(&mut bytes[used..], plain, unsent);
            used += discard;
            match step {
                Ok(Step::Again) => {}
                Ok(Step::Ended) => received.ended = true,
                Ok(Step::Done) => return Ok((used, received)),
                Err(error) => {
                    // One more step encodes the alert for the peer; a second would meet the same error again.
                    let _ = self.step(&mut bytes[used..], plain, unsent);
                    return Err(error);
                }
            }
        }
    }

    fn step(
        &mut self,
        bytes: &mut [u8],
        plain: &mut Vec<u8>,
        unsent: &mut Vec<u8>,
    ) -> (usize, Result<Step, Error>) {
        match self {
            Side::Server(conn) => read_step(conn.process_tls_records(bytes), plain, unsent),
            Side::Client(conn) => read_step(conn.process_tls_records(bytes), plain, unsent),
        }
    }
}

fn general(offence: Offence) -> Error {
    Error::General(offence.to_string())
}

/// rustls processes bytes from outside. A panic in it is caught like one of the protocol and costs one connection.
fn guarded<R>(act: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| Err(Error::General("panicked".into())))
}

enum Step {
    Again,
    /// The peer has sent close_notify.
    Ended,
    Done,
}

/// Also returns the number of bytes to discard from the front.
fn read_step<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    plain: &mut Vec<u8>,
    unsent: &mut Vec<u8>,
) -> (usize, Result<Step, Error>) {
    let mut discard = status.discard;
    let step = match status.state {
        Ok(ConnectionState::ReadTraffic(mut traffic)) => {
            while let Some(Ok(record)) = traffic.next_record() {
                discard += record.discard;
                plain.extend_from_slice(record.payload);
            }
            Ok(Step::Again)
        }
        Ok(ConnectionState::EncodeTlsData(mut data)) => {
            encode(unsent, |room| data.encode(room)).map(|()| Step::Again)
        }
        // Written at the end of the turn, before anything else.
        Ok(ConnectionState::TransmitTlsData(data)) => {
            data.done();
            Ok(Step::Again)
        }
        Ok(ConnectionState::PeerClosed) => Ok(Step::Ended),
        Ok(
            ConnectionState::BlockedHandshake | ConnectionState::WriteTraffic(_) | ConnectionState::Closed,
        ) => Ok(Step::Done),
        // 0-RTT (RFC 8446 §8) can be replayed, so we never offer it.
        Ok(_) => Err(Error::General("early data was not offered".into())),
        Err(error) => Err(error),
    };
    (discard, step)
}

#[derive(Clone, Copy)]
enum Write<'a> {
    Data(&'a [u8]),
    CloseNotify,
}

/// Returns the number of bytes to discard, and whether it is written.
fn write_step<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    sealed: &mut Vec<u8>,
    what: Write<'_>,
) -> (usize, Result<bool, Error>) {
    let written = match (status.state, what) {
        (Ok(ConnectionState::WriteTraffic(mut traffic)), Write::Data(plain)) => {
            let room = plain.len() + RECORD_OVERHEAD * (2 + plain.len() / RECORD_PLAINTEXT);
            encrypt(sealed, room, |room| traffic.encrypt(plain, room)).map(|()| true)
        }
        (Ok(ConnectionState::WriteTraffic(mut traffic)), Write::CloseNotify) => {
            encrypt(sealed, RECORD_OVERHEAD, |room| traffic.queue_close_notify(room)).map(|()| true)
        }
        // An answer to the peer's key update goes first.
        (Ok(ConnectionState::EncodeTlsData(mut data)), _) => {
            encode(sealed, |room| data.encode(room)).map(|()| false)
        }
        (Ok(ConnectionState::TransmitTlsData(data)), _) => {
            data.done();
            Ok(false)
        }
        (Ok(ConnectionState::PeerClosed), _) => Ok(false),
        (Ok(_), _) => Err(Error::HandshakeNotComplete),
        (Err(error), _) => Err(error),
    };
    (status.discard, written)
}

fn encode(
    into: &mut Vec<u8>,
    mut act: impl FnMut(&mut [u8]) -> Result<usize, EncodeError>,
) -> Result<(), Error> {
    let from = into.len();
    let needed = match act(&mut []) {
        Ok(_) => return Ok(()),
        Err(EncodeError::InsufficientSize(needed)) => needed.required_size,
        Err(EncodeError::AlreadyEncoded) => return Err(Error::General("encoded twice".into())),
    };
    into.resize(from + needed, 0);
    match act(&mut into[from..]) {
        Ok(written) => {
            into.truncate(from + written);
            Ok(())
        }
        Err(error) => Err(Error::General(error.to_string())),
    }
}

fn encrypt(
    into: &mut Vec<u8>,
    room: usize,
    act: impl FnOnce(&mut [u8]) -> Result<usize, EncryptError>,
) -> Result<(), Error> {
    let from = into.len();
    into.resize(from + room, 0);
    match act(&mut into[from..]) {
        Ok(written) => {
            into.truncate(from + written);
            Ok(())
        }
        Err(error) => {
            into.truncate(from);
            Err(Error::General(error.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the allocator's part it takes 160 bytes.
    #[test]
    fn a_session_is_small() {
        assert!(size_of::<Session>() <= 152, "{}", size_of::<Session>());
    }
}
