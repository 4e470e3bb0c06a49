//! TLS records after the handshake (RFC 8446 §5 and §6, RFC 5246 §6.2 and §7.2), with secrets and counters only.
//!
//! A value without I/O: it opens whole records, seals plaintext, and says what the peer did wrong. It never renegotiates, never
//! asks for a certificate and sends no ticket: all that is over when rustls hands over.

use ring::aead::{Aad, Nonce};
use rustls::{ConnectionTrafficSecrets, ExtractedSecrets, ProtocolVersion};

use super::keys::{Cipher, Expanded, Keys, Secret, Suite, Version};
use crate::transfer::record::{Reader, Writer};

/// RFC 8446 §5.1.
const HEADER: usize = 5;
const MOST_PLAIN: usize = 1 << 14;
const TAG: usize = 16;

/// Content types (RFC 8446 §B.1).
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const DATA: u8 = 23;

/// Handshake types (RFC 8446 §B.3).
const HELLO_REQUEST: u8 = 0;
const CLIENT_HELLO: u8 = 1;
const NEW_SESSION_TICKET: u8 = 4;
const KEY_UPDATE: u8 = 24;

/// Alerts (RFC 8446 §B.2).
const WARNING: u8 = 1;
const FATAL: u8 = 2;
const CLOSE_NOTIFY: u8 = 0;
const USER_CANCELED: u8 = 90;
const NO_RENEGOTIATION: u8 = 100;

/// Records with one key of AES-GCM (RFC 8446 §5.5: 2^24.5, less a margin).
const MOST_RECORDS: u64 = 1 << 23;

/// The longest ticket or ClientHello that is skipped.
const LONGEST_SKIPPED: u32 = 1 << 17;

/// Records without content in a row. Each costs us a decryption and the peer next to nothing.
const MOST_EMPTY: u8 = 32;

/// KeyUpdates without data between them.
const MOST_KEY_UPDATES: u8 = 32;
/// Warnings of TLS 1.2, and requests for a renegotiation.
const MOST_WARNINGS: u8 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Server,
    Client,
}

/// An error of the peer, or the end of our keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Offence {
    #[error("a record cannot be decrypted")]
    BadRecordMac,
    #[error("a record is too long")]
    RecordOverflow,
    #[error("an unexpected message")]
    UnexpectedMessage,
    #[error("a message cannot be parsed")]
    DecodeError,
    #[error("a KeyUpdate or an alert with an unknown value")]
    IllegalParameter,
    #[error("too many empty records")]
    TooManyEmpty,
    #[error("too many KeyUpdates without data")]
    TooManyKeyUpdates,
    #[error("too many warnings")]
    TooManyWarnings,
    #[error("the peer sent alert {0}")]
    Alert(u8),
    #[error("a key has sealed as many records as it may")]
    Exhausted,
    #[error("a key of the wrong length")]
    Key,
}

impl Offence {
    /// The alert for the peer (RFC 8446 §6.2).
    fn alert(self) -> Option<u8> {
        Some(match self {
            Offence::BadRecordMac => 20,
            Offence::RecordOverflow => 22,
            Offence::IllegalParameter => 47,
            Offence::DecodeError => 50,
            Offence::Key | Offence::Exhausted => 80,
            Offence::UnexpectedMessage
            | Offence::TooManyEmpty
            | Offence::TooManyKeyUpdates
            | Offence::TooManyWarnings => 10,
            // Both directions are closed without an answer (RFC 8446 §6.2).
            Offence::Alert(_) => return None,
        })
    }
}

/// One direction.
struct Half {
    secret: Secret,
    /// Of the next record with this secret.
    number: u64,
}

/// A handshake message that may continue in the next record (RFC 8446 §5.1).
#[derive(Clone, Copy)]
enum Message {
    None,
    Begun {
        header: [u8; 4],
        length: Length,
    },
    /// Bytes to skip. An array, because a number's alignment would make the connection larger.
    Skipped([u8; 4]),
}

/// Bytes of the header that are there. Not a number, because [`Message`] is a byte smaller so.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    One,
    Two,
    Three,
    Four,
}

