//! The plans, one file each: their flags, their section in a plan file, and their run.

mod calls;
mod community;
mod flood;
mod mix;
mod room;
mod slow;
mod storm;
mod stress;
mod turn;
mod typing;
mod visit;

use std::fmt::Debug;

use load::report::Run;
use load::{LoadError, RunOptions};

use super::core::Inside;
use super::own_node::NodeWish;

pub(super) use calls::Calls;
pub(super) use community::Community;
pub(crate) use community::CommunityArgs;
pub(super) use flood::Flood;
pub(crate) use flood::FloodArgs;
pub(super) use mix::Mix;
pub(crate) use mix::MixArgs;
pub(super) use room::Room;
pub(super) use slow::Slow;
pub(super) use storm::Storm;
pub(crate) use storm::StormArgs;
pub(super) use stress::Stress;
pub(crate) use stress::StressArgs;
pub(super) use turn::Turn;
pub(super) use typing::Typing;
pub(super) use visit::Visit;
pub(crate) use visit::VisitArgs;

/// The task of one section of a plan file.
pub(super) trait Task: Debug {
    /// Checks several settings together.
    fn check(&self) -> Result<(), Contradiction> {
        Ok(())
    }
    /// Most connections.
    fn members(&self) -> u32;
    /// The settings, if it runs without a node.
    fn inside(&self) -> Option<Inside> {
        None
    }
    /// Its requirements for its own node, besides those of its file.
    fn node(&self) -> NodeWish {
        NodeWish::default()
    }
    /// Returns when the run is over.
    fn carry_out(&self, options: RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError>;
}

/// Two settings that exclude each other.
#[derive(Debug)]
pub(super) struct Contradiction {
    pub(super) says: &'static str,
    pub(super) remedy: &'static str,
}
