//! Web Push on the tokio side: sends notifications of the domain to browsers' push services.

mod notice;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chat::{Done, Notifier, Push, PushDevice, PushNotice, SiteId, Store, StoreError, Timestamp, UserId};
use push::{Client, Endpoint, Outcome, Receiver, Request, Urgency, Vapid, seal};
use tokio::sync::Semaphore;
use web::{Bounds, FairQueue, Turn};

/// Notifications in the queue; more are lost, and counted. Sites take turns, and so do the users of a site.
const BOUNDS: Bounds = Bounds { waiting: 8_192, of_site: 1_024, of_user: 64 };
/// A notification that waits longer is lost, and counted, because its message has been read by then.
const PATIENCE: Duration = Duration::from_secs(600);
/// Notifications that are sent at once.
const MOST_UNDER_WAY: usize = 64;
/// Notifications that a service has deferred; more are lost, and counted.
const MOST_PUT_OFF: usize = 4_096;
/// Pauses before the retries. No more follow, because the next message causes the next notification.
const PAUSES: [Duration; 3] = [Duration::from_secs(5), Duration::from_secs(60), Duration::from_secs(600)];
/// A longer pause of a service means no retry.
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);
/// Time for which a service keeps a notification for an absent browser.
const TTL: Duration = Duration::from_secs(24 * 3_600);
/// Lifetime of a signature (RFC 8292 §2: at most a day); it is renewed after half of it.
const SIGNED_SECONDS: u64 = 12 * 3_600;
/// Cached signatures; one more clears the cache.
const MOST_SIGNED: usize = 4_096;

/// The allowed push services, and the contact for them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    /// Names of services; `*.` before one: its subdomains; `*`: any of the public network.
    pub(crate) services: Vec<String>,
    /// `mailto:` or `https:`. None: the address of the site.
    pub(crate) contact: Option<String>,
}

/// Sends notifications of the domain to push services.
pub(crate) struct Pusher {
    inner: Arc<Inner>,
    runtime: tokio::runtime::Handle,
}

struct Inner {
    client: Client,
    rules: Rules,
    store: Arc<dyn Store>,
    keys: Mutex<HashMap<SiteId, Arc<Vapid>>>,
    /// Signatures for services, with their end.
    signed: Mutex<HashMap<(SiteId, String), Signed>>,
    queue: Arc<FairQueue>,
    put_off: Semaphore,
    counters: Arc<Counters>,
    /// Called when a service reports a removed browser.
    gone: Box<Gone>,
}

type Signed = (Arc<str>, u64);
type Gone = dyn Fn(UserId, &str) + Send + Sync;

/// Counters of notices by outcome.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) sent: AtomicU64,
    pub(crate) gone: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) dropped: AtomicU64,
}

impl Pusher {
    /// `gone` is called when a service reports a removed browser.
    pub(crate) fn begin(
        client: Client,
        rules: Rules,
        store: Arc<dyn Store>,
        counters: Arc<Counters>,
        runtime: &tokio::runtime::Handle,
        gone: impl Fn(UserId, &str) + Send + Sync + 'static,
    ) -> Pusher {
        let inner = Arc::new(Inner {
            client,
            rules,
            store,
            keys: Mutex::default(),
            signed: Mutex::default(),
            queue: FairQueue::new(MOST_UNDER_WAY, BOUNDS),
            put_off: Semaphore::new(MOST_PUT_OFF),
            counters,
            gone: Box::new(gone),
        });
        Pusher { inner, runtime: runtime.clone() }
    }
}

impl Notifier for Pusher {
    fn public_key(&self, site: SiteId, done: Done<Arc<str>>) {
        let public = |key: Arc<Vapid>| Arc::from(key.public());
        Arc::clone(&self.inner).with_key(site, Box::new(move |key| done(key.map(public))));
    }

