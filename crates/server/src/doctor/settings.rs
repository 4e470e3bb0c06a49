//! Whether the running node can read the settings of all its sites.

use super::finding::Finding;

/// Sites with stored settings that cannot be read.
pub(super) const COUNTED: &str = "kith_chat_sites_unreadable";

pub(super) fn judge(counted: u64) -> Finding {
    if counted == 0 {
        return Finding::ok("settings", "the node can read the settings of all sites");
    }
    Finding::warn(
        "settings",
        format!("the stored settings of {counted} sites are unreadable"),
        "the strictest values apply: messages wait for moderators, or only moderators can sign in",
        "find the part under `unreadable` and replace it, or run the newer kith that wrote it",
    )
    .fail_if(true)
    .line("kith site show KEY")
    .line("kith site set KEY PART=null")
}
