//! The context of a command.

use crate::session::Asker;
use crate::{FilterAct, Hit, Timestamp};

/// A command's context: its author and number, and the results of the checks that admitted it.
pub(crate) struct Context {
    pub(crate) asker: Asker,
    /// Made by the client, and repeated in the answer. Admission refuses a request without one if its answer
    /// needs it.
    pub(crate) re: Option<u64>,
    /// Earlier commands of the session still wait for the read of another user.
    pub(crate) is_waiting: bool,
    /// The verdict of the filters on the text.
    pub(crate) verdict: Option<FilterAct>,
    /// The matches that moderators should check. Messages are reported after they were sent, because a report
    /// contains their seq.
    pub(crate) flagged: Option<Vec<Hit>>,
    pub(crate) now: Timestamp,
}