/// Flags of the output of a connection.
#[derive(Clone, Copy, Default)]
pub(super) struct Marks {
    /// The unsent bytes are only a ticket for the next connection, for which no client waits.
    pub(super) only_ticket: bool,
    /// close_notify is sent.
    pub(super) notified: bool,
}

/// All that a connection keeps after its handshake.
pub(super) struct RecordLayer {
    read: Half,
    write: Half,
    suite: Suite,
    role: Role,
    message: Message,
    /// KeyUpdates without data, or warnings, that are still tolerated.
    patience: u8,
    empty: u8,
    /// The peer has sent close_notify.
    ended: bool,
    /// The peer waits for our KeyUpdate, which goes before our next data (RFC 8446 §4.6.3).
    owes_key_update: bool,
    /// Here, because they fit between the others.
    pub(super) marks: Marks,
}

/// The result of received bytes.
pub(super) struct Opened {
    /// Bytes of the opened records.
    pub(super) used: usize,
    /// The peer has asked for another handshake and got a warning.
    pub(super) warned: bool,
}

/// The length of the record at the front. None: it has not arrived whole.
pub(super) fn whole_record(bytes: &[u8]) -> Option<usize> {
    let &[_, _, _, high, low, ..] = bytes else { return None };
    let length = HEADER + usize::from(u16::from_be_bytes([high, low]));
    (length <= bytes.len()).then_some(length)
}

impl RecordLayer {
    /// Writes it down for another process.
    pub(super) fn export(&self, record: &mut Writer) {
        for half in [&self.read, &self.write] {
            record.raw(&half.secret.0).u64(half.number);
        }
        record.raw(&self.suite.export()).u8((self.role == Role::Client).into());
        match self.message {
            Message::None => record.u8(0),
            Message::Begun { header, length } => record.u8(1 + length as u8).raw(&header),
            Message::Skipped(left) => record.u8(5).raw(&left),
        };
        record.u8(self.patience).u8(self.empty);
        let flags = [self.ended, self.owes_key_update, self.marks.only_ticket, self.marks.notified];
        flags.into_iter().for_each(|flag| {
            record.u8(flag.into());
        });
    }

    pub(super) fn import(record: &mut Reader<'_>) -> Option<RecordLayer> {
        let mut half = || Some(Half { secret: Secret(record.raw()?), number: record.u64()? });
        let (read, write) = (half()?, half()?);
        let suite = Suite::import(record.raw()?)?;
        let role = if record.u8()? == 0 { Role::Server } else { Role::Client };
        let message = match record.u8()? {
            0 => Message::None,
            1 => Message::Begun { header: record.raw()?, length: Length::One },
            2 => Message::Begun { header: record.raw()?, length: Length::Two },
            3 => Message::Begun { header: record.raw()?, length: Length::Three },
            4 => Message::Begun { header: record.raw()?, length: Length::Four },
            5 => Message::Skipped(record.raw()?),
            _ => return None,
        };
        let (patience, empty) = (record.u8()?, record.u8()?);
        let mut flag = || record.u8().map(|byte| byte != 0);
        let (ended, owes_key_update) = (flag()?, flag()?);
        let marks = Marks { only_ticket: flag()?, notified: flag()? };
        Some(RecordLayer {
            read,
            write,
            suite,
            role,
            message,
            patience,
            empty,
            ended,
            owes_key_update,
            marks,
        })
    }

    /// `client` and `server` are the traffic secrets of TLS 1.3. None: the secrets do not belong together.
    pub(super) fn new(
        role: Role,
        version: ProtocolVersion,
        extracted: &ExtractedSecrets,
        traffic: Option<(&Secret, &Secret)>,
    ) -> Option<RecordLayer> {
        let version = match version {
            ProtocolVersion::TLSv1_3 => Version::Tls13,
            ProtocolVersion::TLSv1_2 => Version::Tls12,
            _ => return None,
        };
        let half = |(number, secrets): &(u64, ConnectionTrafficSecrets), traffic: Option<&Secret>| {
            let (cipher, key, iv) = match secrets {
                ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (Cipher::Aes128Gcm, key, iv),
                ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (Cipher::Aes256Gcm, key, iv),
                ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (Cipher::Chacha20Poly1305, key, iv),
                _ => return None,
            };
            let suite = Suite { cipher, version };
            let keyed = Secret::new(&[key.as_ref(), iv.as_ref()])?;
            let secret = match version {
                Version::Tls12 => keyed,
                Version::Tls13 => {
                    let secret = traffic?;
                    // Whatever rustls did since it told the secret would show here.
                    (suite.key_and_iv(secret)? == keyed).then(|| secret.clone())?
                }
            };
            Some((suite, Half { secret, number: *number }))
        };
        let (client, server) = traffic.unzip();
        let (ours, theirs) = match role {
            Role::Server => (server, client),
            Role::Client => (client, server),
        };
        let (suite, write) = half(&extracted.tx, ours)?;
        let (_, read) = half(&extracted.rx, theirs)?;
        let patience = patience(version);
        Some(RecordLayer {
            read,
            write,
            suite,
            role,
            message: Message::None,
            patience,
            empty: 0,
            ended: false,
            owes_key_update: false,
            marks: Marks::default(),
        })
    }

