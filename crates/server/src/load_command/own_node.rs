//! A node for one run: a child process on a free port of loopback, with its data in a temporary folder. Both end with
//! this process, even if it is killed. [`own_cluster`](super::own_cluster) has several of them.

use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use toml::{Table, Value};

use crate::config::{self, Layers, Loaded};
use crate::run_file::{self, RunningNode};
use crate::trouble::{Outcome, Trouble};

const START_PATIENCE: Duration = Duration::from_secs(30);
const END_PATIENCE: Duration = Duration::from_secs(20);
/// Descriptors that are not members' connections.
const OTHER_DESCRIPTORS: u64 = 300;
/// These limits are off, because the run would measure them.
const LIMITS: [&str; 9] = [
    "send_burst",
    "send_per_minute",
    "command_burst",
    "command_per_minute",
    "site_sends_per_second",
    "requests_per_user",
    "requests_per_address",
    "requests_per_site",
    "guest_upload_bytes",
];

/// The requirements of a run for its own node.
#[derive(Debug, Clone, Default)]
pub(super) struct NodeWish {
    /// With a certificate of its own, which the members trust.
    pub(super) tls: bool,
    /// XMPP clients connect.
    pub(super) xmpp: bool,
    /// As in `kith.toml`; missing settings come from [`LIMITS`] and the defaults.
    pub(super) settings: Table,
    /// Fills the data directory before the node starts.
    pub(super) seed: Option<Seed>,
}

#[derive(Clone)]
pub(super) struct Seed(pub(super) Arc<dyn Fn(&Path) -> Outcome + Send + Sync>);

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed")
    }
}

impl NodeWish {
    /// `settings`: as in `kith.toml`.
    pub(super) fn of(settings: &str) -> NodeWish {
        NodeWish { settings: settings.parse().expect("the settings are TOML"), ..NodeWish::default() }
    }

    pub(super) fn set(&mut self, section: &str, settings: Table) {
        lay_over(&mut self.settings, &Table::from_iter([(section.to_owned(), Value::Table(settings))]));
    }

    /// Adds the settings that the plan needs, then those of its file, which win.
    pub(super) fn with(mut self, tls: bool, settings: &Table) -> NodeWish {
        self.tls |= tls;
        lay_over(&mut self.settings, settings);
        self
    }
}

impl NodeWish {
    /// Those of each node: the run's, then the plan's.
    pub(super) fn settings_of_node(&self) -> Table {
        let off = |name: &str| (name.to_owned(), Value::Integer(0));
        let limits = LIMITS.into_iter().map(off).collect();
        let mut settings = Table::from_iter([("limits".to_owned(), Value::Table(limits))]);
        if self.xmpp {
            // With a certificate, the members use TLS from the first byte.
            let own_port = "127.0.0.1:0";
            let (listen, listen_tls) = if self.tls { ("off", own_port) } else { (own_port, "off") };
            let text = |text: &str| Value::String(text.to_owned());
            let xmpp = [
                ("listen", text(listen)),
                ("listen_tls", text(listen_tls)),
                ("allow_plain", Value::Boolean(true)),
            ];
            let xmpp = xmpp.map(|(name, value)| (name.to_owned(), value));
            settings.insert("xmpp".to_owned(), Value::Table(Table::from_iter(xmpp)));
        }
        lay_over(&mut settings, &self.settings);
        settings
    }
}

/// Joins sections and replaces values.
pub(super) fn lay_over(under: &mut Table, over: &Table) {
    for (key, value) in over {
        match (under.get_mut(key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => lay_over(under, over),
            _ => drop(under.insert(key.clone(), value.clone())),
        }
    }
}

/// A node alone, for one run.
pub(super) struct OwnNode {
    /// Ends before its folder is removed.
    node: NodeProcess,
    folder: RunFolder,
}

impl OwnNode {
    /// Returns when the node listens.
    pub(super) fn start(members: u32, wish: &NodeWish) -> Outcome<OwnNode> {
        let folder = RunFolder::new()?;
        if let Some(Seed(fill)) = &wish.seed {
            fill(&folder.0)?;
        }
        let certificate = wish.tls.then(|| Certificate::write(&folder.0)).transpose()?;
        let settings = wish.settings_of_node();
        let start = NodeStart {
            data: &folder.0,
            settings: &settings,
            members,
            certificate: certificate.as_ref(),
            log: "warn",
        };
        Ok(OwnNode { node: start.start()?, folder })
    }

    pub(super) fn url(&self) -> String {
        self.node.url()
    }

    /// Where XMPP clients connect.
    pub(super) fn xmpp(&self) -> Option<SocketAddr> {
        self.node.running.xmpp
    }

    pub(super) fn pid(&self) -> u32 {
        self.node.running.pid
    }

    /// The certificate that members must trust, with TLS.
    pub(super) fn certificate(&self) -> Option<PathBuf> {
        self.node.running.https.map(|_| self.folder.0.join(CERTIFICATE))
    }

    /// The settings that open its database.
    pub(super) fn settings(&self) -> Outcome<Loaded> {
        settings_of_data(&self.node.running.data, None)
    }
}

/// The settings that open the database of a node. `url`: of PostgreSQL.
pub(super) fn settings_of_data(data: &Path, url: Option<&str>) -> Outcome<Loaded> {
    let text = |value: &dyn fmt::Display| Value::String(value.to_string());
    let mut flags = vec![("data", text(&data.display()))];
    flags.extend(url.map(|url| ("database", text(&url))));
    config::load(Layers { flags, ..Layers::default() })
}

/// The folder of a run, with its nodes' data. Removed when dropped.
pub(super) struct RunFolder(pub(super) PathBuf);

impl RunFolder {
    /// Readable by this user only.
    pub(super) fn new() -> Outcome<RunFolder> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let unique = (crate::now().0, COUNT.fetch_add(1, Ordering::Relaxed));
        let name = format!("kith-load-{}-{}-{}", std::process::id(), unique.0, unique.1);
        let folder = std::env::temp_dir().join(name);
        private_folder(&folder).map_err(unstarted)?;
        Ok(RunFolder(folder))
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Readable by this user only.
pub(super) fn private_folder(path: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)
}

pub(super) fn unstarted(error: std::io::Error) -> Trouble {
    Trouble::new("cannot start a node for the run").because(error)
}

/// Beside the database.
const LOG: &str = "log";
const SETTINGS: &str = "kith.toml";
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

/// A certificate for loopback, with its key.
pub(super) struct Certificate {
    pub(super) path: PathBuf,
    key: PathBuf,
}

impl Certificate {
    pub(super) fn write(folder: &Path) -> Outcome<Certificate> {
        let (path, key) = (folder.join(CERTIFICATE), folder.join(KEY));
        let write = || {
            let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
            let made = rcgen::generate_simple_self_signed(names).map_err(std::io::Error::other)?;
            fs::write(&path, made.cert.pem())?;
            let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&key);
            std::io::Write::write_all(&mut file?, made.signing_key.serialize_pem().as_bytes())
        };
        write().map_err(unstarted)?;
        Ok(Certificate { path, key })
    }
}

