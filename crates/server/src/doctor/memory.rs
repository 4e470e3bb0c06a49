//! Memory: the kernel's part of each connection and ours.

use super::finding::Finding;
use super::machine::Machine;
use super::plan::Plan;
use crate::need;

pub(super) fn judge(machine: &Machine, plan: &Plan) -> Finding {
    let (Some(available), Some(total)) = (machine.memory_available, machine.memory_total) else {
        return Finding::unknown("memory", "the memory of the machine");
    };
    let group = machine.memory_of_group.filter(|group| *group < available);
    let room = machine.room().unwrap_or(available);
    let needed = plan.connections.saturating_mul(need::of_node(plan.tls)) + need::NODE_ITSELF;
    let limit =
        group.map_or(String::new(), |group| format!(", {} MB left to the control group", group >> 20));
    let found = format!(
        "{} MB available of {} MB{limit}; {} connections need about {} MB",
        available >> 20,
        total >> 20,
        plan.connections,
        needed >> 20
    );
    if room >= needed {
        return Finding::ok("memory", found);
    }
    let why = match plan.tls {
        false => {
            "silent members need 5.1 kB of the kernel and 0.5 kB of the node each; when memory runs out, the kernel kills a process"
        }
        true => {
            "with TLS silent members need 5.1 kB of the kernel and 1.0 kB of the node each; when memory runs out, the kernel kills a process"
        }
    };
    let fits = room.saturating_sub(need::NODE_ITSELF) / need::of_node(plan.tls);
    let mut mend = format!("set --max-connections {fits}, or add memory");
    if group.is_some() {
        mend += "; for the control group: MemoryMax= in the [Service] of systemd, --memory of the container";
    }
    Finding::warn("memory", found, why, mend).fail_if(plan.asked)
}
