//! The new process of a take-over.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use chat::{Node, SessionHandle, SessionRecord};
use cluster::{Fronts, FrontsRecord};
use edge::{Edge, Predecessor};

use super::{DRAIN, FORMAT, Link, MOVE, Message, OLDEST_FORMAT, Offer, State};
use crate::trouble::{Outcome, Trouble};

/// The least room on the disk of the data directory. With less, the old process need not even stand still.
const ROOM: usize = 1 << 20;

/// The directory for the sockets of the TURN server's workers, within that of the others.
const RELAYS: &str = "relays";

/// The kind of a process. One of another kind cannot take its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// With the database.
    Node,
    Front,
}

/// A take-over in progress. Dropped before its end, it has failed, and the old process goes on.
pub(crate) struct Joining {
    link: Link,
    pub(crate) offer: Offer,
    /// For the sockets of the workers.
    directory: PathBuf,
    is_gone: Arc<AtomicBool>,
    /// Whether the old process says go, once it stands still.
    answer: Option<Receiver<bool>>,
    takes_relays: bool,
    /// Everything belongs to this process.
    is_over: bool,
}

impl Joining {
    /// Asks the running node of this data directory.
    pub(crate) fn ask(data: &Path, part: Part) -> Outcome<Joining> {
        let failed = |why: String| {
            Trouble::new(format!("cannot take over the node of {}", data.display())).because(why)
        };
        let unreachable = |error: std::io::Error| {
            failed(error.to_string()).remedy("start the node without --take-over if none is running there")
        };
        let mut link = Link::connect(data).map_err(unreachable)?;
        if !edge::is_of_this_user(&link.0) {
            return Err(failed("it runs as another user".into()));
        }
        let ask = Message::Ask {
            version: env!("CARGO_PKG_VERSION").into(),
            messages: (OLDEST_FORMAT, FORMAT),
            connections: (edge::OLDEST_TRANSFER_FORMAT, edge::TRANSFER_FORMAT),
        };
        link.send(&ask).map_err(unreachable)?;
        let offer = match link.receive(Instant::now() + MOVE) {
            Ok(Message::Offer(offer)) => offer,
            Ok(Message::Refuse { why }) => return Err(failed(why)),
            Ok(_) => return Err(failed("it sent an unexpected message".into())),
            Err(error) => return Err(unreachable(error)),
        };
        match (part, &offer.front) {
            (Part::Node, Some(_)) => {
                return Err(
                    failed("it is a front of a cluster".into()).remedy("use its settings: --role front")
                );
            }
            (Part::Front, None) => {
                return Err(failed("it is no front of a cluster".into()).remedy("use its settings"));
            }
            (Part::Node, None) | (Part::Front, Some(_)) => {}
        }
        // The path of a socket is short (unix(7)), and the old process may have another working directory.
        let data = data.canonicalize().map_err(unreachable)?;
        let directory = data.join(format!("take-over.{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        let mut builder = std::fs::DirBuilder::new();
        builder.mode(0o700).recursive(true).create(directory.join(RELAYS)).map_err(unreachable)?;
        Ok(Joining {
            link,
            offer,
            directory,
            is_gone: Arc::default(),
            answer: None,
            takes_relays: false,
            is_over: false,
        })
    }

    /// A new version that finds no room for the database would only make members wait.
    fn check_room(&self) -> Outcome {
        let path = self.directory.join("room");
        let written = File::create(&path).and_then(|mut file| {
            file.write_all(&vec![1; ROOM])?;
            file.sync_all()
        });
        let _ = std::fs::remove_file(&path);
        written.map_err(|error| {
            Trouble::new("cannot write into the data directory")
                .because(error)
                .remedy("free some room on its disk; until then the old process goes on")
        })
    }

    /// All checks are passed. Returns when the old process stands still, and its data directory is free. `takes_relays`: its
    /// [relays](Self::relays) come next.
    pub(crate) fn begin(&mut self, takes_relays: bool) -> Outcome<State> {
        self.check_room()?;
        let failed = |why: String| Trouble::new("the take-over has failed").because(why);
        self.takes_relays = takes_relays;
        let relays = takes_relays.then(|| self.directory.join(RELAYS));
        let ready = Message::Ready { directory: self.directory.clone(), relays };
        self.link.send(&ready).map_err(|error| failed(error.to_string()))?;
        let state = match self.link.receive(Instant::now() + DRAIN + MOVE) {
            Ok(Message::State(state)) => *state,
            Ok(Message::Refuse { why }) => return Err(failed(why)),
            Ok(_) => return Err(failed("the old process sent an unexpected message".into())),
            Err(error) => return Err(failed(error.to_string())),
        };
        let answer = Joining::watch(&self.link, Arc::clone(&self.is_gone));
        self.answer = Some(answer.map_err(|error| failed(error.to_string()))?);
        Ok(state)
    }

    /// For the workers.
    pub(crate) fn predecessor(&self) -> Predecessor {
        self.predecessor_at(self.directory.clone())
    }

    /// For the workers of the TURN server. None: no relays come.
    pub(crate) fn relays(&self) -> Option<Predecessor> {
        self.takes_relays.then(|| self.predecessor_at(self.directory.join(RELAYS)))
    }

    fn predecessor_at(&self, directory: PathBuf) -> Predecessor {
        Predecessor {
            directory,
            workers: self.offer.workers,
            deadline: Instant::now() + MOVE,
            is_gone: Arc::clone(&self.is_gone),
        }
    }

    /// Watches for the end of the old process while its connections come. Returns its next message.
    fn watch(link: &Link, is_gone: Arc<AtomicBool>) -> std::io::Result<Receiver<bool>> {
        let (told, answer) = mpsc::channel();
        let mut link = Link(link.0.try_clone()?);
        thread::Builder::new().name("take-over".into()).spawn(move || {
            let is_go = matches!(link.receive(Instant::now() + 2 * MOVE), Ok(Message::Go));
            is_gone.store(!is_go, Ordering::Relaxed);
            let _ = told.send(is_go);
        })?;
        Ok(answer)
    }

    /// The sockets come while `receive` runs.
    pub(crate) fn receive(self, receive: impl FnOnce() -> std::io::Result<Edge>) -> Outcome<Received> {
        let edge =
            receive().map_err(|error| Trouble::new("cannot take the connections over").because(error))?;
        Ok(Received { joining: self, edge })
    }
}

impl Drop for Joining {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
        if !self.is_over {
            // When the link closes, the old process kills this one. So it closes with this process, which first says why it failed.
            let _ = self.link.0.try_clone().map(IntoRawFd::into_raw_fd);
        }
    }
}

/// The connections are here.
pub(crate) struct Received {
    joining: Joining,
    pub(crate) edge: Edge,
}

impl Received {
    /// Continues the sessions, and waits until they belong to this process. Without an answer the old process has ended, and its
    /// connections are ours in any case. An old process that goes on kills this one.
    pub(crate) fn finish(self, node: &Arc<Node>, sessions: Vec<SessionRecord>) -> Edge {
        let here = self.here();
        let count = sessions.len();
        let gone = sessions.iter().filter(|record| !here.contains(&record.session.handle));
        let gone: Vec<_> = gone.map(|record| record.session).collect();
        let now = crate::now();
        let (told, all_are_here) = mpsc::channel();
        node.continue_sessions(sessions, now, move || _ = told.send(()));
        for session in &gone {
            node.disconnected(*session, false, now);
        }
        // A command now would reach only the sessions that are here already. The old process limits the time.
        let _ = all_are_here.recv();
        self.begin((count - gone.len(), gone.len()), || ())
    }

    /// Continues the sessions and the links of a front, which stands still until then. `now`: by the clock of its links.
    pub(crate) fn finish_front(
        self,
        fronts: &Fronts,
        record: FrontsRecord,
        now: impl Fn() -> chat::Timestamp,
    ) -> Edge {
        let here = self.here();
        let counts = fronts.resume(record, |handle| here.contains(&handle), now());
        self.begin(counts, || fronts.go_on(now()))
    }

    fn here(&self) -> HashSet<SessionHandle> {
        self.edge.imported().iter().map(|handle| SessionHandle(handle.to_bits())).collect()
    }

    /// `counts`: sessions that came, and sessions whose connections did not.
    fn begin(mut self, (sessions, closed): (usize, usize), go_on: impl FnOnce()) -> Edge {
        if let Err(error) = self.joining.link.send(&Message::Taken) {
            tracing::warn!(%error, "the old process has ended during the take-over");
        }
        let is_agreed = self.joining.answer.take().is_some_and(|answer| answer.recv().unwrap_or(false));
        self.joining.is_over = true;
        let connections = self.edge.imported().len();
        tracing::info!(connections, sessions, closed, is_agreed, "took over from the old process");
        go_on();
        self.edge.begin();
        self.edge
    }
}
