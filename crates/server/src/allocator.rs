//! The allocator of the process, also for SQLite and other code in C: jemalloc, with the settings of `.cargo/config.toml`.
//!
//! Reasons and figures: `docs/design/memory.md`.

#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The variable with which a process overrides single settings.
pub(crate) const VARIABLE: &str = "MALLOC_CONF";

/// For a process that may not start threads.
pub(crate) const WITHOUT_A_THREAD: &str = "background_thread:false";
