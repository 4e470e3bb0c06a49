//! The randomness of a node.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rand::{SeedableRng, rngs::StdRng};

/// Shared by all that draw: guests' names, codes of invitations, numbers of calls.
pub(crate) struct Rng(Mutex<StdRng>);

impl Rng {
    pub(crate) fn from_seed(seed: [u8; 32]) -> Rng {
        Rng(Mutex::new(StdRng::from_seed(seed)))
    }

    /// Hold it for one draw.
    pub(crate) fn lock(&self) -> MutexGuard<'_, StdRng> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
