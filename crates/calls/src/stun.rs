//! STUN messages (RFC 8489 §5) with the attributes of TURN (RFC 8656 §18): read in place, written into a buffer.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ring::hmac;

/// RFC 8489 §5.
pub const HEADER: usize = 20;
const COOKIE: [u8; 4] = [0x21, 0x12, 0xa4, 0x42];
/// RFC 8489 §14.7.
const FINGERPRINT_XOR: u32 = 0x5354_554e;
/// An HMAC-SHA1 (RFC 8489 §14.5).
const INTEGRITY: usize = 20;

/// The id of a transaction.
pub type Transaction = [u8; 12];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Request,
    Indication,
    Success,
    Error,
}

/// RFC 8489 §18.2 and RFC 8656 §17.
pub mod method {
    pub const BINDING: u16 = 0x001;
    pub const ALLOCATE: u16 = 0x003;
    pub const REFRESH: u16 = 0x004;
    pub const SEND: u16 = 0x006;
    pub const DATA: u16 = 0x007;
    pub const CREATE_PERMISSION: u16 = 0x008;
    pub const CHANNEL_BIND: u16 = 0x009;
}

/// RFC 8489 §18.3 and RFC 8656 §18.
pub mod attribute {
    pub const USERNAME: u16 = 0x0006;
    pub const MESSAGE_INTEGRITY: u16 = 0x0008;
    pub const ERROR_CODE: u16 = 0x0009;
    pub const UNKNOWN_ATTRIBUTES: u16 = 0x000a;
    pub const CHANNEL_NUMBER: u16 = 0x000c;
    pub const LIFETIME: u16 = 0x000d;
    pub const XOR_PEER_ADDRESS: u16 = 0x0012;
    pub const DATA: u16 = 0x0013;
    pub const REALM: u16 = 0x0014;
    pub const NONCE: u16 = 0x0015;
    pub const XOR_RELAYED_ADDRESS: u16 = 0x0016;
    pub const REQUESTED_ADDRESS_FAMILY: u16 = 0x0017;
    pub const EVEN_PORT: u16 = 0x0018;
    pub const REQUESTED_TRANSPORT: u16 = 0x0019;
    pub const MESSAGE_INTEGRITY_SHA256: u16 = 0x001c;
    pub const XOR_MAPPED_ADDRESS: u16 = 0x0020;
    pub const RESERVATION_TOKEN: u16 = 0x0022;
    pub const ADDITIONAL_ADDRESS_FAMILY: u16 = 0x8000;
    /// COMPAT(coturn 4.6, 2026): the number in drafts, which Debian's turnutils_uclient uses.
    pub const ADDITIONAL_ADDRESS_FAMILY_DRAFT: u16 = 0x8032;
    pub const ADDRESS_ERROR_CODE: u16 = 0x8001;
    pub const SOFTWARE: u16 = 0x8022;
    pub const FINGERPRINT: u16 = 0x8028;
}

/// Unknown attributes from here on may be ignored (RFC 8489 §14).
const OPTIONAL: u16 = 0x8000;

/// A well-formed message: header, attributes within its length, and a valid fingerprint if it has one.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    bytes: &'a [u8],
    /// End of the valid attributes (RFC 8489 §14.5: behind the integrity only the fingerprint).
    end: usize,
    /// Start of the integrity attribute.
    integrity: Option<usize>,
    has_fingerprint: bool,
}

/// Not STUN, or malformed by RFC 8489 §6.3: it gets no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotStun;

