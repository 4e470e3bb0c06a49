//! The order and the bounds of a protocol's calls, without sockets and with virtual time.

#![allow(clippy::unwrap_used)] // a test may panic

use crate::echo;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use echo::{Echo, Mail, NO_SUCH_LISTENER, Seen};
use edge::testing::Harness;
use edge::{Accepted, Closed, EdgeConfig, Handle};

fn harness(change: impl FnOnce(&mut EdgeConfig)) -> (Harness<Echo>, Receiver<Seen>) {
    let mut config = EdgeConfig::default();
    change(&mut config);
    let (sender, seen) = channel();
    (Harness::new(config, Echo::new(sender)), seen)
}

#[test]
fn unconsumed_input_is_passed_again() {
    let (mut harness, _) = harness(|_| ());
    let peer = harness.connect();
    for byte in b"one\ntwo\nth" {
        harness.feed(peer, &[*byte]);
    }
    assert_eq!(harness.output(peer), b"one\ntwo\n");
    harness.feed(peer, b"ree\n");
    assert_eq!(harness.output(peer), b"three\n");
}

#[test]
fn a_reused_slot_has_another_handle() {
    let (mut harness, _) = harness(|_| ());
    let first = harness.connect();
    harness.feed(first, b"abort\n");
    assert_eq!(harness.closed(first), Some(Closed::ByUs { flushed: false }));
    let second = harness.connect();
    assert_eq!(first.slot(), second.slot());
    assert_ne!(first, second);
    harness.mail(Mail::Send(first, b"for the dead\n".to_vec()));
    assert_eq!(harness.output(second), b"");
    assert!(harness.conn(first).is_none() && harness.conn(second).is_some());
}

#[test]
fn a_timer_is_never_early_and_at_most_a_tick_late() {
    for millis in [0, 1, 99, 100, 101, 250, 102_300, 500_000] {
        let (mut harness, _) = harness(|_| ());
        let peer = harness.connect();
        harness.advance(Duration::from_millis(37));
        harness.feed(peer, format!("timer {millis}\n").as_bytes());
        if millis > 0 {
            harness.advance(Duration::from_millis(millis - 1));
            assert_eq!(harness.output(peer), b"", "early at {millis} ms");
        }
        harness.advance(Duration::from_millis(101));
        assert_eq!(harness.output(peer), b"timer fired\n", "late at {millis} ms");
        harness.advance(Duration::from_secs(200));
        assert_eq!(harness.output(peer), b"", "fires once");
    }
}

#[test]
fn a_timer_that_is_moved_over_and_over_fires_once() {
    let (mut harness, _) = harness(|_| ());
    let peer = harness.connect();
    for _ in 0..50_000 {
        harness.feed(peer, b"timer 60000\ntimer 1000\n");
        harness.advance(Duration::from_millis(100));
    }
    assert_eq!(harness.output(peer), b"");
    harness.advance(Duration::from_secs(2));
    assert_eq!(harness.output(peer), b"timer fired\n");
}

#[test]
fn a_silent_connection_is_closed_without_the_protocol() {
    let (mut harness, seen) = harness(|config| config.first_byte_timeout = Duration::from_secs(3));
    let peer = harness.connect_silent(0);
    harness.advance(Duration::from_millis(2900));
    assert_eq!(harness.closed(peer), None);
    harness.advance(Duration::from_millis(200));
    assert_eq!(harness.closed(peer), Some(Closed::HandshakeTimeout));
    assert!(seen.try_recv().is_err());
    assert_eq!(harness.totals().closed_handshake_timeout, 1);
}

#[test]
fn input_without_end_is_bounded() {
    let (mut harness, _) = harness(|config| config.input_limit = 10_000);
    let peer = harness.connect();
    harness.feed(peer, &[b'x'; 10_000]);
    assert_eq!(harness.closed(peer), None);
    harness.feed(peer, b"x");
    assert_eq!(harness.closed(peer), Some(Closed::InputLimit));
}

