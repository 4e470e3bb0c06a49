//! The process of one slot: a home that stands by or serves.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use chat::Slot;
use rustix::process::{Pid, Signal, kill_process};
use toml::Value;

use crate::cluster::hand_over;
use crate::config::{Config, Loaded};
use crate::serve::Purpose;
use crate::trouble::{Outcome, Trouble};
use crate::{files, run_file, status};

/// In the data directory of the process. It may have the password of the database, so only its user can read it.
const SETTINGS: &str = "kith.toml";

/// How the process of a slot is started.
pub(super) struct ChildStart<'a> {
    /// The settings of the node.
    pub(super) loaded: &'a Loaded,
    pub(super) slot: Slot,
    pub(super) purpose: Purpose,
    /// The node's name.
    pub(super) name: &'a str,
}

pub(super) struct Child {
    process: std::process::Child,
    begun: Instant,
    is_asked_to_end: bool,
    /// It was asked to give its role away, and has not refused.
    gives: Arc<AtomicBool>,
}

impl ChildStart<'_> {
    /// Does not wait until it listens.
    pub(super) fn start(&self) -> Outcome<Child> {
        let process = self.spawn().map_err(|error| {
            Trouble::new(format!("cannot start the process of slot {}", self.slot.0)).because(error)
        })?;
        Ok(Child { process, begun: Instant::now(), is_asked_to_end: false, gives: Arc::default() })
    }

    fn spawn(&self) -> std::io::Result<std::process::Child> {
        let data = self.data();
        DirBuilder::new().recursive(true).mode(0o700).create(&data)?;
        let settings = data.join(SETTINGS);
        let aside = data.join(format!("{SETTINGS}.new"));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
        file.write_all(self.settings().as_bytes())?;
        fs::rename(&aside, &settings)?;
        let mut command = Command::new(std::env::current_exe()?);
        match self.purpose {
            Purpose::Serve => command.arg("serve"),
            Purpose::Demo => command.arg("demo"),
            Purpose::DemoOfStrangers | Purpose::Throwaway => command.args(["demo", "--strangers"]),
        };
        command.args(["--of-node", "--config"]).arg(settings);
        // The file has them already, and a variable would win over it.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("KITH_") {
                command.env_remove(name);
            }
        }
        // The pipe closes with this process, and then the process of the slot stops. A signal from the terminal must reach this process alone.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()
    }

    fn data(&self) -> PathBuf {
        self.loaded.config.data.join(format!("slot-{}", self.slot.0))
    }

    fn settings(&self) -> String {
        let Loaded { config, .. } = self.loaded;
        let ip = config.http.ip();
        let text = |text: String| Some(Value::String(text));
        let path = |path: PathBuf| text(path.display().to_string());
        let any_port = |ip: IpAddr| SocketAddr::new(ip, 0).to_string();
        let xmpp = &config.xmpp;
        let for_clients = config.https.is_some_and(|https| !https.ip().is_loopback());
        let listen = |wanted: &str, auto: bool| match wanted {
            "off" => text("off".into()),
            "auto" if !auto => text("off".into()),
            _ => text(any_port(ip)),
        };
        let of_fronts = config.cluster.http.parse::<SocketAddr>().ok();
        self.loaded.file_with(&[
            ("data", path(self.data())),
            ("http", text(any_port(ip))),
            ("https", config.https.and_then(|https| text(any_port(https.ip())))),
            ("metrics_token_file", path(status::token_file(config, &config.data))),
            ("cluster.slot", Some(Value::Integer(self.slot.0.into()))),
            ("cluster.name", text(self.name.to_owned())),
            ("cluster.http", of_fronts.and_then(|address| text(any_port(address.ip())))),
            ("calls.listen", text("off".into())),
            ("calls.listen_tls", text("off".into())),
            ("xmpp.listen", listen(&xmpp.listen, for_clients)),
            ("xmpp.listen_tls", listen(&xmpp.listen_tls, for_clients)),
            ("xmpp.s2s_listen", listen(&xmpp.s2s_listen, true)),
            ("xmpp.component_listen", listen(&xmpp.component_listen, true)),
            ("files.folder", path(folder(config, self.slot))),
            ("files.bucket_prefix", text(prefix(&config.files.bucket_prefix, self.slot))),
        ])
    }
}

/// The first slot has the files of a cluster with one home.
fn folder(config: &Config, slot: Slot) -> PathBuf {
    let all = files::folder(config);
    if slot == Slot::FIRST { all } else { all.join(format!("slot-{}", slot.0)) }
}

fn prefix(all: &str, slot: Slot) -> String {
    if slot == Slot::FIRST { all.to_owned() } else { format!("{all}slot-{}/", slot.0) }
}

