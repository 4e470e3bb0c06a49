//! Measures the generator alone, against a server that does nearly nothing, in the same process: `cargo run --release
//! -p load --example capacity`. With the name of a folder, it writes charts of the floods there.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // it is a command

#[path = "../tests/plans/fake_server.rs"]
#[allow(dead_code)] // not all of it is used here
mod fake_server;

use std::time::Duration;

use fake_server::{FakeServer, Flaws};
use load::flood::FloodPlan;
use load::report::Run;
use load::stress::StressPlan;
use load::target::Transport;
use load::{Plan, RunOptions, defaults};

fn main() {
    for transport in Transport::WEB {
        let plan = FloodPlan {
            transport,
            // Both ends are in this process, and so are their descriptors.
            connections: 9_000,
            rate: 100_000.0,
            hold: Duration::from_secs(1),
            settle: Some(Duration::from_secs(1)),
            ..defaults()
        };
        let report = measured(&plan);
        println!("{report}");
        if let Some(folder) = std::env::args().nth(1) {
            std::fs::write(format!("{folder}/{}.svg", transport.name()), report.svg()).unwrap();
        }
    }
    let plan = StressPlan { time: Duration::from_secs(5), ..defaults() };
    println!("{}", measured(&plan));
}

/// With one thread of the generator.
fn measured(plan: &impl Plan) -> Run {
    let server = FakeServer::start(Flaws::default());
    plan.run(&RunOptions { threads: 1, ..server.options() }, &mut |_| {}).unwrap()
}
