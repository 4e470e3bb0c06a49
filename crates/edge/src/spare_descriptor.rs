//! A descriptor kept for the moment in which there is none left.

use std::fs::File;

/// Without it, a full table would leave new connections hanging unanswered, and the listener ready for ever.
pub(crate) struct SpareDescriptor(Option<File>);

impl SpareDescriptor {
    pub(crate) fn new() -> SpareDescriptor {
        SpareDescriptor(open())
    }

    /// Frees it while `act` runs; `act` says whether it could use it. False as well if there was none to lend.
    pub(crate) fn lend(&mut self, act: impl FnOnce() -> bool) -> bool {
        if self.0.is_none() {
            self.0 = open();
        }
        if self.0.take().is_none() {
            return false;
        }
        let used = act();
        self.0 = open();
        used
    }
}

fn open() -> Option<File> {
    File::open("/dev/null").ok()
}