impl<'a> Message<'a> {
    /// `bytes` must be exactly one message.
    pub fn parse(bytes: &'a [u8]) -> Result<Message<'a>, NotStun> {
        let (Some(kind), Some(length), Some(cookie)) = (u16_at(bytes, 0), u16_at(bytes, 2), bytes.get(4..8))
        else {
            return Err(NotStun);
        };
        let length = usize::from(length);
        if kind & 0xc000 != 0 || cookie != COOKIE || length % 4 != 0 || bytes.len() != HEADER + length {
            return Err(NotStun);
        }
        let mut message = Message { bytes, end: bytes.len(), integrity: None, has_fingerprint: false };
        let mut at = HEADER;
        while at < bytes.len() {
            let (kind, value) = attribute_at(bytes, at).ok_or(NotStun)?;
            let next = at + 4 + padded(value.len());
            match kind {
                attribute::FINGERPRINT => {
                    if next != bytes.len() || value != fingerprint(&bytes[..at]).to_be_bytes() {
                        return Err(NotStun);
                    }
                    message.end = message.end.min(at);
                    message.has_fingerprint = true;
                }
                attribute::MESSAGE_INTEGRITY if message.integrity.is_none() => {
                    if value.len() != INTEGRITY {
                        return Err(NotStun);
                    }
                    message.integrity = Some(at);
                    message.end = message.end.min(at);
                }
                attribute::MESSAGE_INTEGRITY_SHA256 => message.end = message.end.min(at),
                _ => {}
            }
            at = next;
        }
        Ok(message)
    }

    pub fn class(&self) -> Class {
        match (self.bytes[0] & 1, self.bytes[1] & 0x10) {
            (0, 0) => Class::Request,
            (0, _) => Class::Indication,
            (_, 0) => Class::Success,
            (_, _) => Class::Error,
        }
    }

    /// Its bits are interleaved with those of the class (RFC 8489 §5, figure 3).
    pub fn method(&self) -> u16 {
        let kind = u16::from_be_bytes([self.bytes[0], self.bytes[1]]);
        kind & 0x000f | kind >> 1 & 0x0070 | kind >> 2 & 0x0f80
    }

    pub fn transaction(&self) -> Transaction {
        let mut transaction = [0; 12];
        transaction.copy_from_slice(&self.bytes[8..HEADER]);
        transaction
    }

    pub fn has_fingerprint(&self) -> bool {
        self.has_fingerprint
    }

    pub fn has_integrity(&self) -> bool {
        self.integrity.is_some()
    }

    /// Whether it has a valid integrity for this key. `scratch` is overwritten.
    pub fn is_signed_with(&self, key: &hmac::Key, scratch: &mut Vec<u8>) -> bool {
        let Some(at) = self.integrity else { return false };
        // RFC 8489 §14.5: over all bytes before it, with the length as if the message ended with it.
        scratch.clear();
        scratch.extend_from_slice(&self.bytes[..at]);
        scratch[2..4].copy_from_slice(&length_field(at + 4 + INTEGRITY));
        let tag = &self.bytes[at + 4..at + 4 + INTEGRITY];
        hmac::verify(key, scratch, tag).is_ok()
    }

    /// The valid attributes, in order.
    pub fn attributes(&self) -> impl Iterator<Item = (u16, &'a [u8])> + use<'a> {
        let (bytes, end) = (self.bytes, self.end);
        let mut at = HEADER;
        std::iter::from_fn(move || {
            let (kind, value) = attribute_at(bytes, at).filter(|_| at < end)?;
            at += 4 + padded(value.len());
            Some((kind, value))
        })
    }

    /// The first of its kind; further ones are ignored (RFC 8489 §14).
    pub fn attribute(&self, kind: u16) -> Option<&'a [u8]> {
        self.attributes().find(|(found, _)| *found == kind).map(|(_, value)| value)
    }

    pub fn u32(&self, kind: u16) -> Option<u32> {
        Some(u32::from_be_bytes(self.attribute(kind)?.try_into().ok()?))
    }

    pub fn text(&self, kind: u16) -> Option<&'a str> {
        std::str::from_utf8(self.attribute(kind)?).ok()
    }

    pub fn address(&self, kind: u16) -> Option<SocketAddr> {
        self.attribute(kind).and_then(|value| self.unmask(value))
    }

