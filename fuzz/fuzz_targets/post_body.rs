//! Request bodies: the same bytes whole and in pieces give the same body, never more than the limit.
#![no_main]

use http_proto::body::Reader;
use http_proto::head::Framing;
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 1000;

fuzz_target!(|input: &[u8]| {
    let [first, piece, rest @ ..] = input else { return };
    let framing = if first % 2 == 0 { Framing::Chunked } else { Framing::Length(u64::from(*first) * 5) };
    let whole = read(framing, rest, rest.len().max(1));
    let pieces = read(framing, rest, usize::from(*piece % 7) + 1);
    assert_eq!(whole, pieces);
});

/// The body, the number of used bytes and whether the body ended. None after a protocol error.
fn read(framing: Framing, input: &[u8], piece: usize) -> Option<(Vec<u8>, usize, bool)> {
    let mut reader = Reader::new(framing, LIMIT).ok()?;
    let (mut body, mut used, mut there) = (Vec::new(), 0, 0);
    while there < input.len() && !reader.is_done() {
        there = (there + piece).min(input.len());
        // Pass unused bytes again until the reader consumes no more, as a worker does.
        loop {
            let step = reader.read(&input[used..there], &mut body).ok()?;
            assert!(body.len() <= LIMIT);
            used += step;
            if step == 0 || used == there {
                break;
            }
        }
    }
    Some((body, used, reader.is_done()))
}