impl Child {
    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(super) fn age(&self, now: Instant) -> Duration {
        now.duration_since(self.begun)
    }

    /// None: it runs.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().ok().flatten()
    }

    pub(super) fn is_asked_to_end(&self) -> bool {
        self.is_asked_to_end
    }

    pub(super) fn reload(&self) {
        self.signal(Signal::HUP);
    }

    /// Asks it to end, once: a second signal would end it at once.
    pub(super) fn terminate(&mut self) {
        if !std::mem::replace(&mut self.is_asked_to_end, true) {
            self.signal(Signal::TERM);
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.pid()).ok().and_then(Pid::from_raw) {
            // It has not been waited for, so the number is still its own.
            let _ = kill_process(pid, signal);
        }
    }

    pub(super) fn gives(&self) -> bool {
        self.gives.load(Ordering::Relaxed)
    }

    /// Asks the home to give its role to the process of another node. Returns at once.
    pub(super) fn give_away(&self, slot: Slot, to: &str, commands: &str) {
        let pid = self.pid();
        let (to, commands, gives) = (to.to_owned(), commands.to_owned(), Arc::clone(&self.gives));
        gives.store(true, Ordering::Relaxed);
        thread::spawn(move || {
            let home = run_file::running().into_iter().find(|node| node.pid == pid);
            let asked = home.map(|home| hand_over::ask(home.http_from_here(), Some(&to), &commands));
            // It reads the list of standbys once a second, so it may not know the new one yet.
            if !matches!(asked, Some(Ok(_))) {
                gives.store(false, Ordering::Relaxed);
                let why = asked.and_then(Result::err).map(|trouble| trouble.to_string());
                tracing::debug!(slot = slot.0, to, why, "a slot stays for now");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, load};

    fn settings_of(slot: u8, flags: Vec<(&'static str, Value)>) -> Config {
        let text = |text: &str| Value::String(text.into());
        let mut all = vec![
            ("data", text("/data")),
            ("database", text("postgres://kith@db/kith")),
            ("cluster.nats", text("nats://kith:password@nats")),
            ("cluster.slots", Value::Integer(8)),
            ("limits.page", Value::Integer(7)),
        ];
        all.extend(flags);
        let loaded = load(Layers { flags: all, ..Layers::default() }).expect("the node's settings are valid");
        let start = ChildStart { loaded: &loaded, slot: Slot(slot), purpose: Purpose::Serve, name: "kith a" };
        toml::from_str(&start.settings()).expect("the settings of the process are valid")
    }

    #[test]
    fn the_process_of_a_slot_has_the_settings_of_the_node_and_places_of_its_own() {
        let text = |text: &str| Value::String(text.into());
        let config =
            settings_of(3, vec![("files.folder", text("/shared")), ("cluster.http", text("10.0.0.1:0"))]);
        assert_eq!(config.data, PathBuf::from("/data/slot-3"));
        assert_eq!((config.cluster.slot, config.cluster.slots, &*config.cluster.name), (3, 8, "kith a"));
        assert_eq!((config.http.port(), &*config.cluster.http), (0, "10.0.0.1:0"));
        assert_eq!(config.database.as_deref(), Some("postgres://kith@db/kith"));
        assert_eq!((config.limits.page, &*config.files.folder), (7, "/shared/slot-3"));
        assert_eq!(
            (&*config.calls.listen, &*config.xmpp.listen, &*config.xmpp.s2s_listen),
            ("off", "off", "off")
        );
        assert_eq!(config.metrics_token_file, Some("/data/metrics.token".into()));
    }

    #[test]
    fn the_first_slot_keeps_the_files_of_a_cluster_with_one_home() {
        let text = |text: &str| Value::String(text.into());
        assert_eq!(settings_of(0, vec![("files.folder", text("/shared"))]).files.folder, "/shared");
        assert_eq!(settings_of(0, Vec::new()).files.folder, "/data/files");
        let in_bucket =
            |slot| settings_of(slot, vec![("files.bucket_prefix", text("kith/"))]).files.bucket_prefix;
        assert_eq!((&*in_bucket(0), &*in_bucket(1)), ("kith/", "kith/slot-1/"));
    }

    #[test]
    fn a_home_takes_streams_of_fronts_if_its_node_has_listeners_for_them() {
        let text = |text: &str| Value::String(text.into());
        let xmpp = settings_of(
            1,
            vec![("xmpp.listen", text("0.0.0.0:5222")), ("xmpp.s2s_listen", text("[::]:5269"))],
        )
        .xmpp;
        assert_eq!(
            (&*xmpp.listen, &*xmpp.listen_tls, &*xmpp.s2s_listen),
            ("127.0.0.1:0", "off", "127.0.0.1:0")
        );
    }
}
