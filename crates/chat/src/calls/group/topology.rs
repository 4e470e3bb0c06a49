//! Which participants of a room's call connect to each other. A media server would change only this.

use crate::calls::group::Place;

/// Called for each pair on a join, and for each signal.
///
/// A server that forwards media (SFU) would have a place of its own. It would be paired with everybody, and
/// the others with no one else; its node would answer offers as a client does. No SFU exists yet, only this
/// interface.
pub(crate) trait Topology: Default {
    /// Whether the two places exchange descriptions, and so audio and video.
    fn pairs(&self, one: Place, other: Place) -> bool;
}

/// A full mesh: everybody sends to everybody.
#[derive(Debug, Default)]
pub(crate) struct Mesh;

impl Topology for Mesh {
    fn pairs(&self, one: Place, other: Place) -> bool {
        one != other
    }
}
