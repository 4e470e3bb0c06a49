//! Which node has which slot: an equal share for each live node with few moves, rendezvous hashing among equals, and the operator's
//! pins.
//!
//! Each node calculates this for itself, from the rows of the leases and the list of nodes in PostgreSQL. Two nodes may see different
//! lists for a moment. That costs a needless standby or move at most, because only the lease says who may write.

use std::cmp::Reverse;

use chat::Slot;
use ring::digest::{Context, SHA256};

/// All slots have had the same homes for so long, in milliseconds, before one of them moves because the operator wants it, or because
/// its node leaves; and before one moves only for equal shares. A member whose home has just moved shall not wait again.
const CALM_MS: u64 = 1_000;
const LEVEL_MS: u64 = 10_000;
/// A node that is not the first choice waits so long, for each node before it, until it serves a slot without a home.
const TURN_MS: u64 = 1_000;

/// The state of one slot, as a node sees it. Nodes have names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SlotView<'a> {
    /// None: no home has a valid lease.
    pub(super) home: Option<&'a str>,
    /// For so long, in milliseconds.
    pub(super) without_home: u64,
    /// The nodes with a process that is the home or stands by.
    pub(super) ready: Vec<&'a str>,
    pub(super) pinned: Option<&'a str>,
    /// A process for the slot runs on this node.
    pub(super) runs_here: bool,
}

/// A change on this node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Start a process, which takes the lease or stands by.
    Start(Slot),
    /// End a process that stands by for nothing.
    Stop(Slot),
    /// The home of the slot is here, and gives its role to the process of this node.
    Give { slot: Slot, to: String },
}

/// The slot of a new site with this key. It spreads sites evenly, and is the same on every machine.
pub(crate) fn slot_of_key(key: &str, slots: u8) -> Slot {
    Slot((weight(key.as_bytes(), "") % u64::from(slots.max(1))) as u8)
}