    /// An address of RFC 8489 §14.2, from the value of its attribute.
    pub fn unmask(&self, value: &[u8]) -> Option<SocketAddr> {
        let port = u16_at(value, 2)? ^ 0x2112;
        let masked = value.get(4..)?;
        // The cookie and the transaction follow each other in the header, as in the mask.
        let unmasked = |index: usize| masked[index] ^ self.bytes[4 + index];
        let ip = match (value[1], masked.len()) {
            (1, 4) => IpAddr::V4(Ipv4Addr::from(std::array::from_fn(unmasked))),
            (2, 16) => IpAddr::V6(Ipv6Addr::from(std::array::from_fn::<u8, 16, _>(unmasked))),
            _ => return None,
        };
        Some(SocketAddr::new(ip, port))
    }

    /// The code of an error (RFC 8489 §14.8).
    pub fn error_code(&self) -> Option<u16> {
        let value = self.attribute(attribute::ERROR_CODE)?;
        Some(u16::from(*value.get(2)? & 7) * 100 + u16::from(*value.get(3)?))
    }

    /// Attributes outside `known` that require comprehension.
    pub fn unknown<'k>(&self, known: &'k [u16]) -> impl Iterator<Item = u16> + use<'a, 'k> {
        self.attributes().map(|(kind, _)| kind).filter(|kind| *kind < OPTIONAL && !known.contains(kind))
    }
}

/// Appends a message to `buffer`: attributes in any order, then the integrity, then the fingerprint.
#[derive(Debug)]
pub struct Writer<'b> {
    buffer: &'b mut Vec<u8>,
    start: usize,
}

