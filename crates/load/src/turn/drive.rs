//! The phases of a TURN run: plain sockets in a few threads, so that the generator is the same for every server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use calls::client::{Caller, Heard, channel_data};
use calls::stun::{attribute, method};

use super::TurnPlan;
use super::report::{Findings, Passed, report};
use super::server::TurnServer;
use crate::probe::Probe;
use crate::report::Run;
use crate::watch::Watch;
use crate::{LoadError, RunOptions};

/// Datagrams that take longer are lost.
const PATIENCE: Duration = Duration::from_millis(500);

/// Packets in flight of a flow, in each direction.
const IN_FLIGHT: usize = 8;

const CHANNEL: u16 = 0x4000;

pub(super) fn run(
    plan: &TurnPlan,
    options: &RunOptions,
    say: &mut dyn FnMut(&str),
) -> Result<Run, LoadError> {
    let server = TurnServer::find(plan, options)?;
    let probe = options.server.map_or(Probe::Blind, Probe::Process);
    let mut watch = Watch::new(probe, 0, &options.stop, &options.observer, say);
    watch.say(&format!("asking {} for {} s", server.addr, plan.time.as_secs_f64()));
    // Warms up the server, so that memory for its first request is allocated before the measurements.
    questions(plan, options, server.addr, Duration::from_millis(200))?;
    let begin = watch.snapshot();
    let answered = questions(plan, options, server.addr, plan.time)?;
    let asked = watch.snapshot();
    watch.say(&format!("{} relays", plan.relays));
    let mut clients = clients(plan, &server)?;
    let before = watch.snapshot();
    let refused = allocate(plan, &mut clients);
    let allocated = watch.snapshot();
    watch.say(&format!("data through {} of them for {} s", plan.flows, plan.time.as_secs_f64()));
    let mut flows = flows(plan, &mut clients)?;
    let sending = watch.snapshot();
    let passed = pass(plan, options, &mut flows)?;
    let sent = watch.snapshot();
    let flows = flows.len() as u64;
    let relays = clients.iter().filter(|client| client.relayed.is_some()).count();
    release(&mut clients);
    let findings = Findings {
        server: server.addr,
        questions: [begin, asked],
        answered,
        allocating: [before, allocated],
        relays: relays as u64,
        refused,
        passing: [sending, sent],
        flows,
        passed,
        interrupted: options.stopped(),
    };
    Ok(report(plan, &findings))
}

/// Returns the number of answered requests.
fn questions(plan: &TurnPlan, options: &RunOptions, server: SocketAddr, time: Duration) -> io::Result<u64> {
    let window = (plan.window as usize).div_ceil(options.threads.max(1)).max(1);
    let each = |_| asking(server, window, time, &options.stop);
    let counts = in_threads(options.threads.max(1), each)?;
    Ok(counts.into_iter().sum())
}

fn asking(server: SocketAddr, window: usize, time: Duration, stop: &AtomicBool) -> io::Result<u64> {
    let socket = socket(server)?;
    // As long as its response, like the requests of most browsers' ICE. Shorter ones are subject to budgets.
    let question = Caller::new("", "", 1).request(method::BINDING, |message| {
        message.bytes(attribute::SOFTWARE, b"kith load!!!");
    });
    let (begin, mut answered, mut buffer) = (Instant::now(), 0, [0; 512]);
    while begin.elapsed() < time && !stop.load(Ordering::Relaxed) {
        for _ in 0..window {
            // If the system's buffer is full, the request counts as unanswered.
            let _ = socket.send(&question);
        }
        answered += (0..window).take_while(|_| socket.recv(&mut buffer).is_ok()).count() as u64;
    }
    Ok(answered)
}

/// A client that has a relay or requests one.
pub(super) struct Client {
    socket: UdpSocket,
    caller: Caller,
    pub(super) relayed: Option<SocketAddr>,
}

fn clients(plan: &TurnPlan, server: &TurnServer) -> io::Result<Vec<Client>> {
    let client = |number| {
        let socket = socket(server.addr)?;
        Ok(Client { socket, caller: server.caller(number), relayed: None })
    };
    (0..plan.relays).map(client).collect()
}

/// Returns the number of clients that were refused or got no response.
fn allocate(plan: &TurnPlan, clients: &mut [Client]) -> u64 {
    let mut failed = 0;
    for group in clients.chunks_mut(plan.window.max(1) as usize) {
        let received = ask_all(group, |caller| caller.allocate(false));
        for (client, received) in group.iter_mut().zip(received) {
            match received {
                Some(Heard::Success { relayed: Some(relayed), .. }) => client.relayed = Some(relayed),
                _ => failed += 1,
            }
        }
    }
    failed
}

