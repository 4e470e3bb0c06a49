//! Whether the process that decodes pictures can be confined here.

use std::io;

use super::finding::Finding;

const TOPIC: &str = "pictures";

/// `is_confined`: the report of a picture process.
pub(super) fn judge(is_confined: &io::Result<bool>) -> Finding {
    match is_confined {
        Ok(true) => {
            Finding::ok(TOPIC, "a process without files, network and other system calls decodes them")
        }
        Ok(false) => Finding::warn(
            TOPIC,
            "the kernel does not filter the system calls of the process that decodes them",
            "a flaw in a decoder could open connections and read files of this user; the limits of memory, time and open \
             files hold anyway",
            "use a kernel with seccomp (CONFIG_SECCOMP_FILTER), and a container that allows it",
        ),
        Err(error) => Finding::warn(
            TOPIC,
            format!("cannot start a picture process: {error}"),
            "members cannot send pictures",
            "allow the service to start processes; the node decodes each picture in one",
        ),
    }
}
