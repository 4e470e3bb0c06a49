//! The memory store: the whole [`Store`](crate::Store) contract without a disk, for tests.
