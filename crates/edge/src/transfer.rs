//! Connections that move to another process of this machine: a channel between two workers, over which sockets and the state of
//! their connections travel.
//!
//! A worker of the old process connects to the worker with its number in the new one. Both use their own threads, because a descriptor
//! may have a meaning only there ([`EdgeConfig::private_descriptor_tables`](crate::EdgeConfig)). The old process keeps its copies, so it
//! can go on if the new one fails.

pub(crate) mod record;

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use record::Reader;

/// The newest format of the channel that this version writes.
pub const TRANSFER_FORMAT: u16 = 1;

/// The oldest format that this version reads.
pub const OLDEST_TRANSFER_FORMAT: u16 = 1;

/// Connections in one frame. The kernel takes at most 253 descriptors at once.
pub(crate) const BATCH: usize = 128;

/// A frame with more bytes is not from us.
const MOST_BYTES: u32 = 1 << 30;

/// Time between two attempts to connect to a worker that does not listen yet.
const RETRY: Duration = Duration::from_millis(5);

/// The process whose connections this one takes over, for [`Edge::succeed`](crate::Edge::succeed).
#[derive(Debug, Clone)]
pub struct Predecessor {
    /// The sockets of this process' workers are here. Only this user may enter it.
    pub directory: PathBuf,
    /// Its number of workers. This process needs as many or more, because a handle names its worker.
    pub workers: usize,
    /// After it, a worker begins with the connections that it has.
    pub deadline: Instant,
    /// It has ended, so nothing more will come.
    pub is_gone: Arc<AtomicBool>,
}

/// The process that takes the connections of this one over, for [`Edge::send`](crate::Edge::send).
#[derive(Debug, Clone)]
pub struct Successor {
    /// The sockets of its workers are here, each once the worker has started.
    pub directory: PathBuf,
    /// All must be sent until then.
    pub deadline: Instant,
    /// It has ended, so its workers will not start.
    pub is_gone: Arc<AtomicBool>,
}

/// How soon a connection can move to another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    Now,
    /// As soon as an answer that is under way is sent.
    Soon,
    /// After a transfer that may take long, such as an upload.
    Late,
    /// It stays, and is closed with the process.
    Never,
}

/// Connections of a worker, by the time at which they can move.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Census {
    pub now: usize,
    pub soon: usize,
    pub late: usize,
    pub never: usize,
}

impl Census {
    pub(crate) fn add(&mut self, moves: Moves) {
        *match moves {
            Moves::Now => &mut self.now,
            Moves::Soon => &mut self.soon,
            Moves::Late => &mut self.late,
            Moves::Never => &mut self.never,
        } += 1;
    }

    pub(crate) fn sum(self, other: Census) -> Census {
        Census {
            now: self.now + other.now,
            soon: self.soon + other.soon,
            late: self.late + other.late,
            never: self.never + other.never,
        }
    }
}

/// The content of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Format and worker.
    Begin = 1,
    /// Gateway and index, with the listening socket.
    Listener = 2,
    /// Gateway, the generation of its unused slots, and the protocol's state.
    Gateway = 3,
    /// Gateway, and a record for each socket.
    Connections = 4,
    End = 5,
    /// Gateway, and the number of each socket. Only of protocols with own sockets, so other channels stay readable for versions that do
    /// not know it.
    OwnSockets = 6,
}

impl Kind {
    fn of(byte: u8) -> Option<Kind> {
        let all =
            [Kind::Begin, Kind::Listener, Kind::Gateway, Kind::Connections, Kind::End, Kind::OwnSockets];
        all.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// A gateway's part of what a worker has received.
#[derive(Default)]
pub(crate) struct Arrived {
    /// By index.
    pub(crate) listeners: Vec<(usize, OwnedFd)>,
    pub(crate) generation: u32,
    /// Of the protocol. None: none has arrived.
    pub(crate) state: Option<Vec<u8>>,
    pub(crate) connections: Vec<(OwnedFd, Vec<u8>)>,
    /// Of the protocol, by number.
    pub(crate) own_sockets: Vec<(u32, OwnedFd)>,
}

/// Where the worker of this number listens.
fn path_of(directory: &Path, worker: usize) -> PathBuf {
    directory.join(format!("{worker}.sock"))
}

/// Length of the body, number of descriptors, kind.
const HEADER: usize = 9;

/// The old worker's end.
pub(crate) struct Sender(UnixStream);

impl Sender {
    /// Waits for a worker that does not listen yet.
    pub(crate) fn connect(to: &Successor, worker: usize) -> io::Result<Sender> {
        let path = path_of(&to.directory, worker);
        let socket = loop {
            match UnixStream::connect(&path) {
                Ok(socket) => break socket,
                Err(error) if to.is_gone.load(Ordering::Relaxed) || Instant::now() >= to.deadline => {
                    return Err(error);
                }
                Err(_) => std::thread::sleep(RETRY),
            }
        };
        socket.set_write_timeout(Some(left(to.deadline)))?;
        let mut sender = Sender(socket);
        let mut body = record::Writer::default();
        body.u16(TRANSFER_FORMAT).u32(worker as u32);
        sender.frame(Kind::Begin, &body.0, &[])?;
        Ok(sender)
    }

    pub(crate) fn frame(&mut self, kind: Kind, body: &[u8], sockets: &[BorrowedFd<'_>]) -> io::Result<()> {
        let length = u32::try_from(body.len()).ok().filter(|length| *length <= MOST_BYTES);
        let length = length.ok_or_else(|| io::Error::other("the state of a connection is too large"))?;
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&length.to_le_bytes());
        header[4..8].copy_from_slice(&(sockets.len() as u32).to_le_bytes());
        header[8] = kind as u8;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BATCH))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !sockets.is_empty() && !control.push(SendAncillaryMessage::ScmRights(sockets)) {
            return Err(io::Error::other("too many sockets for one frame"));
        }
        let sent = sendmsg(&self.0, &[IoSlice::new(&header)], &mut control, SendFlags::NOSIGNAL)?;
        self.0.write_all(&header[sent..])?;
        self.0.write_all(body)
    }
}

