//! The randomness of a node.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rand::{Rng as _, SeedableRng, rngs::StdRng};

/// One generator for the node: guests' names, invitation codes, ids of calls.
pub(crate) struct Rng(Mutex<StdRng>);

impl Rng {
    pub(crate) fn from_seed(seed: [u8; 32]) -> Rng {
        Rng(Mutex::new(StdRng::from_seed(seed)))
    }

    /// Hold the lock for one draw only.
    pub(crate) fn lock(&self) -> MutexGuard<'_, StdRng> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Draws from 32 letters: 5 bits each.
pub(crate) fn random_letters(rng: &mut StdRng, count: usize) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    (0..count).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())])).collect()
}
