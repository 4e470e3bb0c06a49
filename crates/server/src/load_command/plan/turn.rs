//! `turn`: what can be said of it in a plan file.

use std::net::SocketAddr;

use load::turn::{self, Server, TurnPlan};
use load::{Aim, LoadError};
use serde::Deserialize;
use toml::{Table, Value};

use super::{Contradiction, Found, Task};
use crate::load_command::own_node::NodeWish;
use crate::load_command::setting;
use crate::need;
use crate::span::Span;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Turn {
    /// One of others, with the secret of its credentials.
    server: Option<SocketAddr>,
    turn_secret_file: Option<std::path::PathBuf>,
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

impl Task for Turn {
    fn check(&self) -> Result<(), Contradiction> {
        match (&self.server, &self.turn_secret_file) {
            (Some(_), None) | (None, Some(_)) => Err(Contradiction {
                says: "server and turn-secret-file belong together",
                remedy: "name both, or neither for the node's own",
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

    /// All relays are one user's, and peers are here.
    fn node(&self) -> NodeWish {
        let text = |text: &str| Value::String(text.into());
        let calls = Table::from_iter([
            ("listen".to_owned(), text("127.0.0.1:0")),
            ("peers".to_owned(), text("127.0.0.0/8")),
            ("ports".to_owned(), text("20000-65535")),
            ("relays".to_owned(), Value::Integer(0)),
            ("relays_per_user".to_owned(), Value::Integer(0)),
            ("kbit_per_user".to_owned(), Value::Integer(0)),
            // All come from one address, more often than clients of one do.
            ("unproven_bytes".to_owned(), Value::Integer(0)),
        ]);
        let mut settings = Table::from_iter([("calls".to_owned(), Value::Table(calls))]);
        // Where one table has no room for them, each worker gets its own.
        let room = need::for_calls(edge::raise_descriptor_limit(), 1, false) / 2;
        if cfg!(target_os = "linux") && u64::from(self.relays) > room {
            let edge = Table::from_iter([("private_descriptors".to_owned(), Value::Boolean(true))]);
            settings.insert("edge".to_owned(), Value::Table(edge));
        }
        NodeWish { settings, ..NodeWish::default() }
    }

    fn carry_out(&self, name: &str, aim: Aim, say: &mut dyn FnMut(&str)) -> Result<Found, LoadError> {
        let server = match (self.server, &self.turn_secret_file) {
            (Some(addr), Some(path)) => {
                Some(Server { addr, secret: std::fs::read(path)?.trim_ascii().to_vec() })
            }
            _ => None,
        };
        let plan = TurnPlan {
            aim,
            server,
            window: self.window,
            relays: self.relays,
            flows: self.flows,
            packet_bytes: self.packet_bytes as usize,
            time: self.time.into(),
        };
        let report = turn::run(&plan, say)?;
        Ok(Found { run: report.run(name), json: report.json(), text: report.to_string(), svg: None })
    }
}
