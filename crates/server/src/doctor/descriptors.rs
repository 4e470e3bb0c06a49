//! Descriptors: every connection needs one.

use super::finding::Finding;
use super::machine::Machine;
use super::plan::Plan;
use crate::need::{MOST_WORKERS, OTHER_DESCRIPTORS, for_calls};

/// The limit of one process. The node raises its soft limit to the hard one by itself.
pub(super) fn of_process(machine: &Machine, plan: &Plan) -> Finding {
    let Some(hard) = machine.hard_descriptors else {
        return Finding::unknown("descriptors", "the limit of the process");
    };
    let tables = if plan.private_descriptors { plan.workers } else { 1 };
    let shares = plan.relays.is_some() && !plan.private_descriptors;
    let for_calls = if shares { for_calls(hard, plan.workers, false) } else { 0 };
    let room = hard.saturating_mul(tables).saturating_sub(OTHER_DESCRIPTORS + for_calls);
    let found = format!(
        "{}: soft {}, hard {}, nr_open {}{}: room for {} connections",
        machine.pid.map_or("this shell".to_owned(), |pid| format!("the node (process {pid})")),
        machine.soft_descriptors.map_or("unknown".into(), shown),
        shown(hard),
        machine.nr_open.map_or("unknown".into(), shown),
        if tables > 1 { format!(", a table for each of {tables} workers") } else { String::new() },
        shown(room),
    );
    if room >= plan.connections {
        return Finding::ok("descriptors", found);
    }
    let others = plan.connections + OTHER_DESCRIPTORS;
    let needed = if shares { (others * 4).div_ceil(3) } else { others };
    let why = "each connection needs a descriptor; at the limit the node refuses connections";
    let mend =
        format!("raise the limit of the service, and restart it{}", or_private_tables(hard, needed, plan));
    let finding = Finding::warn("descriptors", found, why, mend)
        .fail_if(plan.asked)
        .line("# /etc/systemd/system/kith.service.d/descriptors.conf")
        .line("[Service]")
        .line(format!("LimitNOFILE={needed}"))
        .line("# without systemd, as root, in the shell that starts the node:")
        .line(format!("ulimit -n {needed}"));
    match machine.nr_open {
        // setrlimit(2): no limit of a process may pass it, not even root's.
        Some(most) if most < needed => finding.sysctl("fs.nr_open", needed.to_string()),
        _ => finding,
    }
}

/// The fix if the limit cannot be raised.
fn or_private_tables(hard: u64, needed: u64, plan: &Plan) -> String {
    let workers = needed.div_ceil(hard.max(1)).max(plan.workers);
    if workers > MOST_WORKERS as u64 || !cfg!(target_os = "linux") {
        return String::new();
    }
    format!("; if you cannot raise it, use --private-descriptors --workers {workers}")
}

/// The limit of the machine, over all processes and tables.
pub(super) fn of_machine(machine: &Machine, plan: &Plan) -> Option<Finding> {
    let most = machine.file_max?;
    let open = machine.files_open.unwrap_or(0);
    let found = format!("file-max {}, {open} open", shown(most));
    let needed = plan.connections + OTHER_DESCRIPTORS;
    Some(if most.saturating_sub(open) >= needed {
        Finding::ok("open files", found)
    } else {
        let why = "this limits the open files of all processes together; private tables do not change it";
        Finding::warn("open files", found, why, "raise the limit of the machine")
            .fail_if(plan.asked)
            .sysctl("fs.file-max", (open + needed * 2).next_power_of_two().to_string())
    })
}

pub(super) fn shown(limit: u64) -> String {
    // The kernel's value for "no limit" is a number of this size.
    if limit > 1 << 60 { "unlimited".into() } else { limit.to_string() }
}
