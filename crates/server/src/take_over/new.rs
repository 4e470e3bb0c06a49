//! The new process of a take-over.

use std::collections::HashSet;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use chat::{Node, SessionRecord};
use edge::{Edge, Predecessor};

use super::{DRAIN, FORMAT, Link, MOVE, Message, OLDEST_FORMAT, Offer, State};
use crate::trouble::{Outcome, Trouble};

/// A take-over in progress. Dropped before its end, it has failed, and the old process goes on.
pub(crate) struct Joining {
    link: Link,
    pub(crate) offer: Offer,
    /// For the sockets of the workers.
    directory: PathBuf,
    is_gone: Arc<AtomicBool>,
}

impl Joining {
    /// Asks the running node of this data directory.
    pub(crate) fn ask(data: &Path) -> Outcome<Joining> {
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
        // The path of a socket is short (unix(7)), and the old process may have another working directory.
        let data = data.canonicalize().map_err(unreachable)?;
        let directory = data.join(format!("take-over.{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::DirBuilder::new().mode(0o700).create(&directory).map_err(unreachable)?;
        Ok(Joining { link, offer, directory, is_gone: Arc::default() })
    }

    /// All checks are passed. Returns when the old process stands still, and its data directory is free.
    pub(crate) fn begin(&mut self) -> Outcome<State> {
        let failed = |why: String| Trouble::new("the take-over has failed").because(why);
        let ready = Message::Ready { directory: self.directory.clone() };
        self.link.send(&ready).map_err(|error| failed(error.to_string()))?;
        match self.link.receive(Instant::now() + DRAIN + MOVE) {
            Ok(Message::State(state)) => Ok(*state),
            Ok(Message::Refuse { why }) => Err(failed(why)),
            Ok(_) => Err(failed("the old process sent an unexpected message".into())),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// For the workers.
    pub(crate) fn predecessor(&self) -> Predecessor {
        Predecessor {
            directory: self.directory.clone(),
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
        let failed = |error: std::io::Error| Trouble::new("cannot take the connections over").because(error);
        let answer = Joining::watch(&self.link, Arc::clone(&self.is_gone)).map_err(failed)?;
        let edge = receive().map_err(failed)?;
        Ok(Received { joining: self, answer, edge })
    }
}

impl Drop for Joining {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// The connections are here.
pub(crate) struct Received {
    joining: Joining,
    answer: Receiver<bool>,
    pub(crate) edge: Edge,
}

impl Received {
    /// Continues the sessions, and waits until they belong to this process. Without an answer the old process has ended, and its
    /// connections are ours in any case. An old process that goes on kills this one.
    pub(crate) fn finish(mut self, node: &Arc<Node>, sessions: Vec<SessionRecord>) -> Edge {
        let here: HashSet<u64> = self.edge.imported().iter().map(|handle| handle.to_bits()).collect();
        let count = sessions.len();
        let gone = sessions.iter().filter(|record| !here.contains(&record.session.handle.0));
        let gone: Vec<_> = gone.map(|record| record.session).collect();
        let now = crate::now();
        let (told, all_are_here) = mpsc::channel();
        node.continue_sessions(sessions, now, move || _ = told.send(()));
        for session in &gone {
            node.disconnected(*session, false, now);
        }
        // A command now would reach only the sessions that are here already. The old process limits the time.
        let _ = all_are_here.recv();
        if let Err(error) = self.joining.link.send(&Message::Taken) {
            tracing::warn!(%error, "the old process has ended during the take-over");
        }
        let is_agreed = self.answer.recv().unwrap_or(false);
        tracing::info!(
            connections = here.len(),
            sessions = count - gone.len(),
            closed = gone.len(),
            is_agreed,
            "took over from the old process"
        );
        self.edge.begin();
        self.edge
    }
}