impl<'b> Writer<'b> {
    pub fn begin(buffer: &'b mut Vec<u8>, class: Class, method: u16, transaction: Transaction) -> Writer<'b> {
        let start = buffer.len();
        let class: u16 = match class {
            Class::Request => 0,
            Class::Indication => 0x010,
            Class::Success => 0x100,
            Class::Error => 0x110,
        };
        let kind = class | method & 0x000f | (method & 0x0070) << 1 | (method & 0x0f80) << 2;
        buffer.extend_from_slice(&kind.to_be_bytes());
        buffer.extend_from_slice(&[0; 2]);
        buffer.extend_from_slice(&COOKIE);
        buffer.extend_from_slice(&transaction);
        Writer { buffer, start }
    }

    /// Continues the single message in the buffer.
    pub(crate) fn resume(buffer: &'b mut Vec<u8>) -> Writer<'b> {
        Writer { buffer, start: 0 }
    }

    pub fn bytes(&mut self, kind: u16, value: &[u8]) -> &mut Self {
        self.buffer.extend_from_slice(&kind.to_be_bytes());
        self.buffer.extend_from_slice(&(value.len() as u16).to_be_bytes());
        self.buffer.extend_from_slice(value);
        self.buffer.resize(self.buffer.len() + padded(value.len()) - value.len(), 0);
        let length = length_field(self.buffer.len() - self.start);
        self.buffer[self.start + 2..self.start + 4].copy_from_slice(&length);
        self
    }

    pub fn u32(&mut self, kind: u16, value: u32) -> &mut Self {
        self.bytes(kind, &value.to_be_bytes())
    }

    pub fn address(&mut self, kind: u16, address: SocketAddr) -> &mut Self {
        let mut value = [0; 20];
        let length = mask(address, &self.buffer[self.start + 4..self.start + HEADER], &mut value);
        self.bytes(kind, &value[..length])
    }

    /// RFC 8489 §14.8.
    pub fn error(&mut self, code: u16, reason: &str) -> &mut Self {
        self.coded(attribute::ERROR_CODE, 0, code, reason)
    }

    /// RFC 8656 §18.12. `family` as RFC 8489 §14.1 numbers it.
    pub fn address_error(&mut self, family: u8, code: u16, reason: &str) -> &mut Self {
        self.coded(attribute::ADDRESS_ERROR_CODE, family, code, reason)
    }

    fn coded(&mut self, kind: u16, first: u8, code: u16, reason: &str) -> &mut Self {
        let mut value = [0; 4 + 64];
        let reason = &reason.as_bytes()[..reason.len().min(64)];
        value[..4].copy_from_slice(&[first, 0, (code / 100) as u8, (code % 100) as u8]);
        value[4..4 + reason.len()].copy_from_slice(reason);
        self.bytes(kind, &value[..4 + reason.len()])
    }

    /// RFC 8489 §14.5.
    pub fn integrity(&mut self, key: &hmac::Key) -> &mut Self {
        let end = self.buffer.len() - self.start;
        let length = length_field(end + 4 + INTEGRITY);
        self.buffer[self.start + 2..self.start + 4].copy_from_slice(&length);
        let tag = hmac::sign(key, &self.buffer[self.start..]);
        self.bytes(attribute::MESSAGE_INTEGRITY, tag.as_ref())
    }

    /// RFC 8489 §14.7.
    pub fn fingerprint(&mut self) -> &mut Self {
        let sum = fingerprint(&self.buffer[self.start..]);
        self.u32(attribute::FINGERPRINT, sum)
    }
}

/// Space that [`data_indication`] needs in front of the data.
pub(crate) const DATA_INDICATION: usize = HEADER + 4 + 20 + 4;

/// Writes the header of a Data indication (RFC 8656 §11.4) for `length` bytes from `peer` at the end of `room`, so that the data is not
/// moved. Returns its length. Indications get no answer, so their transaction has no meaning.
pub(crate) fn data_indication(peer: SocketAddr, length: usize, room: &mut [u8; DATA_INDICATION]) -> usize {
    let address = if peer.is_ipv4() { 8 } else { 20 };
    let head = HEADER + 4 + address + 4;
    let out = &mut room[DATA_INDICATION - head..];
    out[..2].copy_from_slice(&[0x00, 0x17]);
    out[2..4].copy_from_slice(&length_field(head + padded(length)));
    out[4..8].copy_from_slice(&COOKIE);
    out[8..HEADER].fill(0);
    let (header, rest) = out.split_at_mut(HEADER);
    rest[..2].copy_from_slice(&attribute::XOR_PEER_ADDRESS.to_be_bytes());
    rest[2..4].copy_from_slice(&(address as u16).to_be_bytes());
    mask(peer, &header[4..], &mut rest[4..4 + address]);
    rest[4 + address..6 + address].copy_from_slice(&attribute::DATA.to_be_bytes());
    rest[6 + address..8 + address].copy_from_slice(&(length as u16).to_be_bytes());
    head
}

/// RFC 8489 §14.2. `with`: cookie and transaction. Returns the length.
fn mask(address: SocketAddr, with: &[u8], value: &mut [u8]) -> usize {
    let port = (address.port() ^ 0x2112).to_be_bytes();
    let mut put = |family: u8, octets: &[u8]| {
        value[..4].copy_from_slice(&[0, family, port[0], port[1]]);
        for (index, octet) in octets.iter().enumerate() {
            value[4 + index] = octet ^ with[index];
        }
        4 + octets.len()
    };
    match address.ip() {
        IpAddr::V4(ip) => put(1, &ip.octets()),
        IpAddr::V6(ip) => put(2, &ip.octets()),
    }
}

/// Over all bytes before it; the length in the header includes it already (RFC 8489 §14.7).
fn fingerprint(before: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&before[..2]);
    sum.update(&length_field(before.len() + 8));
    sum.update(&before[4..]);
    sum.finalize() ^ FINGERPRINT_XOR
}

/// The length field of a message with this many bytes.
fn length_field(bytes: usize) -> [u8; 2] {
    ((bytes - HEADER) as u16).to_be_bytes()
}

/// Attributes are padded to whole words (RFC 8489 §14).
pub(crate) fn padded(length: usize) -> usize {
    length.next_multiple_of(4)
}

/// None if it does not end within the message.
fn attribute_at(bytes: &[u8], at: usize) -> Option<(u16, &[u8])> {
    let (kind, length) = (u16_at(bytes, at)?, usize::from(u16_at(bytes, at + 2)?));
    let value = bytes.get(at + 4..at + 4 + length)?;
    (at + 4 + padded(length) <= bytes.len()).then_some((kind, value))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}