    pub(super) fn is_server_of_tls13(&self) -> bool {
        self.role == Role::Server && self.suite.version == Version::Tls13
    }

    /// The peer has sent close_notify. Later bytes are ignored (RFC 8446 §6.1).
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Opens the whole records at the front: appends their data to `plain`, and answers to `unsent`. After an error, `unsent` has the alert for the peer.
    pub(super) fn open(
        &mut self,
        bytes: &mut [u8],
        plain: &mut Vec<u8>,
        unsent: &mut Vec<u8>,
        keys: &mut Keys,
    ) -> Result<Opened, Offence> {
        let opened = self.open_records(bytes, plain, unsent, keys);
        if let Err(offence) = &opened
            && let Some(alert) = offence.alert()
        {
            self.seal_record(ALERT, &[FATAL, alert], unsent, keys)?;
        }
        opened
    }

    fn open_records(
        &mut self,
        bytes: &mut [u8],
        plain: &mut Vec<u8>,
        unsent: &mut Vec<u8>,
        keys: &mut Keys,
    ) -> Result<Opened, Offence> {
        let mut opened = Opened { used: 0, warned: false };
        while !self.ended {
            let Some(record) = self.next_record(&mut bytes[opened.used..])? else { return Ok(opened) };
            opened.used += record.len();
            let (kind, content) = self.open_record(record, keys)?;
            if let Some(warning) = self.content(kind, content, plain)? {
                opened.warned = true;
                self.seal_record(ALERT, &[WARNING, warning], unsent, keys)?;
            }
        }
        Ok(Opened { used: bytes.len(), ..opened })
    }

    /// Seals data as few records as possible.
    pub(super) fn seal(
        &mut self,
        plain: &[u8],
        sealed: &mut Vec<u8>,
        keys: &mut Keys,
    ) -> Result<(), Offence> {
        for part in plain.chunks(MOST_PLAIN) {
            let exhausted =
                self.suite.cipher != Cipher::Chacha20Poly1305 && self.write.number >= MOST_RECORDS;
            if exhausted && self.suite.version == Version::Tls12 {
                return Err(Offence::Exhausted);
            }
            if exhausted || self.owes_key_update {
                self.seal_record(HANDSHAKE, &[KEY_UPDATE, 0, 0, 1, 0], sealed, keys)?;
                self.write.update(self.suite)?;
                self.owes_key_update = false;
            }
            self.seal_record(DATA, part, sealed, keys)?;
        }
        Ok(())
    }

    pub(super) fn close(&mut self, sealed: &mut Vec<u8>, keys: &mut Keys) -> Result<(), Offence> {
        self.seal_record(ALERT, &[WARNING, CLOSE_NOTIFY], sealed, keys)
    }

