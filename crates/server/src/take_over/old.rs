//! The old process of a take-over.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use edge::Successor;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, kill_process};

use super::{DRAIN, FORMAT, Link, MOVE, Message, OLDEST_FORMAT, Replaceable, SOCKET, has_common, service};
use crate::data_lock::DataLock;

/// How often the wait for uploads and downloads looks for their end.
const LOOK: Duration = Duration::from_millis(100);

/// For answers that are under way, after the stop of reading.
const SETTLE: Duration = Duration::from_secs(1);

/// For the lock and the messages of a process that was killed.
const RETURN: Duration = Duration::from_secs(10);

/// The connections belong to another process: this one must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left;

/// Waits for a successor until the other end of `stop` is closed. A node without the socket runs, but cannot be taken over.
pub(super) fn listen(running: &dyn Replaceable, data: &Path, stop: &UnixStream) -> Option<Left> {
    let listener = match bind(data) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::warn!(%error, "cannot listen for a successor; a new version needs a restart");
            return None;
        }
    };
    loop {
        let mut ready = [PollFd::new(&listener, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
        if let Err(error) = poll(&mut ready, None) {
            tracing::warn!(%error, "cannot wait for a successor; a new version needs a restart");
            break;
        }
        if !ready[1].revents().is_empty() {
            break;
        }
        let outcome = listener.accept().and_then(|(socket, _)| serve(running, data, socket));
        match outcome {
            Ok(true) => return Some(Left),
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => tracing::warn!(%error, "a take-over has ended early"),
        }
    }
    // A copy of the directory shall have no socket in it.
    let _ = std::fs::remove_file(data.join(SOCKET));
    None
}

/// The holder of the data lock is the only one that may replace the socket.
fn bind(data: &Path) -> io::Result<UnixListener> {
    let path = data.join(SOCKET);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// True: the successor has everything.
fn serve(running: &dyn Replaceable, data: &Path, socket: UnixStream) -> io::Result<bool> {
    socket.set_nonblocking(false)?;
    let peer = rustix::net::sockopt::socket_peercred(&socket)?;
    if peer.uid != rustix::process::getuid() {
        tracing::warn!(uid = peer.uid.as_raw(), "refused a take-over by another user");
        return Ok(false);
    }
    let mut link = Link(socket);
    let Message::Ask { version, messages, connections } = link.receive(Instant::now() + MOVE)? else {
        return Err(io::Error::other("an unexpected message"));
    };
    if !has_common(messages, (OLDEST_FORMAT, FORMAT))
        || !has_common(connections, (edge::OLDEST_TRANSFER_FORMAT, edge::TRANSFER_FORMAT))
    {
        let why = format!("version {} and version {version} are too far apart", env!("CARGO_PKG_VERSION"));
        link.send(&Message::Refuse { why })?;
        return Ok(false);
    }
    if let Some(why) = running.refusal() {
        link.send(&Message::Refuse { why: why.into() })?;
        return Ok(false);
    }
    link.send(&Message::Offer(running.offer()))?;
    // Its checks may take long; nothing has changed here so far.
    let Message::Ready { directory, relays } = link.receive(Instant::now() + 10 * MOVE)? else {
        return Err(io::Error::other("an unexpected message"));
    };
    tracing::info!(%version, pid = peer.pid.as_raw_pid(), "a successor takes over");
    Ok(hand_over(running, data, link, &Directories { connections: directory, relays }, peer.pid))
}

/// Where the workers of the successor listen.
struct Directories {
    connections: PathBuf,
    /// None: it takes no relays.
    relays: Option<PathBuf>,
}

/// Waits for long transfers, then stands still and sends everything. False: it failed, and this process goes on.
fn hand_over(
    running: &dyn Replaceable,
    data: &Path,
    link: Link,
    directories: &Directories,
    successor: Pid,
) -> bool {
    let drained = Instant::now() + DRAIN;
    while running.edge().settle().late > 0 && Instant::now() < drained {
        thread::sleep(LOOK);
    }
    let began = Instant::now();
    // No thread of ours uses the database meanwhile.
    let _held = running.hold();
    running.edge().freeze(true);
    settle(running);
    match send(running, link, directories) {
        Ok(()) => {
            service::is_replaced_by(successor.as_raw_pid());
            tracing::info!(took = ?began.elapsed(), "the successor serves");
            true
        }
        Err(error) => {
            tracing::error!(%error, "the take-over has failed; this process goes on");
            // It may only be slow, and must not serve beside us.
            let _ = kill_process(successor, Signal::KILL);
            if let Err(trouble) = go_on(running, data) {
                // Another process holds the data: nothing can be served here.
                tracing::error!("{trouble}; stopping");
                std::process::exit(1);
            }
            service::is_ready();
            tracing::info!(paused = ?began.elapsed(), "this process serves again");
            false
        }
    }
}

/// Commands in flight are answered, and every event reaches its connection.
fn settle(running: &dyn Replaceable) {
    let until = Instant::now() + SETTLE;
    loop {
        running.edge().rest();
        running.flush();
        let is_settled = running.edge().settle().soon == 0 && running.is_answered();
        if is_settled || Instant::now() >= until {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    running.stand_still();
    // A mail can cause a command, whose answer is another mail.
    for _ in 0..2 {
        running.flush();
        running.edge().settle();
    }
}

fn send(running: &dyn Replaceable, mut link: Link, to: &Directories) -> io::Result<()> {
    let until = Instant::now() + MOVE;
    let state = running.state();
    running.pause();
    running.lock().lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    link.send(&Message::State(Box::new(state)))?;
    let is_gone = Arc::new(AtomicBool::new(false));
    let answer = watch(&link, until, Arc::clone(&is_gone))?;
    let successor = |directory: &Path| Successor {
        directory: directory.to_owned(),
        deadline: until,
        is_gone: Arc::clone(&is_gone),
    };
    if let (Some(relays), Some(directory)) = (running.relays(), &to.relays) {
        relays.send(&successor(directory))?;
    }
    running.edge().send(&successor(&to.connections))?;
    match answer.recv() {
        Ok(true) => link.send(&Message::Go),
        _ => Err(io::Error::other("the successor has ended, or took too long")),
    }
}

/// Waits for the successor's last message, and notes its end.
fn watch(link: &Link, until: Instant, is_gone: Arc<AtomicBool>) -> io::Result<mpsc::Receiver<bool>> {
    let (told, answer) = mpsc::channel();
    let mut link = Link(link.0.try_clone()?);
    thread::Builder::new().name("successor".into()).spawn(move || {
        let has_all = matches!(link.receive(until), Ok(Message::Taken));
        is_gone.store(!has_all, Ordering::Relaxed);
        let _ = told.send(has_all);
    })?;
    Ok(answer)
}

/// Locks the data again, and continues all connections.
fn go_on(running: &dyn Replaceable, data: &Path) -> Result<(), String> {
    let until = Instant::now() + RETURN;
    let lock = loop {
        match DataLock::acquire(data, crate::now()) {
            Ok(lock) => break lock,
            Err(trouble) if Instant::now() >= until => return Err(trouble.to_string()),
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    };
    *running.lock().lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(lock);
    running.resume()?;
    running.go_on();
    running.relays().into_iter().for_each(calls::Calls::stay);
    running.edge().stay();
    Ok(())
}
