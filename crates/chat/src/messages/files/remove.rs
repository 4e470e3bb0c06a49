//! Housekeeping: what was never posted, or was deleted, goes from the disk.

use crate::messages::files::{Blobs, FileId};
use crate::{Node, StoreError, Timestamp};

/// Most files of one round.
const ROUND: u32 = 1_000;
/// An upload must begin within this time.
const EMPTY_LIFE_MS: u64 = 10 * 60_000;

impl Node {
    /// Removes the bytes and then the rows of files that are not needed any more: removed ones, those that are in no message
    /// `life_ms` after they were begun, and those of which no byte has arrived in ten minutes. Blocks: call it now and then from a housekeeping thread. Answers how many went; where that
    /// is many, there are more.
    ///
    /// Should the node die in between, the next round finds the row and removes what is left.
    pub fn remove_stale_files(
        &self,
        blobs: &dyn Blobs,
        life_ms: u64,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let store = &self.inner().store;
        let before = Timestamp(now.0.saturating_sub(life_ms));
        let empty_before = Timestamp(now.0.saturating_sub(EMPTY_LIFE_MS.min(life_ms)));
        let stale = store.stale_files(before, empty_before, ROUND)?;
        if stale.is_empty() {
            return Ok(0);
        }
        // First nobody can post them any more.
        store.remove_files(stale.clone(), Box::new(|_| ()));
        store.flush()?;
        let gone: Vec<FileId> = stale.into_iter().filter(|file| is_removed(blobs, *file)).collect();
        store.forget_files(&gone)?;
        Ok(gone.len())
    }

    /// Removes the bytes of sites that are gone. Blocks.
    pub fn remove_files_of_lost_sites(&self, blobs: &dyn Blobs) -> Result<(), StoreError> {
        let sites: Vec<_> = self.inner().store.sites()?.into_iter().map(|site| site.id).collect();
        blobs.remove_other_sites(&sites).map_err(|error| StoreError::Failed(error.to_string().into()))
    }
}

fn is_removed(blobs: &dyn Blobs, file: FileId) -> bool {
    blobs
        .remove(file)
        .inspect_err(|error| tracing::warn!(%error, "cannot remove the bytes of a file"))
        .is_ok()
}
