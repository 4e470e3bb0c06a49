//! Datagrams in batches: one system call for many (Linux).

use std::net::{SocketAddr, UdpSocket};

use crate::Packet;
use crate::counters::Counters;

/// Datagrams per call.
pub(crate) const BATCH: usize = 32;

/// The longest datagram (RFC 768 over IPv4; IPv6 jumbograms are not used).
const LONGEST: usize = 65_507;

/// Buffer of one datagram, with space for the header and padding of messages to clients.
const STRIDE: usize = (Packet::BEFORE + LONGEST + Packet::AFTER).next_multiple_of(64);

/// A worker's receive buffers. The system backs only the used pages of these 2 MiB.
pub(crate) struct Inbound {
    buffer: Vec<u8>,
    arrived: [Arrived; BATCH],
    #[cfg(target_os = "linux")]
    headers: linux::Headers,
}

#[derive(Debug, Clone, Copy)]
struct Arrived {
    from: SocketAddr,
    length: usize,
}

/// The socket of an outgoing datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Via {
    Listener(u8),
    Relay(u32),
}

/// Datagrams to send at the end of a turn, many with one call.
#[derive(Default)]
pub(crate) struct Outbound {
    bytes: Vec<u8>,
    staged: Vec<Staged>,
}

#[derive(Debug, Clone, Copy)]
struct Staged {
    via: Via,
    to: SocketAddr,
    start: usize,
    end: usize,
}

/// Largest batch in bytes.
const MOST_STAGED: usize = 256;
const MOST_BYTES: usize = 256 * 1024;

impl Inbound {
    pub(crate) fn new() -> Inbound {
        let unspecified = SocketAddr::from(([0, 0, 0, 0], 0));
        Inbound {
            buffer: vec![0; STRIDE * BATCH],
            arrived: [Arrived { from: unspecified, length: 0 }; BATCH],
            #[cfg(target_os = "linux")]
            headers: linux::Headers::new(),
        }
    }

    /// Receives up to a batch. A smaller batch means that the socket is empty.
    pub(crate) fn receive(&mut self, socket: &UdpSocket, is_ipv6: bool) -> usize {
        #[cfg(target_os = "linux")]
        return self.headers.receive(socket, is_ipv6, &mut self.buffer, &mut self.arrived);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = is_ipv6;
            let rooms = self.buffer.chunks_exact_mut(STRIDE);
            for (count, (room, arrived)) in rooms.zip(&mut self.arrived).enumerate() {
                match socket.recv_from(&mut room[Packet::BEFORE..Packet::BEFORE + LONGEST]) {
                    Ok((length, from)) => *arrived = Arrived { from, length },
                    Err(_) => return count,
                }
            }
            BATCH
        }
    }

    /// One of the last batch.
    pub(crate) fn datagram(&self, index: usize) -> (SocketAddr, &[u8]) {
        let Arrived { from, length } = self.arrived[index];
        let start = index * STRIDE + Packet::BEFORE;
        (from, &self.buffer[start..start + length])
    }

    pub(crate) fn packet(&mut self, index: usize) -> Option<(SocketAddr, Packet<'_>)> {
        let Arrived { from, length } = self.arrived[index];
        let room = &mut self.buffer[index * STRIDE..][..Packet::BEFORE + length + Packet::AFTER];
        Some((from, Packet::new(room, length)?))
    }
}

impl Outbound {
    pub(crate) fn stage(&mut self, via: Via, to: SocketAddr, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.staged.push(Staged { via, to, start, end: self.bytes.len() });
    }

    pub(crate) fn is_full(&self) -> bool {
        self.staged.len() >= MOST_STAGED || self.bytes.len() >= MOST_BYTES
    }

    /// Datagrams that the system refuses are dropped, as on any network.
    pub(crate) fn flush<'s>(
        &mut self,
        socket_of: impl Fn(Via) -> Option<&'s UdpSocket>,
        counters: &Counters,
    ) {
        // Sorted by socket, in the order of their arrival.
        self.staged.sort_unstable_by_key(|staged| (staged.via, staged.start));
        for run in self.staged.chunk_by(|one, next| one.via == next.via) {
            let sent = socket_of(run[0].via).map_or(0, |socket| send(socket, run, &self.bytes));
            if sent < run.len() {
                counters.unsent.add(run.len() - sent);
            }
        }
        self.staged.clear();
        self.bytes.clear();
        self.bytes.shrink_to(MOST_BYTES);
    }
}

