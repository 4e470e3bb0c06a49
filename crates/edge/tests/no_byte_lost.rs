//! Under any sequence of events, the peer receives the whole echo, once and in order.

#![allow(clippy::unwrap_used)] // a test may panic

use crate::echo;

use std::sync::mpsc::channel;
use std::time::Duration;

use echo::Echo;
use edge::testing::Harness;
use edge::{Closed, EdgeConfig, Handle};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    /// A peer sends a line, in two parts.
    Say {
        peer: usize,
        len: usize,
        cut: usize,
    },
    /// From now on the peer reads this many bytes.
    Room {
        peer: usize,
        bytes: Option<usize>,
    },
    Pause {
        peer: usize,
    },
    Advance {
        millis: u64,
    },
    /// The peer closes, and another one connects.
    Replace {
        peer: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let peer = 0..4usize;
    prop_oneof![
        8 => (peer.clone(), 1..2000usize, 0..2000usize).prop_map(|(peer, len, cut)| Step::Say { peer, len, cut }),
        3 => (peer.clone(), prop::option::of(0..3000usize)).prop_map(|(peer, bytes)| Step::Room { peer, bytes }),
        1 => peer.clone().prop_map(|peer| Step::Pause { peer }),
        2 => (0..700u64).prop_map(|millis| Step::Advance { millis }),
        1 => peer.prop_map(|peer| Step::Replace { peer }),
    ]
}

struct Peer {
    handle: Handle,
    expected: Vec<u8>,
    heard: Vec<u8>,
}

impl Peer {
    fn new(harness: &mut Harness<Echo>) -> Peer {
        Peer { handle: harness.connect(), expected: Vec::new(), heard: Vec::new() }
    }

    /// The received bytes are the beginning of the expected ones, without the protocol's own lines.
    fn check(&mut self, harness: &mut Harness<Echo>) {
        self.heard.extend(harness.output(self.handle));
        let lines = self.heard.split_inclusive(|byte| *byte == b'\n');
        let echoed: Vec<u8> = lines
            .filter(|line| *line != b"timer fired\n" && *line != b"drained\n")
            .flatten()
            .copied()
            .collect();
        // A line of the protocol itself that is cut at the end is not echo.
        let own = [&b"timer fired\n"[..], b"drained\n"]
            .iter()
            .any(|own| echoed.rsplit(|byte| *byte == b'\n').next().is_some_and(|last| own.starts_with(last)));
        let whole = if own {
            echoed.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
        } else {
            echoed.len()
        };
        assert!(self.expected.starts_with(&echoed[..whole]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn echo_is_complete(steps in prop::collection::vec(step(), 1..80)) {
        let (sender, _seen) = channel();
        let config = EdgeConfig { output_soft_limit: 500, ..EdgeConfig::default() };
        let mut harness = Harness::new(config, Echo::new(sender));
        let mut peers: Vec<Peer> = (0..4).map(|_| Peer::new(&mut harness)).collect();
        let mut number = 0u8;
        for step in steps {
            match step {
                Step::Say { peer, len, cut } => {
                    // Letters that no command begins with.
                    number = (number + 1) % 10;
                    let mut line = vec![b'0' + number; len];
                    line.push(b'\n');
                    let (one, two) = line.split_at(cut.min(len));
                    harness.feed(peers[peer].handle, one);
                    harness.feed(peers[peer].handle, two);
                    peers[peer].expected.extend_from_slice(&line);
                }
                Step::Room { peer, bytes } => harness.set_room(peers[peer].handle, bytes),
                Step::Pause { peer } => harness.feed(peers[peer].handle, b"pause\n"),
                Step::Advance { millis } => harness.advance(Duration::from_millis(millis)),
                Step::Replace { peer } => {
                    let gone = peers[peer].handle;
                    harness.reset(gone);
                    prop_assert_eq!(harness.closed(gone), Some(Closed::Error));
                    peers[peer] = Peer::new(&mut harness);
                }
            }
            for peer in &mut peers {
                peer.check(&mut harness);
            }
        }
        // In the end all peers read, and every pause ends by its timer.
        for peer in &mut peers {
            harness.set_room(peer.handle, None);
        }
        for _ in 0..60 {
            harness.advance(Duration::from_millis(700));
        }
        for peer in &mut peers {
            peer.check(&mut harness);
            let own = |line: &&[u8]| *line != b"timer fired\n" && *line != b"drained\n";
            let echoed: Vec<u8> =
                peer.heard.split_inclusive(|byte| *byte == b'\n').filter(own).flatten().copied().collect();
            prop_assert_eq!(&echoed, &peer.expected);
            prop_assert_eq!(harness.pending(peer.handle), 0);
        }
        prop_assert_eq!(harness.totals().panics, 0);
    }
}
