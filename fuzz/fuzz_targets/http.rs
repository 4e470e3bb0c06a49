//! Request heads: any bytes, in any pieces, give one request or a refusal.
#![no_main]

use http_proto::head::{Framing, NO_FIELDS, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let mut fields = NO_FIELDS;
    let Ok(Some(head)) = parse(input, &mut fields) else { return };
    assert!(head.bytes <= input.len());
    assert!(head.path.starts_with('/') || head.path == "*");
    let name = |name: &str| head.fields.iter().filter(|field| field.name.eq_ignore_ascii_case(name)).count();
    // A request with both kinds of length, or with two of one kind, would allow request smuggling (RFC 9112 §11.2).
    assert!(name("content-length") + name("transfer-encoding") <= 1);
    assert!(name("host") <= 1);
    if name("content-length") == 0 {
        assert!(head.framing == Framing::Chunked || head.framing == Framing::Length(0));
    }
    // Bytes after the head do not change the head, and no shorter part of it is a head.
    let same = |one: &[u8]| {
        let mut fields = NO_FIELDS;
        parse(one, &mut fields).ok().flatten().map(|again| (again.bytes, again.path.to_owned(), again.framing))
    };
    let expected = Some((head.bytes, head.path.to_owned(), head.framing));
    assert_eq!(same(&input[..head.bytes]), expected);
    assert_eq!(same(&[&input[..head.bytes], b"\r\nGET / HTTP/1.1\r\n\r\n"].concat()), expected);
    assert_eq!(same(&input[..head.bytes - 1]), None);
});
