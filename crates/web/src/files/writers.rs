//! The writer of an upload: one request at a time, the newest. A client that reconnects must not wait until the server notices
//! the broken connection. Two writers at once would destroy the file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chat::FileId;
use tokio::sync::{Mutex as Lock, OwnedMutexGuard, watch};

#[derive(Default)]
pub(super) struct Writers {
    by_file: Arc<Mutex<HashMap<FileId, Line>>>,
}

/// The requests that want to write one upload. Kept while one remains.
struct Line {
    lock: Arc<Lock<()>>,
    newest: watch::Sender<u64>,
    waiting: usize,
}

/// The right to write, until it is dropped.
pub(super) struct Turn {
    _place: Place,
    _lock: OwnedMutexGuard<()>,
    number: u64,
    newest: watch::Receiver<u64>,
}

struct Place {
    by_file: Arc<Mutex<HashMap<FileId, Line>>>,
    file: FileId,
}

impl Writers {
    /// Stops the current writer and waits for its end.
    pub(super) async fn take(&self, file: FileId) -> Turn {
        let (place, lock, number, newest) = self.line_up(file);
        let lock = lock.lock_owned().await;
        Turn { _place: place, _lock: lock, number, newest }
    }

    fn line_up(&self, file: FileId) -> (Place, Arc<Lock<()>>, u64, watch::Receiver<u64>) {
        let mut lines = self.by_file.lock().unwrap_or_else(PoisonError::into_inner);
        let line = lines.entry(file).or_insert_with(|| Line {
            lock: Arc::default(),
            newest: watch::Sender::new(0),
            waiting: 0,
        });
        line.waiting += 1;
        line.newest.send_modify(|newest| *newest += 1);
        let newest = line.newest.subscribe();
        let number = *newest.borrow();
        (Place { by_file: Arc::clone(&self.by_file), file }, Arc::clone(&line.lock), number, newest)
    }
}

impl Turn {
    /// Returns when a newer request wants to write.
    pub(super) async fn is_over(&mut self) {
        let number = self.number;
        // The sender lives as long as a place in its line.
        let _ = self.newest.wait_for(|newest| *newest != number).await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut lines = self.by_file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = lines.get_mut(&self.file) {
            line.waiting -= 1;
            if line.waiting == 0 {
                lines.remove(&self.file);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use chat::SiteId;

    use super::*;

    #[tokio::test]
    async fn the_newest_writes_and_nothing_is_kept_of_those_who_are_done() {
        let writers = Writers::default();
        let file = FileId { site: SiteId(1), number: 1 };
        let mut first = writers.take(file).await;
        let second = async {
            let turn = writers.take(file).await;
            drop(turn);
        };
        let end_first = async {
            first.is_over().await;
            drop(first);
        };
        tokio::join!(second, end_first);
        let _other = writers.take(FileId { number: 2, ..file }).await;
        assert_eq!(writers.by_file.lock().unwrap().len(), 1);
    }
}
