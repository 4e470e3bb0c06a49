//! A `kith` process for one test, and commands beside it.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Long enough for a busy machine; a successful test does not wait for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The directory of one test: data, run files, certificates. Removed when dropped.
pub(crate) struct Scratch {
    path: PathBuf,
    /// For each command.
    variables: Vec<(&'static str, String)>,
}

impl Scratch {
    pub(crate) fn new(name: &str) -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kith-test-{}-{number}-{name}", std::process::id()));
        fs::create_dir_all(path.join("run")).unwrap();
        Scratch { path, variables: Vec::new() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// A setting of each command.
    pub(crate) fn set_variable(&mut self, name: &'static str, value: String) {
        self.variables.push((name, value));
    }

    pub(crate) fn set_database(&mut self, url: String) {
        self.set_variable("KITH_DATABASE", url);
    }

    /// `kith` with the run files and the working directory of this test only.
    pub(crate) fn kith(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kith"));
        command.current_dir(&self.path).env("XDG_RUNTIME_DIR", self.path.join("run")).stdin(Stdio::null());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("KITH_")) {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        self.kith().args(args).output().unwrap()
    }

    /// Runs a command that must succeed, and returns its output.
    pub(crate) fn say(&self, line: &str) -> String {
        let output = self.run(line.split_whitespace());
        assert!(output.status.success(), "kith {line}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs a command that must fail, and returns its error message.
    pub(crate) fn fails(&self, line: &str) -> String {
        let output = self.run(line.split_whitespace());
        assert!(!output.status.success(), "kith {line} went well: {}", text(&output.stdout));
        text(&output.stderr)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A node; killed when dropped.
pub(crate) struct Running {
    child: Child,
    pub(crate) http: SocketAddr,
    pub(crate) https: Option<SocketAddr>,
    data: PathBuf,
    log: PathBuf,
}

impl Running {
    /// `kith demo` on a free port.
    pub(crate) fn demo(scratch: &Scratch) -> Running {
        Running::start(scratch, "demo", &[])
    }

    pub(crate) fn start(scratch: &Scratch, command: &str, flags: &[&str]) -> Running {
        Running::start_at(scratch, command, &scratch.data(), flags)
    }

    /// Returns when the node reports that it is ready.
    pub(crate) fn start_at(scratch: &Scratch, command: &str, data: &Path, flags: &[&str]) -> Running {
        let running = Running::begin_at(scratch, command, data, flags);
        running.serves();
        running
    }

    /// Waits until it serves members.
    pub(crate) fn serves(&self) {
        poll("readiness", || self.get("/readyz").starts_with("HTTP/1.1 200").then_some(()));
    }

    /// Returns when the node listens: it may stand by.
    pub(crate) fn begin_at(scratch: &Scratch, command: &str, data: &Path, flags: &[&str]) -> Running {
        let log = scratch.path.join(format!("log-{}", fs::read_dir(&scratch.path).unwrap().count()));
        let mut child = scratch
            .kith()
            .arg(command)
            .arg("--data")
            .arg(data)
            .args(["--http", "127.0.0.1:0", "--workers", "2"])
            // These tests do not cover message requests of strangers.
            .args((command == "demo").then_some("--strangers"))
            .args(flags)
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let run_file = scratch.path.join(format!("run/kith/{}.json", child.id()));
        let read_log = || fs::read_to_string(&log).unwrap_or_default();
        let node: Value = poll("the run file", || {
            assert!(child.try_wait().unwrap().is_none(), "the node ended: {}", read_log());
            serde_json::from_slice(&fs::read(&run_file).ok()?).ok()
        });
        let addr = |key: &str| node[key].as_str().map(|addr| addr.parse().unwrap());
        Running { child, http: addr("http").unwrap(), https: addr("https"), data: data.into(), log }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent =
            Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for the end after a signal.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        poll("the end of the node", || self.child.try_wait().unwrap())
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// A plain request; returns the whole response as text, empty if none came.
    pub(crate) fn get(&self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.http);
        self.raw(request.as_bytes())
    }

    /// Sends bytes, and reads until the node closes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let Ok(mut stream) = TcpStream::connect(self.http) else { return String::new() };
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        text(&answer)
    }

    /// The response to a scraper with the token of the data directory.
    pub(crate) fn metrics(&self, accept: &str) -> String {
        let token = fs::read_to_string(self.data.join("metrics.token")).unwrap();
        let request = format!(
            "GET /metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAccept: {accept}\r\nAuthorization: Bearer {}\r\n\r\n",
            self.http,
            token.trim()
        );
        self.raw(request.as_bytes())
    }

    /// The value of a metric, by its full name with labels.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let text = self.metrics("*/*");
        let line =
            text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
        let line = line.unwrap_or_else(|| panic!("no metric {name} in\n{text}"));
        line[name.len() + 1..].parse().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Repeats a request until it has an answer.
pub(crate) fn poll<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begin.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
