//! The limit of open files, and so of connections, of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open files to the hard one and returns the limit in force. If the hard limit is too low, use private
/// descriptor tables (`EdgeConfig::private_descriptor_tables`).
pub fn raise_descriptor_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_the_hard_one() {
        let raised = raise_descriptor_limit();
        assert_eq!(Some(raised), getrlimit(Resource::Nofile).maximum.or(Some(u64::MAX)));
    }
}
