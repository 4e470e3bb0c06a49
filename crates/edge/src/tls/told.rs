//! Secrets and the certificate that rustls passes to its callbacks in a handshake.

use std::cell::RefCell;
use std::sync::Arc;

use rustls::{ClientConfig, KeyLog, ServerConfig};

use super::binding::ChannelBindings;
use super::keys::Secret;

/// Labels of the format of key logs, for secrets of RFC 8446 §7.1.
pub(super) const EXPORTER: &str = "EXPORTER_SECRET";
const CLIENT_TRAFFIC: &str = "CLIENT_TRAFFIC_SECRET_0";
const SERVER_TRAFFIC: &str = "SERVER_TRAFFIC_SECRET_0";

thread_local! {
    /// COMPAT(rustls, 2026): its connections without buffers have no exporter, do not tell which certificate they have used, and give
    /// out keys but not the secrets that a KeyUpdate needs. rustls calls the key log and the resolver on the thread that processes
    /// the handshake, one handshake at a time.
    pub(super) static TOLD: RefCell<Told> = RefCell::default();
}

#[derive(Default)]
pub(super) struct Told {
    pub(super) bindings: ChannelBindings,
    pub(super) traffic: Traffic,
}

/// The first traffic secrets of TLS 1.3.
#[derive(Default)]
pub(super) struct Traffic {
    pub(super) client: Option<Secret>,
    pub(super) server: Option<Secret>,
}

/// Takes what the last call of rustls on this thread has told.
pub(super) fn take_told() -> Told {
    TOLD.take()
}

/// The memory of a TLS connection after its handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Secrets and counters, 160 bytes. Records are sealed and opened in buffers of the worker.
    Low,
    /// All that rustls keeps, about 3.5 kB.
    Rustls,
}

impl Memory {
    /// Copies a configuration for connections with this memory.
    pub fn of_server(self, config: &ServerConfig) -> Arc<ServerConfig> {
        let mut config = config.clone();
        config.enable_secret_extraction = self == Memory::Low;
        if self == Memory::Low {
            config.key_log = Arc::new(TrafficSecrets(config.key_log));
        }
        Arc::new(config)
    }

    /// Sessions of such a configuration cannot be resumed with [`Memory::Low`]: the server's tickets come after the handshake.
    pub fn of_client(self, config: &ClientConfig) -> Arc<ClientConfig> {
        let mut config = config.clone();
        config.enable_secret_extraction = self == Memory::Low;
        if self == Memory::Low {
            config.resumption = rustls::client::Resumption::disabled();
            config.key_log = Arc::new(TrafficSecrets(config.key_log));
        }
        Arc::new(config)
    }
}

#[derive(Debug)]
struct TrafficSecrets(Arc<dyn KeyLog>);

impl KeyLog for TrafficSecrets {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        match label {
            CLIENT_TRAFFIC => TOLD.with_borrow_mut(|told| told.traffic.client = Secret::new(&[secret])),
            SERVER_TRAFFIC => TOLD.with_borrow_mut(|told| told.traffic.server = Secret::new(&[secret])),
            _ => self.0.log(label, client_random, secret),
        }
    }

    fn will_log(&self, label: &str) -> bool {
        matches!(label, CLIENT_TRAFFIC | SERVER_TRAFFIC) || self.0.will_log(label)
    }
}
