//! A STUN and TURN client for tests and load plans: requests with credentials, and their answers.

use std::net::SocketAddr;

use crate::Key;
use crate::stun::{Class, Message, Transaction, Writer, attribute, method};

/// One client with its credentials. It opens no socket: it returns requests as bytes and takes answers.
#[derive(Debug, Clone)]
pub struct Caller {
    name: String,
    password: String,
    realm: Vec<u8>,
    nonce: Vec<u8>,
    key: Option<Key>,
    transactions: u64,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// A success; for an allocation with both addresses.
    Success {
        relayed: Option<SocketAddr>,
        mapped: Option<SocketAddr>,
        lifetime: Option<u32>,
    },
    /// Repeat the request: the server required credentials or a newer nonce, which the client has now.
    Again,
    Refused(u16),
}

/// The transport of a relay: UDP.
const TRANSPORT_UDP: u32 = 17 << 24;

impl Caller {
    /// `first` distinguishes its transactions from those of others.
    pub fn new(name: &str, password: &str, first: u64) -> Caller {
        Caller {
            name: name.to_owned(),
            password: password.to_owned(),
            realm: Vec::new(),
            nonce: Vec::new(),
            key: None,
            transactions: first,
        }
    }

    /// A request with the attributes of `attributes`, and credentials once it has a nonce.
    pub fn request(&mut self, method: u16, attributes: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        self.transactions += 1;
        let mut transaction: Transaction = [0; 12];
        transaction[4..].copy_from_slice(&self.transactions.to_be_bytes());
        let mut bytes = Vec::with_capacity(160);
        let mut message = Writer::begin(&mut bytes, Class::Request, method, transaction);
        attributes(&mut message);
        if let Some(key) = &self.key {
            message
                .bytes(attribute::USERNAME, self.name.as_bytes())
                .bytes(attribute::REALM, &self.realm)
                .bytes(attribute::NONCE, &self.nonce)
                .integrity(&key.hmac());
        }
        bytes
    }

    /// Requests a relay over UDP, with `ipv6` of that family.
    pub fn allocate(&mut self, ipv6: bool) -> Vec<u8> {
        self.request(method::ALLOCATE, |message| {
            message.u32(attribute::REQUESTED_TRANSPORT, TRANSPORT_UDP);
            if ipv6 {
                message.u32(attribute::REQUESTED_ADDRESS_FAMILY, 2 << 24);
            }
        })
    }

    pub fn refresh(&mut self, lifetime: u32) -> Vec<u8> {
        self.request(method::REFRESH, |message| {
            message.u32(attribute::LIFETIME, lifetime);
        })
    }

    pub fn permit(&mut self, peers: &[SocketAddr]) -> Vec<u8> {
        self.request(method::CREATE_PERMISSION, |message| {
            for peer in peers {
                message.address(attribute::XOR_PEER_ADDRESS, *peer);
            }
        })
    }

    pub fn bind(&mut self, channel: u16, peer: SocketAddr) -> Vec<u8> {
        self.request(method::CHANNEL_BIND, |message| {
            message
                .u32(attribute::CHANNEL_NUMBER, u32::from(channel) << 16)
                .address(attribute::XOR_PEER_ADDRESS, peer);
        })
    }

    /// Data without a channel.
    pub fn send(&mut self, peer: SocketAddr, data: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        Writer::begin(&mut bytes, Class::Indication, method::SEND, [7; 12])
            .address(attribute::XOR_PEER_ADDRESS, peer)
            .bytes(attribute::DATA, data);
        bytes
    }

    /// Parses an answer. None: the bytes are not an answer.
    pub fn hear(&mut self, bytes: &[u8]) -> Option<Heard> {
        let message = Message::parse(bytes).ok()?;
        match message.class() {
            Class::Success => Some(Heard::Success {
                relayed: message.address(attribute::XOR_RELAYED_ADDRESS),
                mapped: message.address(attribute::XOR_MAPPED_ADDRESS),
                lifetime: message.u32(attribute::LIFETIME),
            }),
            Class::Error => {
                let code = message.error_code()?;
                let nonce = message.attribute(attribute::NONCE).filter(|_| self.key.is_none() || code == 438);
                let (Some(realm), Some(nonce)) = (message.attribute(attribute::REALM), nonce) else {
                    return Some(Heard::Refused(code));
                };
                self.key = Some(Key::new(self.name.as_bytes(), realm, self.password.as_bytes()));
                (self.realm, self.nonce) = (realm.to_vec(), nonce.to_vec());
                Some(Heard::Again)
            }
            Class::Request | Class::Indication => None,
        }
    }

    /// The key of its requests, once the server has required one.
    pub fn key(&self) -> Option<Key> {
        self.key
    }
}

/// A ChannelData message over UDP.
pub fn channel_data(channel: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = channel.to_be_bytes().to_vec();
    bytes.extend_from_slice(&(data.len() as u16).to_be_bytes());
    bytes.extend_from_slice(data);
    bytes
}
