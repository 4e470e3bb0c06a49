//! Measures the generator alone, against a server that does nearly nothing, in the same process: `cargo run --release
//! -p load --example capacity`. With the name of a folder, it writes charts of the floods there.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // it is a command

#[path = "../tests/fake_server/mod.rs"]
mod fake_server;

use std::time::Duration;

use fake_server::{FakeServer, Flaws};
use load::RunOptions;
use load::flood::{self, FloodPlan};
use load::stress::{self, Pace, StressPlan};
use load::target::{Target, Transport};

fn main() {
    for transport in Transport::ALL {
        let server = FakeServer::start(Flaws::default());
        let plan = FloodPlan {
            options: options(&server),
            transport,
            // Both ends are in this process, and so are their descriptors.
            connections: 9_000,
            rate: 100_000.0,
            hold: Duration::from_secs(1),
            exchange: None,
            settle: Duration::from_secs(1),
        };
        let report = flood::run(&plan, &mut |_| {}).unwrap();
        println!("{report}");
        if let Some(folder) = std::env::args().nth(1) {
            std::fs::write(format!("{folder}/{}.svg", transport.name()), report.svg()).unwrap();
        }
    }
    let server = FakeServer::start(Flaws::default());
    let plan = StressPlan {
        options: options(&server),
        transport: Transport::Websocket,
        members: 1000,
        group: 10,
        body_bytes: 100,
        pace: Pace::Window(4),
        time: Duration::from_secs(5),
    };
    println!("{}", stress::run(&plan, &mut |_| {}).unwrap());
}

/// The server is in this process.
fn options(server: &FakeServer) -> RunOptions {
    let target = Target::parse(&server.url()).unwrap();
    RunOptions { server: Some(std::process::id()), threads: 1, ..RunOptions::new(target, "demo", b"secret") }
}
