//! Housekeeping: what was never posted, or was deleted, goes from the disk.

use crate::FileId;
use crate::messages::files::Blobs;

/// Most files of one round.
pub(crate) const ROUND: u32 = 1_000;
/// An upload must begin within this time.
pub(crate) const EMPTY_LIFE_MS: u64 = 10 * 60_000;

pub(crate) fn is_removed(blobs: &dyn Blobs, file: FileId) -> bool {
    blobs
        .remove(file)
        .inspect_err(|error| tracing::warn!(%error, "cannot remove the bytes of a file"))
        .is_ok()
}
