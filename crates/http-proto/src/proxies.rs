//! The client's address behind trusted proxies.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use crate::head::Head;

/// Addresses and networks of trusted proxies, as in `127.0.0.1, 10.0.0.0/8`. Their `X-Forwarded-For` counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<Network>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Network {
    /// Maps IPv4 to IPv6 (RFC 4291 §2.5.5.2), so that all addresses compare in one way.
    first: u128,
    bits: u32,
    text: Box<str>,
}

impl TrustedProxies {
    pub fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contain(&self, address: IpAddr) -> bool {
        let address = mapped(address);
        self.0.iter().any(|network| network.contains(address))
    }

    /// Each proxy adds whom it has heard at the end, and what stands before the first that is not ours anybody may
    /// have written. Ours only: the one furthest away. None where there is no list, or one that cannot be read.
    pub fn client(&self, head: &Head<'_>) -> Option<IpAddr> {
        let lines =
            head.fields.iter().rev().filter(|field| field.name.eq_ignore_ascii_case("x-forwarded-for"));
        let mut furthest = None;
        for item in lines.flat_map(|field| field.value.rsplit(|&byte| byte == b',')) {
            let address = parse_address(std::str::from_utf8(item).ok()?.trim())?;
            furthest = Some(address);
            if !self.contain(address) {
                break;
            }
        }
        furthest
    }
}

/// With or without a port, as proxies write it.
fn parse_address(text: &str) -> Option<IpAddr> {
    let with_port = || Some(text.parse::<std::net::SocketAddr>().ok()?.ip());
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok().or_else(with_port)
}

impl Network {
    fn contains(&self, address: u128) -> bool {
        let rest = 128 - self.bits;
        rest == 128 || address >> rest == self.first >> rest
    }
}

fn mapped(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => Ipv6Addr::to_bits(address),
    }
}

impl FromStr for TrustedProxies {
    type Err = String;

    fn from_str(text: &str) -> Result<TrustedProxies, String> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(Network::from_str).collect::<Result<_, _>>().map(TrustedProxies)
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let wrong = || format!("`{text}` is no address or network: write 127.0.0.1 or 10.0.0.0/8");
        let (address, bits) = match text.split_once('/') {
            None => (text, None),
            Some((address, bits)) => (address, Some(bits.parse::<u32>().map_err(|_| wrong())?)),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(most);
        if bits > most {
            return Err(wrong());
        }
        Ok(Network { first: mapped(address), bits: bits + 128 - most, text: text.into() })
    }
}

impl fmt::Display for TrustedProxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<&str> = self.0.iter().map(|network| &*network.text).collect();
        f.write_str(&items.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::head::{NO_FIELDS, parse};

    fn client(proxies: &str, fields: &str) -> Option<String> {
        let request = format!("GET / HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
        let mut room = NO_FIELDS;
        let head = parse(request.as_bytes(), &mut room).unwrap().unwrap();
        proxies.parse::<TrustedProxies>().unwrap().client(&head).map(|address| address.to_string())
    }

    #[test]
    fn the_last_address_that_is_not_ours_is_the_client() {
        let ours = "127.0.0.1, 10.0.0.0/8, 2001:db8::/32";
        for (list, expected) in [
            ("192.0.2.1", Some("192.0.2.1")),
            ("198.51.100.7, 192.0.2.1", Some("192.0.2.1")),
            ("198.51.100.7, 192.0.2.1, 10.1.2.3", Some("192.0.2.1")),
            ("192.0.2.1 ,\t10.1.2.3,127.0.0.1", Some("192.0.2.1")),
            ("10.1.2.3, 127.0.0.1", Some("10.1.2.3")),
            ("192.0.2.1:4711", Some("192.0.2.1")),
            ("[2001:db9::1]:4711, 2001:db8::5", Some("2001:db9::1")),
            ("::ffff:10.0.0.1", Some("::ffff:10.0.0.1")),
            // Our proxies write readable addresses only. After an unreadable one, the peer's address counts.
            ("192.0.2.1, unknown", None),
            ("", None),
            ("192.0.2.1,", None),
        ] {
            let fields = format!("X-Forwarded-For: {list}\r\n");
            assert_eq!(client(ours, &fields).as_deref(), expected, "{list}");
        }
        let two = "X-Forwarded-For: 192.0.2.1\r\nx-forwarded-for: 10.0.0.2\r\n";
        assert_eq!(client(ours, two).as_deref(), Some("192.0.2.1"));
        assert_eq!(client(ours, "X-Real-IP: 192.0.2.1\r\n"), None);
    }

    #[test]
    fn networks_are_read_and_compared() {
        let proxies: TrustedProxies = "10.0.0.0/8,192.0.2.7 , 2001:db8::/32,".parse().unwrap();
        assert_eq!(proxies.to_string(), "10.0.0.0/8, 192.0.2.7, 2001:db8::/32");
        let ours = |address: &str| proxies.contain(address.parse().unwrap());
        assert!(ours("10.255.0.1") && ours("::ffff:10.0.0.1") && ours("192.0.2.7") && ours("2001:db8:1::1"));
        assert!(!ours("11.0.0.1") && !ours("192.0.2.8") && !ours("2001:db9::1") && !ours("::a00:1"));
        let all: TrustedProxies = "0.0.0.0/0".parse().unwrap();
        assert!(all.contain("8.8.8.8".parse().unwrap()) && !all.contain("2001::1".parse().unwrap()));
        assert!("::/0".parse::<TrustedProxies>().unwrap().contain("8.8.8.8".parse().unwrap()));
        for wrong in ["10.0.0.0/33", "10.0.0", "localhost", "10.0.0.0/-1", "::/129", "a, 10.0.0.1"] {
            assert!(wrong.parse::<TrustedProxies>().is_err(), "{wrong}");
        }
    }

    proptest! {
        /// Values that a stranger writes before it change nothing.
        #[test]
        fn only_what_our_proxy_has_added_counts(noise in "[ -~]{0,40}") {
            let noise = noise.replace(['\r', '\n'], "");
            let fields = format!("X-Forwarded-For: {noise}, 192.0.2.1, 10.0.0.1\r\n");
            prop_assert_eq!(client("10.0.0.0/8", &fields), Some("192.0.2.1".to_owned()));
        }
    }
}
