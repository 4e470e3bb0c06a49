//! Periodic work of a node: presence, expired tokens, sites that another process changed, return of free memory, warnings about
//! refused connections.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use chat::Node;

use crate::memory::{self, Returns};
use crate::refused_connections::RefusedConnections;

const TICK: Duration = Duration::from_millis(25);
const TICKS_PER_REFRESH: u32 = 20;
const TICKS_PER_SECOND: u32 = 40;

/// The housekeeping thread, which runs until it is stopped.
pub(crate) struct Housekeeping {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl Housekeeping {
    pub(crate) fn begin(node: Arc<Node>, counters: Arc<edge::Counters>) -> std::io::Result<Housekeeping> {
        let (stop, stopped) = mpsc::channel();
        let keep_house = move || {
            let mut ticks = 0_u32;
            let mut refused = RefusedConnections::default();
            let mut returns = Returns::new(Instant::now());
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                node.tick(crate::now());
                ticks = ticks.wrapping_add(1);
                if ticks.is_multiple_of(TICKS_PER_REFRESH)
                    && let Err(error) = node.refresh_sites()
                {
                    tracing::warn!(%error, "cannot read the sites");
                }
                let now = Instant::now();
                if ticks.is_multiple_of(TICKS_PER_SECOND)
                    && let Some(refused) = refused.due(&counters.totals(), now)
                {
                    refused.warn(counters.last_over_address_limit());
                }
                if ticks.is_multiple_of(TICKS_PER_SECOND)
                    && returns.are_due(memory::traffic(&counters.totals()), now)
                {
                    edge::return_free_memory();
                    let took = now.elapsed();
                    returns.done(took, now);
                    tracing::debug!(?took, "returned free memory");
                }
            }
        };
        let thread = thread::Builder::new().name("housekeeping".into()).spawn(keep_house)?;
        Ok(Housekeeping { stop, thread })
    }

    pub(crate) fn stop(self) {
        drop(self.stop);
        if self.thread.join().is_err() {
            tracing::error!("the housekeeping thread panicked");
        }
    }
}
