//! The other side: clients of the web protocol by the ten thousand, load plans, and reports one can trust.
//!
//! A [`client::Client`] is a value that takes bytes and says what to send, one per connection, for each of the four
//! transports. A plan ([`flood`], [`stress`]) drives many of them from `edge` workers of its own, measures the
//! server from outside (`/proc`, `/metrics`), and says when the generator was itself the limit.
//!
//! It deliberately knows nothing of the server's insides: only the protocol and the process id.
//!
//! Read first: [`flood::FloodPlan`], [`stress::StressPlan`], [`report::Run`], [`client::Client`].

mod again;
mod aim;
mod arrivals;
pub mod calls;
pub mod client;
pub mod community;
mod conductor;
mod crowd;
mod field;
pub mod flood;
mod login;
pub mod mix;
mod others;
mod pen;
mod percentiles;
mod postmark;
mod probe;
mod reasons;
pub mod report;
pub mod room;
mod series;
pub mod slow;
pub mod storm;
pub mod stress;
pub mod study;
pub mod target;
mod token;
mod traffic;
mod trust;
pub mod turn;
pub mod typing;
pub mod visit;
mod watch;

pub use aim::Aim;
pub use conductor::LoadError;
pub use login::try_login;
pub use others::Others;
pub use percentiles::Percentiles;
pub use probe::{Probe, metric};
pub use series::Point;
pub use trust::BadTrust;
pub use watch::{Until, Watch};
