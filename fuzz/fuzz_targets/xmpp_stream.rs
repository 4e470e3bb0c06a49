//! XMPP streams: any bytes, in any pieces, give the same items or the same error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xmpp_proto::stream::StreamCondition;
use xmpp_proto::xml::{Item, Limits, Reader};

const LIMITS: Limits = Limits { stanza_bytes: 2000, depth: 8, attributes: 8, name_bytes: 40 };
const HEADER: &[u8] =
    b"<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>";

// The first byte says whether a header comes first, and how long the pieces are.
fuzz_target!(|input: &[u8]| {
    let [first, bytes @ ..] = input else { return };
    let bytes = if first % 2 == 0 { [HEADER, bytes].concat() } else { bytes.to_vec() };
    let whole = items([&bytes[..]].into_iter());
    assert_eq!(items(bytes.chunks(1 + usize::from(first / 2))), whole);
    assert_eq!(items(bytes.chunks(1)), whole);
});

/// The items before the first error, and the error.
fn items<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Item>, Option<StreamCondition>) {
    let mut reader = Reader::new();
    let mut items = Vec::new();
    for mut rest in pieces {
        loop {
            let (used, item) = match reader.read(rest, &LIMITS) {
                Ok(read) => read,
                Err(error) => return (items, Some(error.condition)),
            };
            rest = &rest[used..];
            let Some(item) = item else { break assert!(rest.is_empty()) };
            items.push(item);
        }
    }
    (items, None)
}
