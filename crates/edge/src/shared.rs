//! State that the connections of a gateway share on one worker: time, timers, buffers, limits, counters.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::Registry;

use crate::address_limit::AddressCounts;
use crate::config::{EdgeConfig, Listener, Records};
use crate::counters::{Counters, Tally};
use crate::engine::{READ_SIZE, SEALED_SIZE};
use crate::gathered::Gathered;
use crate::handle::{MAX_GATEWAYS, MAX_WORKERS};
use crate::listen::SourcePorts;
use crate::pool::Pool;
use crate::slot::{Flags, Line};
use crate::tls::Keys;
use crate::wheel::{TICK, Wheel};
use crate::{Handle, Now};

/// State that the connections of a gateway share on one worker, without the protocol's own.
pub(crate) struct Shared {
    pub(crate) worker: usize,
    /// The number of the gateway among those of the worker.
    pub(crate) gateway: usize,
    /// The number of gateways of the worker.
    pub(crate) gateways: usize,
    /// Nothing is read, because the connections are about to move to another process.
    pub(crate) frozen: bool,
    pub(crate) now: Now,
    /// When tick 1 began.
    start: Instant,
    pub(crate) limits: Limits,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) wheel: Wheel,
    pub(crate) pool: Pool,
    /// Pending bytes of all outputs; shared bytes count once per output.
    pub(crate) outgoing: usize,
    /// Slots to attend to at the end of the turn.
    pub(crate) dirty: Vec<u32>,
    /// Slots whose output may wait.
    pub(crate) gathered: Gathered,
    /// Slots with more to read than their share of a turn.
    pub(crate) more: Vec<u32>,
    /// Registered sockets, by number, that the protocol reads in the next turn without an event.
    pub(crate) again: Vec<u32>,
    pub(crate) handshakes: Handshakes,
    /// Scratch buffer of all TLS connections; empty in between.
    pub(crate) plain: Vec<u8>,
    pub(crate) sealed: Vec<u8>,
    /// Expanded keys of TLS connections in use.
    pub(crate) keys: Keys,
    pub(crate) counters: Arc<Counters>,
    pub(crate) addresses: Arc<AddressCounts>,
    /// Registers sockets of outgoing connections; None without sockets.
    pub(crate) registry: Option<Arc<Registry>>,
    /// In tests: connections that the protocol has opened, for the harness.
    #[cfg(feature = "testing")]
    pub(crate) dialed: Vec<crate::testing::Dialed>,
    pub(crate) ports: SourcePorts,
}

/// TLS handshakes as a server: in progress, and waiting.
pub(crate) struct Handshakes {
    /// May contain closed connections.
    pub(crate) queue: VecDeque<Handle>,
    /// Beyond it a connection is closed.
    pub(crate) queue_limit: usize,
    pub(crate) in_flight: usize,
    limit: usize,
    pub(crate) per_turn: usize,
}

impl Handshakes {
    pub(crate) fn are_full(&self) -> bool {
        self.in_flight >= self.limit
    }

    pub(crate) fn can_begin(&self) -> bool {
        !self.queue.is_empty() && !self.are_full()
    }
}

/// The limits of [`EdgeConfig`] that count per connection, and the worker's share of one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) input_limit: usize,
    pub(crate) output_soft_limit: usize,
    pub(crate) output_limit: usize,
    /// For all connections of the worker.
    pub(crate) output_memory: usize,
    pub(crate) linger: Duration,
    pub(crate) first_byte_timeout: Duration,
    pub(crate) records: Records,
}

