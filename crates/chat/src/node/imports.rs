//! Imports, for the site's server.

use crate::{Caller, ImportItem, ImportOutcome, Late, Node, Refusal, Timestamp, Told};

impl Node {
    /// Counts the bytes of a request that imports, before they are looked at. Only the site itself may import.
    pub fn may_import(&self, caller: &Caller, bytes: u64, now: Timestamp) -> Result<(), Refusal> {
        match caller {
            Caller::Site(site) => self.inner().requests.take_import(*site, bytes, now),
            Caller::User(..) => Err(Refusal::NotAllowed),
        }
    }

    /// Stores at most [`IMPORT_JOB`](crate::IMPORT_JOB) items. How many jobs run at a time is the caller's to bound.
    pub fn import(
        &self,
        caller: &Caller,
        items: Vec<ImportItem>,
        late: Late,
        now: Timestamp,
        told: Told<Vec<ImportOutcome>>,
    ) {
        match caller {
            Caller::Site(site) => self.inner().import.import(*site, items, late, now, told),
            Caller::User(..) => told(Err(Refusal::NotAllowed)),
        }
    }
}