    fn accepts(&self, device: &PushDevice) -> bool {
        let endpoint = Endpoint::parse(&device.endpoint, self.inner.client.reach());
        let is_receiver = Receiver::new(&device.key, &device.auth).is_ok();
        is_receiver && endpoint.is_ok_and(|endpoint| self.inner.rules.allow(endpoint.host()))
    }

    fn push(&self, push: Push) {
        if push.notice == PushNotice::Clear && punishes_silence(&push.device.endpoint) {
            return;
        }
        let inner = Arc::clone(&self.inner);
        match inner.queue.line_up(push.to) {
            Ok(turn) => drop(self.runtime.spawn(async move { inner.carry(&push, turn).await })),
            Err(_) => drop(inner.counters.dropped.fetch_add(1, Relaxed)),
        }
    }
}

impl Rules {
    fn allow(&self, host: &str) -> bool {
        self.services.iter().any(|service| match service.strip_prefix('*') {
            Some(domain) => domain.is_empty() || (domain.starts_with('.') && host.ends_with(domain)),
            None => service == host,
        })
    }
}

/// Time for which a service keeps a notification, and its urgency. None: it is too late to send it.
fn delivery(notice: &PushNotice, now: Timestamp) -> Option<(Duration, Urgency)> {
    match notice {
        PushNotice::Ring(ring) if ring.until <= now => None,
        PushNotice::Ring(ring) => Some((Duration::from_millis(ring.until.since(now)), Urgency::High)),
        // As urgent as the ring: until it arrives, a phone shows an ended call.
        PushNotice::RingOver(_) => Some((TTL, Urgency::High)),
        PushNotice::Show(_) => Some((TTL, Urgency::Normal)),
        PushNotice::Clear => Some((TTL, Urgency::Low)),
    }
}

/// COMPAT(Safari, 2026): it cancels a subscription after three pushes without a notification.
fn punishes_silence(endpoint: &str) -> bool {
    endpoint.split('/').nth(2).is_some_and(|host| host.ends_with(".push.apple.com"))
}

/// The next step after an attempt to send a notice.
enum Sent {
    Settled,
    Again(Option<Duration>),
}

impl Inner {
    async fn carry(self: &Arc<Self>, push: &Push, turn: Turn) {
        let Ok(place) = turn.wait(PATIENCE).await else {
            self.counters.dropped.fetch_add(1, Relaxed);
            return;
        };
        let first = self.send(push).await;
        drop(place);
        self.again(push, first).await;
    }

    /// Retries while it is useful. A deferred notification holds no place in the queue.
    async fn again(self: &Arc<Self>, push: &Push, first: Sent) {
        let Sent::Again(mut asked) = first else { return };
        // The notification about the end of the call may have been sent meanwhile; a later ring would stay on the screen.
        if matches!(push.notice, PushNotice::Ring(_)) {
            self.counters.failed.fetch_add(1, Relaxed);
            return;
        }
        let Ok(_place) = self.put_off.try_acquire() else {
            self.counters.dropped.fetch_add(1, Relaxed);
            return;
        };
        for pause in PAUSES {
            let pause = asked.unwrap_or(pause).max(pause);
            if pause > LONGEST_PAUSE {
                break;
            }
            tokio::time::sleep(pause).await;
            let Ok(turn) = self.queue.line_up(push.to) else { break };
            let Ok(_place) = turn.wait(PATIENCE).await else { break };
            match self.send(push).await {
                Sent::Settled => return,
                Sent::Again(wanted) => asked = wanted,
            }
        }
        self.counters.failed.fetch_add(1, Relaxed);
    }

