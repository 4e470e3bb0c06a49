//! A new version in place: `kith serve --take-over` takes the sockets and sessions of the running node of its data directory.
//!
//! | step | old process | new process |
//! |---|---|---|
//! | 1 | offers its format, workers and addresses | asks for them |
//! | 2 | waits for uploads and downloads | has checked settings, certificates and schema, and is ready |
//! | 3 | stops to read, answers commands, pauses the store, gives up the lock, sends the sessions | locks and opens the database |
//! | 4 | each worker sends its sockets, those of the TURN server first | each worker receives them |
//! | 5 | says go | has everything |
//! | 6 | closes what could not move, and ends | serves |
//!
//! Until *go* the old process keeps copies of everything: if the new one ends or is too slow, it is killed, and the old one goes on. If
//! the old one ends before, the new one serves what it has. The directory is closed to other users, and each side checks the user of the
//! other one.
//!
//! A front has no database. Its links with the homes move, too ([`cluster::FrontsRecord`]).

mod new;
mod old;
pub(crate) mod service;

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use chat::{CallRecord, SessionRecord};
use cluster::FrontsRecord;
use edge::Edge;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGUSR2};
use signal_hook::iterator::Signals;

use crate::data_lock::DataLock;

pub(crate) use new::{Joining, Part};
pub(crate) use old::Left;

/// The old process listens here.
const SOCKET: &str = "take-over.sock";

/// The newest format of [`Message`] that this version writes, and the oldest that it reads.
const FORMAT: u16 = 1;
const OLDEST_FORMAT: u16 = 1;

/// The time for uploads and downloads to end.
const DRAIN: Duration = Duration::from_secs(10);

/// From the stop of reading to the last step. Then the old process goes on.
const MOVE: Duration = Duration::from_secs(30);

/// A longer message is not from us.
const MOST_BYTES: u32 = 1 << 30;

#[derive(Serialize, Deserialize)]
enum Message {
    /// Of the new process: formats of messages and of connections, each the oldest and the newest.
    Ask {
        version: String,
        messages: (u16, u16),
        connections: (u16, u16),
    },
    Offer(Offer),
    Refuse {
        why: String,
    },
    /// Of the new process: its checks are passed, and its workers will listen in this directory.
    Ready {
        directory: PathBuf,
        /// Those of its TURN server. None: the relays of the old process end with it.
        #[serde(default)]
        relays: Option<PathBuf>,
    },
    /// Of the old process: it does not use the data any more, and the lock is free.
    State(Box<State>),
    /// Of the new process: it has everything, and would serve now.
    Taken,
    /// Of the old process, which serves nothing any more.
    Go,
}

/// The workers and addresses of the old process.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Offer {
    pub(crate) workers: usize,
    /// In the order of the settings, with real ports.
    pub(crate) web: Vec<SocketAddr>,
    pub(crate) xmpp: Vec<SocketAddr>,
    /// Of STUN and TURN.
    pub(crate) datagrams: Vec<SocketAddr>,
    pub(crate) streams: Vec<SocketAddr>,
    /// The format of relays that it sends ([`calls::MOVES_FORMAT`]). 0: it sends none.
    #[serde(default)]
    pub(crate) relays: u16,
    /// Of a front, for servers and components.
    #[serde(default)]
    pub(crate) passed_on: Vec<SocketAddr>,
    /// None: it has the database.
    #[serde(default)]
    pub(crate) front: Option<OldFront>,
}

/// The old process is a front.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OldFront {
    pub(crate) id: u64,
    pub(crate) is_linked: bool,
}

/// The sessions, calls and keys of the old process.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) sessions: Vec<SessionRecord>,
    #[serde(default)]
    pub(crate) calls: Vec<CallRecord>,
    /// Streams of apps without a connection, as [`xmpp::Streams`] writes them.
    #[serde(default)]
    pub(crate) streams: String,
    /// Of the keys of sessions that use several connections.
    pub(crate) session_keys: [u8; 32],
    /// Of the credentials for relays, if the settings name none.
    pub(crate) relay_secret: Option<Vec<u8>>,
    /// The sessions of a front, and its links.
    #[serde(default)]
    pub(crate) front: Option<Box<FrontsRecord>>,
}

/// A running process whose place another one can take.
pub(crate) trait Replaceable: Sync {
    fn edge(&self) -> &Edge;
    /// Its TURN server.
    fn relays(&self) -> Option<&calls::Calls>;
    /// None while another process takes over.
    fn lock(&self) -> &Mutex<Option<DataLock>>;
    /// The reason why no other process can take its place.
    fn refusal(&self) -> Option<&'static str> {
        None
    }
    fn offer(&self) -> Offer;
    /// Threads that work on their own do nothing until the guards are dropped.
    fn hold(&self) -> Vec<MutexGuard<'_, ()>>;
    /// Waits until the store has answered everything.
    fn flush(&self);
    /// Whether nothing waits for an answer of another node.
    fn is_answered(&self) -> bool {
        true
    }
    /// Nothing comes from other nodes any more, and what has come is delivered.
    fn stand_still(&self) {}
    /// Its whole state. It stands still.
    fn state(&self) -> State;
    /// Leaves the data to the other process.
    fn pause(&self);
    /// Works with the data again.
    fn resume(&self) -> Result<(), String>;
    /// The opposite of [`stand_still`](Self::stand_still).
    fn go_on(&self) {}
}