#[test]
fn output_to_a_peer_that_does_not_read_is_bounded() {
    let (mut harness, _) = harness(|config| config.output_limit = 1_000_000);
    let peer = harness.connect();
    harness.set_room(peer, Some(1000));
    harness.feed(peer, b"big\nbig\nbig\n");
    assert_eq!(harness.pending(peer), 899_000);
    assert_eq!(harness.closed(peer), None);
    harness.feed(peer, b"big\n");
    assert_eq!(harness.closed(peer), Some(Closed::OutputLimit));
    assert_eq!(harness.pending(peer), 0);
}

#[test]
fn a_slow_connection_loses_whole_sends_and_drained_follows() {
    let (mut harness, _) = harness(|_| ());
    let peer = harness.connect();
    harness.set_room(peer, Some(100));
    harness.feed(peer, b"big\n");
    harness.feed(peer, b"big\nlost\n");
    assert_eq!(harness.pending(peer), 300_000 - 100 + 300_000 + 5);
    harness.feed(peer, b"drop\nafterwards\n");
    assert_eq!(harness.pending(peer), 300_000 - 100 + 11);
    assert_eq!(harness.totals().bytes_dropped, 300_005);
    harness.set_room(peer, None);
    let output = harness.output(peer);
    assert_eq!(output.len(), 300_000 + 11 + "drained\n".len());
    assert!(output[..300_000].iter().all(|byte| *byte == b'.'));
    assert_eq!(&output[300_000..], b"afterwards\ndrained\n");
    assert_eq!(harness.protocol().drained, 1);
}

#[test]
fn peers_that_do_not_read_share_a_ceiling_of_memory() {
    const CEILING: usize = 1_000_000;
    let (mut harness, _) = harness(|config| config.output_memory = CEILING);
    let readers: Vec<_> = (0..10).map(|_| harness.connect()).collect();
    let silent: Vec<_> = (0..100).map(|_| harness.connect()).collect();
    for (number, peer) in silent.iter().enumerate() {
        harness.set_room(*peer, Some(0));
        // 400 bytes to 40 KB each, 2 MB in all.
        (0..=number).for_each(|_| harness.feed(*peer, &line(400)));
    }
    harness.advance(Duration::from_millis(500));
    let pending: Vec<usize> = silent.iter().map(|peer| harness.pending(*peer)).collect();
    assert!(pending.iter().sum::<usize>() <= CEILING, "{pending:?}");
    let whole = pending.iter().zip(1..).take_while(|(pending, lines)| **pending == lines * 400).count();
    assert!((40..100).contains(&whole), "the fullest lose their queue, the others keep it: {pending:?}");
    assert!(harness.totals().output_reclaimed > 0);
    assert!(silent.iter().all(|peer| harness.closed(*peer).is_none()));
    for peer in readers {
        harness.feed(peer, b"hello\n");
        assert_eq!(harness.output(peer), b"hello\n");
    }
}

#[test]
fn the_ceiling_holds_between_two_ticks() {
    const CEILING: usize = 1_000_000;
    let (mut harness, _) = harness(|config| config.output_memory = CEILING);
    let silent: Vec<_> = (0..100).map(|_| harness.connect()).collect();
    silent.iter().for_each(|peer| harness.set_room(*peer, Some(0)));
    let mut most = 0;
    for _ in 0..50 {
        silent.iter().for_each(|peer| harness.feed(*peer, &line(1_000)));
        most = most.max(silent.iter().map(|peer| harness.pending(*peer)).sum());
    }
    assert!(most <= CEILING * 5 / 4, "5 MB were sent at one time, and {most} bytes waited");
    assert!(harness.totals().output_reclaimed > 0);
}

#[test]
fn bytes_that_many_share_count_once() {
    let (mut harness, _) = harness(|config| config.output_memory = 1_000_000);
    let peers: Vec<_> = (0..50).map(|_| harness.connect()).collect();
    let body = bytes::Bytes::from(vec![b'.'; 100_000]);
    for peer in &peers {
        harness.set_room(*peer, Some(0));
    }
    harness.with_conns(|_, conns| {
        for peer in &peers {
            conns.get(*peer).unwrap().1.send_shared(body.clone());
        }
    });
    harness.advance(Duration::from_secs(3));
    assert_eq!(harness.totals().output_reclaimed, 0, "5 MB wait, and take 0.1 MB");
    assert!(peers.iter().all(|peer| harness.pending(*peer) == 100_000));
}

