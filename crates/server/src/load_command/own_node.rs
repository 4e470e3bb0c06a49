//! A node of our own for one run: a child process on a free port of loopback, with its data in a folder that goes
//! with it.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use toml::Value;

use crate::config::{self, Layers, Loaded};
use crate::run_file::{self, RunningNode};
use crate::trouble::{Outcome, Trouble};

const START_PATIENCE: Duration = Duration::from_secs(30);
const END_PATIENCE: Duration = Duration::from_secs(20);
/// Descriptors that are no member's.
const OTHER_DESCRIPTORS: u64 = 300;
/// They would be what is measured.
const LIMITS: [&str; 5] = [
    "KITH_LIMITS_SEND_BURST",
    "KITH_LIMITS_SEND_PER_MINUTE",
    "KITH_LIMITS_COMMAND_BURST",
    "KITH_LIMITS_COMMAND_PER_MINUTE",
    "KITH_LIMITS_SITE_SENDS_PER_SECOND",
];

pub(super) struct OwnNode {
    child: Child,
    folder: PathBuf,
    running: RunningNode,
}

impl OwnNode {
    /// Returns when the node listens.
    pub(super) fn start(members: u32) -> Outcome<OwnNode> {
        let unstarted = |error: std::io::Error| Trouble::new("cannot start a node of our own").because(error);
        let folder = new_folder().map_err(unstarted)?;
        let log = fs::File::create(folder.join("log")).map_err(unstarted)?;
        let mut command = Command::new(std::env::current_exe().map_err(unstarted)?);
        command.args(["demo", "--http", "127.0.0.1:0", "--log", "warn", "--data"]).arg(folder.join("data"));
        if let Some(workers) = workers_with_own_tables(members, edge::raise_descriptor_limit()) {
            command.args(["--private-descriptors", "--workers", &workers.to_string()]);
        }
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("KITH_") {
                command.env_remove(name);
            }
        }
        command.envs(LIMITS.map(|name| (name, "0")));
        // A process group of its own: Ctrl-C is for us, and the node is still needed for the report.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).process_group(0);
        let child = command.spawn().map_err(unstarted)?;
        OwnNode::await_start(child, folder)
    }

    fn await_start(mut child: Child, folder: PathBuf) -> Outcome<OwnNode> {
        let begin = Instant::now();
        loop {
            if let Some(running) = run_file::running().into_iter().find(|node| node.pid == child.id()) {
                return Ok(OwnNode { child, folder, running });
            }
            let ended = child.try_wait().ok().flatten();
            if ended.is_some() || begin.elapsed() > START_PATIENCE {
                let _ = child.kill();
                let _ = child.wait();
                let said = fs::read_to_string(folder.join("log")).unwrap_or_default();
                let _ = fs::remove_dir_all(&folder);
                let why = if said.is_empty() { "it did not listen within 30 s".to_owned() } else { said };
                return Err(Trouble::new("a node of our own does not start")
                    .because(why.trim())
                    .remedy("start one yourself and name it: kith demo, then --url http://127.0.0.1:8080"));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.running.http)
    }

    /// With which its database can be opened.
    pub(super) fn settings(&self) -> Outcome<Loaded> {
        let data = Value::String(self.running.data.display().to_string());
        config::load(Layers { flags: vec![("data", data)], ..Layers::default() })
    }
}

impl Drop for OwnNode {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let begin = Instant::now();
        while begin.elapsed() < END_PATIENCE && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Only this user may look into it.
fn new_folder() -> std::io::Result<PathBuf> {
    let unique = crate::now().0;
    let folder = std::env::temp_dir().join(format!("kith-load-{}-{unique}", std::process::id()));
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

/// Where one table of descriptors is too small, each worker gets its own; as many as are needed.
fn workers_with_own_tables(members: u32, limit: u64) -> Option<u64> {
    let needed = u64::from(members) + OTHER_DESCRIPTORS;
    let cores = thread::available_parallelism().map_or(1, usize::from) as u64;
    // Members are spread over the workers by chance: a fifth of room to spare.
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
