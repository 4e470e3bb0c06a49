//! E-mail on the tokio side: what a member has missed, once a day at most, with a link that ends it.

mod letter;
mod link;
mod page;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use chat::{Digest, Mailer, Store};
use lettre::message::Mailbox;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use tokio::sync::{Semaphore, mpsc};

use self::link::Links;
pub(crate) use self::page::routes;

/// Digests that wait; more are lost, and counted.
const MOST_WAITING: usize = 1_024;
/// Under way at once: a relay that is asked for more slows down.
const MOST_UNDER_WAY: usize = 4;
/// From the connection to the relay's answer.
const TIME: Duration = Duration::from_secs(30);
/// A relay that is away is asked again after these.
const PAUSES: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(300)];

/// How mail leaves this node.
pub(crate) struct Post {
    pub(crate) transport: AsyncSmtpTransport<Tokio1Executor>,
    pub(crate) from: Mailbox,
    /// Where browsers reach this node, for the link that ends the mails.
    pub(crate) public_url: String,
    pub(crate) after_minutes: u32,
}

/// The relay of an address as in `smtps://user:password@smtp.example.com`, with time limits.
pub(crate) fn relay(url: &str) -> Result<AsyncSmtpTransport<Tokio1Executor>, lettre::transport::smtp::Error> {
    Ok(AsyncSmtpTransport::<Tokio1Executor>::from_url(url)?.timeout(Some(TIME)).build())
}

/// Counters of digests by outcome.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) sent: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) dropped: AtomicU64,
}

/// The domain's way to a mail relay.
pub(crate) struct PostOffice {
    jobs: mpsc::Sender<Digest>,
    after_minutes: u32,
    counters: Arc<Counters>,
}

impl PostOffice {
    pub(crate) fn begin(
        post: Post,
        store: Arc<dyn Store>,
        counters: Arc<Counters>,
        runtime: &tokio::runtime::Handle,
    ) -> PostOffice {
        let after_minutes = post.after_minutes;
        let (jobs, waiting) = mpsc::channel(MOST_WAITING);
        runtime.spawn(run(Arc::new(post), Links::new(store), Arc::clone(&counters), waiting));
        PostOffice { jobs, after_minutes, counters }
    }
}

impl Mailer for PostOffice {
    fn after_minutes(&self) -> u32 {
        self.after_minutes
    }

    fn mail(&self, digest: Digest) {
        if self.jobs.try_send(digest).is_err() {
            self.counters.dropped.fetch_add(1, Relaxed);
        }
    }
}

/// Until the node drops its end.
async fn run(post: Arc<Post>, links: Links, counters: Arc<Counters>, mut waiting: mpsc::Receiver<Digest>) {
    let room = Arc::new(Semaphore::new(MOST_UNDER_WAY));
    while let Some(digest) = waiting.recv().await {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let (post, links, counters) = (Arc::clone(&post), links.clone(), Arc::clone(&counters));
        tokio::spawn(async move {
            let _place = place;
            let count = match send(&post, &links, &digest).await {
                Some(()) => &counters.sent,
                None => &counters.failed,
            };
            count.fetch_add(1, Relaxed);
        });
    }
}

async fn send(post: &Post, links: &Links, digest: &Digest) -> Option<()> {
    let end = links.to_end(&post.public_url, digest).await?;
    let letter = letter::letter(digest, &post.from, &end)
        .inspect_err(|error| tracing::debug!(%error, "cannot write a digest"))
        .ok()?;
    for pause in PAUSES.into_iter().map(Some).chain([None]) {
        match deliver(post, &letter).await {
            Delivered::Taken => return Some(()),
            Delivered::Refused => return None,
            Delivered::Later => tokio::time::sleep(pause?).await,
        }
    }
    None
}

enum Delivered {
    Taken,
    Refused,
    Later,
}

async fn deliver(post: &Post, letter: &Message) -> Delivered {
    match post.transport.send(letter.clone()).await {
        Ok(_) => Delivered::Taken,
        // RFC 5321 §4.2.1: 5yz is for good.
        Err(error) if error.is_permanent() => {
            tracing::debug!(%error, "the mail relay refused a digest");
            Delivered::Refused
        }
        Err(error) => {
            tracing::warn!(%error, "the mail relay did not take a digest");
            Delivered::Later
        }
    }
}
