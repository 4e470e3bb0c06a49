//! The context of a command.

use crate::session::Asker;
use crate::{FilterAct, Hit, Timestamp};

/// A command's context: its author and its number, and the outcome of the checks that admitted it.
pub(crate) struct Context {
    pub(crate) asker: Asker,
    /// Made by the client, and repeated in the answer. Admission refuses a request without one where its command is answered by it.
    pub(crate) re: Option<u64>,
    /// Earlier commands of the session wait for a person to be read.
    pub(crate) is_waiting: bool,
    /// The verdict of the filters on the text.
    pub(crate) verdict: Option<FilterAct>,
    /// The matches that moderators should check. Messages are reported where they are sent, because a report names their place.
    pub(crate) flagged: Option<Vec<Hit>>,
    pub(crate) now: Timestamp,
}
