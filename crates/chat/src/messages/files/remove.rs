//! Housekeeping: deletes the bytes of files that were never posted, or were removed.

use crate::FileId;
use crate::messages::files::Blobs;

/// Files removed in one round.
pub(crate) const ROUND: u32 = 1_000;
/// Milliseconds within which the first byte of an upload must arrive.
pub(crate) const EMPTY_LIFE_MS: u64 = 10 * 60_000;

pub(crate) fn is_removed(blobs: &dyn Blobs, file: FileId) -> bool {
    blobs
        .remove(file)
        .inspect_err(|error| tracing::warn!(%error, "cannot remove the bytes of a file"))
        .is_ok()
}
