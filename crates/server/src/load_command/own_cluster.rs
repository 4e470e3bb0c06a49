//! A cluster for one run: NATS, PostgreSQL, homes and fronts as child processes on loopback. All of them end with this process,
//! even if it is killed.

mod process_kill;
mod program;

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use load::target::Target;
use load::{Part, Processes};
use toml::{Table, Value};

pub(super) use self::process_kill::ProcessKill;
use self::program::{Nats, Postgres, nats};
use super::cluster_plan::{ClusterPlan, StoreKind};
use super::own_node::{
    Certificate, NodeProcess, NodeStart, NodeWish, RunFolder, Seed, lay_over, private_folder,
    settings_of_data, unstarted,
};
use super::progress;
use crate::config::Loaded;
use crate::trouble::{Outcome, Trouble};

/// A front of an unoptimised build on a busy machine has a link after some seconds.
const LINK_PATIENCE: Duration = Duration::from_secs(60);
/// The lines that say which home has the lease.
const LOG_OF_HOMES: &str = "warn,kith::cluster=info";

pub(super) struct OwnCluster {
    nodes: Arc<Nodes>,
    targets: Vec<Target>,
    certificate: Option<PathBuf>,
    /// Of the first home.
    data: PathBuf,
    database: Option<String>,
    /// Removed last.
    _folder: RunFolder,
}

/// The processes, for the run and for the thread that starts a dead one again.
pub(super) struct Nodes {
    parts: Mutex<Parts>,
    processes: Arc<Processes>,
    fronts: u32,
    store: StoreKind,
    /// Of a home that is started again.
    home: HomeStart,
}

#[derive(Default)]
struct Parts {
    // In the order of their ends.
    fronts: Vec<NodeProcess>,
    homes: Vec<NodeProcess>,
    postgres: Option<Postgres>,
    nats: Vec<Nats>,
}

struct HomeStart {
    data: PathBuf,
    settings: Table,
}

impl HomeStart {
    fn start(&self) -> Outcome<NodeProcess> {
        let (data, settings) = (&self.data, &self.settings);
        NodeStart { data, settings, members: 0, certificate: None, log: LOG_OF_HOMES }.start()
    }
}

