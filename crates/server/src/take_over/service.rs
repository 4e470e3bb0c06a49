//! Reports to systemd (sd_notify(3)), and starts a successor when it asks for a reload.

use std::env;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::Command;

#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt;

/// This process serves.
pub(crate) fn is_ready() {
    notify("READY=1");
}

/// A reload has begun. systemd wants the time, to tell the answer from that to an earlier one.
pub(crate) fn is_reloading() {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let micros = now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000;
    notify(&format!("RELOADING=1\nMONOTONIC_USEC={micros}"));
}

/// Another process is the service from now on.
pub(crate) fn is_replaced_by(pid: i32) {
    notify(&format!("MAINPID={pid}"));
}

/// A line for `systemctl status`.
pub(crate) fn says(line: &str) {
    notify(&format!("STATUS={line}"));
}

fn notify(state: &str) {
    let Some(path) = env::var_os("NOTIFY_SOCKET") else { return };
    let sent = address(path.as_bytes())
        .and_then(|address| UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address));
    if let Err(error) = sent {
        tracing::warn!(%error, "cannot notify the service manager");
    }
}

fn address(path: &[u8]) -> std::io::Result<SocketAddr> {
    match path {
        #[cfg(target_os = "linux")]
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
        path => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(path)),
    }
}

/// Starts the program anew, with the arguments of this process and `--take-over`. The file may be a newer version meanwhile.
pub(crate) fn start_successor() {
    let mut args = env::args_os();
    let Some(program) = args.next() else { return };
    let args: Vec<_> = args.filter(|arg| arg != "--take-over").collect();
    let started = Command::new(&program).args(args).arg("--take-over").spawn();
    match started {
        // Its end is noticed by the take-over; without a wait a failed one would stay as a zombie.
        Ok(mut child) => {
            tracing::info!(pid = child.id(), "started the successor");
            std::thread::spawn(move || match child.wait() {
                Ok(status) if status.success() => {}
                Ok(status) => {
                    tracing::error!(%status, "the successor has ended");
                    is_ready();
                }
                Err(error) => tracing::error!(%error, "cannot wait for the successor"),
            });
        }
        Err(error) => {
            tracing::error!(%error, program = %program.display(), "cannot start the successor");
            is_ready();
        }
    }
}
