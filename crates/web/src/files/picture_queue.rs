//! The queue in front of the picture process: fair between sites and users, and with a budget of CPU time for each.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chat::{FileType, Node, Refusal, SiteId, Timestamp, UserId};

use super::finish::{Made, Pictures};
use crate::fair_queue::{Bounds, FairQueue};

/// Pictures that wait; one more is refused as busy.
const BOUNDS: Bounds = Bounds { waiting: 256, of_site: 64, of_user: 8 };
/// A request waits this long. Then it is refused as busy, and asks again: what has arrived of the upload stays.
const PATIENCE: Duration = Duration::from_secs(12);

/// The user and site that pay for a picture with CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureBy {
    pub user: UserId,
    pub is_guest: bool,
}

impl PictureBy {
    /// Number 0 is no user's: the site's own server.
    pub fn site(site: SiteId) -> PictureBy {
        PictureBy { user: UserId { site, num: 0 }, is_guest: false }
    }
}

/// Shared by everything that makes pictures.
pub struct PictureQueue {
    node: Arc<Node>,
    pictures: Arc<dyn Pictures>,
    clock: fn() -> Timestamp,
    queue: Arc<FairQueue>,
}

impl PictureQueue {
    /// `at_once`: picture processes at one time.
    pub fn new(
        node: Arc<Node>,
        pictures: Arc<dyn Pictures>,
        at_once: usize,
        clock: fn() -> Timestamp,
    ) -> PictureQueue {
        PictureQueue { node, pictures, clock, queue: FairQueue::new(at_once.max(1), BOUNDS) }
    }

    /// Waits for a turn, then works on a thread that may block. The CPU time of the pictures that the work makes is counted, also when
    /// nobody waits for the outcome any more. [`Refusal::RateLimited`]: the budget is spent; [`Refusal::Overloaded`]: the queue is full
    /// or slow.
    pub async fn run<T: Send + 'static>(
        &self,
        by: PictureBy,
        work: impl FnOnce(&dyn Pictures) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        self.node.may_make_picture(by.user, by.is_guest, (self.clock)())?;
        let place = self.queue.line_up(by.user)?.wait(PATIENCE).await?;
        // Others of the same user may have been made meanwhile.
        self.node.may_make_picture(by.user, by.is_guest, (self.clock)())?;
        let (node, clock) = (Arc::clone(&self.node), self.clock);
        let metered = Metered { pictures: Arc::clone(&self.pictures), cpu_ms: AtomicU64::new(0) };
        let done = tokio::task::spawn_blocking(move || {
            let outcome = work(&metered);
            node.picture_made(by.user, by.is_guest, metered.cpu_ms.into_inner(), clock());
            drop(place);
            outcome
        });
        done.await.map_err(|_| Refusal::Unavailable)
    }
}

struct Metered {
    pictures: Arc<dyn Pictures>,
    cpu_ms: AtomicU64,
}

impl Metered {
    fn counted(&self, made: Made) -> Made {
        self.cpu_ms.fetch_add(made.cpu.as_millis() as u64, Ordering::Relaxed);
        made
    }
}

impl Pictures for Metered {
    fn make(&self, from: File, kind: FileType, whole: File, thumbnail: File) -> Made {
        self.counted(self.pictures.make(from, kind, whole, thumbnail))
    }

    fn portrait(&self, from: File, kind: FileType, portrait: File) -> Made {
        self.counted(self.pictures.portrait(from, kind, portrait))
    }
}
