//! The only file with unsafe code: a system call that the compiler cannot check (Linux). It gives each worker thread a descriptor
//! table, so that the limit of open files counts per worker.
#![cfg_attr(target_os = "linux", allow(unsafe_code))] // the only file that may

use std::cell::RefCell;
use std::io;
use std::os::fd::RawFd;

thread_local! {
    /// On a thread with its own table: the descriptors that were copied into it, sorted. Only these have the same meaning here as on
    /// other threads.
    static SHARED_MEANING: RefCell<Option<Vec<RawFd>>> = const { RefCell::new(None) };
}

/// Whether the number names the same file on this thread as where it was opened: always, except on a thread with its own table. Call
/// it before you use or close a descriptor of another thread.
pub(crate) fn means_the_same(descriptor: RawFd) -> bool {
    // The thread-local value of an ending thread is gone; then a leak is better than a wrong close.
    SHARED_MEANING
        .try_with(|known| {
            known.borrow().as_ref().is_none_or(|known| known.binary_search(&descriptor).is_ok())
        })
        .unwrap_or(false)
}

/// Adds to the nice value of this thread. On Linux, each thread has its own (setpriority(2), "C library/kernel differences").
pub(crate) fn yield_to_others(niceness: u8) {
    #[cfg(target_os = "linux")]
    if niceness > 0
        && let Err(error) = rustix::process::nice(niceness.into())
    {
        tracing::debug!(%error, "a worker keeps its priority");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = niceness;
}

/// Gives this thread its own table: a copy of the process' present table, without its internet sockets.
///
/// All other descriptors keep their number: standard output, log files, the bells of workers, the wake-ups of async
/// runtimes. Older ones work on this thread as before. Internet sockets are closed here, because a forgotten copy would keep a
/// listener or connection of another thread alive.
#[cfg(target_os = "linux")]
pub(crate) fn make_private() -> io::Result<()> {
    use rustix::thread::{UnshareFlags, unshare_unsafe};

    // SAFETY: `unshare(CLONE_FILES)` touches no memory. It is unsafe because from here on a descriptor that
    // another thread opens has no meaning on this one, and the other way round. A safe `OwnedFd` that crosses threads
    // would name another file or none. No descriptor crosses:
    // - the worker's sockets, its epoll and its spare descriptor are opened after this call and never leave the
    //   worker. `Engine` and `Worker` are built, used and dropped on this thread, `Wire` is not handed out;
    // - descriptors of before this call keep their number and their file in the copy (unshare(2));
    // - the one descriptor of ours that crosses threads later, the bell, asks `means_the_same` before each use and
    //   before its close.
    // `EdgeConfig::private_descriptor_tables` states the same rule for protocols on this worker.
    unsafe { unshare_unsafe(UnshareFlags::FILES) }?;

    let mut kept = Vec::new();
    for descriptor in open_descriptors()? {
        if is_internet_socket(descriptor) {
            // SAFETY: the number is open in this table (listed just now, by its only thread), the table is a copy, and
            // the owner of the original closes only the original. No `OwnedFd` of this thread names it: the thread has
            // opened nothing yet but the listing, which is closed and is no socket.
            unsafe { rustix::io::close(descriptor) };
        } else {
            kept.push(descriptor);
        }
    }
    kept.sort_unstable();
    SHARED_MEANING.set(Some(kept));
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn make_private() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "private descriptor tables exist on Linux only"))
}

/// The descriptors of this thread's table.
#[cfg(target_os = "linux")]
fn open_descriptors() -> io::Result<Vec<RawFd>> {
    let listed = std::fs::read_dir("/proc/thread-self/fd")?
        .map(|entry| Ok(entry?.file_name().to_str().and_then(|name| name.parse().ok())))
        .collect::<io::Result<Vec<Option<RawFd>>>>()?;
    // The descriptor of the listing itself was among them, and is closed now.
    Ok(listed.into_iter().flatten().filter(|descriptor| is_open(*descriptor)).collect())
}

#[cfg(target_os = "linux")]
fn is_open(descriptor: RawFd) -> bool {
    rustix::io::fcntl_getfd(borrowed(descriptor)).is_ok()
}

#[cfg(target_os = "linux")]
fn is_internet_socket(descriptor: RawFd) -> bool {
    use rustix::net::{AddressFamily, getsockname};
    getsockname(borrowed(descriptor))
        .is_ok_and(|address| matches!(address.address_family(), AddressFamily::INET | AddressFamily::INET6))
}

#[cfg(target_os = "linux")]
fn borrowed<'a>(descriptor: RawFd) -> std::os::fd::BorrowedFd<'a> {
    // SAFETY: not -1, since it was read from a directory of numbers; it is used for one system call, which answers
    // EBADF if it is closed. This thread's table has no other user who could give the number a new meaning in between.
    unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) }
}