    /// The first record, if all of it has arrived. A bad header is refused as soon as it is there.
    fn next_record<'a>(&self, bytes: &'a mut [u8]) -> Result<Option<&'a mut [u8]>, Offence> {
        let &mut [kind, major, _, high, low, ..] = bytes else { return Ok(None) };
        if major != 3 {
            return Err(Offence::DecodeError);
        }
        let known = match self.suite.version {
            Version::Tls13 => kind == DATA,
            Version::Tls12 => matches!(kind, ALERT | HANDSHAKE | DATA),
        };
        if !known {
            return Err(Offence::UnexpectedMessage);
        }
        let length = usize::from(u16::from_be_bytes([high, low]));
        let most = match self.suite.version {
            Version::Tls13 => MOST_PLAIN + 256,
            Version::Tls12 => MOST_PLAIN + 2048,
        };
        if length > most {
            return Err(Offence::RecordOverflow);
        }
        Ok(bytes.get_mut(..HEADER + length))
    }

    /// Returns type and content.
    fn open_record<'a>(&mut self, record: &'a mut [u8], keys: &mut Keys) -> Result<(u8, &'a [u8]), Offence> {
        let key = keys.of(self.suite, &self.read.secret).ok_or(Offence::Key)?;
        let number = self.read.number;
        let (header, body) = record.split_first_chunk_mut::<HEADER>().ok_or(Offence::DecodeError)?;
        let opened = match self.suite.version {
            Version::Tls13 => open_tls13(key, number, body)?,
            Version::Tls12 => (header[0], open_tls12(self.suite.cipher, key, number, *header, body)?),
        };
        self.read.number = number.checked_add(1).ok_or(Offence::Exhausted)?;
        Ok(opened)
    }

    /// Returns a warning for the peer.
    fn content(&mut self, kind: u8, content: &[u8], plain: &mut Vec<u8>) -> Result<Option<u8>, Offence> {
        if !matches!(self.message, Message::None) && kind != HANDSHAKE {
            return Err(Offence::UnexpectedMessage);
        }
        self.empty = if content.is_empty() { self.empty + 1 } else { 0 };
        if self.empty > MOST_EMPTY {
            return Err(Offence::TooManyEmpty);
        }
        match (kind, content) {
            (DATA, _) => {
                if !content.is_empty() && self.suite.version == Version::Tls13 {
                    self.patience = MOST_KEY_UPDATES;
                }
                plain.extend_from_slice(content);
                Ok(None)
            }
            // RFC 8446 §5.1: only data may be empty.
            (HANDSHAKE | ALERT, []) => Err(Offence::UnexpectedMessage),
            (HANDSHAKE, _) => self.handshake(content),
            (ALERT, &[level, alert]) => self.alert(level, alert).map(|()| None),
            (ALERT, _) => Err(Offence::DecodeError),
            _ => Err(Offence::UnexpectedMessage),
        }
    }

    fn alert(&mut self, level: u8, alert: u8) -> Result<(), Offence> {
        match (self.suite.version, level, alert) {
            (_, WARNING | FATAL, CLOSE_NOTIFY) => {
                self.ended = true;
                Ok(())
            }
            (Version::Tls12, WARNING, _) | (_, WARNING, USER_CANCELED) => {
                self.tolerate(Offence::TooManyWarnings)
            }
            // RFC 8446 §6: version 1.3 has no other warnings.
            (Version::Tls13, WARNING, _) => Err(Offence::DecodeError),
            (_, FATAL, _) => Err(Offence::Alert(alert)),
            _ => Err(Offence::IllegalParameter),
        }
    }

    /// Messages of the handshake protocol, in any division into records.
    fn handshake(&mut self, mut content: &[u8]) -> Result<Option<u8>, Offence> {
        let mut warning = None;
        while let [byte, rest @ ..] = content {
            content = rest;
            match self.message {
                Message::Skipped(left) => {
                    let left = u32::from_be_bytes(left) - 1;
                    let skipped = rest.len().min(left as usize);
                    content = &rest[skipped..];
                    self.message = skip(left - skipped as u32);
                }
                Message::None => {
                    self.message = Message::Begun { header: [*byte, 0, 0, 0], length: Length::One };
                }
                Message::Begun { header, length: Length::Four } => {
                    // Only a KeyUpdate is read further, and nothing may follow in its record (RFC 8446 §5.1).
                    debug_assert_eq!(header[0], KEY_UPDATE);
                    self.message = Message::None;
                    if !content.is_empty() {
                        return Err(Offence::UnexpectedMessage);
                    }
                    self.key_update(*byte)?;
                }
                Message::Begun { header: [kind, first, second, _], length } => {
                    let (header, length) = match length {
                        Length::One => ([kind, *byte, 0, 0], Length::Two),
                        Length::Two => ([kind, first, *byte, 0], Length::Three),
                        Length::Three | Length::Four => ([kind, first, second, *byte], Length::Four),
                    };
                    self.message = Message::Begun { header, length };
                    if length == Length::Four {
                        warning = self.begun(header)?.or(warning);
                    }
                }
            }
        }
        Ok(warning)
    }

    /// The header of a message is complete.
    fn begun(&mut self, header: [u8; 4]) -> Result<Option<u8>, Offence> {
        let [kind, length @ ..] = header;
        let length = u32::from_be_bytes([0, length[0], length[1], length[2]]);
        let mut warning = None;
        match (self.suite.version, self.role, kind) {
            (Version::Tls13, _, KEY_UPDATE) if length == 1 => return Ok(None),
            (Version::Tls13, _, KEY_UPDATE) => return Err(Offence::DecodeError),
            // Tickets are for clients that resume, and ours do not.
            (Version::Tls13, Role::Client, NEW_SESSION_TICKET) => {}
            // RFC 5746 §4.4: a renegotiation is refused by a warning.
            (Version::Tls12, Role::Server, CLIENT_HELLO) | (Version::Tls12, Role::Client, HELLO_REQUEST) => {
                self.tolerate(Offence::TooManyWarnings)?;
                warning = Some(NO_RENEGOTIATION);
            }
            _ => return Err(Offence::UnexpectedMessage),
        }
        if length > LONGEST_SKIPPED {
            return Err(Offence::DecodeError);
        }
        self.message = skip(length);
        Ok(warning)
    }

    fn key_update(&mut self, request: u8) -> Result<(), Offence> {
        self.tolerate(Offence::TooManyKeyUpdates)?;
        match request {
            0 => {}
            1 => self.owes_key_update = true,
            _ => return Err(Offence::IllegalParameter),
        }
        self.read.update(self.suite)
    }

    fn tolerate(&mut self, offence: Offence) -> Result<(), Offence> {
        self.patience = self.patience.checked_sub(1).ok_or(offence)?;
        Ok(())
    }

    pub(super) fn seal_record(
        &mut self,
        kind: u8,
        content: &[u8],
        sealed: &mut Vec<u8>,
        keys: &mut Keys,
    ) -> Result<(), Offence> {
        let key = keys.of(self.suite, &self.write.secret).ok_or(Offence::Key)?;
        let number = self.write.number;
        let next = number.checked_add(1).ok_or(Offence::Exhausted)?;
        match self.suite.version {
            Version::Tls13 => seal_tls13(key, number, kind, content, sealed)?,
            Version::Tls12 => seal_tls12(self.suite.cipher, key, number, kind, content, sealed)?,
        }
        self.write.number = next;
        Ok(())
    }
}

