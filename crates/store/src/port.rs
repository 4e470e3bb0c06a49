//! How the slices of the port queue their requests. Each request is implemented beside its statements.

use crate::engine::Connection;
use chat::{Done, Store, StoreError};

use crate::fault::Outcome;
use crate::late::{Scope, Settled};
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

    /// A read that needs no row of a direct conversation.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        operation: impl FnMut(&Connection) -> Outcome<T> + Send + 'static,
        done: Done<T>,
    ) {
        self.shared.read(read(operation, done));
    }

    /// A read that needs these rows of direct conversations.
    pub(crate) fn read_settled<T: Send + 'static>(
        &self,
        scope: Scope,
        operation: impl FnMut(&Settled<'_>) -> Outcome<T> + Send + 'static,
        done: Done<T>,
    ) {
        self.shared.read(read_settled(scope, operation, done));
    }
}

impl Sqlite {
    /// Identifies the database: a restored backup has another epoch.
    pub fn epoch(&self) -> Result<u32, StoreError> {
        self.admin(|db| meta::epoch(db))
    }
}

pub(crate) fn read<T: Send + 'static>(
    mut operation: impl FnMut(&Connection) -> Outcome<T> + Send + 'static,
    done: Done<T>,
) -> Box<dyn Read> {
    read_settled(Scope::Nothing, move |db| operation(db), done)
}

pub(crate) fn read_settled<T: Send + 'static>(
    scope: Scope,
    operation: impl FnMut(&Settled<'_>) -> Outcome<T> + Send + 'static,
    done: Done<T>,
) -> Box<dyn Read> {
    reader::read(scope, operation, |outcome| {
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