/// Sends one request of each client, all at once, and repeats it if the server requires credentials.
fn ask_all(group: &mut [Client], request: impl Fn(&mut Caller) -> Vec<u8>) -> Vec<Option<Heard>> {
    let mut received = vec![Some(Heard::Again); group.len()];
    for _ in 0..3 {
        let open = |received: &Option<Heard>| *received == Some(Heard::Again);
        for (client, _) in group.iter_mut().zip(&received).filter(|(_, received)| open(received)) {
            let _ = client.socket.send(&request(&mut client.caller));
        }
        for (client, received) in group.iter_mut().zip(&mut received).filter(|(_, received)| open(received)) {
            let mut buffer = [0; 2_048];
            let answer = client.socket.recv(&mut buffer).ok();
            *received = answer.and_then(|length| client.caller.hear(&buffer[..length]));
        }
    }
    received
}

/// A client, its relay and a peer.
struct Flow<'c> {
    client: &'c Client,
    relayed: SocketAddr,
    peer: UdpSocket,
}

fn flows<'c>(plan: &TurnPlan, clients: &'c mut [Client]) -> io::Result<Vec<Flow<'c>>> {
    let most = (plan.flows as usize).min(clients.len());
    let mut peers = Vec::new();
    for client in &mut clients[..most] {
        let peer = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        peer.set_read_timeout(Some(PATIENCE))?;
        let address = peer.local_addr()?;
        let bound = ask_all(std::slice::from_mut(client), |caller| caller.bind(CHANNEL, address));
        peers.push((matches!(bound[..], [Some(Heard::Success { .. })]), peer));
    }
    let flow = |(client, (bound, peer)): (&'c Client, (bool, UdpSocket))| {
        Some(Flow { client, relayed: client.relayed.filter(|_| bound)?, peer })
    };
    Ok(clients[..most].iter().zip(peers).filter_map(flow).collect())
}

/// Sends data to the peers and back, as fast as it arrives.
fn pass(plan: &TurnPlan, options: &RunOptions, flows: &mut [Flow<'_>]) -> io::Result<Passed> {
    let shares = flows.len().div_ceil(options.threads.max(1)).max(1);
    let parts: Vec<&[Flow<'_>]> = flows.chunks(shares).collect();
    let passed = in_threads(parts.len(), |part| Ok(passing(plan, options, parts[part])))?;
    Ok(passed.into_iter().fold(Passed::default(), Passed::and))
}

fn passing(plan: &TurnPlan, options: &RunOptions, flows: &[Flow<'_>]) -> Passed {
    let data = vec![0x55; plan.packet_bytes as usize];
    let message = channel_data(CHANNEL, &data);
    let (begin, mut passed, mut buffer) = (Instant::now(), Passed::default(), vec![0; 65_536]);
    while begin.elapsed() < plan.time && !options.stopped() && !flows.is_empty() {
        for flow in flows {
            (0..IN_FLIGHT).for_each(|_| drop(flow.client.socket.send(&message)));
        }
        for flow in flows {
            let came = (0..IN_FLIGHT).take_while(|_| flow.peer.recv(&mut buffer).is_ok()).count();
            passed.to_peers += came as u64;
            passed.lost += (IN_FLIGHT - came) as u64;
            (0..IN_FLIGHT).for_each(|_| drop(flow.peer.send_to(&data, flow.relayed)));
        }
        for flow in flows {
            let came = (0..IN_FLIGHT).take_while(|_| flow.client.socket.recv(&mut buffer).is_ok()).count();
            passed.to_clients += came as u64;
            passed.lost += (IN_FLIGHT - came) as u64;
        }
    }
    passed
}

fn release(clients: &mut [Client]) {
    for group in clients.chunks_mut(256) {
        ask_all(group, |caller| caller.refresh(0));
    }
}

fn socket(server: SocketAddr) -> io::Result<UdpSocket> {
    let socket = match server {
        SocketAddr::V4(_) => UdpSocket::bind("0.0.0.0:0")?,
        SocketAddr::V6(_) => UdpSocket::bind("[::]:0")?,
    };
    socket.connect(server)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    Ok(socket)
}

fn in_threads<R: Send>(threads: usize, act: impl Fn(usize) -> io::Result<R> + Sync) -> io::Result<Vec<R>> {
    let act = &act;
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|number| scope.spawn(move || act(number))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, io::Result<R>>| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the generator has ended")))
        };
        running.into_iter().map(join).collect()
    })
}