impl Half {
    fn update(&mut self, suite: Suite) -> Result<(), Offence> {
        self.secret = suite.next(&self.secret).ok_or(Offence::Key)?;
        self.number = 0;
        Ok(())
    }
}

fn patience(version: Version) -> u8 {
    match version {
        Version::Tls13 => MOST_KEY_UPDATES,
        Version::Tls12 => MOST_WARNINGS,
    }
}

fn skip(length: u32) -> Message {
    if length == 0 { Message::None } else { Message::Skipped(length.to_be_bytes()) }
}

/// Returns type and content (RFC 8446 §5.2 and §5.4).
fn open_tls13<'a>(key: &Expanded, number: u64, body: &'a mut [u8]) -> Result<(u8, &'a [u8]), Offence> {
    let nonce = Nonce::assume_unique_for_key(key.nonce(number));
    let aad = Aad::from(header(DATA, body.len())?);
    let inner = key.key.open_in_place(nonce, aad, body).map_err(|_| Offence::BadRecordMac)?;
    if inner.len() > MOST_PLAIN + 1 {
        return Err(Offence::RecordOverflow);
    }
    let end = inner.iter().rposition(|byte| *byte != 0).ok_or(Offence::UnexpectedMessage)?;
    Ok((inner[end], &inner[..end]))
}

