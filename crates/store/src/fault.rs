//! What goes wrong in an operation, and whom it concerns.

use chat::StoreError;
use rusqlite::{ErrorCode, ffi};

/// An operation failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It asked for something impossible, and wrote nothing.
    Invalid(&'static str),
    /// SQLite says no; what the operation wrote before must be undone.
    Sql(rusqlite::Error),
}

pub(crate) type Outcome<T> = Result<T, Fault>;

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sql(error)
    }
}

impl Fault {
    /// Nothing in the same transaction can succeed either: the fault is the file's, not the operation's.
    pub(crate) fn concerns_all(&self) -> bool {
        match self {
            Fault::Invalid(_) => false,
            Fault::Sql(error) => {
                no_room(error)
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
        }
    }

    pub(crate) fn told(&self) -> StoreError {
        match self {
            Fault::Invalid(why) => StoreError::Failed((*why).into()),
            Fault::Sql(error) => told(error),
        }
    }
}

/// The error as the domain hears it.
pub(crate) fn told(error: &rusqlite::Error) -> StoreError {
    if no_room(error) { StoreError::DiskFull } else { StoreError::Failed(error.to_string().into()) }
}

/// The disk is full, or does not take writes for another reason that an operator can end. SQLite says
/// SQLITE_FULL for ENOSPC in `write`, but an I/O error where ENOSPC or EDQUOT comes from other calls.
fn no_room(error: &rusqlite::Error) -> bool {
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