fn line(len: usize) -> Vec<u8> {
    let mut line = vec![b'x'; len];
    line[len - 1] = b'\n';
    line
}

#[test]
fn a_paused_connection_reads_nothing_until_it_resumes() {
    let (mut harness, seen) = harness(|_| ());
    let peer = harness.connect();
    harness.feed(peer, b"a\npause\nb\nc");
    harness.feed(peer, b"\nd\n");
    harness.end(peer);
    assert_eq!(harness.output(peer), b"a\n");
    harness.advance(Duration::from_secs(1));
    assert_eq!(harness.output(peer), b"timer fired\nb\nc\nd\n");
    assert_eq!(seen.try_iter().nth(1), Some(Seen::Ended(peer)));
    assert_eq!(harness.closed(peer), Some(Closed::ByPeer));
}

#[test]
fn resuming_reads_only_with_waiting_input() {
    let (mut harness, _) = harness(|_| ());
    let (quiet, received) = (harness.connect(), harness.connect());
    for peer in [quiet, received] {
        harness.feed(peer, b"pause\n");
    }
    let before = [quiet, received].map(|peer| harness.reads(peer));
    harness.feed(received, b"a\n");
    assert_eq!([quiet, received].map(|peer| harness.reads(peer)), before, "paused");
    harness.advance(Duration::from_secs(1));
    assert_eq!(harness.reads(quiet), before[0], "nothing came");
    assert!(harness.reads(received) > before[1]);
    assert_eq!(harness.output(received), b"timer fired\na\n");
    harness.feed(quiet, b"b\n");
    assert_eq!(harness.output(quiet), b"timer fired\nb\n");
}

#[test]
fn a_reset_is_seen_even_while_paused() {
    let (mut harness, _) = harness(|_| ());
    let peer = harness.connect();
    harness.feed(peer, b"pause\n");
    harness.reset(peer);
    assert_eq!(harness.closed(peer), Some(Closed::Error));
}

#[test]
fn closing_flushes_first_but_not_for_ever() {
    let (mut harness, _) = harness(|config| config.linger = Duration::from_secs(2));
    let (quick, slow) = (harness.connect(), harness.connect());
    for peer in [quick, slow] {
        harness.set_room(peer, Some(0));
        harness.feed(peer, b"bye\nclose\nnot heard\n");
        assert_eq!(harness.closed(peer), None);
    }
    harness.set_room(quick, None);
    assert_eq!(harness.output(quick), b"bye\n");
    assert_eq!(harness.closed(quick), Some(Closed::ByUs { flushed: true }));
    harness.advance(Duration::from_millis(2200));
    assert_eq!(harness.closed(slow), Some(Closed::ByUs { flushed: false }));
    assert_eq!(harness.output(slow), b"");
    assert_eq!(harness.totals().open, 0, "the lingering socket is gone too");
}

#[test]
fn a_panic_is_counted_and_closes_its_connection() {
    let (mut harness, seen) = harness(|_| ());
    let (bad, good) = (harness.connect(), harness.connect());
    harness.feed(bad, b"panic\n");
    harness.feed(good, b"fine\n");
    assert_eq!(harness.closed(bad), Some(Closed::Panicked));
    assert_eq!(harness.output(good), b"fine\n");
    assert_eq!(harness.totals().panics, 1);
    assert!(seen.try_iter().any(|seen| seen == Seen::Closed(bad, Closed::Panicked)));
}

#[test]
fn panics_elsewhere_close_the_affected_connections() {
    let (mut harness, seen) = harness(|_| ());
    let good = harness.connect();
    let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    let unborn = harness.connect_as(Accepted { peer, listener: NO_SUCH_LISTENER, tls: false });
    assert_eq!(harness.closed(unborn), Some(Closed::Panicked));
    harness.mail(Mail::Panic);
    harness.feed(good, b"fine\n");
    assert_eq!(harness.output(good), b"fine\n");
    assert_eq!((harness.totals().panics, harness.totals().open), (2, 1));
    assert!(
        !seen.try_iter().any(|seen| matches!(seen, Seen::Closed(..))),
        "what was never there is not closed"
    );
}