impl OwnCluster {
    /// Returns when each front has a link with the home. `members`: of the run. One front may die: the others have room for its
    /// members.
    pub(super) fn start(members: u32, node: &NodeWish, wish: &ClusterPlan) -> Outcome<OwnCluster> {
        if !cfg!(target_os = "linux") {
            return Err(Trouble::new("a cluster for a run needs Linux"));
        }
        let ClusterPlan { nodes: fronts, store, .. } = *wish;
        let folder = RunFolder::new()?;
        // PostgreSQL runs as another user, and must reach its own folder.
        fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o711)).map_err(unstarted)?;
        let inner = folder.0.join("nodes");
        private_folder(&inner).map_err(unstarted)?;
        let certificate = node.tls.then(|| Certificate::write(&inner)).transpose()?;
        let secret = inner.join("cluster.secret");
        fs::write(&secret, random_text()).map_err(unstarted)?;

        let mut parts = Parts::default();
        let processes = Arc::<Processes>::default();
        let urls;
        (parts.nats, urls) = nats(&folder.0, &inner, wish.nats, &random_text())?;
        for (number, nats) in parts.nats.iter().enumerate() {
            nats.pid()
                .into_iter()
                .for_each(|pid| processes.begin(&numbered(Part::Nats, number), Part::Nats, pid));
        }
        if store == StoreKind::Postgres {
            let postgres = Postgres::begin(&folder.0)?;
            postgres.pid().into_iter().for_each(|pid| processes.begin("postgres", Part::Postgres, pid));
            parts.postgres = Some(postgres);
        }
        let database = parts.postgres.as_ref().map(Postgres::url);

        let settings = |part: Part, number: usize| -> Outcome<(PathBuf, Table)> {
            let name = numbered(part, number);
            let data = inner.join(&name);
            private_folder(&data).map_err(unstarted)?;
            let mut settings = node.settings_of_node();
            let cluster = [
                ("nats", urls.clone()),
                ("secret_file", secret.display().to_string()),
                ("role", part.name().to_owned()),
                ("name", name),
            ];
            lay_over(&mut settings, &section("cluster", cluster));
            if let (Part::Home, Some(url)) = (part, &database) {
                settings.insert("database".to_owned(), Value::String(url.clone()));
                // Homes that take each other's place have the same files.
                let files = [("folder", inner.join("files").display().to_string())];
                lay_over(&mut settings, &section("files", files));
            }
            Ok((data, settings))
        };
        let (data, table) = settings(Part::Home, 0)?;
        match (&node.seed, &database) {
            (Some(Seed(fill)), None) => fill(&data)?,
            (Some(_), Some(_)) => {
                progress("contact lists are written into SQLite only: members name whom they watch")
            }
            (None, _) => {}
        }
        let home = HomeStart { data: data.clone(), settings: table };
        let mut start_home = |start: &HomeStart, number: usize| -> Outcome {
            let started = start.start()?;
            processes.begin(&numbered(Part::Home, number), Part::Home, started.running.pid);
            parts.homes.push(started);
            Ok(())
        };
        start_home(&home, 0)?;
        if database.is_some() {
            let (data, table) = settings(Part::Home, 1)?;
            start_home(&HomeStart { data, settings: table }, 1)?;
        }
        // A crowd has more connections than members: those that are just beginning or ending.
        let room = members.div_ceil(fronts.saturating_sub(1).max(1)).saturating_mul(6) / 5;
        let mut targets = Vec::new();
        for number in 0..fronts as usize {
            let (data, table) = settings(Part::Front, number)?;
            let (settings, certificate) = (&table, certificate.as_ref());
            let front =
                NodeStart { data: &data, settings, members: room, certificate, log: "warn" }.start()?;
            processes.begin(&numbered(Part::Front, number), Part::Front, front.running.pid);
            targets.push(target(&front)?);
            parts.fronts.push(front);
        }
        for front in &parts.fronts {
            await_link(front)?;
        }
        let nodes = Arc::new(Nodes { parts: Mutex::new(parts), processes, fronts, store, home });
        let certificate = certificate.map(|certificate| certificate.path);
        Ok(OwnCluster { nodes, targets, certificate, data, database, _folder: folder })
    }

    /// The fronts.
    pub(super) fn targets(&self) -> &[Target] {
        &self.targets
    }

    pub(super) fn processes(&self) -> Arc<Processes> {
        Arc::clone(&self.nodes.processes)
    }

    /// The certificate that members must trust, with TLS.
    pub(super) fn certificate(&self) -> Option<PathBuf> {
        self.certificate.clone()
    }

    /// The settings that open its database.
    pub(super) fn settings(&self) -> Outcome<Loaded> {
        settings_of_data(&self.data, self.database.as_deref())
    }

    /// One process that dies. `stop`: the run was stopped, so nobody waits for the rest.
    pub(super) fn process_kill(&self, part: Part, stop: &Arc<AtomicBool>) -> Arc<ProcessKill> {
        ProcessKill::new(Arc::clone(&self.nodes), part, stop)
    }
}

impl Nodes {
    fn lock(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OwnCluster {
    fn drop(&mut self) {
        let parts = std::mem::take(&mut *self.nodes.lock());
        for node in parts.fronts.iter().chain(&parts.homes) {
            node.terminate();
        }
        drop(parts);
    }
}

/// `front-1` is the first one.
fn numbered(part: Part, number: usize) -> String {
    format!("{}-{}", part.name(), number + 1)
}

fn section<const N: usize>(name: &str, settings: [(&str, String); N]) -> Table {
    let settings = settings.map(|(name, value)| (name.to_owned(), Value::String(value)));
    Table::from_iter([(name.to_owned(), Value::Table(Table::from_iter(settings)))])
}

fn random_text() -> String {
    rand::random::<[u8; 32]>().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn target(front: &NodeProcess) -> Outcome<Target> {
    let url = front.url();
    let unusable = |error| Trouble::new(format!("cannot reach {url}")).because(error);
    let mut target = Target::parse(&url).map_err(unusable)?;
    target.xmpp = front.running.xmpp.unwrap_or(target.xmpp);
    Ok(target)
}

fn await_link(front: &NodeProcess) -> Outcome {
    let begin = Instant::now();
    let http: SocketAddr = front.running.http;
    while load::metric(http, None, "kith_cluster_linked{slot=\"0\"}") != Some(1.0) {
        if begin.elapsed() > LINK_PATIENCE {
            return Err(
                Trouble::new("a front of the run has no link with its home").because(front.log().trim())
            );
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
