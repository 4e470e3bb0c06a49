//! State that all workers of a run share: the target, the members' connection times and source addresses, and the
//! counts.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use edge::Connect;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;

use crate::arrivals::Arrivals;
use crate::outage::Outage;
use crate::probe;
use crate::target::{Target, Transport};
use crate::token::SiteTokens;
use crate::worker::read;

/// Ports of one source address.
const PORTS_PER_SOURCE: u32 = 25_000;
/// With more members than this the generator chooses the source ports. The system's search for a free one takes longer
/// the more are in use, and was a third of the generator's time at 15,000.
const CHOSEN_ABOVE: u32 = 1_000;

pub(crate) struct RunState {
    /// All nodes of the run, at least one. Members are spread over them in turn.
    pub(crate) targets: Vec<Target>,
    /// If a process dies in this run: members whose connection ends come back, on another node if there are several.
    /// Otherwise they have failed.
    pub(crate) outage: Option<Arc<Outage>>,
    pub(crate) transport: Transport,
    pub(crate) tokens: SiteTokens,
    pub(crate) members: u32,
    pub(crate) workers: usize,
    pub(crate) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    pub(crate) start: Instant,
    pub(crate) arrivals: Arrivals,
    pub(crate) counts: Arc<Counts>,
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) begun: AtomicU64,
    pub(crate) welcomed: AtomicU64,
    /// Closed connections, before or after their welcome.
    pub(crate) closed: AtomicU64,
    /// Members that disconnected or were lost after their welcome.
    pub(crate) left: AtomicU64,
    pub(crate) failed: AtomicU64,
    /// Members that lost their connection and have a welcome again.
    pub(crate) returned: AtomicU64,
    /// Refused commands that wait for a retry.
    pub(crate) waiting: AtomicU64,
    /// The number of times that a member has received bytes.
    pub(crate) chunks: AtomicU64,
    /// Microseconds of CPU that each of the generator's workers has used.
    pub(crate) cpu_us: Box<[AtomicU64]>,
}

impl Counts {
    pub(crate) fn new(workers: usize) -> Counts {
        Counts { cpu_us: (0..workers).map(|_| AtomicU64::new(0)).collect(), ..Counts::default() }
    }

    pub(crate) fn active(&self) -> u64 {
        read(&self.welcomed).saturating_sub(read(&self.left))
    }

    /// Notes the CPU of this thread.
    pub(crate) fn note_cpu(&self, worker: usize) {
        if let (Some(seconds), Some(slot)) =
            (probe::cpu_seconds("/proc/thread-self/stat"), self.cpu_us.get(worker))
        {
            slot.store((seconds * 1e6) as u64, Ordering::Relaxed);
        }
    }
}

impl RunState {
    /// The time at which a member's connection was due: latency counts from here, even if the generator was late.
    pub(crate) fn due(&self, member: u32) -> Instant {
        self.start + self.arrivals.of(member)
    }

    /// 127.0.0.2 and so on, a range per worker, if many members connect to this machine; otherwise the system chooses.
    pub(crate) fn source(&self, member: u32) -> Option<IpAddr> {
        let many = self.members > CHOSEN_ABOVE && self.targets[0].addr.ip() == Ipv4Addr::LOCALHOST;
        let workers = self.workers as u32;
        let row = member / workers / PORTS_PER_SOURCE;
        let [a, b, c, d] = (0x7f00_0002 + row * workers + member % workers).to_be_bytes();
        many.then_some(IpAddr::V4(Ipv4Addr::new(a, b, c, d)))
    }

    /// The first node of a member.
    pub(crate) fn first_target(&self, member: u32) -> usize {
        member as usize % self.targets.len()
    }

    pub(crate) fn connect(&self, target: usize, from: Option<IpAddr>) -> Connect {
        Connect { to: self.targets[target].addr_for(self.transport), from, tls: self.tls.clone() }
    }
}
