//! The part of the port that is about imports.

use super::MemoryStore;
use crate::import::{ImportFloor, ImportJob, ImportStore, Imported};
use crate::{Done, Position, SiteId, StoreError};

impl ImportStore for MemoryStore {
    fn import(&self, job: ImportJob, done: Done<Imported>) {
        self.write(move |tables| tables.import(&job), done);
    }

    fn publish_import(&self, site: SiteId, ends: bool, done: Done<Position>) {
        self.write(move |tables| tables.publish_import(site, ends), done);
    }

    fn import_floors(&self) -> Result<Vec<ImportFloor>, StoreError> {
        Ok(self.lock().tables.import_floors())
    }
}
