//! Whether the running node can read the settings of all its sites.

use super::finding::Finding;

/// Sites with stored settings that cannot be read.
pub(super) const COUNTED: &str = "kith_chat_sites_unreadable";

pub(super) fn judge(counted: u64) -> Finding {
    if counted == 0 {
        return Finding::ok("settings", "the settings of all sites can be read");
    }
    Finding::warn(
        "settings",
        format!("{counted} sites have stored settings that cannot be read"),
        "the strictest values hold there: messages wait for moderators, or only moderators come in",
        "see which, under `unreadable`, and replace that part; or go back to the newer kith that has written it",
    )
    .fail_if(true)
    .line("kith site show KEY")
    .line("kith site set KEY PART=null")
}
