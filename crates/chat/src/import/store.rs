//! The slice of the port to storage for imports.

use crate::import::{ImportFloor, ImportJob, Imported};
use crate::{Done, Position, SiteId, StoreError};

/// The part of the port to storage that is about imports. See [`Store`](crate::Store), of which it is a part.
pub trait ImportStore: Send + Sync + 'static {
    /// Stores the items in their order, each of them whole or not at all, and answers an outcome for each. It is written after what else
    /// waits. The site's floor rises to the position of the answer and is unpublished until [`publish_import`](Self::publish_import).
    fn import(&self, job: ImportJob, done: Done<Imported>);
    /// The site's floor rises to a fresh position. `ends`: from then on it is published.
    fn publish_import(&self, site: SiteId, ends: bool, done: Done<Position>);
    /// Of each site that has one. It may block.
    fn import_floors(&self) -> Result<Vec<ImportFloor>, StoreError>;
}
