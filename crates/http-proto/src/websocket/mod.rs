//! WebSocket without I/O (RFC 6455): the handshake, a reader of client frames, writers of server frames.

mod close;
mod frame;
mod handshake;
mod reader;

pub use close::CloseFrame;
pub use frame::head as frame_head;
pub use frame::{Opcode, write_close, write_frame};
pub use handshake::{HandshakeError, check};
pub use reader::{Message, Reader};

/// How a peer broke the rules: the close code (RFC 6455 §7.4.1) and what to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Violation {
    pub code: u16,
    pub text: &'static str,
}

impl Violation {
    pub const fn protocol(text: &'static str) -> Violation {
        Violation { code: 1002, text }
    }

    const BAD_UTF8: Violation = Violation { code: 1007, text: "text that is not UTF-8" };
    const TOO_LARGE: Violation = Violation { code: 1009, text: "the message is too large" };
}
