//! Sockets that a protocol has registered with its worker: their events, repeated events, and answers at the end of the
//! turn.

#![allow(clippy::unwrap_used)] // a test may panic

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Mutex;
use std::time::Duration;

use edge::{Accepted, Closed, Conns, Edge, EdgeConfig, Handle, Io, Now, Protocol, mailboxes};

const NUMBER: u32 = 7;

/// Reads one datagram at each event of its socket, and answers all of a turn at its end.
struct Echo {
    socket: UdpSocket,
    is_watched: bool,
    received: Vec<(Vec<u8>, std::net::SocketAddr)>,
}

impl Protocol for Echo {
    type Conn = ();
    type Mail = ();

    fn accept(&mut self, _: Accepted, _: &mut Io<'_>) {}

    fn input(&mut self, _: &mut (), input: &mut [u8], _: &mut Io<'_>) -> usize {
        input.len()
    }

    fn eof(&mut self, _: &mut (), io: &mut Io<'_>) {
        io.close();
    }

    fn timer(&mut self, _: &mut (), _: &mut Io<'_>) {}

    fn drained(&mut self, _: &mut (), _: &mut Io<'_>) {}

    fn closed(&mut self, _: (), _: Handle, _: Closed, _: Now) {}

    fn mail(&mut self, (): (), _: &mut Conns<'_, ()>) {}

    fn readable(&mut self, number: u32, conns: &mut Conns<'_, ()>) {
        assert_eq!(number, NUMBER);
        let mut buffer = [0; 64];
        if let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
            self.received.push((buffer[..length].to_vec(), from));
            // There may be more datagrams, for which no event comes.
            conns.look_again(number);
        }
    }

    fn turn_ends(&mut self, conns: &mut Conns<'_, ()>) {
        if !std::mem::replace(&mut self.is_watched, true) {
            conns.watch(&self.socket, NUMBER).unwrap();
        }
        for (bytes, from) in self.received.drain(..) {
            self.socket.send_to(&bytes, from).unwrap();
        }
    }

    fn tick(&mut self, _: &mut Conns<'_, ()>) {}
}

#[test]
fn a_protocol_is_called_for_its_socket_until_it_is_empty() {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.set_nonblocking(true).unwrap();
    let addr = socket.local_addr().unwrap();
    let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    client.connect(addr).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    // Some arrive before the worker polls for the first time, and come with one event.
    (0..10u8).for_each(|number| drop(client.send(&[number])));
    let (_, inboxes) = mailboxes(1);
    let socket = Mutex::new(Some(socket));
    let make = move |_| Echo {
        socket: socket.lock().unwrap().take().unwrap(),
        is_watched: false,
        received: Vec::new(),
    };
    let edge = Edge::start(EdgeConfig::default(), inboxes, make).unwrap();
    let mut buffer = [0; 64];
    for number in 0..10u8 {
        let length = client.recv(&mut buffer).unwrap();
        assert_eq!(buffer[..length], [number]);
    }
    for number in 10..20u8 {
        client.send(&[number]).unwrap();
        let length = client.recv(&mut buffer).unwrap();
        assert_eq!(buffer[..length], [number]);
    }
    edge.stop(Duration::ZERO);
}
