//! Connections that one gateway hands over to another, without sockets and with virtual time.

#![allow(clippy::unwrap_used)] // a test may panic

use crate::echo;

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use echo::{Echo, Seen};
use edge::testing::Harness;
use edge::{AddressLimit, Closed, EdgeConfig, Handle};

/// Two gateways of one worker.
struct Pair {
    first: Harness<Echo>,
    second: Harness<Echo>,
    seen_by_first: Receiver<Seen>,
    seen_by_second: Receiver<Seen>,
}

fn pair(change_second: impl FnOnce(&mut EdgeConfig)) -> Pair {
    let mut config = EdgeConfig::default();
    change_second(&mut config);
    let ((tell_first, seen_by_first), (tell_second, seen_by_second)) = (channel(), channel());
    Pair {
        first: Harness::of_gateway(EdgeConfig::default(), 0, 1, 0, Echo::new(tell_first)),
        second: Harness::of_gateway(config, 0, 1, 1, Echo::new(tell_second)),
        seen_by_first,
        seen_by_second,
    }
}

impl Pair {
    /// Moves the one connection that the first gateway has handed over.
    fn pass_on(&mut self) -> Option<Handle> {
        let mut moving = self.first.handed_over();
        let connection = moving.pop().unwrap();
        assert!(moving.is_empty() && connection.to() == 1);
        self.second.take_over(connection)
    }
}

#[test]
fn unconsumed_input_and_pending_output_move_with_a_connection() {
    let mut pair = pair(|_| ());
    let peer = pair.first.connect();
    pair.first.set_room(peer, Some(0));
    pair.first.feed(peer, b"one\nhand over 1\ntwo\nthr");
    assert_eq!((pair.first.totals().open, pair.first.totals().handed_over), (0, 1));
    assert_eq!(pair.first.closed(peer), None);
    assert_eq!(pair.seen_by_first.try_iter().collect::<Vec<_>>(), [Seen::Accepted(peer, false)]);

    let moved = pair.pass_on().unwrap();
    assert_eq!((moved.gateway(), pair.second.totals().open, pair.second.totals().taken_over), (1, 1, 1));
    assert_eq!(pair.seen_by_second.try_recv(), Ok(Seen::Accepted(moved, false)));
    assert_eq!(pair.second.pending(moved), 8);
    pair.second.set_room(moved, None);
    pair.second.feed(moved, b"ee\n");
    assert_eq!(pair.second.output(moved), b"one\ntwo\nthree\n");
    pair.second.feed(moved, b"close\n");
    assert_eq!(pair.second.closed(moved), Some(Closed::ByUs { flushed: true }));
}

#[test]
fn bytes_that_arrive_between_two_gateways_are_read() {
    let mut pair = pair(|_| ());
    let peer = pair.first.connect();
    pair.first.feed(peer, b"hand over 1\n");
    pair.first.feed(peer, b"late\n");
    let moved = pair.pass_on().unwrap();
    assert_eq!(pair.second.output(moved), b"late\n");
}

#[test]
fn a_timer_and_a_pause_stay_behind() {
    let mut pair = pair(|_| ());
    let peer = pair.first.connect();
    pair.first.feed(peer, b"timer 500\nhand over 1 and pause\nread\n");
    let moved = pair.pass_on().unwrap();
    pair.first.advance(Duration::from_secs(1));
    pair.second.advance(Duration::from_secs(1));
    assert_eq!(pair.second.output(moved), b"read\n");
}

#[test]
fn the_end_of_the_peer_reaches_the_new_gateway() {
    let mut pair = pair(|_| ());
    let peer = pair.first.connect();
    pair.first.feed(peer, b"pause\n");
    pair.first.feed(peer, b"hand over 1\nlast\n");
    pair.first.end(peer);
    pair.first.advance(Duration::from_secs(1));
    let moved = pair.pass_on().unwrap();
    assert_eq!(pair.second.output(moved), b"timer fired\nlast\n");
    assert_eq!(pair.second.closed(moved), Some(Closed::ByPeer));
    let seen: Vec<_> = pair.seen_by_second.try_iter().collect();
    assert_eq!(seen, [Seen::Accepted(moved, false), Seen::Ended(moved), Seen::Closed(moved, Closed::ByPeer)]);
}

