//! A private PostgreSQL server, by `scripts/postgres.sh`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Ends with the value or with this process: the script ends the server when its standard input ends.
pub(crate) struct Server {
    pub(crate) url: String,
    script: Child,
}

impl Server {
    /// `dir`: where its data stay, or a temporary directory.
    pub(crate) fn start(dir: Option<&Path>, options: &str) -> Option<Server> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres.sh");
        let mut script = Command::new(script)
            .arg("run")
            .args(dir)
            .env("KITH_POSTGRES_OPTIONS", options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/postgres.sh is there");
        let mut url = String::new();
        BufReader::new(script.stdout.take().expect("it is piped")).read_line(&mut url).expect("it is read");
        let url = url.trim().to_owned();
        if url.is_empty() {
            script.wait().expect("it ends");
            return None;
        }
        Some(Server { url, script })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        _ = self.script.wait();
    }
}