fn seal_tls13(
    key: &Expanded,
    number: u64,
    kind: u8,
    content: &[u8],
    sealed: &mut Vec<u8>,
) -> Result<(), Offence> {
    let header = header(DATA, content.len() + 1 + TAG)?;
    sealed.extend_from_slice(&header);
    let from = sealed.len();
    sealed.extend_from_slice(content);
    sealed.push(kind);
    let nonce = Nonce::assume_unique_for_key(key.nonce(number));
    let tag = key.key.seal_in_place_separate_tag(nonce, Aad::from(header), &mut sealed[from..]);
    sealed.extend_from_slice(tag.map_err(|_| Offence::Key)?.as_ref());
    Ok(())
}

/// Bytes of a nonce that a record of TLS 1.2 carries (RFC 5288 §3, RFC 7905 §2).
fn explicit(cipher: Cipher) -> usize {
    if cipher == Cipher::Chacha20Poly1305 { 0 } else { 8 }
}

fn open_tls12<'a>(
    cipher: Cipher,
    key: &Expanded,
    number: u64,
    header: [u8; HEADER],
    body: &'a mut [u8],
) -> Result<&'a [u8], Offence> {
    let explicit = explicit(cipher);
    let length = body.len().checked_sub(explicit + TAG).ok_or(Offence::BadRecordMac)?;
    let (carried, body) = body.split_at_mut(explicit);
    let mut nonce = key.nonce(number);
    nonce[12 - explicit..].copy_from_slice(carried);
    let aad = Aad::from(aad_tls12(number, header[0], [header[1], header[2]], length)?);
    let nonce = Nonce::assume_unique_for_key(nonce);
    let content = key.key.open_in_place(nonce, aad, body).map_err(|_| Offence::BadRecordMac)?;
    if content.len() > MOST_PLAIN {
        return Err(Offence::RecordOverflow);
    }
    Ok(content)
}

fn seal_tls12(
    cipher: Cipher,
    key: &Expanded,
    number: u64,
    kind: u8,
    content: &[u8],
    sealed: &mut Vec<u8>,
) -> Result<(), Offence> {
    let explicit = explicit(cipher);
    let nonce = key.nonce(number);
    sealed.extend_from_slice(&header(kind, explicit + content.len() + TAG)?);
    sealed.extend_from_slice(&nonce[12 - explicit..]);
    let from = sealed.len();
    sealed.extend_from_slice(content);
    let aad = Aad::from(aad_tls12(number, kind, [3, 3], content.len())?);
    let nonce = Nonce::assume_unique_for_key(nonce);
    let tag = key.key.seal_in_place_separate_tag(nonce, aad, &mut sealed[from..]);
    sealed.extend_from_slice(tag.map_err(|_| Offence::Key)?.as_ref());
    Ok(())
}

fn header(kind: u8, length: usize) -> Result<[u8; HEADER], Offence> {
    let [high, low] = u16::try_from(length).map_err(|_| Offence::RecordOverflow)?.to_be_bytes();
    Ok([kind, 3, 3, high, low])
}