/// Returns the number of sent datagrams.
fn send(socket: &UdpSocket, run: &[Staged], bytes: &[u8]) -> usize {
    #[cfg(target_os = "linux")]
    if run.len() > 1 {
        return linux::send(socket, run, bytes);
    }
    run.iter().filter(|staged| socket.send_to(&bytes[staged.start..staged.end], staged.to).is_ok()).count()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::array::from_fn;
    use std::io::{IoSlice, IoSliceMut};
    use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
    use std::os::fd::AsRawFd;

    use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrIn, SockaddrIn6, SockaddrLike, recvmmsg};
    use rustix::net::addr::SocketAddrArg;
    use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmmsg};

    use super::{Arrived, BATCH, LONGEST, STRIDE, Staged};
    use crate::Packet;

    /// One set for each family, because the system leaves the length of the last address in it and uses it as the capacity for the next.
    pub(super) struct Headers {
        v4: MultiHeaders<SockaddrIn>,
        v6: MultiHeaders<SockaddrIn6>,
    }

    impl Headers {
        pub(super) fn new() -> Headers {
            Headers { v4: MultiHeaders::preallocate(BATCH, None), v6: MultiHeaders::preallocate(BATCH, None) }
        }

        pub(super) fn receive(
            &mut self,
            socket: &UdpSocket,
            is_ipv6: bool,
            buffer: &mut [u8],
            arrived: &mut [Arrived; BATCH],
        ) -> usize {
            match is_ipv6 {
                false => receive(&mut self.v4, socket, buffer, arrived, |from: SockaddrIn| {
                    SocketAddrV4::from(from).into()
                }),
                true => receive(&mut self.v6, socket, buffer, arrived, |from: SockaddrIn6| {
                    SocketAddrV6::from(from).into()
                }),
            }
        }
    }

    fn receive<S: SockaddrLike + Copy>(
        headers: &mut MultiHeaders<S>,
        socket: &UdpSocket,
        buffer: &mut [u8],
        arrived: &mut [Arrived; BATCH],
        address: impl Fn(S) -> SocketAddr,
    ) -> usize {
        let mut rooms = buffer.chunks_exact_mut(STRIDE);
        let mut slices: [[IoSliceMut<'_>; 1]; BATCH] = from_fn(|_| {
            let room = rooms.next().expect("the buffer has room for a batch");
            [IoSliceMut::new(&mut room[Packet::BEFORE..Packet::BEFORE + LONGEST])]
        });
        let received = recvmmsg(socket.as_raw_fd(), headers, slices.iter_mut(), MsgFlags::MSG_DONTWAIT, None);
        // The socket is empty, or the network had an error.
        let Ok(received) = received else { return 0 };
        let mut count = 0;
        for message in received {
            // A datagram without a sender is ignored; its place stays empty.
            let from = message.address.map(&address);
            let unspecified = SocketAddr::from(([0, 0, 0, 0], 0));
            arrived[count] = Arrived {
                from: from.unwrap_or(unspecified),
                length: if from.is_some() { message.bytes } else { 0 },
            };
            count += 1;
        }
        count
    }

    /// Datagrams per call.
    const TOGETHER: usize = 16;

    pub(super) fn send(socket: &UdpSocket, run: &[Staged], bytes: &[u8]) -> usize {
        run.chunks(TOGETHER).map(|part| send_part(socket, part, bytes)).sum()
    }

    fn send_part(socket: &UdpSocket, part: &[Staged], bytes: &[u8]) -> usize {
        // Unused entries repeat the last one, and are not sent.
        let nth = |index: usize| &part[index.min(part.len() - 1)];
        let addresses: [SocketAddrAny; TOGETHER] = from_fn(|index| nth(index).to.as_any());
        let slices: [[IoSlice<'_>; 1]; TOGETHER] =
            from_fn(|index| [IoSlice::new(&bytes[nth(index).start..nth(index).end])]);
        let mut nothing: [SendAncillaryBuffer<'_, '_, '_>; TOGETHER] =
            from_fn(|_| SendAncillaryBuffer::default());
        let mut nothing = nothing.iter_mut();
        let mut messages: [MMsgHdr<'_>; TOGETHER] = from_fn(|index| {
            let control = nothing.next().expect("as many as messages");
            MMsgHdr::new_with_addr(&addresses[index], &slices[index], control)
        });
        let (mut next, mut sent) = (0, 0);
        while next < part.len() {
            match sendmmsg(socket, &mut messages[next..part.len()], SendFlags::DONTWAIT) {
                Ok(count) if count > 0 => {
                    next += count;
                    sent += count;
                }
                Err(rustix::io::Errno::AGAIN) => return sent,
                // This datagram cannot be sent; the next one may.
                Ok(_) | Err(_) => next += 1,
            }
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_keeps_its_order_and_drops_only_unsendable_datagrams() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let (Ok(from), Ok(to)) = (UdpSocket::bind(host), UdpSocket::bind(host)) else { continue };
            to.set_nonblocking(true).unwrap();
            let (address, counters) = (to.local_addr().unwrap(), Counters::default());
            let mut outbound = Outbound::default();
            for number in 0..40u8 {
                outbound.stage(Via::Listener(0), address, &[number; 9]);
                if number == 20 {
                    outbound.stage(Via::Listener(0), address, &[0; LONGEST + 600]);
                    outbound.stage(Via::Relay(7), address, b"nobody's");
                }
            }
            outbound.flush(|via| (via == Via::Listener(0)).then_some(&from), &counters);
            assert_eq!(counters.unsent.read(), 2);
            let mut inbound = Inbound::new();
            let mut seen = Vec::new();
            for expected in [BATCH, 8, 0] {
                let count = inbound.receive(&to, address.is_ipv6());
                assert_eq!(count, expected);
                for index in 0..count {
                    let (sender, datagram) = inbound.datagram(index);
                    assert_eq!((sender, datagram.len()), (from.local_addr().unwrap(), 9));
                    seen.push(datagram[0]);
                }
            }
            assert_eq!(seen, (0..40).collect::<Vec<u8>>());
        }
    }
}
