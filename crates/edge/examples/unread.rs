//! Measures the memory cost of peers that do not read: sends to N of them until each has lost its queue, and prints
//! the memory of this process.
//!
//! `cargo run -p edge --example unread -- [--connections 3000] [--ceiling MIB] [--queue KIB]`
//!
//! Loopback only; it ends by itself.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a tool for the terminal

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use edge::{Accepted, Closed, Conns, Edge, EdgeConfig, Handle, Io, Listener, Now, Protocol, mailboxes};

/// The allocator of a node.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// As long as a message of a room with its frame; it is copied into each queue.
const MESSAGE: [u8; 500] = [b'.'; 500];
/// Messages to all connections between two measurements of memory.
const ROUND: usize = 10;

/// A session like that of the web gateway: above its limit it loses its queue and receives nothing more.
struct Room {
    queue: usize,
    /// Messages so far.
    told: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Member {
    is_behind: bool,
}

impl Protocol for Room {
    type Conn = Member;
    type Mail = ();

    fn accept(&mut self, _: Accepted, _: &mut Io<'_>) -> Member {
        Member::default()
    }

    fn input(&mut self, _: &mut Member, input: &mut [u8], _: &mut Io<'_>) -> usize {
        input.len()
    }

    fn eof(&mut self, _: &mut Member, io: &mut Io<'_>) {
        io.close();
    }

    fn timer(&mut self, _: &mut Member, _: &mut Io<'_>) {}

    fn drained(&mut self, _: &mut Member, _: &mut Io<'_>) {}

    fn reclaim(&mut self, member: &mut Member, io: &mut Io<'_>) {
        member.is_behind = true;
        io.drop_outgoing();
    }

    fn closed(&mut self, _: Member, _: Handle, _: Closed, _: Now) {}

    fn mail(&mut self, (): (), conns: &mut Conns<'_, Member>) {
        let queue = self.queue;
        conns.each(|member, mut io| {
            if member.is_behind {
                return;
            }
            match io.outgoing() + MESSAGE.len() > queue {
                true => {
                    member.is_behind = true;
                    io.drop_outgoing();
                }
                false => io.send(&MESSAGE),
            }
        });
        self.told.fetch_add(1, Ordering::Release);
    }

    fn tick(&mut self, _: &mut Conns<'_, Member>) {}
}

struct Plan {
    connections: usize,
    ceiling: usize,
    queue: usize,
    call: Option<SocketAddr>,
}

fn main() {
    let plan = plan();
    edge::raise_descriptor_limit();
    match plan.call {
        Some(addr) => call(addr, &plan),
        None => serve(&plan),
    }
}

fn plan() -> Plan {
    let mut plan = Plan { connections: 3_000, ceiling: 256, queue: 256, call: None };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().expect("a value follows the option");
        match arg.as_str() {
            "--connections" => plan.connections = value().parse::<usize>().unwrap().min(9_000),
            "--ceiling" => plan.ceiling = value().parse().unwrap(),
            "--queue" => plan.queue = value().parse().unwrap(),
            "--call" => plan.call = Some(value().parse().unwrap()),
            other => panic!("unknown option {other}"),
        }
    }
    plan
}

fn serve(plan: &Plan) {
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let config = EdgeConfig {
        listeners: vec![Listener::plain(addr)],
        output_memory: plan.ceiling * 1024 * 1024,
        socket_buffer: Some(16 * 1024),
        ..EdgeConfig::default()
    };
    let (mailboxes, inboxes) = mailboxes(1);
    let queue = plan.queue * 1024;
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    let edge = Edge::start(config, inboxes, move |_| Room { queue, told: Arc::clone(&count) }).unwrap();
    let mut members = Command::new(std::env::current_exe().unwrap())
        .args(["--call", &edge.local_addrs()[0].to_string(), "--connections", &plan.connections.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(members.stdout.take().unwrap()).lines();
    println!("{}", lines.next().unwrap().unwrap());
    let before = rss_mib();
    let mut peak = before;
    // The kernels of both sides hold some hundred KiB before output is queued here.
    for round in 1..=queue * 3 / MESSAGE.len() / ROUND {
        for _ in 0..ROUND {
            mailboxes.send(0, ());
        }
        // The worker checks its memory in between.
        while told.load(Ordering::Acquire) < round * ROUND {
            thread::sleep(Duration::from_millis(5));
        }
        peak = peak.max(rss_mib());
    }
    thread::sleep(Duration::from_secs(2));
    println!("RSS before: {before} MiB, peak: {peak} MiB, once all are behind: {} MiB", rss_mib());
    println!("queues dropped by the ceiling: {}", edge.counters().totals().output_reclaimed);
    // Free pages return within a second or two.
    thread::sleep(Duration::from_secs(3));
    println!("3 s later: {} MiB", rss_mib());
    writeln!(members.stdin.take().unwrap(), "leave").unwrap();
    let _ = members.wait();
    thread::sleep(Duration::from_secs(3));
    println!("after all have left: {} MiB", rss_mib());
    edge.stop(Duration::ZERO);
}

/// Connects, and reads nothing.
fn call(to: SocketAddr, plan: &Plan) {
    let connect = |_| {
        let mut stream = TcpStream::connect(to).unwrap();
        stream.write_all(b"x").unwrap();
        stream
    };
    let streams: Vec<TcpStream> = (0..plan.connections).map(connect).collect();
    println!("{} members who do not read", streams.len());
    let _ = std::io::stdin().read(&mut [0; 8]);
}

fn rss_mib() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * rustix::param::page_size() as u64 / 1024 / 1024
}
