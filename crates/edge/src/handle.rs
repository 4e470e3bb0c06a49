//! The identifier of a connection.

/// A connection: worker, gateway, slot, generation. A handle of a closed connection never reaches a new one (until its slot was
/// reused 2^24 times).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(u64);

/// Generations are 24 bits wide, so that a handle fits in eight bytes beside 255 workers, 8 gateways and 2^28 slots.
pub(crate) const GENERATION_MASK: u32 = (1 << 24) - 1;

/// More workers than this do not fit in a handle.
pub(crate) const MAX_WORKERS: usize = 255;

/// More gateways than this do not fit in a handle.
pub(crate) const MAX_GATEWAYS: usize = 8;

/// The gateway's number is between the slot's bits. The bit above it is never set in the handle of a connection: a gateway may set it
/// in a slot's number for identifiers of its own.
const GATEWAY_SHIFT: u32 = 28;
const GATEWAY_MASK: u32 = (MAX_GATEWAYS as u32 - 1) << GATEWAY_SHIFT;

impl Handle {
    /// A connection of the first gateway.
    pub fn new(worker: usize, slot: u32, generation: u32) -> Handle {
        Handle::of_gateway(worker, 0, slot, generation)
    }

    pub(crate) fn of_gateway(worker: usize, gateway: usize, slot: u32, generation: u32) -> Handle {
        debug_assert!(worker < MAX_WORKERS && gateway < MAX_GATEWAYS && slot & GATEWAY_MASK == 0);
        let low = slot | (gateway as u32) << GATEWAY_SHIFT;
        Handle((worker as u64) << 56 | u64::from(generation & GENERATION_MASK) << 32 | u64::from(low))
    }

    pub fn worker(self) -> usize {
        (self.0 >> 56) as usize
    }

    /// The number of its gateway among those that the workers carry.
    pub fn gateway(self) -> usize {
        ((self.0 as u32 & GATEWAY_MASK) >> GATEWAY_SHIFT) as usize
    }

    pub fn slot(self) -> u32 {
        self.0 as u32 & !GATEWAY_MASK
    }

    pub fn generation(self) -> u32 {
        (self.0 >> 32) as u32 & GENERATION_MASK
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
            slot in 0..1_u32 << GATEWAY_SHIFT,
            own: bool,
            generation in 0..=GENERATION_MASK,
        ) {
            let slot = slot | u32::from(own) << 31;
            let packed = Handle::of_gateway(worker, gateway, slot, generation);
            let handle = Handle::from_bits(packed.to_bits());
            prop_assert_eq!(
                (handle.worker(), handle.gateway(), handle.slot(), handle.generation()),
                (worker, gateway, slot, generation)
            );
        }
    }
}