#[test]
fn a_panic_in_a_mail_closes_all_its_recipients() {
    let (mut harness, seen) = harness(|_| ());
    let [half, unreached, other, gone] = [(); 4].map(|()| harness.connect());
    harness.reset(gone);
    let elsewhere = Handle::new(1, half.slot(), half.generation());
    seen.try_iter().for_each(drop);
    let recipients = vec![half, unreached, gone, elsewhere];
    harness.mail(Mail::PanicFor(recipients.clone()));
    for closed in [half, unreached] {
        assert_eq!(harness.closed(closed), Some(Closed::Panicked));
    }
    assert_eq!(harness.output(half), b"", "what was sent halfway is not written");
    let told: Vec<_> = seen.try_iter().collect();
    let closed = |handle| Seen::Closed(handle, Closed::Panicked);
    assert_eq!(told, [closed(half), closed(unreached), Seen::Lost(recipients)]);
    // The next mail has recipients of its own.
    harness.mail(Mail::Panic);
    harness.mail(Mail::Send(other, b"still here\n".to_vec()));
    assert_eq!(harness.output(other), b"still here\n");
    assert_eq!((harness.totals().panics, harness.totals().closed_panicked), (2, 2));
}

#[test]
fn ticks_come_ten_times_a_second() {
    let (mut harness, _) = harness(|_| ());
    harness.advance(Duration::from_millis(10_050));
    assert_eq!(harness.protocol().ticks, 100);
}

#[test]
fn waiting_output_is_written_once_within_two_ticks() {
    let (mut harness, _) = harness(|_| ());
    harness.advance(Duration::from_millis(100));
    let peers = [harness.connect(), harness.connect()];
    for peer in peers {
        for line in [b"one\n", b"two\n"] {
            harness.mail(Mail::SendSoon(peer, line.to_vec()));
            assert_eq!(harness.output(peer), b"");
        }
    }
    harness.advance(Duration::from_millis(100));
    let first = peers.map(|peer| harness.output(peer).len());
    assert_eq!(first.iter().sum::<usize>(), 8, "half of them after a tick: {first:?}");
    harness.advance(Duration::from_millis(100));
    let second = peers.map(|peer| harness.output(peer).len());
    assert_eq!([first[0] + second[0], first[1] + second[1]], [8, 8]);
    harness.advance(Duration::from_secs(1));
    assert_eq!(peers.map(|peer| harness.output(peer).len()), [0, 0]);
}

#[test]
fn output_without_delay_flushes_waiting_output() {
    let (mut harness, _) = harness(|_| ());
    let peer = harness.connect();
    harness.mail(Mail::SendSoon(peer, b"first\n".to_vec()));
    harness.mail(Mail::Send(peer, b"second\n".to_vec()));
    assert_eq!(harness.output(peer), b"first\nsecond\n");
    harness.mail(Mail::SendSoon(peer, b"third\n".to_vec()));
    harness.feed(peer, b"close\n");
    assert_eq!(harness.output(peer), b"third\n");
    assert!(harness.saw_end(peer));
}

#[test]
fn much_does_not_wait() {
    let (mut harness, _) = harness(|_| ());
    let peer = harness.connect();
    let piece = vec![b'.'; 3_000];
    harness.mail(Mail::SendSoon(peer, piece.clone()));
    harness.mail(Mail::SendSoon(peer, piece.clone()));
    assert_eq!(harness.output(peer).len(), 0);
    harness.mail(Mail::SendSoon(peer, piece));
    assert_eq!(harness.output(peer).len(), 9_000);
}

#[test]
fn a_reused_slot_gets_no_waiting_output() {
    let (mut harness, _) = harness(|_| ());
    let first = harness.connect();
    harness.mail(Mail::SendSoon(first, b"for the dead\n".to_vec()));
    harness.reset(first);
    let second = harness.connect();
    assert_eq!(first.slot(), second.slot());
    harness.advance(Duration::from_millis(300));
    assert_eq!(harness.output(second), b"");
}
