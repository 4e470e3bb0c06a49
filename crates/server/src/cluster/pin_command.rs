//! `kith cluster pin` and `unpin`: the operator chooses the node of a slot. The nodes read the choice from PostgreSQL.

use chat::Slot;

use crate::cli::{ClusterPin, PinnedSlot};
use crate::config::Loaded;
use crate::trouble::{Outcome, Trouble};
use crate::{data_dir, print_line};

pub(crate) fn pin(args: &ClusterPin, loaded: &Loaded) -> Outcome {
    let slot = set(&args.slot, Some(&args.node), loaded)?;
    print_line(&format!(
        "slot {} goes to {}, as soon as that node runs. See: kith cluster status --watch",
        slot.0, args.node
    ))
}

pub(crate) fn unpin(args: &PinnedSlot, loaded: &Loaded) -> Outcome {
    let slot = set(args, None, loaded)?;
    print_line(&format!("the cluster chooses the node of slot {} again", slot.0))
}

fn set(args: &PinnedSlot, node: Option<&str>, loaded: &Loaded) -> Outcome<Slot> {
    let refused = || Trouble::new("nothing was changed");
    let slots = loaded.config.cluster.slots;
    let Some(url) = &loaded.config.database else {
        return Err(refused()
            .because("slots are in a database of PostgreSQL")
            .remedy("run this with the settings of a node with homes: --config FILE, or KITH_DATABASE"));
    };
    let slot = match (&args.site, args.slot) {
        (Some(key), _) => data_dir::open_site(loaded, None, key)?.1.id.slot(),
        (None, slot) => Slot(slot.unwrap_or_default()),
    };
    if slot.0 >= slots {
        return Err(refused()
            .because(format!("cluster.slots is {slots}, so there is no slot {}", slot.0))
            .remedy(
                "run this with the settings of a node with homes: --config FILE, or KITH_CLUSTER_SLOTS",
            ));
    }
    store::pin(url, slot, node).map_err(data_dir::unusable_server)?;
    Ok(slot)
}