/// The node that shall have each slot. A pin to a node that is not live counts as none. None: there is no node.
///
/// A slot stays where its home is, unless another node has fewer slots by two or more. So a node that comes or goes moves only its own
/// share. Hashes decide among equals.
pub(super) fn assign<'a>(nodes: &[&'a str], slots: &[SlotView<'_>]) -> Vec<Option<&'a str>> {
    let live = |name: Option<&str>| nodes.iter().copied().find(|node| name == Some(*node));
    let mut wanted: Vec<Option<&'a str>> =
        slots.iter().map(|slot| live(slot.pinned).or_else(|| live(slot.home))).collect();
    let count = |wanted: &[Option<&str>], node: &str| wanted.iter().filter(|one| **one == Some(node)).count();
    for at in 0..slots.len() {
        if wanted[at].is_none() {
            let first = |node: &&str| (count(&wanted, node), Reverse(weight(&[at as u8], node)));
            wanted[at] = nodes.iter().copied().min_by_key(first);
        }
    }
    loop {
        let movable = |node: &str| {
            let of_node =
                (0..slots.len()).filter(|at| wanted[*at] == Some(node) && live(slots[*at].pinned).is_none());
            of_node.min_by_key(|at| weight(&[*at as u8], node))
        };
        let fewest = nodes.iter().copied().min_by_key(|node| (count(&wanted, node), *node));
        let most = nodes.iter().copied().filter(|node| movable(node).is_some());
        let most = most.max_by_key(|node| (count(&wanted, node), *node));
        let (Some(fewest), Some(most)) = (fewest, most) else { return wanted };
        match movable(most) {
            Some(at) if count(&wanted, most) > count(&wanted, fewest) + 1 => wanted[at] = Some(fewest),
            _ => return wanted,
        }
    }
}

/// Decides the changes on the node `me`. `calm`: the time since the last change of a home, in milliseconds.
pub(super) fn steps(me: &str, nodes: &[&str], slots: &[SlotView<'_>], calm: u64) -> Vec<Step> {
    let wanted = assign(nodes, slots);
    let moves = |at: usize| {
        let (slot, to) = (&slots[at], wanted[at]?);
        let is_urgent = slot.pinned == Some(to) || slot.home.is_some_and(|home| !nodes.contains(&home));
        let is_due = calm >= if is_urgent { CALM_MS } else { LEVEL_MS };
        (is_due && slot.home.is_some_and(|home| home != to) && slot.ready.contains(&to)).then_some(to)
    };
    // Every node sees the same first one, so slots move one after the other in the whole cluster.
    let next = (0..slots.len()).find(|at| moves(*at).is_some());
    let mut steps = Vec::new();
    for (at, slot) in slots.iter().enumerate() {
        let number = Slot(at as u8);
        let is_mine = wanted[at] == Some(me);
        if !slot.runs_here {
            let is_due = turn(at, me, nodes).is_some_and(|turn| slot.without_home >= turn);
            if is_mine || slot.home.is_none() && is_due {
                steps.push(Step::Start(number));
            }
        } else if slot.home == Some(me) {
            if next == Some(at)
                && let Some(to) = moves(at)
            {
                steps.push(Step::Give { slot: number, to: to.to_owned() });
            }
        } else if !is_mine && slot.home.is_some() && slot.home == wanted[at] {
            steps.push(Step::Stop(number));
        }
    }
    steps
}

/// So long a slot is without a home before this node serves it, although another node shall have it. None: it is no live node.
fn turn(slot: usize, me: &str, nodes: &[&str]) -> Option<u64> {
    let mine = weight(&[slot as u8], me);
    let before = nodes.iter().filter(|node| weight(&[slot as u8], node) > mine).count() as u64;
    nodes.contains(&me).then_some((before + 1) * TURN_MS)
}

fn weight(key: &[u8], node: &str) -> u64 {
    let mut context = Context::new(&SHA256);
    context.update(&(key.len() as u64).to_be_bytes());
    context.update(key);
    context.update(node.as_bytes());
    let tag = context.finish();
    u64::from_be_bytes(std::array::from_fn(|at| tag.as_ref()[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: [&str; 5] = ["a", "b", "c", "d", "e"];

    fn without_pins(slots: usize) -> Vec<SlotView<'static>> {
        vec![SlotView::default(); slots]
    }

    fn at_home<'a>(home: &'a str, ready: &[&'a str], runs_here: bool) -> SlotView<'a> {
        SlotView { home: Some(home), ready: ready.to_vec(), runs_here, ..SlotView::default() }
    }

    /// The slots as they are once each is where it shall be.
    fn settled<'a>(wanted: &[Option<&'a str>]) -> Vec<SlotView<'a>> {
        wanted.iter().map(|home| SlotView { home: *home, ..SlotView::default() }).collect()
    }

    fn is_level(nodes: &[&str], wanted: &[Option<&str>]) -> bool {
        let counts: Vec<usize> =
            nodes.iter().map(|node| wanted.iter().filter(|one| **one == Some(*node)).count()).collect();
        counts.iter().max().zip(counts.iter().min()).is_some_and(|(most, fewest)| most - fewest <= 1)
    }

    #[test]
    fn each_node_gets_an_equal_share() {
        for slots in [1, 2, 3, 8, 64] {
            for nodes in 1..=5 {
                let wanted = assign(&NODES[..nodes], &without_pins(slots));
                assert!(
                    wanted.iter().all(Option::is_some) && is_level(&NODES[..nodes], &wanted),
                    "{wanted:?}"
                );
                assert_eq!(
                    assign(&NODES[..nodes], &settled(&wanted)),
                    wanted,
                    "nothing moves without a cause"
                );
            }
        }
    }

    #[test]
    fn a_node_that_comes_or_goes_moves_its_share_alone() {
        for slots in [3, 8, 64] {
            for nodes in 2..=5 {
                let few = assign(&NODES[..nodes - 1], &without_pins(slots));
                let come = assign(&NODES[..nodes], &settled(&few));
                let moved = few.iter().zip(&come).filter(|(before, after)| before != after);
                assert!(moved.clone().all(|(_, after)| *after == Some(NODES[nodes - 1])), "{few:?} {come:?}");
                assert_eq!(moved.count(), slots / nodes);
                assert!(is_level(&NODES[..nodes], &come));
                let left = assign(&NODES[1..nodes], &settled(&come));
                let stayed = come.iter().zip(&left).filter(|(before, _)| **before != Some(NODES[0]));
                assert!(stayed.clone().all(|(before, after)| before == after), "{come:?} {left:?}");
                assert!(is_level(&NODES[1..nodes], &left));
            }
        }
    }

    #[test]
    fn the_order_of_the_nodes_does_not_matter() {
        let turned: Vec<&str> = NODES.iter().rev().copied().collect();
        assert_eq!(assign(&NODES, &without_pins(64)), assign(&turned, &without_pins(64)));
    }

    #[test]
    fn a_pin_counts_while_its_node_lives() {
        let mut slots = without_pins(4);
        for slot in &mut slots {
            slot.pinned = Some("b");
        }
        assert_eq!(assign(&["a", "b"], &slots), [Some("b"); 4], "a pin wins over an equal share");
        assert_eq!(assign(&["a", "c"], &slots), assign(&["a", "c"], &without_pins(4)));
        assert_eq!(assign(&[], &slots), [None; 4]);
    }

    #[test]
    fn a_node_starts_what_it_shall_have_at_once_and_the_rest_after_its_turn() {
        let nodes = ["a", "b"];
        let first = assign(&nodes, &without_pins(1))[0].expect("there are nodes");
        let other = if first == "a" { "b" } else { "a" };
        assert_eq!(steps(first, &nodes, &without_pins(1), 0), [Step::Start(Slot(0))]);
        assert_eq!(steps(other, &nodes, &without_pins(1), 0), []);
        let waited = [SlotView { without_home: 2 * TURN_MS, ..SlotView::default() }];
        assert_eq!(steps(other, &nodes, &waited, 0), [Step::Start(Slot(0))], "the first choice is dead");
        assert_eq!(steps("c", &nodes, &waited, 0), [], "a node that leaves starts nothing");
    }

    #[test]
    fn a_home_in_the_wrong_place_moves_once_its_next_place_is_ready() {
        let nodes = ["a", "b"];
        let pinned = |home| SlotView { pinned: Some("b"), ..home };
        let alone = [pinned(at_home("a", &["a"], true))];
        assert_eq!(steps("a", &nodes, &alone, CALM_MS), []);
        let both = [pinned(at_home("a", &["a", "b"], true))];
        assert_eq!(steps("a", &nodes, &both, CALM_MS), [Step::Give { slot: Slot(0), to: "b".into() }]);
        assert_eq!(steps("a", &nodes, &both, CALM_MS - 1), [], "another slot has just moved");
        let moved = [pinned(at_home("b", &["a", "b"], true))];
        assert_eq!(steps("a", &nodes, &moved, CALM_MS), [Step::Stop(Slot(0))]);
        assert_eq!(steps("b", &nodes, &moved, CALM_MS), []);
    }

    #[test]
    fn a_slot_moves_for_equal_shares_only_after_a_longer_calm() {
        let ready = || at_home("a", &["a", "b"], true);
        let slots = [ready(), ready()];
        assert_eq!(steps("a", &["a", "b"], &slots, LEVEL_MS - 1), []);
        assert_eq!(steps("a", &["a", "b"], &slots, LEVEL_MS).len(), 1);
    }

    #[test]
    fn slots_move_one_after_the_other() {
        let nodes = ["a", "b"];
        let pinned = |home| SlotView { pinned: Some("b"), ..at_home(home, &["a", "b"], true) };
        let slots = [pinned("b"), pinned("a"), pinned("a")];
        assert_eq!(
            steps("a", &nodes, &slots, CALM_MS),
            [Step::Stop(Slot(0)), Step::Give { slot: Slot(1), to: "b".into() }]
        );
    }

    #[test]
    fn a_node_that_leaves_gives_everything_away() {
        let slots = [at_home("a", &["a", "b"], true), at_home("a", &["a", "b"], true)];
        assert_eq!(steps("a", &["b"], &slots, CALM_MS), [Step::Give { slot: Slot(0), to: "b".into() }]);
        assert_eq!(steps("a", &[], &slots, CALM_MS), [], "nobody takes it");
    }

    #[test]
    fn the_slot_of_a_key_is_fixed_and_spreads_sites() {
        assert_eq!(slot_of_key("garden", 1), Slot(0));
        let mut counts = [0; 8];
        for site in 0..8_000 {
            counts[usize::from(slot_of_key(&format!("site-{site}"), 8).0)] += 1;
        }
        assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
    }
}
