//! The requirements of each plan for its own node, besides those of its file.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use load::calls::CallsPlan;
use load::community::CommunityPlan;
use load::flood::FloodPlan;
use load::mix::MixPlan;
use load::report::Run;
use load::room::RoomPlan;
use load::slow::SlowPlan;
use load::storm::StormPlan;
use load::stress::StressPlan;
use load::turn::TurnPlan;
use load::typing::TypingPlan;
use load::visit::VisitPlan;
use load::{LoadError, Plan, RunOptions};
use toml::{Table, Value};

use super::own_node::{NodeWish, Seed};
use super::seed;
use crate::need;

/// The task of one section of a plan file.
pub(super) trait Task: Plan {
    /// The settings, if it runs without a node.
    fn inside(&self) -> Option<&StressPlan> {
        None
    }

    fn node(&self) -> NodeWish {
        NodeWish::default()
    }

    /// Returns when the run is over.
    fn carry_out(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        self.run(options, say)
    }
}

impl Task for FloodPlan {}
impl Task for MixPlan {}
impl Task for RoomPlan {}
impl Task for SlowPlan {}
impl Task for StormPlan {}
impl Task for TypingPlan {}
impl Task for VisitPlan {}

impl Task for StressPlan {
    fn inside(&self) -> Option<&StressPlan> {
        self.core.then_some(self)
    }
}

impl Task for CommunityPlan {
    fn node(&self) -> NodeWish {
        let stored = Arc::clone(&self.stored);
        let seed = self.people().ok().map(|people| {
            Seed(Arc::new(move |folder| {
                let done = seed::fill(folder, people)?;
                // A seed fills one node.
                let _ = stored.set(done);
                Ok(())
            }))
        });
        NodeWish { seed, ..NodeWish::default() }
    }
}

impl Task for CallsPlan {
    /// The pairs are strangers, and call more often than people do.
    fn node(&self) -> NodeWish {
        NodeWish::of("calls = { from = 'everyone', burst = 0, per_minute = 0 }")
    }
}

impl Task for TurnPlan {
    /// All relays belong to one user at one address, which sends more than a normal client, and the peers are on this
    /// machine.
    fn node(&self) -> NodeWish {
        write_own_secret();
        let mut wish = NodeWish::of(
            "calls = { listen = '127.0.0.1:0', peers = '127.0.0.0/8', ports = '20000-65535', relays = 0, \
             relays_per_address = 0, relays_per_site = 0, relays_per_user = 0, kbit_per_address = 0, \
             kbit_per_site = 0, kbit_per_user = 0, unproven_bytes = 0 }",
        );
        let secret = Value::String(own_secret_file().to_string_lossy().into());
        wish.set("calls", Table::from_iter([("turn_secret_file".to_owned(), secret)]));
        // If one table has no room for them, each worker gets its own.
        let room = need::for_calls(edge::raise_descriptor_limit(), 1, false) / 2;
        if cfg!(target_os = "linux") && u64::from(self.relays) > room {
            wish.set("edge", Table::from_iter([("private_descriptors".to_owned(), Value::Boolean(true))]));
        }
        wish
    }

    /// Our own node has the secret that was written for it.
    fn carry_out(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let secret = self.turn_secret_file.clone().unwrap_or_else(own_secret_file);
        let run = TurnPlan { turn_secret_file: Some(secret), ..self.clone() }.run(options, say);
        let _ = fs::remove_file(own_secret_file());
        run
    }
}

/// The secret of a node that this process starts. Its server issues credentials for calls only, so the load makes its
/// own.
fn own_secret_file() -> PathBuf {
    std::env::temp_dir().join(format!("kith-load-turn-{}.secret", std::process::id()))
}

/// If the file cannot be written, the node reports it when it starts.
fn write_own_secret() {
    let secret = ring::rand::generate::<[u8; 32]>(&ring::rand::SystemRandom::new());
    let Ok(secret) = secret.map(ring::rand::Random::expose) else { return };
    let text: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(own_secret_file());
    let _ = file.and_then(|mut file| file.write_all(text.as_bytes()));
}
