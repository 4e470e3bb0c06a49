//! The bus: it carries envelopes by subject, and may lose, repeat, delay and reorder them.

use chat::Slot;

use crate::envelope::FrontId;

/// The receivers of an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// The home of a slot.
    Home(Slot),
    /// All fronts, about a slot.
    Fronts(Slot),
    /// One front.
    Front(FrontId),
}

impl Subject {
    /// The name on the bus.
    pub fn name(self) -> String {
        match self {
            Subject::Home(slot) => format!("kith.slot.{}.home", slot.0),
            Subject::Fronts(slot) => format!("kith.slot.{}.fronts", slot.0),
            Subject::Front(front) => format!("kith.front.{:016x}", front.0),
        }
    }
}

/// Takes an envelope for its receivers.
pub type Send<'a> = &'a mut dyn FnMut(Subject, Vec<u8>);
