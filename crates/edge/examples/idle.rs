//! Measures idle connections: holds N echo connections from a second process and prints memory and CPU time.
//!
//! `cargo run --release -p edge --example idle -- [--tls] [--connections 15000] [--workers 1] [--hold 5] [--private]`
//!
//! `--private` gives each worker its own descriptor table: more connections than the process may have files.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a tool for the terminal

use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use edge::tls::{self, Acceptor};
use edge::{
    Accepted, Closed, Connect, Conns, Edge, EdgeConfig, Handle, Io, Listener, Now, Protocol, mailboxes,
};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};

/// Most pending connection attempts.
const WINDOW: usize = 512;

struct Plan {
    tls: bool,
    connections: usize,
    workers: usize,
    hold: u64,
    private: bool,
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
    let mut plan = Plan { tls: false, connections: 15_000, workers: 1, hold: 5, private: false, call: None };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().expect("a value follows the option");
        match arg.as_str() {
            "--tls" => plan.tls = true,
            "--private" => plan.private = true,
            "--connections" => plan.connections = value().parse().unwrap(),
            "--workers" => plan.workers = value().parse().unwrap(),
            "--hold" => plan.hold = value().parse().unwrap(),
            "--call" => plan.call = Some(value().parse().unwrap()),
            other => panic!("unknown option {other}"),
        }
    }
    plan
}

/// Echoes its input, and keeps no state.
struct Echo;

impl Protocol for Echo {
    type Conn = ();
    type Mail = ();

