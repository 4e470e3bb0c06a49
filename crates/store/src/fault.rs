//! Errors of an operation, and whether they concern the whole transaction.

use chat::StoreError;
use rusqlite::{ErrorCode, ffi};

use crate::engine;

/// The reason why an operation failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The request was invalid. The operation wrote nothing.
    Invalid(&'static str),
    /// The engine reports an error. The writes of the operation must be undone.
    Sql(engine::Error),
}

pub(crate) type Outcome<T> = Result<T, Fault>;

impl From<engine::Error> for Fault {
    fn from(error: engine::Error) -> Fault {
        Fault::Sql(error)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sql(error.into())
    }
}

impl From<rusqlite::types::FromSqlError> for Fault {
    fn from(error: rusqlite::types::FromSqlError) -> Fault {
        Fault::Sql(error.into())
    }
}

impl From<Fault> for engine::Error {
    fn from(fault: Fault) -> engine::Error {
        match fault {
            Fault::Sql(error) => error,
            Fault::Invalid(why) => engine::Error::Invalid(why),
        }
    }
}

impl Fault {
    /// A row that must exist is missing.
    pub(crate) fn no_row() -> Fault {
        Fault::Sql(engine::Error::NoRows)
    }

    /// Whether every other operation in the transaction fails, too: the error is the database's, not the operation's.
    pub(crate) fn concerns_all(&self) -> bool {
        match self {
            Fault::Sql(engine::Error::Postgres(error)) => error.concerns_all(),
            Fault::Sql(engine::Error::Sqlite(error)) => {
                is_disk_full(error)
                    || matches!(
                        error.sqlite_error_code(),
                        Some(
                            ErrorCode::DatabaseBusy
                                | ErrorCode::DatabaseLocked
                                | ErrorCode::SystemIoFailure
                                | ErrorCode::DatabaseCorrupt
                                | ErrorCode::NotADatabase
                                | ErrorCode::OutOfMemory
                                | ErrorCode::CannotOpen
                                | ErrorCode::ReadOnly
                        )
                    )
            }
            Fault::Invalid(_) | Fault::Sql(_) => false,
        }
    }

    /// The connection was lost, nothing of the transaction is stored, and it may be repeated.
    pub(crate) fn is_away(&self) -> bool {
        matches!(self, Fault::Sql(engine::Error::Postgres(error)) if error.is_away())
    }

    pub(crate) fn to_store_error(&self) -> StoreError {
        match self {
            Fault::Invalid(why) => StoreError::Failed((*why).into()),
            Fault::Sql(error) => store_error(error),
        }
    }
}

/// Converts an error for the domain.
pub(crate) fn store_error(error: &engine::Error) -> StoreError {
    let is_full = match error {
        engine::Error::Sqlite(error) => is_disk_full(error),
        engine::Error::Postgres(error) => error.is_disk_full(),
        engine::Error::NoRows | engine::Error::Invalid(_) | engine::Error::Value(_) => false,
    };
    if is_full { StoreError::DiskFull } else { StoreError::Failed(error.to_string().into()) }
}

/// The disk is full, or refuses writes for another reason that an operator can end. SQLite reports SQLITE_FULL for
/// ENOSPC in `write`, but an I/O error if ENOSPC or EDQUOT comes from other calls.
fn is_disk_full(error: &rusqlite::Error) -> bool {
    let Some(error) = error.sqlite_error() else { return false };
    error.code == ErrorCode::DiskFull
        || [
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_IOERR_TRUNCATE,
            ffi::SQLITE_IOERR_SHMOPEN,
            ffi::SQLITE_IOERR_SHMSIZE,
            ffi::SQLITE_IOERR_SHMMAP,
        ]
        .contains(&error.extended_code)
}
