//! A yes-or-no question on the terminal.

use std::io::{self, BufRead, IsTerminal, Write};

/// Whether the answer is yes. Without a terminal, it is no.
pub(crate) fn is_answered_yes(question: &str) -> bool {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return false;
    }
    // On stderr, so that stdout stays for scripts.
    let _ = write!(io::stderr(), "{question} [y/N] ");
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
