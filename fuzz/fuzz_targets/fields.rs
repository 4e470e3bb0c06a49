//! Parsed header fields: a range stays within its file, and only addresses from our own proxies are trusted.
#![no_main]

use std::sync::LazyLock;

use http_proto::head::{NO_FIELDS, parse};
use http_proto::proxies::TrustedProxies;
use libfuzzer_sys::fuzz_target;
use web::fuzz::{Range, range_of};

static OURS: LazyLock<TrustedProxies> =
    LazyLock::new(|| "10.0.0.0/8, ::1".parse().expect("addresses and networks"));

fuzz_target!(|input: &[u8]| {
    let mut room = NO_FIELDS;
    let Ok(Some(head)) = parse(input, &mut room) else { return };
    for field in head.fields.iter().filter(|field| field.name.eq_ignore_ascii_case("range")) {
        for length in [0, 1, 1000] {
            if let Range::Part(first, last) = range_of(field.value, length) {
                assert!(first <= last && last < length);
            }
        }
    }
    let lists = || head.fields.iter().filter(|field| field.name.eq_ignore_ascii_case("x-forwarded-for"));
    let found = OURS.client(&head);
    assert!(found.is_none() || lists().count() > 0);
    // Entries before the client's address must not change the address that is found.
    let forged = [b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.9.9.9, junk, 192.0.2.9\r\n".as_slice()];
    let mut request = forged.concat();
    for field in lists() {
        request.extend_from_slice(b"X-Forwarded-For: ");
        request.extend_from_slice(field.value);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    let mut room = NO_FIELDS;
    if let (Some(found), Ok(Some(again))) = (found, parse(&request, &mut room)) {
        let is_ours = |address: std::net::IpAddr| {
            let address = address.to_canonical();
            address == std::net::Ipv6Addr::LOCALHOST
                || matches!(address, std::net::IpAddr::V4(v4) if v4.octets()[0] == 10)
        };
        // If all real entries are our own proxies, the search continues with the forged ones.
        assert!(is_ours(found) || OURS.client(&again) == Some(found));
    }
});