/// The new worker's end.
struct Receiver(UnixStream);

struct Frame {
    kind: Kind,
    body: Vec<u8>,
    sockets: Vec<OwnedFd>,
}

impl Receiver {
    /// None: the old process has ended, or the time is over.
    fn accept(from: &Predecessor, worker: usize) -> io::Result<Option<Receiver>> {
        let path = path_of(&from.directory, worker);
        let listener = UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        let accepted = loop {
            match listener.accept() {
                Ok((socket, _)) => break Some(socket),
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                Err(_) if from.is_gone.load(Ordering::Relaxed) || Instant::now() >= from.deadline => {
                    break None;
                }
                Err(_) => std::thread::sleep(RETRY),
            }
        };
        let _ = std::fs::remove_file(&path);
        let Some(socket) = accepted else { return Ok(None) };
        if !is_of_this_user(&socket) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "a process of another user connected",
            ));
        }
        socket.set_nonblocking(false)?;
        socket.set_read_timeout(Some(left(from.deadline)))?;
        Ok(Some(Receiver(socket)))
    }

    fn next(&mut self) -> io::Result<Frame> {
        let mut header = [0; HEADER];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BATCH))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC;
        let got = recvmsg(&self.0, &mut [IoSliceMut::new(&mut header)], &mut control, flags)?;
        if got.bytes == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut sockets = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                sockets.extend(descriptors);
            }
        }
        self.0.read_exact(&mut header[got.bytes..])?;
        let invalid = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        let mut fields = Reader(&header);
        let (length, count, kind) = (fields.u32(), fields.u32(), fields.u8());
        let length =
            length.filter(|length| *length <= MOST_BYTES).ok_or_else(|| invalid("a frame is too long"))?;
        let kind = kind.and_then(Kind::of).ok_or_else(|| invalid("an unknown frame"))?;
        if count != Some(sockets.len() as u32) {
            // The kernel drops descriptors for which the table has no room (unix(7)).
            return Err(io::Error::other("sockets were lost: the limit of open files is too low"));
        }
        let mut body = vec![0; length as usize];
        self.0.read_exact(&mut body)?;
        Ok(Frame { kind, body, sockets })
    }
}

/// Receives the connections of a worker, by gateway. If the old process ends in the middle, what has come is complete.
pub(crate) fn receive(from: &Predecessor, worker: usize, gateways: usize) -> io::Result<Vec<Arrived>> {
    let mut arrived: Vec<Arrived> = (0..gateways).map(|_| Arrived::default()).collect();
    let Some(mut receiver) = Receiver::accept(from, worker)? else { return Ok(arrived) };
    loop {
        let frame = match receiver.next() {
            Ok(frame) => frame,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                tracing::warn!(worker, "the old process ended before it had handed over all connections");
                return Ok(arrived);
            }
            Err(error) => return Err(error),
        };
        let is_last = frame.kind == Kind::End;
        take(frame, &mut arrived)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a frame cannot be read"))?;
        if is_last {
            return Ok(arrived);
        }
    }
}

fn take(frame: Frame, arrived: &mut [Arrived]) -> Option<()> {
    let Frame { kind, body, sockets } = frame;
    let mut body = Reader(&body);
    match kind {
        Kind::Begin => {
            let format = body.u16()?;
            (OLDEST_TRANSFER_FORMAT..=TRANSFER_FORMAT).contains(&format).then_some(())
        }
        Kind::Listener => {
            let (gateway, index) = (body.u8()?, body.u32()?);
            let arrived = arrived.get_mut(usize::from(gateway))?;
            arrived.listeners.extend(sockets.into_iter().map(|socket| (index as usize, socket)));
            Some(())
        }
        Kind::Gateway => {
            let (gateway, generation) = (body.u8()?, body.u32()?);
            let arrived = arrived.get_mut(usize::from(gateway))?;
            (arrived.generation, arrived.state) = (generation, Some(body.bytes()?.to_vec()));
            Some(())
        }
        Kind::Connections => {
            let gateway = body.u8()?;
            let arrived = arrived.get_mut(usize::from(gateway))?;
            for socket in sockets {
                arrived.connections.push((socket, body.bytes()?.to_vec()));
            }
            Some(())
        }
        Kind::OwnSockets => {
            let gateway = body.u8()?;
            let arrived = arrived.get_mut(usize::from(gateway))?;
            for socket in sockets {
                arrived.own_sockets.push((body.u32()?, socket));
            }
            Some(())
        }
        Kind::End => Some(()),
    }
}

/// Whether the process at the other end belongs to the user of this one.
pub fn is_of_this_user(socket: &UnixStream) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    return rustix::net::sockopt::socket_peercred(socket)
        .is_ok_and(|peer| peer.uid == rustix::process::getuid());
    // The directory of the socket is closed to others.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = socket;
        true
    }
}

/// Never zero, which would be no time limit.
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}
