//! E-mail on the tokio side: digests of missed messages, once a day at most, with an unsubscribe link.

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
use web::{Bounds, FairQueue, Place, Turn};

use self::link::Links;
pub(crate) use self::page::routes;

/// Digests that wait; more are lost, and counted. Sites take turns.
const BOUNDS: Bounds = Bounds { waiting: 1_024, of_site: 128, of_user: 2 };
/// A digest that waits longer is lost, and counted.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// Deliveries in progress at once; a relay slows down with more.
const MOST_UNDER_WAY: usize = 4;
/// From the connection to the relay's answer.
const TIME: Duration = Duration::from_secs(30);
/// Pauses before the retries of an unavailable relay.
const PAUSES: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(300)];

/// Settings of outgoing mail.
pub(crate) struct Post {
    pub(crate) transport: AsyncSmtpTransport<Tokio1Executor>,
    pub(crate) from: Mailbox,
    /// Address of this node for browsers, in the unsubscribe link.
    pub(crate) public_url: String,
    pub(crate) after_minutes: u32,
}

/// The relay of an address such as `smtps://user:password@smtp.example.com`, with time limits.
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

/// Sends digests of the domain to a mail relay.
pub(crate) struct PostOffice {
    inner: Arc<Inner>,
    after_minutes: u32,
    runtime: tokio::runtime::Handle,
}

struct Inner {
    post: Post,
    links: Links,
    queue: Arc<FairQueue>,
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
        let queue = FairQueue::new(MOST_UNDER_WAY, BOUNDS);
        let inner = Arc::new(Inner { post, links: Links::new(store), queue, counters });
        PostOffice { inner, after_minutes, runtime: runtime.clone() }
    }
}

impl Mailer for PostOffice {
    fn after_minutes(&self) -> u32 {
        self.after_minutes
    }

    fn mail(&self, digest: Digest) {
        let inner = Arc::clone(&self.inner);
        match inner.queue.line_up(digest.to) {
            Ok(turn) => drop(self.runtime.spawn(async move { inner.carry(&digest, turn).await })),
            Err(_) => drop(inner.counters.dropped.fetch_add(1, Relaxed)),
        }
    }
}

impl Inner {
    async fn carry(&self, digest: &Digest, turn: Turn) {
        let Ok(place) = turn.wait(PATIENCE).await else {
            self.counters.dropped.fetch_add(1, Relaxed);
            return;
        };
        let count = match self.send(digest, place).await {
            Some(()) => &self.counters.sent,
            None => &self.counters.failed,
        };
        count.fetch_add(1, Relaxed);
    }

    /// A digest that the relay defers holds no place in the queue meanwhile.
    async fn send(&self, digest: &Digest, mut place: Place) -> Option<()> {
        let end = self.links.to_end(&self.post.public_url, digest).await?;
        let letter = letter::letter(digest, &self.post.from, &end)
            .inspect_err(|error| tracing::debug!(%error, "cannot write a digest"))
            .ok()?;
        for pause in PAUSES.into_iter().map(Some).chain([None]) {
            match deliver(&self.post, &letter).await {
                Delivered::Taken => return Some(()),
                Delivered::Refused => return None,
                Delivered::Later => {
                    drop(place);
                    tokio::time::sleep(pause?).await;
                    place = self.queue.line_up(digest.to).ok()?.wait(PATIENCE).await.ok()?;
                }
            }
        }
        None
    }
}

enum Delivered {
    Taken,
    Refused,
    Later,
}

async fn deliver(post: &Post, letter: &Message) -> Delivered {
    match post.transport.send(letter.clone()).await {
        Ok(_) => Delivered::Taken,
        // RFC 5321 §4.2.1: 5yz is permanent.
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
