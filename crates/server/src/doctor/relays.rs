//! Relays of calls: each needs a descriptor, as connections do.

use super::descriptors::shown;
use super::finding::Finding;
use super::machine::Machine;
use super::plan::Plan;
use crate::need;

/// None if Kith relays nothing.
pub(super) fn judge(machine: &Machine, plan: &Plan) -> Option<Finding> {
    let wanted = plan.relays?;
    let Some(hard) = machine.hard_descriptors else {
        return Some(Finding::unknown("relays", "the limit of the process"));
    };
    // The other half is for the connections of their clients.
    let room = need::for_calls(hard, plan.workers, plan.private_descriptors) / 2;
    let found = format!("room for {} relays of calls, {wanted} wanted (calls.relays)", shown(room));
    if room >= wanted {
        return Some(Finding::ok("relays", found));
    }
    let needed = wanted * 8;
    let why =
        "each relay needs a descriptor; further calls get no relay, and fail if there is no direct path";
    let mend = format!(
        "raise the limit of the service to {needed}, or give each worker a table of its own: --private-descriptors \
         (Linux), or set calls.relays = {room}"
    );
    Some(Finding::warn("relays", found, why, mend).line(format!("LimitNOFILE={needed}")))
}