#[test]
fn closing_in_the_same_call_takes_precedence() {
    for (then, why) in [
        ("close", Closed::ByUs { flushed: true }),
        ("abort", Closed::ByUs { flushed: false }),
        ("panic", Closed::Panicked),
    ] {
        let mut pair = pair(|_| ());
        let peer = pair.first.connect();
        pair.first.feed(peer, format!("hand over 1 and {then}\n").as_bytes());
        assert!(pair.first.handed_over().is_empty());
        assert_eq!(pair.first.closed(peer), Some(why));
        assert_eq!(pair.first.totals().handed_over, 0);
        assert!(pair.seen_by_first.try_iter().any(|seen| seen == Seen::Closed(peer, why)));
    }
}

#[test]
fn only_input_hands_over_and_only_to_another_gateway() {
    let mut pair = pair(|_| ());
    let peer = pair.first.connect();
    pair.first.feed(peer, b"hand over 0\nhand over 8\nstill here\n");
    assert_eq!(pair.first.output(peer), b"not handed over\nnot handed over\nstill here\n");
    pair.first.with_conns(|_, conns| assert!(!conns.get(peer).unwrap().1.hand_over(1)));
    pair.first.feed(peer, b"close\nhand over 1\n");
    assert!(pair.first.handed_over().is_empty());
}

#[test]
fn a_panic_on_a_moved_connection_belongs_to_the_new_gateway() {
    let mut pair = pair(|_| ());
    let peer = pair.first.connect();
    pair.first.feed(peer, b"hand over 1\npanic\n");
    let moved = pair.pass_on().unwrap();
    assert_eq!(pair.second.closed(moved), Some(Closed::Panicked));
    assert_eq!((pair.first.totals().panics, pair.second.totals().panics), (0, 1));
    assert_eq!(pair.second.totals().open, 0);
}

#[test]
fn the_new_gateway_applies_its_limit_of_connections_per_address() {
    let mut pair = pair(|config| config.per_address = Some(AddressLimit::new(1, |_| false)));
    let hand_over = |pair: &mut Pair| {
        let peer = pair.first.connect();
        pair.first.feed(peer, b"hand over 1\n");
        pair.pass_on()
    };
    let first = hand_over(&mut pair).unwrap();
    assert_eq!(hand_over(&mut pair), None);
    assert_eq!((pair.second.totals().over_address_limit, pair.second.totals().taken_over), (1, 1));
    pair.second.feed(first, b"abort\n");
    assert!(hand_over(&mut pair).is_some(), "a closed connection has released its place");
}

#[test]
fn the_new_gateway_applies_its_limits_of_output() {
    for (limit, expected) in [(100_000, Some(Closed::OutputLimit)), (1_000_000, None)] {
        let mut pair = pair(|config| config.output_limit = limit);
        let peer = pair.first.connect();
        pair.first.set_room(peer, Some(0));
        pair.first.feed(peer, b"big\nhand over 1\n");
        let moved = pair.pass_on().unwrap();
        assert_eq!(pair.second.closed(moved), expected);
        if expected.is_none() {
            pair.second.set_room(moved, None);
            assert_eq!(pair.second.output(moved).len(), 300_000 + "drained\n".len());
        }
    }
}

#[test]
fn a_reused_slot_of_the_old_gateway_is_another_connection() {
    let mut pair = pair(|_| ());
    let peer = pair.first.connect();
    pair.first.set_room(peer, Some(0));
    pair.first.feed(peer, b"waits\ntimer 500\nhand over 1\n");
    let other = pair.first.connect();
    assert_eq!((other.slot(), other == peer), (peer.slot(), false));
    pair.first.advance(Duration::from_secs(1));
    assert_eq!(pair.first.output(other), b"");
    assert!(pair.first.conn(peer).is_none());
    pair.pass_on().unwrap();
    pair.first.feed(other, b"hello\n");
    assert_eq!(pair.first.output(other), b"hello\n");
}
