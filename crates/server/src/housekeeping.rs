//! Periodic work of a node: presence, expired tokens, sites that another process changed, warnings about refused connections.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use chat::Node;

use crate::clock_jumps::{self, ClockJumps};
use crate::refused_connections::RefusedConnections;

const TICK: Duration = Duration::from_millis(25);
const TICKS_PER_REFRESH: u32 = 20;
const TICKS_PER_SECOND: u32 = 40;

/// The housekeeping thread, which runs until it is stopped.
pub(crate) struct Housekeeping {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
    at_work: Arc<Mutex<()>>,
}

impl Housekeeping {
    pub(crate) fn begin(node: Arc<Node>, counters: Arc<edge::Counters>) -> std::io::Result<Housekeeping> {
        let (stop, stopped) = mpsc::channel();
        let at_work = Arc::<Mutex<()>>::default();
        let works = Arc::clone(&at_work);
        let keep_house = move || {
            let mut ticks = 0_u32;
            let mut refused = RefusedConnections::default();
            let mut jumps = ClockJumps::new(crate::now(), Instant::now());
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let _working = works.lock();
                let now = crate::now();
                if let Some(jump_ms) = jumps.look(now, Instant::now()) {
                    let (seconds, waits_minutes) = (jump_ms / 1_000, clock_jumps::CAUTION.as_secs() / 60);
                    tracing::warn!(
                        seconds,
                        waits_minutes,
                        "the clock has jumped: what is old is not removed for a while"
                    );
                }
                match jumps.may_remove() {
                    true => node.tick(now),
                    false => node.tick_without_removals(now),
                }
                ticks = ticks.wrapping_add(1);
                if ticks.is_multiple_of(TICKS_PER_REFRESH)
                    && let Err(error) = node.refresh_sites()
                {
                    tracing::warn!(%error, "cannot read the sites");
                }
                if ticks.is_multiple_of(TICKS_PER_SECOND)
                    && let Some(refused) = refused.due(&counters.totals(), Instant::now())
                {
                    refused.warn(counters.last_over_address_limit());
                }
            }
        };
        let thread = thread::Builder::new().name("housekeeping".into()).spawn(keep_house)?;
        Ok(Housekeeping { stop, thread, at_work })
    }

    /// It does nothing until the guard is dropped.
    pub(crate) fn hold(&self) -> MutexGuard<'_, ()> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stop(self) {
        drop(self.stop);
        if self.thread.join().is_err() {
            tracing::error!("the housekeeping thread panicked");
        }
    }
}
