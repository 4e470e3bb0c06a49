//! A protocol that echoes its input, and executes a few commands in it.

use std::sync::mpsc::Sender;
use std::time::Duration;

use edge::tls::Acceptor;
use edge::{Accepted, Closed, Conns, Handle, Io, Moves, Now, Protocol};

/// The protocol panics on a connection from this listener.
pub(crate) const NO_SUCH_LISTENER: usize = 99;

/// The events that the test receives.
#[derive(Debug, PartialEq, Eq)]
#[allow(dead_code)] // each test file reads some of it
pub(crate) enum Seen {
    Accepted(Handle, bool),
    Ended(Handle),
    Closed(Handle, Closed),
    Told(usize, u64),
    Lost(Vec<Handle>),
}

#[allow(dead_code)]
pub(crate) enum Mail {
    Send(Handle, Vec<u8>),
    /// Like `Send`, but the output may wait.
    SendSoon(Handle, Vec<u8>),
    Number(u64),
    Panic,
    /// Sends to the first recipient, and panics before the others.
    PanicFor(Vec<Handle>),
}

pub(crate) struct Echo {
    pub(crate) seen: Sender<Seen>,
    pub(crate) drained: usize,
    pub(crate) ticks: usize,
    pub(crate) reclaimed: usize,
    /// For `starttls`.
    pub(crate) acceptor: Option<Acceptor>,
}

impl Echo {
    pub(crate) fn new(seen: Sender<Seen>) -> Echo {
        Echo { seen, drained: 0, ticks: 0, reclaimed: 0, acceptor: None }
    }

    fn tell(&self, seen: Seen) {
        // The test may have ended.
        let _ = self.seen.send(seen);
    }
}

pub(crate) struct EchoConn {
    handle: Handle,
}

impl Protocol for Echo {
    type Conn = EchoConn;
    type Mail = Mail;

    fn accept(&mut self, accepted: Accepted, io: &mut Io<'_>) -> EchoConn {
        assert_ne!(accepted.listener, NO_SUCH_LISTENER, "asked to");
        self.tell(Seen::Accepted(io.handle(), accepted.tls));
        EchoConn { handle: io.handle() }
    }

    fn connected(&mut self, _: &mut EchoConn, io: &mut Io<'_>) {
        io.send(b"secure\n");
    }

    /// Reads lines. Executes `close`, `abort`, `panic`, `pause`, `starttls`, `timer N` (ms) and `hand over N` (the number of a gateway, with
    /// `and` a second command of the same call), and echoes every other line.
    fn input(&mut self, _: &mut EchoConn, input: &mut [u8], io: &mut Io<'_>) -> usize {
        let mut consumed = 0;
        while let Some(end) = input[consumed..].iter().position(|byte| *byte == b'\n') {
            let line = &input[consumed..=consumed + end];
            consumed += line.len();
            match line.trim_ascii_end() {
                b"close" => io.close(),
                b"abort" => io.abort(),
                b"panic" => panic!("asked to"),
                b"pause" => {
                    io.set_reading(false);
                    io.set_timer(Some(Duration::from_millis(500)));
                    return consumed;
                }
                b"starttls" => {
                    io.send(b"proceed\n");
                    let acceptor = self.acceptor.as_ref().unwrap();
                    if io.start_tls(acceptor) {
                        return input.len();
                    }
                    io.send(b"no TLS\n");
                }
                b"big" => io.send_shared(vec![b'.'; 300_000].into()),
                b"drop" => {
                    io.drop_outgoing();
                }
                other if other.starts_with(b"hand over ") => {
                    let (gateway, then) = other[10..].split_at(1);
                    if !io.hand_over(std::str::from_utf8(gateway).unwrap().parse().unwrap()) {
                        io.send(b"not handed over\n");
                        continue;
                    }
                    match then {
                        b" and close" => io.close(),
                        b" and abort" => io.abort(),
                        b" and panic" => panic!("asked to"),
                        b" and pause" => io.set_reading(false),
                        _ => {}
                    }
                    return consumed;
                }
                other if other.starts_with(b"timer ") => {
                    let millis = std::str::from_utf8(&other[6..]).unwrap().parse().unwrap();
                    io.set_timer(Some(Duration::from_millis(millis)));
                }
                _ => io.send(line),
            }
        }
        consumed
    }

    fn eof(&mut self, conn: &mut EchoConn, io: &mut Io<'_>) {
        self.tell(Seen::Ended(conn.handle));
        io.close();
    }

    fn timer(&mut self, _: &mut EchoConn, io: &mut Io<'_>) {
        io.send(b"timer fired\n");
        io.set_reading(true);
    }

    fn drained(&mut self, _: &mut EchoConn, io: &mut Io<'_>) {
        self.drained += 1;
        io.send(b"drained\n");
    }

    fn reclaim(&mut self, _: &mut EchoConn, io: &mut Io<'_>) {
        self.reclaimed += 1;
        io.drop_outgoing();
    }

    fn closed(&mut self, conn: EchoConn, handle: Handle, why: Closed, _: Now) {
        assert_eq!(conn.handle, handle, "a connection keeps its handle");
        self.tell(Seen::Closed(handle, why));
    }

    fn moves(_: &EchoConn) -> Moves {
        Moves::Now
    }

    fn export(&self, _: &EchoConn, _: Now, _: &mut Vec<u8>) -> bool {
        true
    }

    fn import(&mut self, _: &[u8], io: &mut Io<'_>) -> Option<EchoConn> {
        Some(EchoConn { handle: io.handle() })
    }

    fn recipients(mail: &Mail, into: &mut Vec<Handle>) {
        match mail {
            Mail::PanicFor(handles) => into.extend(handles),
            Mail::Send(handle, _) | Mail::SendSoon(handle, _) => into.push(*handle),
            Mail::Number(_) | Mail::Panic => {}
        }
    }

    fn lost(&mut self, recipients: &[Handle], conns: &mut Conns<'_, EchoConn>) {
        for handle in recipients {
            assert!(conns.get(*handle).is_none(), "it is closed, or not of this worker");
        }
        self.tell(Seen::Lost(recipients.to_vec()));
    }

    fn mail(&mut self, mail: Mail, conns: &mut Conns<'_, EchoConn>) {
        match mail {
            Mail::Send(handle, bytes) => {
                if let Some((_, mut io)) = conns.get(handle) {
                    io.send(&bytes);
                }
            }
            Mail::SendSoon(handle, bytes) => {
                if let Some((_, mut io)) = conns.get(handle) {
                    io.may_wait();
                    io.send(&bytes);
                }
            }
            Mail::Panic => panic!("asked to"),
            Mail::PanicFor(handles) => {
                if let Some((_, mut io)) = handles.first().and_then(|handle| conns.get(*handle)) {
                    io.send(b"half of it\n");
                }
                panic!("asked to");
            }
            Mail::Number(number) => self.tell(Seen::Told(conns.worker(), number)),
        }
    }

    fn tick(&mut self, _: &mut Conns<'_, EchoConn>) {
        self.ticks += 1;
    }
}
