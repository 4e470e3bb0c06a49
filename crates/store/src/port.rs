//! How the slices of the port queue their requests. Each request is implemented beside its statements.

use chat::{Done, Store, StoreError};
use rusqlite::Connection;

use crate::fault::Outcome;
use crate::meta;
use crate::reader::{self, Read};
use crate::sqlite::Sqlite;
use crate::writer::{self, Batch};

impl Sqlite {
    pub(crate) fn write<T: Send + 'static>(
        &self,
        operation: impl FnMut(&mut Batch<'_>) -> Outcome<T> + Send + 'static,
        done: Done<T>,
    ) {
        self.shared.write(writer::write(operation, |outcome, _| done(outcome)), 0);
    }

    pub(crate) fn read<T: Send + 'static>(
        &self,
        operation: impl FnMut(&Connection) -> Outcome<T> + Send + 'static,
        done: Done<T>,
    ) {
        self.shared.read(read(operation, done));
    }
}

impl Sqlite {
    /// Identifies the database: a restored backup has another epoch.
    pub fn epoch(&self) -> Result<u32, StoreError> {
        self.admin(|db| meta::epoch(db))
    }
}

pub(crate) fn read<T: Send + 'static>(
    operation: impl FnMut(&Connection) -> Outcome<T> + Send + 'static,
    done: Done<T>,
) -> Box<dyn Read> {
    reader::read(operation, |outcome| {
        done(outcome);
        None
    })
}

impl Store for Sqlite {
    fn flush(&self) -> Result<(), StoreError> {
        let (sender, wait) = std::sync::mpsc::sync_channel(1);
        let job = writer::write(|_| Ok(()), move |outcome, _| _ = sender.send(outcome));
        self.shared.write(job, 0);
        self.run();
        wait.recv().unwrap_or_else(|_| Err(StoreError::Failed("the store is closed".into())))
    }
}