    fn accept(&mut self, _: Accepted, _: &mut Io<'_>) {}

    fn input(&mut self, _: &mut (), input: &mut [u8], io: &mut Io<'_>) -> usize {
        io.send(input);
        input.len()
    }

    fn eof(&mut self, _: &mut (), io: &mut Io<'_>) {
        io.close();
    }

    fn timer(&mut self, _: &mut (), _: &mut Io<'_>) {}

    fn drained(&mut self, _: &mut (), _: &mut Io<'_>) {}

    fn closed(&mut self, _: (), _: Handle, _: Closed, _: Now) {}

    fn mail(&mut self, _: (), _: &mut Conns<'_, ()>) {}

    fn tick(&mut self, _: &mut Conns<'_, ()>) {}
}

fn serve(plan: &Plan) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let acceptor = Acceptor::new(tls::server_config(vec![made.cert.der().clone()], key).unwrap());
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let config = EdgeConfig {
        listeners: vec![Listener::both(addr, acceptor)],
        private_descriptor_tables: plan.private,
        ..EdgeConfig::default()
    };
    let (_, inboxes) = mailboxes(plan.workers);
    let edge = Edge::start(config, inboxes, |_| Echo).unwrap();

    let before = (rss(), cpu());
    let mut caller = Command::new(std::env::current_exe().unwrap())
        .args(["--call", &edge.local_addrs()[0].to_string(), "--connections", &plan.connections.to_string()])
        .args(["--workers", &plan.workers.to_string()])
        .args(plan.tls.then_some("--tls"))
        .args(plan.private.then_some("--private"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut caller_in = caller.stdin.take().unwrap();
    writeln!(caller_in, "{}", hex(made.cert.der())).unwrap();
    let mut lines = BufReader::new(caller.stdout.take().unwrap()).lines();
    let mut next = || lines.next().expect("the caller lives").unwrap();

    println!("{}", next());
    let connected = cpu();
    let totals = edge.counters().totals();
    println!("{} open, {} accepted", totals.open, totals.accepted);
    report("idle", plan, before.0);
    println!("cpu per connect and echo: {:.1} µs", micros(connected - before.1) / plan.connections as f64);

    let (from, turns) = (cpu(), edge.counters().totals().turns);
    thread::sleep(Duration::from_secs(plan.hold));
    let share = (cpu() - from).as_secs_f64() / plan.hold as f64 * 100.0;
    let turns = (edge.counters().totals().turns - turns) / plan.hold;
    println!("cpu while idle: {share:.2} % of a core, {turns} turns per second");

    writeln!(caller_in, "talk").unwrap();
    println!("{}", next());
    report("after a message of 5,000 bytes each way", plan, before.0);

    let from = cpu();
    writeln!(caller_in, "leave").unwrap();
    let _ = caller.wait();
    while edge.counters().totals().open > 0 {
        thread::sleep(Duration::from_millis(10));
    }
    println!("cpu per disconnect: {:.1} µs", micros(cpu() - from) / plan.connections as f64);
    thread::sleep(Duration::from_secs(8));
    println!("rss after all have left: {} KiB more than before", (rss() - before.0) / 1024);
    edge.stop(Duration::ZERO);
}

fn report(when: &str, plan: &Plan, before: i64) {
    thread::sleep(Duration::from_secs(1));
    let bytes = (rss() - before) as f64 / plan.connections as f64;
    println!("{when}: {bytes:.0} user bytes per connection");
}

/// Connects, sends one byte and waits for the echo; sends again on a mail.
struct Caller {
    to: SocketAddr,
    tls: Option<Arc<ClientConfig>>,
    progress: Sender<bool>,
    callers: Vec<Handle>,
}

impl Protocol for Caller {
    type Conn = usize;
    type Mail = Order;

    fn accept(&mut self, _: Accepted, _: &mut Io<'_>) -> usize {
        0
    }

    fn connected(&mut self, missing: &mut usize, io: &mut Io<'_>) {
        self.callers.push(io.handle());
        *missing = 1;
        io.send(b"x");
    }

    fn input(&mut self, missing: &mut usize, input: &mut [u8], _: &mut Io<'_>) -> usize {
        *missing -= input.len();
        if *missing == 0 {
            let _ = self.progress.send(true);
        }
        input.len()
    }

    fn eof(&mut self, _: &mut usize, io: &mut Io<'_>) {
        io.close();
    }

    fn timer(&mut self, _: &mut usize, _: &mut Io<'_>) {}

    fn drained(&mut self, _: &mut usize, _: &mut Io<'_>) {}

    fn closed(&mut self, _: usize, _: Handle, _: Closed, _: Now) {
        let _ = self.progress.send(false);
    }

    fn mail(&mut self, order: Order, conns: &mut Conns<'_, usize>) {
        match order {
            Order::Connect(from) => {
                let name = ServerName::try_from("localhost").unwrap();
                let tls = self.tls.as_ref().map(|config| (Arc::clone(config), name));
                if conns.connect(Connect { to: self.to, from: Some(from), tls }, 0).is_err() {
                    let _ = self.progress.send(false);
                }
            }
            Order::Talk(n) => {
                if let Some((missing, mut io)) = conns.get(self.callers[n]) {
                    *missing = 5000;
                    io.send(&[b'.'; 5000]);
                }
            }
        }
    }

    fn tick(&mut self, _: &mut Conns<'_, usize>) {}
}

enum Order {
    Connect(IpAddr),
    Talk(usize),
}

fn call(to: SocketAddr, plan: &Plan) {
    let mut orders = std::io::stdin().lines();
    let tls = client_config(&orders.next().unwrap().unwrap());
    let tls = plan.tls.then_some(tls);
    let (mailboxes, inboxes) = mailboxes(plan.workers);
    let (progress, results) = channel();
    let config = EdgeConfig { private_descriptor_tables: plan.private, ..EdgeConfig::default() };
    let edge = Edge::start(config, inboxes, move |_| Caller {
        to,
        tls: tls.clone(),
        progress: progress.clone(),
        callers: Vec::new(),
    })
    .unwrap();

    // Each source address has some 45,000 ports.
    let from = |n: usize| IpAddr::from([127, 0, 1, (n / 10_000) as u8]);
    let mut failed = 0;
    let mut rounds = |order: &dyn Fn(usize) -> Order| {
        let started = Instant::now();
        for n in 0..plan.connections + WINDOW {
            if n >= WINDOW && !results.recv().unwrap() {
                failed += 1;
            }
            if n < plan.connections {
                mailboxes.send(n % plan.workers, order(n));
            }
        }
        (plan.connections as f64 / started.elapsed().as_secs_f64(), failed)
    };
    let (rate, failed) = rounds(&|n| Order::Connect(from(n)));
    println!("connected and echoed: {rate:.0} per second, {failed} failed");
    assert_eq!(orders.next().unwrap().unwrap(), "talk");
    let (rate, failed) = rounds(&|n| Order::Talk(n / plan.workers));
    println!("talked: {rate:.0} per second, {failed} failed");
    assert_eq!(orders.next().unwrap().unwrap(), "leave");
    edge.stop(Duration::ZERO);
}

fn client_config(cert: &str) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(unhex(cert))).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    Arc::new(config)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn rss() -> i64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: i64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * rustix::param::page_size() as i64
}

/// User and system time of this process.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
}
