//! `turn`: its section of a plan file.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use load::report::Run;
use load::turn::{self, Server, TurnPlan};
use load::{LoadError, RunOptions};
use serde::Deserialize;
use toml::{Table, Value};

use super::{Contradiction, Task};
use crate::load_command::own_node::NodeWish;
use crate::load_command::setting;
use crate::need;
use crate::span::Span;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Turn {
    /// Another server, with the secret of its credentials. With a secret only: the node's server.
    server: Option<SocketAddr>,
    turn_secret_file: Option<PathBuf>,
    #[serde(deserialize_with = "setting::at_least_one")]
    window: u32,
    #[serde(deserialize_with = "setting::at_least_one")]
    relays: u32,
    #[serde(deserialize_with = "setting::at_least_one")]
    flows: u32,
    #[serde(deserialize_with = "setting::at_least_one")]
    packet_bytes: u32,
    time: Span,
}

impl Default for Turn {
    fn default() -> Turn {
        Turn {
            server: None,
            turn_secret_file: None,
            window: 64,
            relays: 2_000,
            flows: 64,
            packet_bytes: 1_000,
            time: Span::seconds(5),
        }
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
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let text: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let _ = options.open(own_secret_file()).and_then(|mut file| file.write_all(text.as_bytes()));
}

impl Task for Turn {
    fn check(&self) -> Result<(), Contradiction> {
        match (&self.server, &self.turn_secret_file) {
            (Some(_), None) => Err(Contradiction {
                says: "server needs turn-secret-file",
                remedy: "name the file with the secret of its credentials",
            }),
            _ if self.packet_bytes > 60_000 => Err(Contradiction {
                says: "packet-bytes is above 60000",
                remedy: "browsers send 1200 at most",
            }),
            _ => Ok(()),
        }
    }

    /// Sockets of the generator.
    fn members(&self) -> u32 {
        self.relays.saturating_add(self.flows)
    }

    /// All relays belong to one user, and the peers are on this machine.
    fn node(&self) -> NodeWish {
        let text = |text: &str| Value::String(text.into());
        write_own_secret();
        let calls = Table::from_iter([
            ("listen".to_owned(), text("127.0.0.1:0")),
            ("peers".to_owned(), text("127.0.0.0/8")),
            ("ports".to_owned(), text("20000-65535")),
            ("turn_secret_file".to_owned(), text(&own_secret_file().to_string_lossy())),
            ("relays".to_owned(), Value::Integer(0)),
            ("relays_per_address".to_owned(), Value::Integer(0)),
            ("relays_per_site".to_owned(), Value::Integer(0)),
            ("kbit_per_address".to_owned(), Value::Integer(0)),
            ("kbit_per_site".to_owned(), Value::Integer(0)),
            ("relays_per_user".to_owned(), Value::Integer(0)),
            ("kbit_per_user".to_owned(), Value::Integer(0)),
            // All requests come from one address, which sends more than a normal client.
            ("unproven_bytes".to_owned(), Value::Integer(0)),
        ]);
        let mut settings = Table::from_iter([("calls".to_owned(), Value::Table(calls))]);
        // If one table has no room for them, each worker gets its own.
        let room = need::for_calls(edge::raise_descriptor_limit(), 1, false) / 2;
        if cfg!(target_os = "linux") && u64::from(self.relays) > room {
            let edge = Table::from_iter([("private_descriptors".to_owned(), Value::Boolean(true))]);
            settings.insert("edge".to_owned(), Value::Table(edge));
        }
        NodeWish { settings, ..NodeWish::default() }
    }

    fn carry_out(&self, options: RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let server = match (self.server, &self.turn_secret_file) {
            (Some(addr), Some(path)) => {
                Some(Server { addr, secret: std::fs::read(path)?.trim_ascii().to_vec() })
            }
            _ => None,
        };
        // Our own node has the secret that was written for it.
        let secret_file = self.turn_secret_file.clone().unwrap_or_else(own_secret_file);
        let secret = std::fs::read(secret_file).ok().map(|secret| secret.trim_ascii().to_vec());
        let _ = std::fs::remove_file(own_secret_file());
        let plan = TurnPlan {
            options,
            server,
            secret,
            window: self.window,
            relays: self.relays,
            flows: self.flows,
            packet_bytes: self.packet_bytes as usize,
            time: self.time.into(),
        };
        turn::run(&plan, say)
    }
}