/// A node that runs as a child process. It ends with this value, and with this process.
pub(super) struct NodeProcess {
    child: Child,
    data: PathBuf,
    pub(super) running: RunningNode,
}

/// How a node is started.
pub(super) struct NodeStart<'a> {
    /// Its data directory, which exists.
    pub(super) data: &'a Path,
    /// As in `kith.toml`.
    pub(super) settings: &'a Table,
    /// Most connections of members.
    pub(super) members: u32,
    pub(super) certificate: Option<&'a Certificate>,
    pub(super) log: &'a str,
}

impl NodeStart<'_> {
    /// Returns when the node listens. A home may stand by then.
    pub(super) fn start(&self) -> Outcome<NodeProcess> {
        let mut child = self.spawn().map_err(unstarted)?;
        let begin = Instant::now();
        loop {
            if let Some(running) = run_file::running().into_iter().find(|node| node.pid == child.id()) {
                return Ok(NodeProcess { child, data: self.data.to_owned(), running });
            }
            let ended = child.try_wait().ok().flatten();
            if ended.is_some() || begin.elapsed() > START_PATIENCE {
                let said = fs::read_to_string(self.data.join(LOG)).unwrap_or_default();
                let _ = child.kill();
                let _ = child.wait();
                let why = if said.is_empty() { "it did not listen within 30 s".to_owned() } else { said };
                return Err(Trouble::new("the node for the run does not start").because(why.trim()).remedy(
                    "start one yourself and name it: kith demo --strangers, then --url http://127.0.0.1:8080",
                ));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn spawn(&self) -> std::io::Result<Child> {
        let data = self.data;
        fs::write(data.join(SETTINGS), self.settings.to_string())?;
        let log = fs::OpenOptions::new().create(true).append(true).open(data.join(LOG))?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["demo", "--throwaway", "--http", "127.0.0.1:0", "--metrics-public", "--log", self.log]);
        command.arg("--data").arg(data).arg("--config").arg(data.join(SETTINGS));
        if let Some(Certificate { path, key }) = self.certificate {
            command.args(["--https", "127.0.0.1:0", "--tls-cert"]).arg(path).arg("--tls-key").arg(key);
        }
        if let Some(workers) = workers_with_own_tables(self.members, edge::raise_descriptor_limit()) {
            command.args(["--private-descriptors", "--workers", &workers.to_string()]);
        }
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("KITH_") {
                command.env_remove(name);
            }
        }
        // If this process ends, the pipe closes and the node stops, see `--throwaway`. It has a process group of its own:
        // Ctrl-C must reach only this process, because the report still needs the node.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log).process_group(0).spawn()
    }
}

impl NodeProcess {
    pub(super) fn url(&self) -> String {
        match self.running.https {
            Some(https) => format!("https://{https}"),
            None => format!("http://{}", self.running.http),
        }
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.data.join(LOG)).unwrap_or_default()
    }

    /// Returns the time of the signal when it is dead.
    pub(super) fn kill(&mut self) -> Instant {
        let _ = self.child.kill();
        let killed = Instant::now();
        let _ = self.child.wait();
        killed
    }

    /// Asks it to end. [`Drop`] waits for it.
    pub(super) fn terminate(&self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        self.terminate();
        let begin = Instant::now();
        // `Child::wait` would close its stdin, which counts as a second signal.
        while begin.elapsed() < END_PATIENCE && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(20));
        }
        self.kill();
    }
}

/// If one table of descriptors is too small, each worker gets its own; returns the number of workers.
fn workers_with_own_tables(members: u32, limit: u64) -> Option<u64> {
    let needed = u64::from(members) + OTHER_DESCRIPTORS;
    let cores = thread::available_parallelism().map_or(1, usize::from) as u64;
    // Members are distributed over the workers at random: reserve a fifth.
    let room = limit.saturating_sub(OTHER_DESCRIPTORS).max(1) * 4 / 5;
    (needed > limit).then(|| u64::from(members).div_ceil(room.max(1)).max(cores))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_get_tables_of_their_own_only_where_one_is_too_small() {
        assert_eq!(workers_with_own_tables(1_000, 20_000), None);
        assert_eq!(workers_with_own_tables(19_701, 20_000).map(|workers| workers >= 2), Some(true));
        assert_eq!(workers_with_own_tables(100_000, 20_000), Some(7));
    }
}
