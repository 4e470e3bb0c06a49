//! Whether what goes to many may wait for more of its kind.

/// To fewer, nothing waits.
const CROWD: usize = 64;

/// Ticks of 100 ms over which is counted.
const WINDOW: u32 = 10;

/// A worker that writes more copies than this in a window spends a tenth of its core on them.
const BUSY: usize = 20_000;

/// Pending output of a worker to crowds.
///
/// A copy for a member costs the kernel five microseconds, nearly all of it for the write and not for its bytes. Where
/// many are in a room and much is said, what is said within 200 ms goes out in one write; a room that is quiet, or small,
/// waits for nothing.
#[derive(Debug, Default)]
pub(crate) struct Crowds {
    copies: usize,
    ticks: u32,
    is_busy: bool,
}

impl Crowds {
    /// Counts an event for so many.
    pub(crate) fn may_wait(&mut self, to: usize) -> bool {
        if to < CROWD {
            return false;
        }
        self.copies += to;
        self.is_busy
    }

    pub(crate) fn tick(&mut self) {
        self.ticks += 1;
        if self.ticks == WINDOW {
            *self = Crowds { is_busy: self.copies >= BUSY, ..Crowds::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the last of some messages to a room may wait, each so many ticks after the one before.
    fn waits(to: usize, ticks: u32, messages: u32) -> bool {
        let mut crowds = Crowds::default();
        let mut last = false;
        for _ in 0..messages {
            last = crowds.may_wait(to);
            (0..ticks).for_each(|_| crowds.tick());
        }
        last
    }

    #[test]
    fn a_busy_crowd_waits_and_nobody_else() {
        assert!(waits(512, 0, 1) == waits(512, 1, 10), "the first second is told at once");
        assert!(!waits(5_000, 10, 20), "one message per second");
        assert!(waits(5_000, 1, 20));
        assert!(!waits(CROWD - 1, 0, 100_000));
    }

    #[test]
    fn a_calm_ends_it_within_a_window() {
        let mut crowds = Crowds { is_busy: true, ..Crowds::default() };
        assert!(crowds.may_wait(100));
        (0..WINDOW).for_each(|_| crowds.tick());
        assert!(!crowds.may_wait(100));
    }
}
