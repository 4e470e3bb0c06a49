//! The sample messages of RFC 5769: what others write is read, and what we write is what they read.

#![allow(clippy::unwrap_used)] // a test may panic

use calls::Key;
use calls::stun::{Class, Message, Writer, attribute, method};
use ring::hmac;

/// RFC 5769 §2.1: a request with a short-term credential.
const REQUEST: &str = "000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69656e74002400046e0001ff\
    80290008932ff9b151263b36000600096576746a3a68367659202020000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a280280004e57a3bcf";

/// §2.2: the answer, over IPv4.
const ANSWER: &str = "0101003c2112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000080001a147e112a643\
    000800142b91f599fd9e90c38c7489f92af9ba53f06be7d780280004c07d4c96";

/// §2.3: the answer, over IPv6.
const ANSWER_V6: &str = "010100482112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000140002a147\
    0113a9faa5d3f179bc25f4b5bed2b9d900080014a382954e4be67bf11784c97c8292c275bfe3ed4180280004c8fb0b4c";

/// §2.4: a request with a long-term credential.
const LONG_TERM: &str = "000100602112a44278ad3433c6ad72c029da412e00060012e3839ee38388e383aae38383e382afe382b90000\
    0015001c662f2f3439396b39353464364f4c33346f4c394653547679363473410014000b6578616d706c652e6f72670000080014\
    f67024656dd64a3e02b8e0712e85c9a28ca89666";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// §2.1 to §2.3: `VOkJxbRl1RmTxUk/WvJxBt`.
fn short_term() -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, b"VOkJxbRl1RmTxUk/WvJxBt")
}

#[test]
fn the_request_is_read() {
    let bytes = bytes(REQUEST);
    let message = Message::parse(&bytes).expect("it is whole");
    assert_eq!((message.class(), message.method()), (Class::Request, method::BINDING));
    assert_eq!(
        message.transaction(),
        [0xb7, 0xe7, 0xa7, 0x01, 0xbc, 0x34, 0xd6, 0x86, 0xfa, 0x87, 0xdf, 0xae]
    );
    assert_eq!(message.text(attribute::SOFTWARE), Some("STUN test client"));
    assert_eq!(message.text(attribute::USERNAME), Some("evtj:h6vY"));
    assert!(message.has_fingerprint() && message.is_signed_with(&short_term(), &mut Vec::new()));
}

#[test]
fn the_answers_contain_the_address() {
    for (hex, expected) in
        [(ANSWER, "192.0.2.1:32853"), (ANSWER_V6, "[2001:db8:1234:5678:11:2233:4455:6677]:32853")]
    {
        let bytes = bytes(hex);
        let message = Message::parse(&bytes).expect("it is whole");
        assert_eq!(message.class(), Class::Success);
        assert_eq!(message.address(attribute::XOR_MAPPED_ADDRESS), Some(expected.parse().unwrap()));
        assert_eq!(message.text(attribute::SOFTWARE), Some("test vector"));
        assert!(message.has_fingerprint() && message.is_signed_with(&short_term(), &mut Vec::new()));
    }
}

#[test]
fn the_long_term_request_is_signed_with_its_key() {
    let bytes = bytes(LONG_TERM);
    let message = Message::parse(&bytes).expect("it is whole");
    let name = message.text(attribute::USERNAME).expect("it has one");
    assert_eq!(name, "マトリックス");
    let realm = message.attribute(attribute::REALM).expect("it has one");
    // The password before SASLprep has a soft hyphen and a Roman numeral; prepared it is this.
    let key = Key::new(name.as_bytes(), realm, b"TheMatrIX");
    assert!(message.is_signed_with(&key.hmac(), &mut Vec::new()));
    assert!(!message.is_signed_with(&Key::new(name.as_bytes(), realm, b"TheMatrix").hmac(), &mut Vec::new()));
}

#[test]
fn a_changed_message_is_rejected() {
    let whole = bytes(REQUEST);
    for index in 0..whole.len() {
        let mut changed = whole.clone();
        changed[index] ^= 1;
        let taken = Message::parse(&changed).is_ok_and(|message| {
            message.has_fingerprint() && message.is_signed_with(&short_term(), &mut Vec::new())
        });
        assert!(!taken, "changed at {index}");
    }
}

/// Our padding is zeros where the sample has spaces and letters, so the bytes differ there and in what is computed of them.
#[test]
fn our_message_equals_the_specifications_except_for_padding() {
    for (hex, address) in
        [(ANSWER, "192.0.2.1:32853"), (ANSWER_V6, "[2001:db8:1234:5678:11:2233:4455:6677]:32853")]
    {
        let sample = bytes(hex);
        let message = Message::parse(&sample).expect("it is whole");
        let mut ours = Vec::new();
        Writer::begin(&mut ours, Class::Success, method::BINDING, message.transaction())
            .bytes(attribute::SOFTWARE, b"test vector")
            .address(attribute::XOR_MAPPED_ADDRESS, address.parse().unwrap())
            .integrity(&short_term())
            .fingerprint();
        let mut without_padding = sample.clone();
        without_padding[20 + 4 + 11] = 0;
        let computed = sample.len() - 24 - 8;
        assert_eq!(ours[..computed], without_padding[..computed]);
        assert_eq!(ours.len(), sample.len());
        let again = Message::parse(&ours).expect("it is whole");
        assert!(again.has_fingerprint() && again.is_signed_with(&short_term(), &mut Vec::new()));
    }
}
