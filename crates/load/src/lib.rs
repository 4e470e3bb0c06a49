//! Load generator: tens of thousands of clients of the web protocol or of XMPP, load plans, and reports with checks of
//! their validity.
//!
//! A [`client::Client`] is a value that takes bytes and returns bytes to send, one per connection, for each
//! transport. A [`Plan`] has its settings, its phases and its report; the behaviour of its members is a `Script`
//! (`worker.rs`), which meets events and commands only. `Conductor` runs many clients on `edge` workers of its own, and
//! `Watch` measures the server from outside (`/proc`, `/metrics`). Figures are invalid if the generator was the limit.
//!
//! A further protocol is a further client, as `client/xmpp.rs` and, for other servers than ours, `client/centrifugo.rs`: it
//! implements `OtherProtocol`, which maps its bytes to events and commands to its bytes, and `target::Transport` says how its
//! sessions are kept and left. Conductor, scripts and reports stay.
//!
//! The crate knows only the protocol and the process id, not the server's internals.
//!
//! Read first: [`Plan`], [`flood::FloodPlan`], [`report::Run`], [`client::Client`].

mod agenda;
mod arrivals;
pub mod calls;
pub mod client;
pub mod community;
mod conductor;
mod failures;
pub mod flood;
mod kill;
mod latency_stamp;
mod login;
pub mod mix;
mod node_api;
mod observer;
mod options;
mod other_processes;
mod outage;
mod outcome;
mod percentiles;
mod probe;
mod processes;
pub mod report;
mod retry;
pub mod room;
mod run_state;
mod schedule;
mod series;
mod settings;
pub mod slow;
pub mod storm;
pub mod stress;
pub mod study;
mod tally;
pub mod target;
mod tls;
mod token;
mod traffic;
pub mod turn;
pub mod typing;
pub mod visit;
mod watch;
mod worker;

pub use conductor::LoadError;
pub use kill::{Fault, Kill};
pub use login::try_login;
pub use observer::{Observer, Until};
pub use options::RunOptions;
pub use other_processes::OtherProcesses;
pub use percentiles::Percentiles;
pub use probe::{Probe, metric, metrics};
pub use processes::{Part, Processes};
pub use series::Point;
pub use settings::{Contradiction, Plan, Size, defaults};
pub use tls::TlsError;