impl Shared {
    pub(crate) fn new(
        config: &EdgeConfig,
        worker: usize,
        gateway: usize,
        counters: Arc<Counters>,
        addresses: Arc<AddressCounts>,
        now: Now,
    ) -> Shared {
        Shared {
            worker,
            gateway,
            gateways: MAX_GATEWAYS,
            frozen: false,
            now,
            start: now.instant,
            limits: Limits {
                input_limit: config.input_limit,
                output_soft_limit: config.output_soft_limit,
                output_limit: config.output_limit,
                output_memory: config.output_memory / counters.workers().max(1),
                linger: config.linger,
                first_byte_timeout: config.first_byte_timeout,
                records: config.records,
            },
            listeners: config.listeners.clone(),
            wheel: Wheel::new(),
            pool: Pool::new(config.pool_limit),
            outgoing: 0,
            dirty: Vec::new(),
            gathered: Gathered::default(),
            more: Vec::new(),
            again: Vec::new(),
            handshakes: Handshakes {
                queue: VecDeque::new(),
                queue_limit: 4 * config.handshakes_in_flight,
                in_flight: 0,
                limit: config.handshakes_in_flight,
                per_turn: config.handshakes_per_turn.max(1),
            },
            // Reserved at the start, and touched only with TLS. A buffer that grew later would lie above the connections in the
            // heap, and their memory could not return to the system.
            plain: Vec::with_capacity(2 * READ_SIZE),
            sealed: Vec::with_capacity(SEALED_SIZE),
            keys: Keys::default(),
            counters,
            addresses,
            registry: None,
            #[cfg(feature = "testing")]
            dialed: Vec::new(),
            ports: SourcePorts::new(gateway * MAX_WORKERS + worker),
        }
    }

    pub(crate) fn handle(&self, slot: u32, generation: u32) -> Handle {
        Handle::of_gateway(self.worker, self.gateway, slot, generation)
    }

    pub(crate) fn is_ours(&self, handle: Handle) -> bool {
        handle.worker() == self.worker && handle.gateway() == self.gateway
    }

    pub(crate) fn tally(&self) -> &Tally {
        self.counters.worker(self.worker)
    }

    /// The tick of this turn.
    pub(crate) fn tick(&self) -> u32 {
        1 + ticks(self.now.instant.saturating_duration_since(self.start), Round::Down)
    }

    /// Time until the next tick.
    pub(crate) fn until_next_tick(&self, now: Instant) -> Duration {
        let past = now.saturating_duration_since(self.start).as_nanos() % TICK.as_nanos();
        TICK - Duration::from_nanos(past as u64)
    }

    pub(crate) fn set_timer(&mut self, line: &mut Line, slot: u32, after: Option<Duration>) {
        let Some(after) = after else { return self.wheel.clear(&mut line.timer) };
        let due = self.now.instant.saturating_duration_since(self.start).saturating_add(after);
        self.wheel.set(&mut line.timer, slot, ticks(due, Round::Up).saturating_add(1));
    }

    /// The time until a timer fires. None: it is not set.
    pub(crate) fn timer_left(&self, line: &Line) -> Option<Duration> {
        line.timer.deadline().map(|deadline| TICK * deadline.saturating_sub(self.tick()))
    }

    pub(crate) fn begin_close(&mut self, line: &mut Line, slot: u32) {
        line.flags.put(Flags::CLOSING, true);
        self.set_timer(line, slot, Some(self.limits.linger));
        self.mark_dirty(line, slot);
    }

    /// Writes output that was empty until now some ticks later. The list may contain closed connections.
    pub(crate) fn gather(&mut self, line: &Line, slot: u32) {
        if !line.flags.has(Flags::DIRTY) {
            self.gathered.add(slot);
        }
    }

    pub(crate) fn mark_dirty(&mut self, line: &mut Line, slot: u32) {
        if !line.flags.has(Flags::DIRTY) {
            line.flags.put(Flags::DIRTY, true);
            self.dirty.push(slot);
        }
    }
}

#[derive(Clone, Copy)]
enum Round {
    Up,
    Down,
}

fn ticks(time: Duration, round: Round) -> u32 {
    let tick = TICK.as_millis();
    let ticks = match round {
        Round::Up => time.as_nanos().div_ceil(TICK.as_nanos()),
        Round::Down => time.as_millis() / tick,
    };
    // Thirteen years; a longer timer does not fire in the life of a process.
    u32::try_from(ticks).unwrap_or(u32::MAX - 1)
}
