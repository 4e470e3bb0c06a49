//! The identifier of a connection.

/// A connection: worker, gateway, slot, generation. A handle of a closed connection never reaches a new one (until its slot was
/// reused 2^20 times).
///
/// | bits | 63–56 | 55–48 | 47–28 | 27 | 26–24 | 23–0 |
/// |---|---|---|---|---|---|---|
/// | | 0 | worker | generation | the gateway's own | gateway | slot |
///
/// The highest eight bits are for the domain: they name the process that has the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(u64);

pub(crate) const GENERATION_MASK: u32 = (1 << 20) - 1;

/// More workers than this do not fit in a handle.
pub(crate) const MAX_WORKERS: usize = 255;

/// More gateways than this do not fit in a handle.
pub(crate) const MAX_GATEWAYS: usize = 8;

/// More connections of a gateway on a worker than this do not fit in a handle: they would need 64 GB of kernel memory.
pub(crate) const MAX_SLOTS: u32 = 1 << GATEWAY_SHIFT;

const GATEWAY_SHIFT: u32 = 24;
/// Never set in the handle of a connection: a gateway may set it, as bit 31 of a slot's number, for identifiers of its own.
const OWN_SHIFT: u32 = 27;
const GENERATION_SHIFT: u32 = 28;
pub(crate) const WORKER_SHIFT: u32 = 48;

impl Handle {
    /// A connection of the first gateway.
    pub fn new(worker: usize, slot: u32, generation: u32) -> Handle {
        Handle::of_gateway(worker, 0, slot, generation)
    }

    /// A connection of any gateway, or a name of the gateway's own: a slot with bit 31.
    pub fn of_gateway(worker: usize, gateway: usize, slot: u32, generation: u32) -> Handle {
        let (own, slot) = (slot >> 31, slot & !(1 << 31));
        debug_assert!(worker < MAX_WORKERS && gateway < MAX_GATEWAYS && slot < MAX_SLOTS);
        let low = slot | (gateway as u32) << GATEWAY_SHIFT | own << OWN_SHIFT;
        let generation = u64::from(generation & GENERATION_MASK) << GENERATION_SHIFT;
        Handle((worker as u64) << WORKER_SHIFT | generation | u64::from(low))
    }

    pub fn worker(self) -> usize {
        (self.0 >> WORKER_SHIFT & 0xff) as usize
    }

    /// The number of its gateway among those that the workers carry.
    pub fn gateway(self) -> usize {
        (self.0 >> GATEWAY_SHIFT) as usize & (MAX_GATEWAYS - 1)
    }

    pub fn slot(self) -> u32 {
        let low = self.0 as u32;
        low & (MAX_SLOTS - 1) | (low >> OWN_SHIFT & 1) << 31
    }

    pub fn generation(self) -> u32 {
        (self.0 >> GENERATION_SHIFT) as u32 & GENERATION_MASK
    }

    /// For tables of gateways and the domain; `from_bits(h.to_bits()) == h`.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    pub fn from_bits(bits: u64) -> Handle {
        Handle(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_survive_packing(
            worker in 0..MAX_WORKERS,
            gateway in 0..MAX_GATEWAYS,
            slot in 0..MAX_SLOTS,
            own: bool,
            generation in 0..=GENERATION_MASK,
        ) {
            let slot = slot | u32::from(own) << 31;
            let packed = Handle::of_gateway(worker, gateway, slot, generation);
            let handle = Handle::from_bits(packed.to_bits());
            prop_assert_eq!(packed.to_bits() >> 56, 0, "the bits of the process are free");
            prop_assert_eq!(
                (handle.worker(), handle.gateway(), handle.slot(), handle.generation()),
                (worker, gateway, slot, generation)
            );
        }
    }
}
