//! The hot paths of a node as operations. `cargo bench -p bench` times them. `make instructions` counts their
//! instructions (`crates/bench/instructions.txt`), so that a review sees an increase.
//!
//! An operation does the same work each time: one thread where the code allows it, fixed input, no clock, no disk
//! except the store's. Its `begin` does the preparation.
//!
//! The crate uses only public items of the crates that it measures, and no sockets.
//!
//! Read first: [`OPERATIONS`].

mod database;
mod domain;
mod logins;
mod token;
mod wire;
mod writes;

/// A frequent operation of a node.
pub struct Operation {
    pub name: &'static str,
    /// The number of operations in one call of the function that `begin` returns.
    pub times: u32,
    pub begin: fn() -> Box<dyn FnMut()>,
}

/// All operations, in the order of a message's path.
pub const OPERATIONS: &[Operation] = &[
    Operation { name: "http-head-parse", times: 1, begin: wire::http_head },
    Operation { name: "token-verify", times: 1, begin: token::verify },
    Operation { name: "sign-in-and-leave", times: 1, begin: domain::sign_in },
    Operation { name: "list-login-in-group", times: logins::GROUP, begin: logins::with_lists },
    Operation { name: "websocket-frame-read", times: 1, begin: wire::websocket_frame },
    Operation { name: "command-parse", times: 1, begin: wire::command },
    Operation { name: "message-in-domain", times: 1, begin: domain::message },
    Operation { name: "message-append-in-group", times: writes::GROUP, begin: writes::append },
    Operation { name: "message-event-encode", times: 1, begin: wire::message_event },
    Operation { name: "presence-to-30-watchers", times: 1, begin: domain::presence },
];

/// The operation with this name.
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
