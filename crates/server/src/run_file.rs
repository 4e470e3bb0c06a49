//! A small file per running node, by which commands find the nodes of this machine.
//!
//! It is in a directory that only its owner can enter, contains the addresses and the data directory of the node, and is removed at exit.
//! A file of a crashed node is recognised by its process id and start time.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::process::started;

/// A running node, as it described itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunningNode {
    pub pid: u32,
    /// The kernel's start time of the process in clock ticks, so that a reused pid is not taken for the node.
    pub started: Option<u64>,
    pub http: SocketAddr,
    pub https: Option<SocketAddr>,
    /// The first address for XMPP clients.
    #[serde(default)]
    pub xmpp: Option<SocketAddr>,
    /// Absolute.
    pub data: PathBuf,
    /// Public URL of its configuration.
    #[serde(default)]
    pub public_url: Option<String>,
}

impl RunningNode {
    pub(crate) fn listens_on(&self, port: u16) -> bool {
        self.http.port() == port || self.https.is_some_and(|https| https.port() == port)
    }

    /// Address for a connection from this machine: a node on all addresses also listens on loopback.
    pub(crate) fn http_from_here(&self) -> SocketAddr {
        let http = self.http;
        match http.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => (Ipv4Addr::LOCALHOST, http.port()).into(),
            IpAddr::V6(ip) if ip.is_unspecified() => (Ipv6Addr::LOCALHOST, http.port()).into(),
            _ => http,
        }
    }

    fn is_alive(&self) -> bool {
        match started(self.pid) {
            Some(started) => self.started == Some(started),
            None => !Path::new("/proc/self/stat").exists() && answers_signals(self.pid),
        }
    }
}

/// The file of this process; removed when dropped.
#[derive(Debug)]
pub(crate) struct RunFile {
    path: PathBuf,
}

impl RunFile {
    /// Announces to other commands of this user that this process serves `data` on these addresses.
    pub(crate) fn write(
        http: SocketAddr,
        https: Option<SocketAddr>,
        xmpp: Option<SocketAddr>,
        data: &Path,
        public_url: Option<&str>,
    ) -> io::Result<RunFile> {
        RunFile::write_in(&directory(), http, https, xmpp, data, public_url)
    }

    fn write_in(
        directory: &Path,
        http: SocketAddr,
        https: Option<SocketAddr>,
        xmpp: Option<SocketAddr>,
        data: &Path,
        public_url: Option<&str>,
    ) -> io::Result<RunFile> {
        make_private(directory)?;
        let pid = std::process::id();
        let node = RunningNode {
            pid,
            started: started(pid),
            http,
            https,
            xmpp,
            data: fs::canonicalize(data)?,
            public_url: public_url.map(str::to_owned),
        };
        let path = directory.join(format!("{pid}.json"));
        // Written under another name and renamed, so that a reader never sees half of it.
        let aside = directory.join(format!(".{pid}.new"));
        fs::write(&aside, serde_json::to_vec(&node)?)?;
        fs::rename(&aside, &path)?;
        Ok(RunFile { path })
    }
}

impl Drop for RunFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The running nodes of this user.
pub(crate) fn running() -> Vec<RunningNode> {
    running_in(&directory())
}

fn running_in(directory: &Path) -> Vec<RunningNode> {
    // A directory of another user in a shared /tmp could send our commands to their database.
    if !is_private(directory) {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut nodes: Vec<RunningNode> = entries.flatten().filter_map(|entry| read(&entry.path())).collect();
    nodes.sort_by_key(|node| node.pid);
    nodes
}

/// None for another file, and for a file of an ended process, which is removed.
fn read(path: &Path) -> Option<RunningNode> {
    if path.extension()? != "json" {
        return None;
    }
    let node: RunningNode = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    if node.is_alive() {
        return Some(node);
    }
    let _ = fs::remove_file(path);
    None
}

fn directory() -> PathBuf {
    let uid = rustix::process::getuid().as_raw();
    let of_session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let of_user = PathBuf::from(format!("/run/user/{uid}"));
    of_session
        .into_iter()
        .chain([of_user])
        .find(|directory| directory.is_dir())
        .map_or_else(|| std::env::temp_dir().join(format!("kith-{uid}")), |directory| directory.join("kith"))
}

fn make_private(directory: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ if is_private(directory) => Ok(()),
        _ => Err(io::Error::other(format!(
            "{} belongs to somebody else or is open to others",
            directory.display()
        ))),
    }
}

fn is_private(directory: &Path) -> bool {
    fs::symlink_metadata(directory).is_ok_and(|it| {
        it.is_dir() && it.uid() == rustix::process::getuid().as_raw() && it.mode() & 0o077 == 0
    })
}

fn answers_signals(pid: u32) -> bool {
    i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("kith-run-file-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    fn http() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 8080))
    }

    #[test]
    fn a_node_is_found_while_it_runs_and_not_after() {
        let directory = scratch("found");
        let file =
            RunFile::write_in(&directory, http(), None, None, Path::new("/"), None).expect("it is written");
        let nodes = running_in(&directory);
        assert_eq!(nodes.len(), 1);
        assert_eq!(nodes[0].pid, std::process::id());
        assert!(nodes[0].listens_on(8080) && !nodes[0].listens_on(8081));
        drop(file);
        assert_eq!(running_in(&directory), []);
        fs::remove_dir_all(&directory).expect("it is ours");
    }

    #[test]
    fn a_reused_pid_is_not_taken_for_the_node() {
        let directory = scratch("stale");
        let file =
            RunFile::write_in(&directory, http(), None, None, Path::new("/"), None).expect("it is written");
        let mut node = running_in(&directory).remove(0);
        node.started = Some(1);
        fs::write(&file.path, serde_json::to_vec(&node).expect("json")).expect("it is written");
        assert_eq!(running_in(&directory), []);
        assert!(!file.path.exists(), "the stale file is cleared away");
        fs::remove_dir_all(&directory).expect("it is ours");
    }

    #[test]
    fn a_directory_that_others_can_enter_is_not_trusted() {
        let directory = scratch("open");
        let file =
            RunFile::write_in(&directory, http(), None, None, Path::new("/"), None).expect("it is written");
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).expect("it is ours");
        assert_eq!(running_in(&directory), []);
        assert!(RunFile::write_in(&directory, http(), None, None, Path::new("/"), None).is_err());
        drop(file);
        fs::remove_dir_all(&directory).expect("it is ours");
    }

    #[test]
    fn rubbish_in_the_directory_is_passed_over() {
        let directory = scratch("rubbish");
        let file =
            RunFile::write_in(&directory, http(), None, None, Path::new("/"), None).expect("it is written");
        fs::write(directory.join("1.json"), "{").expect("it is written");
        fs::write(directory.join("notes.txt"), "hello").expect("it is written");
        assert_eq!(running_in(&directory).len(), 1);
        drop(file);
        fs::remove_dir_all(&directory).expect("it is ours");
    }
}
