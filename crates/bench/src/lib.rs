//! The hot paths of a node as operations: `cargo bench -p bench` times them, `make instructions` counts their
//! instructions (`crates/bench/instructions.txt`), so that growth is seen in review.
//!
//! An operation is the same each time it is made and done: one thread where the code allows it, fixed input, no clock,
//! no disk but for the store's. What is prepared once is prepared in its `begin`.
//!
//! It knows what is public of the crates that it measures, and nothing of sockets.
//!
//! Read first: [`OPERATIONS`].

mod domain;
mod token;
mod wire;
mod writes;

/// One thing that a node does very often.
pub struct Operation {
    pub name: &'static str,
    /// How many times one call of what `begin` answers does it.
    pub times: u32,
    pub begin: fn() -> Box<dyn FnMut()>,
}

/// All of them, in the order of a message's way.
pub const OPERATIONS: &[Operation] = &[
    Operation { name: "http-head-parse", times: 1, begin: wire::http_head },
    Operation { name: "token-verify", times: 1, begin: token::verify },
    Operation { name: "sign-in-and-leave", times: 1, begin: domain::sign_in },
    Operation { name: "websocket-frame-read", times: 1, begin: wire::websocket_frame },
    Operation { name: "command-parse", times: 1, begin: wire::command },
    Operation { name: "message-in-domain", times: 1, begin: domain::message },
    Operation { name: "message-append-in-group", times: writes::GROUP, begin: writes::append },
    Operation { name: "message-event-encode", times: 1, begin: wire::message_event },
    Operation { name: "presence-told-to-30", times: 1, begin: domain::presence },
];

/// The one of this name.
pub fn operation(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_can_be_done_again_and_again() {
        for operation in OPERATIONS {
            let mut once = (operation.begin)();
            (0..5).for_each(|_| once());
        }
    }

    #[test]
    fn every_operation_is_counted() {
        let counted = include_str!("../instructions.txt");
        let counted: Vec<&str> = counted
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        let named: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
        assert_eq!(counted, named, "say make instructions");
    }

    #[test]
    fn they_are_counted_with_the_compiler_of_this_repository() {
        let toolchain = include_str!("../../../rust-toolchain.toml");
        let channel = toolchain.split('"').nth(1).expect("a channel in quotes");
        let counted = include_str!("../instructions.txt");
        assert!(counted.contains(&format!("# Counted with Rust {channel}")), "say make instructions");
    }
}
