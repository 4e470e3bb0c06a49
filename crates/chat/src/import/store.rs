//! The slice of the port to storage for imports.

use crate::import::{ImportFloor, ImportJob, Imported};
use crate::{Done, Position, SiteId, StoreError};

/// A slice of [`Store`](crate::Store).
pub trait ImportStore: Send + Sync + 'static {
    /// Stores the items in their order, each completely or not at all, and answers an outcome for each. Other
    /// waiting writes go first. The site's floor rises to the position of the answer and is unpublished until
    /// [`publish_import`](Self::publish_import).
    fn import(&self, job: ImportJob, done: Done<Imported>);
    /// Raises the site's floor to a fresh position. `ends`: the floor is published from then on.
    fn publish_import(&self, site: SiteId, ends: bool, done: Done<Position>);
    /// The floors of all sites that have one. May block.
    fn import_floors(&self) -> Result<Vec<ImportFloor>, StoreError>;
}
