//! Decides which addresses belong to the public network. Every address that a stranger's name resolves to passes this
//! check.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address belongs to the public network, so that no host of our own can be reached by it. Follows IANA's
/// registries of special addresses (RFC 6890 and its updates). An address that is not clearly public counts as private.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match a {
        0 | 10 | 127 => true,
        100 => (64..128).contains(&b), // shared with customers, RFC 6598
        169 => b == 254,               // link-local, where clouds keep their secrets
        172 => (16..32).contains(&b),
        192 => matches!((b, c), (168, _) | (0, 0) | (0, 2) | (88, 99)),
        198 => matches!((b, c), (18 | 19, _) | (51, 100)),
        203 => (b, c) == (0, 113),
        224.. => true, // multicast, reserved, broadcast
        _ => false,
    };
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // Only global unicast is public. This excludes mapped and translated IPv4 (RFC 4291 §2.5.5, RFC 6052), loopback,
    // local addresses and multicast.
    let [first, second, ..] = address.segments();
    let is_global = first & 0xe000 == 0x2000;
    let special = match first {
        0x2001 => second < 0x0200 || second == 0x0db8, // RFC 2928: Teredo, ORCHID and others; documentation
        0x2002 => true,                                // 6to4 has any IPv4 address in it
        0x3fff => second < 0x1000,                     // documentation, RFC 9637
        _ => false,
    };
    is_global && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_and_reserved_addresses_are_not_public() {
        let table = [
            ("8.8.8.8", true),
            ("142.250.74.10", true),
            ("100.63.0.1", true),
            ("172.32.0.1", true),
            ("192.0.1.1", true),
            ("198.20.0.1", true),
            ("223.255.255.255", true),
            ("2a00:1450:4001:80e::200a", true),
            ("2606:4700::1111", true),
            ("2001:4860:4860::8888", true),
            ("0.0.0.0", false),
            ("10.1.2.3", false),
            ("100.64.0.1", false),
            ("100.127.255.255", false),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("169.254.169.254", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.0.0.1", false),
            ("192.0.2.1", false),
            ("192.88.99.1", false),
            ("192.168.1.1", false),
            ("198.18.0.1", false),
            ("198.51.100.7", false),
            ("203.0.113.7", false),
            ("224.0.0.1", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:8.8.8.8", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b:1::1", false),
            ("100::1", false),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("2002:7f00:1::", false),
            ("3fff::1", false),
            ("fc00::1", false),
            ("fd12::1", false),
            ("fe80::1", false),
            ("ff02::1", false),
        ];
        for (address, expected) in table {
            assert_eq!(is_public(address.parse().expect(address)), expected, "{address}");
        }
    }
}