    async fn send(self: &Arc<Self>, push: &Push) -> Sent {
        let Some(outcome) = self.try_send(push).await else {
            self.counters.failed.fetch_add(1, Relaxed);
            return Sent::Settled;
        };
        match outcome {
            Ok(Outcome::Taken) => {
                self.counters.sent.fetch_add(1, Relaxed);
                Sent::Settled
            }
            Ok(Outcome::Gone) => {
                self.counters.gone.fetch_add(1, Relaxed);
                (self.gone)(push.to, &push.device.endpoint);
                Sent::Settled
            }
            Ok(Outcome::Later(wanted)) => Sent::Again(wanted),
            Ok(Outcome::Refused(status)) => {
                self.counters.refused.fetch_add(1, Relaxed);
                tracing::debug!(status, "a push service refused a notice");
                Sent::Settled
            }
            Err(trouble) => {
                tracing::debug!(%trouble, "cannot reach a push service");
                Sent::Again(None)
            }
        }
    }

    /// None: no notification to send, or no receiver.
    async fn try_send(self: &Arc<Self>, push: &Push) -> Option<Result<Outcome, push::Trouble>> {
        let to = Endpoint::parse(&push.device.endpoint, self.client.reach()).ok()?;
        // The operator may have taken a service off the list since the browser subscribed.
        self.rules.allow(to.host()).then_some(())?;
        let receiver = Receiver::new(&push.device.key, &push.device.auth).ok()?;
        let now = crate::now();
        let body = seal(&notice::message(push, now), &receiver).ok()?;
        let authorization = self.authorization(push, &to, now.0 / 1000).await?;
        let (ttl, urgency) = delivery(&push.notice, now)?;
        let topic = format!("{:x}", push.conversation.key);
        let request = Request {
            to: &to,
            authorization: &authorization,
            ttl,
            urgency,
            topic: Some(&topic),
            body: &body,
        };
        Some(self.client.send(&request).await)
    }

    /// One signature for all notifications of a site to a service for some hours, because services ask for reuse.
    async fn authorization(self: &Arc<Self>, push: &Push, to: &Endpoint, now: u64) -> Option<Arc<str>> {
        let name = (push.to.site, to.origin());
        if let Some((signed, until)) = lock(&self.signed).get(&name)
            && *until > now + SIGNED_SECONDS / 2
        {
            return Some(Arc::clone(signed));
        }
        let key = self.key(push.to.site).await?;
        let until = now + SIGNED_SECONDS;
        let contact = self.rules.contact.as_deref().or(push.site.as_deref());
        let signed: Arc<str> = key.authorization(to, contact, until).ok()?.into();
        let mut kept = lock(&self.signed);
        if kept.len() >= MOST_SIGNED {
            *kept = HashMap::new();
        }
        kept.insert(name, (Arc::clone(&signed), until));
        Some(signed)
    }

    async fn key(self: &Arc<Self>, site: SiteId) -> Option<Arc<Vapid>> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        // The waiting thread may have ended with the node.
        Arc::clone(self).with_key(site, Box::new(move |key| drop(sender.send(key))));
        receiver.await.ok()?.ok()
    }

    fn with_key(self: Arc<Self>, site: SiteId, done: Done<Arc<Vapid>>) {
        let known = lock(&self.keys).get(&site).cloned();
        if let Some(known) = known {
            return done(Ok(known));
        }
        let broken = |error: push::WrongKey| StoreError::Failed(error.to_string().into());
        let fresh = match Vapid::generate() {
            Ok(fresh) => fresh,
            Err(error) => return done(Err(broken(error))),
        };
        let store = Arc::clone(&self.store);
        let stored = move |pair: Result<Vec<u8>, StoreError>| {
            let key = pair.and_then(|pair| Vapid::new(&pair).map_err(broken)).map(Arc::new);
            if let Ok(key) = &key {
                lock(&self.keys).insert(site, Arc::clone(key));
            }
            done(key);
        };
        store.push_key(site, fresh, Box::new(stored));
    }
}

fn lock<T>(table: &Mutex<T>) -> MutexGuard<'_, T> {
    // The table is consistent after a panic, because each step is one insertion.
    table.lock().unwrap_or_else(PoisonError::into_inner)
}
