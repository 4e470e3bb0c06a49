//! The gateway's counters, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use http_proto::head::Offence;
use web_proto::Code;

/// Shared by all workers.
#[derive(Default)]
pub struct Counters {
    pub requests_realtime: Counter,
    pub requests_assets: Counter,
    pub requests_rest: Counter,
    pub frames_in: Counter,
    pub frames_out: Counter,
    /// Sessions whose queue was dropped because they read too slowly.
    pub behind: Counter,
    /// Typing notices that were not sent to a session over its soft limit.
    pub typing_dropped: Counter,
    /// Presence that was not sent to a session over its soft limit. The session gets the current one after it has read.
    pub presence_coalesced: Counter,
    /// WebSocket peers that broke RFC 6455.
    pub websocket_violations: Counter,
    /// Hellos that had to wait for their sign-in.
    pub sign_ins_queued: Counter,
    /// Workers' messages for sessions that were gone.
    pub undeliverable: Counter,
    /// Requests with a forwarding header from an address that is no trusted proxy.
    pub untrusted_forwarded: Counter,
    sessions: [Counter; Transport::ALL.len()],
    codes: ByCode,
    offences: [Counter; Offence::ALL.len()],
}

/// A counter for each code.
struct ByCode([Counter; Code::ALL.len()]);

impl Default for ByCode {
    fn default() -> ByCode {
        ByCode(std::array::from_fn(|_| Counter::default()))
    }
}

/// How events go down to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    WebSocket,
    Stream,
    Sse,
    Poll,
}

impl Transport {
    pub const ALL: [Transport; 4] =
        [Transport::WebSocket, Transport::Stream, Transport::Sse, Transport::Poll];

    /// The word in metrics and on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Transport::WebSocket => "websocket",
            Transport::Stream => "stream",
            Transport::Sse => "sse",
            Transport::Poll => "poll",
        }
    }
}

impl Counters {
    /// Living sessions of a transport.
    pub fn sessions(&self, transport: Transport) -> u64 {
        self.sessions[transport as usize].read()
    }

    /// How often clients got a code, in the order of [`Code::ALL`].
    pub fn codes(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Code::ALL.iter().map(|code| code.word()).zip(self.codes.0.iter().map(Counter::read))
    }

    /// How often a request was refused for its form, in the order of [`Offence::ALL`].
    pub fn offences(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Offence::ALL.iter().map(|offence| offence.word()).zip(self.offences.iter().map(Counter::read))
    }

    pub(crate) fn session_began(&self, transport: Transport) {
        self.sessions[transport as usize].add(1);
    }

    pub(crate) fn session_ended(&self, transport: Transport) {
        self.sessions[transport as usize].0.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn code(&self, code: Code) {
        self.codes.0[code as usize].add(1);
    }

    pub(crate) fn offence(&self, offence: Offence) {
        if let Some(at) = Offence::ALL.iter().position(|known| *known == offence) {
            self.offences[at].add(1);
        }
    }
}

#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Adds one, and answers whether it is the first of this process.
    pub(crate) fn add_is_first(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) == 0
    }

    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }
}
