//! The options that all plans share: the server, the site with its secret, and the generator's threads.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::kill::Kill;
use crate::observer::{NoObserver, Observer};
use crate::processes::Processes;
use crate::target::Target;

#[derive(Debug, Clone)]
pub struct RunOptions {
    pub target: Target,
    /// Further nodes of the same cluster. Members are spread over all of them in turn.
    pub more_targets: Vec<Target>,
    /// The processes of the run's own cluster.
    pub processes: Option<Arc<Processes>>,
    /// A process that dies in mid-run. Only plans that [recover](crate::Plan::recovers) may have one.
    pub kill: Option<Kill>,
    /// Key of the site. Its limits of messages per user and per second must be off; otherwise the run measures them.
    pub site: String,
    /// An HS256 secret of the site.
    pub secret: Vec<u8>,
    /// Keys and secrets of further sites, if members of several sites connect.
    pub more_sites: Vec<(String, Vec<u8>)>,
    /// Process id of the server. None: found by its port, or `/metrics` is used.
    pub server: Option<u32>,
    /// Certificates of authorities (PEM) for `https`. None: any certificate, on loopback only.
    pub ca: Option<PathBuf>,
    /// Threads of the generator; more are used if the limit of open files requires it.
    pub threads: usize,
    /// Set from outside: the run ends early, and its report says so.
    pub stop: Arc<AtomicBool>,
    /// Receives the progress of the run.
    pub observer: Arc<dyn Observer>,
}

impl RunOptions {
    pub fn new(target: Target, site: &str, secret: &[u8]) -> RunOptions {
        RunOptions {
            target,
            more_targets: Vec::new(),
            processes: None,
            kill: None,
            site: site.to_owned(),
            secret: secret.to_vec(),
            more_sites: Vec::new(),
            server: None,
            ca: None,
            threads: 1,
            stop: Arc::default(),
            observer: Arc::new(NoObserver),
        }
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
