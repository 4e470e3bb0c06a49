//! Limits the connections of one address: an IPv4 address, or the /64 network of an IPv6 one, which is one customer's.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU16;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The limit on connections per address, of all workers together.
#[derive(Clone)]
pub struct AddressLimit {
    /// Further connections are accepted, closed at once, and counted.
    pub connections: u32,
    exempt: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>,
}

impl AddressLimit {
    /// `exempt`: addresses of many clients, such as a reverse proxy. Their connections are not counted, unless the protocol
    /// names the client ([`Io::count_for`](crate::Io::count_for)).
    pub fn new(connections: u32, exempt: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> AddressLimit {
        AddressLimit { connections, exempt: Arc::new(exempt) }
    }
}

impl fmt::Debug for AddressLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} connections per address", self.connections)
    }
}

/// The bucket that counts a connection. Fits into the padding of its slot.
pub(crate) type Bucket = NonZeroU16;

/// The address has reached its limit.
#[derive(Debug)]
pub(crate) struct TooMany;

/// Open connections by address.
///
/// A table of fixed size without locks. A hash with a secret key spreads addresses over its buckets, and addresses in one bucket are
/// counted together. So a count is never too low, and too high by the connections divided by 65,535 on average: 15 of a million.
/// An attacker who fills the buckets of its own addresses hits another address with a chance of one in 65,535 for each, and
/// cannot choose it.
pub(crate) struct AddressCounts {
    limit: Option<AddressLimit>,
    buckets: Box<[AtomicU32]>,
    hash: RandomState,
}

const BUCKETS: usize = u16::MAX as usize;

impl AddressCounts {
    pub(crate) fn new(limit: Option<AddressLimit>) -> AddressCounts {
        let buckets = if limit.is_some() { BUCKETS } else { 0 };
        AddressCounts {
            limit,
            buckets: (0..buckets).map(|_| AtomicU32::new(0)).collect(),
            hash: RandomState::new(),
        }
    }

    /// Counts one more connection. None: it is not counted.
    pub(crate) fn admit(&self, address: IpAddr) -> Result<Option<Bucket>, TooMany> {
        match &self.limit {
            Some(limit) if !(limit.exempt)(address) => self.take(limit.connections, address),
            _ => Ok(None),
        }
    }

    pub(crate) fn release(&self, bucket: Bucket) {
        if let Some(count) = self.buckets.get(usize::from(bucket.get()) - 1) {
            count.fetch_sub(1, Relaxed);
        }
    }

    fn take(&self, most: u32, address: IpAddr) -> Result<Option<Bucket>, TooMany> {
        let index = (self.hash.hash_one(network(address)) % BUCKETS as u64) as u16;
        let (Some(count), Some(bucket)) = (self.buckets.get(usize::from(index)), Bucket::new(index + 1))
        else {
            return Ok(None);
        };
        if count.fetch_add(1, Relaxed) < most {
            return Ok(Some(bucket));
        }
        count.fetch_sub(1, Relaxed);
        Err(TooMany)
    }
}

/// The unit of counting: an IPv4 address in any notation, or a /64.
fn network(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits() & !u128::from(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(most: u32) -> AddressCounts {
        AddressCounts::new(Some(AddressLimit::new(most, |address| address.is_loopback())))
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_has_a_limit_and_its_end_releases_it() {
        let counts = counts(2);
        let here = address("192.0.2.1");
        let first = counts.admit(here).unwrap().unwrap();
        counts.admit(here).unwrap();
        assert!(counts.admit(here).is_err());
        assert!(counts.admit(address("192.0.2.2")).is_ok(), "the neighbour has a share of its own");
        counts.release(first);
        assert!(counts.admit(here).is_ok());
        assert!(counts.admit(here).is_err(), "a refusal takes nothing and gives nothing");
    }

    #[test]
    fn a_network_of_64_bits_is_one_customer_and_a_mapped_address_is_the_address() {
        let counts = counts(2);
        for one in ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9"] {
            counts.admit(address(one)).unwrap();
        }
        assert!(counts.admit(address("2001:db8:1:2::3")).is_err());
        assert!(counts.admit(address("2001:db8:1:3::1")).is_ok());
        counts.admit(address("192.0.2.1")).unwrap();
        counts.admit(address("::ffff:192.0.2.1")).unwrap();
        assert!(counts.admit(address("192.0.2.1")).is_err());
    }

    #[test]
    fn exempt_addresses_and_a_node_without_a_limit_count_nothing() {
        let counts = counts(0);
        assert!(counts.admit(address("127.0.0.1")).unwrap().is_none());
        assert!(counts.admit(address("192.0.2.1")).is_err());
        assert!(AddressCounts::new(None).admit(address("192.0.2.1")).unwrap().is_none());
    }
}