/// Until a signal ends the process, or a successor has everything. SIGUSR2 starts a successor.
pub(crate) fn serve(
    running: &dyn Replaceable,
    data: &Path,
    signals: &mut Signals,
    on_hangup: impl Fn(),
) -> Option<Left> {
    let handle = signals.handle();
    let (stop, stops) = match UnixStream::pair() {
        Ok(pair) => pair,
        Err(error) => {
            tracing::error!(%error, "cannot make a pair of sockets; stopping");
            return None;
        }
    };
    thread::scope(|scope| {
        let listening = thread::Builder::new().name("take-over".into()).spawn_scoped(scope, || {
            let left = old::listen(running, data, &stops);
            if left.is_some() {
                // The signals end, and with them the loop below.
                handle.close();
            }
            left
        });
        for signal in &mut *signals {
            match signal {
                SIGHUP => on_hangup(),
                SIGUSR2 => {
                    service::is_reloading();
                    service::start_successor();
                }
                _ => break,
            }
        }
        drop(stop);
        match listening {
            Ok(listening) => listening.join().ok().flatten(),
            Err(error) => {
                tracing::warn!(%error, "cannot start a thread: a new version needs a restart");
                None
            }
        }
    })
}

/// A connection between the two processes.
struct Link(UnixStream);

impl Link {
    fn connect(data: &Path) -> io::Result<Link> {
        UnixStream::connect(data.join(SOCKET)).map(Link)
    }

    fn send(&mut self, message: &Message) -> io::Result<()> {
        let body = serde_json::to_vec(message)?;
        let length = u32::try_from(body.len()).map_err(io::Error::other)?;
        self.0.set_write_timeout(Some(MOVE))?;
        self.0.write_all(&length.to_le_bytes())?;
        self.0.write_all(&body)
    }

    /// Waits until this time.
    fn receive(&mut self, until: Instant) -> io::Result<Message> {
        let mut length = [0; 4];
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        self.0.set_read_timeout(Some(left))?;
        self.0.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        if length > MOST_BYTES {
            return Err(io::Error::other("a message is too long"));
        }
        let mut body = vec![0; length as usize];
        self.0.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

/// Whether one of these formats is also one of ours.
fn has_common((oldest, newest): (u16, u16), (our_oldest, our_newest): (u16, u16)) -> bool {
    oldest <= our_newest && our_oldest <= newest
}

/// The addresses of the settings, with those of the old process in their place where they are the same.
pub(crate) fn joined(wanted: SocketAddr, old: Option<&SocketAddr>) -> Option<SocketAddr> {
    let is_same =
        |old: &&SocketAddr| old.ip() == wanted.ip() && (wanted.port() == 0 || old.port() == wanted.port());
    old.filter(is_same).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_and_a_state_of_the_version_before_can_be_read() {
        let offer =
            r#"{"Offer":{"workers":2,"web":["127.0.0.1:8080"],"xmpp":[],"datagrams":[],"streams":[]}}"#;
        let Ok(Message::Offer(offer)) = serde_json::from_str(offer) else { panic!("an offer") };
        assert!(offer.front.is_none() && offer.workers == 2 && offer.relays == 0);
        let keys = vec!["7"; 32].join(",");
        let state = format!(r#"{{"State":{{"sessions":[],"session_keys":[{keys}],"relay_secret":null}}}}"#);
        let Ok(Message::State(state)) = serde_json::from_str(&state) else { panic!("a state") };
        assert!(state.front.is_none() && state.session_keys == [7; 32]);
    }

    #[test]
    fn an_address_is_joined_if_it_is_the_same_or_any_port_will_do() {
        let at = |text: &str| text.parse::<SocketAddr>().expect(text);
        let old = at("127.0.0.1:8080");
        assert_eq!(joined(at("127.0.0.1:8080"), Some(&old)), Some(old));
        assert_eq!(joined(at("127.0.0.1:0"), Some(&old)), Some(old));
        assert_eq!(joined(at("127.0.0.1:8081"), Some(&old)), None);
        assert_eq!(joined(at("0.0.0.0:8080"), Some(&old)), None);
        assert_eq!(joined(at("127.0.0.1:8080"), None), None);
    }

    #[test]
    fn a_node_reads_its_own_format_and_the_one_before() {
        assert!(has_common((1, 1), (1, 1)) && has_common((1, 2), (2, 3)) && has_common((2, 3), (1, 2)));
        assert!(!has_common((3, 4), (1, 2)) && !has_common((1, 1), (2, 3)));
    }
}