/// RFC 5246 §6.2.3.3.
fn aad_tls12(number: u64, kind: u8, version: [u8; 2], length: usize) -> Result<[u8; 13], Offence> {
    let mut aad = [0; 13];
    aad[..8].copy_from_slice(&number.to_be_bytes());
    aad[8] = kind;
    aad[9..11].copy_from_slice(&version);
    aad[11..].copy_from_slice(&u16::try_from(length).map_err(|_| Offence::RecordOverflow)?.to_be_bytes());
    Ok(aad)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server and its client, after a handshake that never took place.
    fn pair(suite: Suite) -> (RecordLayer, RecordLayer) {
        let records = |role, write, read| RecordLayer {
            read: Half { secret: Secret([read; 48]), number: 0 },
            write: Half { secret: Secret([write; 48]), number: 0 },
            suite,
            role,
            message: Message::None,
            patience: patience(suite.version),
            empty: 0,
            ended: false,
            owes_key_update: false,
            marks: Marks::default(),
        };
        (records(Role::Server, 1, 2), records(Role::Client, 2, 1))
    }

    const CIPHERS: [Cipher; 3] = [Cipher::Aes128Gcm, Cipher::Aes256Gcm, Cipher::Chacha20Poly1305];

    fn opened(records: &mut RecordLayer, bytes: &[u8], keys: &mut Keys) -> Result<Vec<u8>, Offence> {
        let mut plain = Vec::new();
        records.open(&mut bytes.to_vec(), &mut plain, &mut Vec::new(), keys).map(|_| plain)
    }

    #[test]
    fn a_used_up_key_is_replaced_and_a_record_of_tls12_is_not_sealed() {
        let mut keys = Keys::default();
        for cipher in CIPHERS {
            for version in [Version::Tls13, Version::Tls12] {
                let (mut server, mut client) = pair(Suite { cipher, version });
                (server.write.number, client.read.number) = (MOST_RECORDS - 1, MOST_RECORDS - 1);
                let (mut sealed, limited) = (Vec::new(), cipher != Cipher::Chacha20Poly1305);
                server.seal(b"last ", &mut sealed, &mut keys).unwrap();
                let next = server.seal(b"first", &mut sealed, &mut keys);
                if limited && version == Version::Tls12 {
                    assert_eq!(next, Err(Offence::Exhausted));
                    continue;
                }
                assert_eq!(opened(&mut client, &sealed, &mut keys).unwrap(), b"last first");
                assert_eq!(server.write.number, if limited { 1 } else { MOST_RECORDS + 1 });
                assert_eq!(client.read.number, server.write.number);
            }
        }
    }

    #[test]
    fn a_number_is_never_used_twice() {
        let mut keys = Keys::default();
        let suite = Suite { cipher: Cipher::Chacha20Poly1305, version: Version::Tls13 };
        let (mut server, _) = pair(suite);
        server.write.number = u64::MAX;
        assert_eq!(server.seal(b"x", &mut Vec::new(), &mut keys), Err(Offence::Exhausted));
        assert_eq!(server.close(&mut Vec::new(), &mut keys), Err(Offence::Exhausted));
    }

    /// RFC 8446 §4.6.1: a server may send tickets at any time, in any division into records.
    #[test]
    fn a_client_skips_tickets() {
        let mut keys = Keys::default();
        let (mut server, mut client) = pair(Suite { cipher: Cipher::Aes128Gcm, version: Version::Tls13 });
        let ticket = [&[NEW_SESSION_TICKET, 0, 3, 232][..], &[7; 1_000]].concat();
        let tickets = ticket.repeat(3);
        for size in [1, 3, 500, 1_004, 1_005, 5_000] {
            let mut sealed = Vec::new();
            for part in tickets.chunks(size) {
                server.seal_record(HANDSHAKE, part, &mut sealed, &mut keys).unwrap();
            }
            server.seal(b"data", &mut sealed, &mut keys).unwrap();
            assert_eq!(opened(&mut client, &sealed, &mut keys).unwrap(), b"data", "in {size}s");
        }
        let mut sealed = Vec::new();
        server.seal_record(HANDSHAKE, &ticket[..500], &mut sealed, &mut keys).unwrap();
        server.seal(b"data", &mut sealed, &mut keys).unwrap();
        assert_eq!(opened(&mut client, &sealed, &mut keys), Err(Offence::UnexpectedMessage));
    }

    #[test]
    fn a_ticket_without_end_is_refused() {
        let mut keys = Keys::default();
        let (mut server, mut client) = pair(Suite { cipher: Cipher::Aes128Gcm, version: Version::Tls13 });
        let mut sealed = Vec::new();
        server.seal_record(HANDSHAKE, &[NEW_SESSION_TICKET, 255, 0, 0], &mut sealed, &mut keys).unwrap();
        assert_eq!(opened(&mut client, &sealed, &mut keys), Err(Offence::DecodeError));
    }

    #[test]
    fn the_end_of_a_peer_ends_only_its_direction() {
        let mut keys = Keys::default();
        for version in [Version::Tls12, Version::Tls13] {
            let (mut server, mut client) = pair(Suite { cipher: Cipher::Aes256Gcm, version });
            let mut sealed = Vec::new();
            client.close(&mut sealed, &mut keys).unwrap();
            sealed.extend_from_slice(b"anything");
            assert_eq!(opened(&mut server, &sealed, &mut keys).unwrap(), b"");
            assert!(server.has_ended());
            let mut sealed = Vec::new();
            server.seal(b"still", &mut sealed, &mut keys).unwrap();
            assert_eq!(opened(&mut client, &sealed, &mut keys).unwrap(), b"still");
        }
    }
}
