//! Who sends to whom in a call of several: the one thing that a server for media would change.

use crate::calls::group::Place;

/// Asked for each pair when somebody comes, and for each signal.
///
/// A server that forwards media (SFU) would sit in a place of its own, be paired with everybody, and nobody with anybody else; its
/// node would answer offers as a client does. Nothing of that exists: only the question does.
pub(crate) trait Topology: Default {
    /// Do the two in these places exchange descriptions, and with them voices and pictures?
    fn pairs(&self, one: Place, other: Place) -> bool;
}

/// Everybody sends to everybody.
#[derive(Debug, Default)]
pub(crate) struct Mesh;

impl Topology for Mesh {
    fn pairs(&self, one: Place, other: Place) -> bool {
        one != other
    }
}
