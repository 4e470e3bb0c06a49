//! Somebody who looks on while a plan runs: for a progress bar, or for nothing.

use std::fmt::Debug;
use std::time::Duration;

use crate::series::Point;

/// Called from the thread that runs the plan: must not block.
pub trait Watch: Debug + Send + Sync {
    fn stage(&self, name: &'static str, until: Until);
    /// A few times per second.
    fn point(&self, point: &Point);
}

/// What ends a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// So many are logged in.
    Members(u64),
    Time(Duration),
    /// What is seen of the server.
    ItIsDone,
}

/// Looks away.
#[derive(Debug)]
pub(crate) struct Nobody;

impl Watch for Nobody {
    fn stage(&self, _: &'static str, _: Until) {}

    fn point(&self, _: &Point) {}
}
