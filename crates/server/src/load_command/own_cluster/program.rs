//! NATS and PostgreSQL for one run: programs of the machine, which know nothing of this process. A shell beside each of them
//! ends it when a pipe from this process closes, even if this process is killed.

use std::fmt::Display;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::trouble::{Outcome, Trouble};

const START_PATIENCE: Duration = Duration::from_secs(60);
const END_PATIENCE: Duration = Duration::from_secs(20);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(50);
const SHELL: &str = "/bin/sh";

/// $1: the folder of the run, $2: the signal that ends the program, $3: its log. The rest is the program. It writes the process id
/// of the program. A closed pipe without a line before it means that nobody else removes the folder.
const GUARD: &str = r#"exec 3<&0
folder=$1 signal=$2 log=$3
shift 3
"$@" </dev/null >"$log" 2>&1 3<&- &
program=$!
echo "$program"
exec >/dev/null
left=yes
read -r line <&3 && left=
kill -"$signal" "$program"
wait "$program"
tries=0
while [ -n "$left" ] && [ -e "$folder" ] && [ $tries -lt 60 ]; do
  rm -rf "$folder"
  tries=$((tries + 1))
  sleep 0.5
done
"#;

/// A program of the machine, and the shell that ends it.
#[derive(Debug)]
struct Program {
    guard: Child,
    pid: u32,
}

/// How a program is started.
struct Start<'a> {
    folder: &'a Path,
    /// The name of the signal, without SIG.
    ends_by: &'static str,
    log: &'a Path,
    /// The program does not run as this user.
    owner: Option<Owner>,
}

#[derive(Debug, Clone, Copy)]
struct Owner {
    user: u32,
    group: u32,
}

impl Start<'_> {
    fn run(&self, program: &Path, args: &[String]) -> std::io::Result<Program> {
        let mut command = Command::new(SHELL);
        command.args(["-c", GUARD, "kith-load"]).arg(self.folder).arg(self.ends_by).arg(self.log);
        command.arg(program).args(args).current_dir(self.log.parent().unwrap_or(self.folder));
        if let Some(Owner { user, group }) = self.owner {
            command.uid(user).gid(group);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut guard = command.spawn()?;
        let mut line = String::new();
        if let Some(output) = guard.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let pid = line.trim().parse().map_err(|_| std::io::Error::other("the shell names no process"))?;
        Ok(Program { guard, pid })
    }
}

impl Program {
    /// Returns the time of the signal when the program and its shell have ended.
    fn kill(&mut self) -> Instant {
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            // The shell has not waited for it yet, so the number is still that of the program.
            let _ = kill_process(pid, Signal::KILL);
        }
        let killed = Instant::now();
        self.end();
        killed
    }

    fn end(&mut self) {
        if let Some(mut pipe) = self.guard.stdin.take() {
            let _ = std::io::Write::write_all(&mut pipe, b"end\n");
        }
        let begin = Instant::now();
        while begin.elapsed() < END_PATIENCE && matches!(self.guard.try_wait(), Ok(None)) {
            thread::sleep(PAUSE);
        }
        let _ = self.guard.kill();
        let _ = self.guard.wait();
    }

    fn is_running(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, fields)| !fields.starts_with('Z'))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

/// One server of NATS.
#[derive(Debug)]
pub(super) struct Nats {
    folder: PathBuf,
    config: PathBuf,
    log: PathBuf,
    port: u16,
    /// None: it is dead.
    program: Option<Program>,
}

/// The servers, and their URLs for nodes. `folder`: of the run; `inner`: the part of it that only this user can read.
pub(super) fn nats(folder: &Path, inner: &Path, count: u32, password: &str) -> Outcome<(Vec<Nats>, String)> {
    let ports: Vec<u16> = (0..count).map(|_| own_port()).collect();
    let routes: Vec<u16> = (0..count).map(|_| own_port()).collect();
    let all = routes.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect::<Vec<_>>().join(", ");
    let mut servers = Vec::new();
    for (number, (port, route)) in ports.iter().zip(&routes).enumerate() {
        let place = |ending: &str| inner.join(format!("nats-{}.{ending}", number + 1));
        let (config, log) = (place("conf"), place("log"));
        let mut text = format!(
            "listen: \"127.0.0.1:{port}\"\nauthorization {{ user: {USER}, password: \"{password}\" }}\n"
        );
        if count > 1 {
            text.push_str(&format!(
                "cluster {{ name: load, listen: \"127.0.0.1:{route}\", no_advertise: true, routes: [{all}] }}\n"
            ));
        }
        fs::write(&config, text).map_err(|error| unstarted("NATS", &error))?;
        let mut server = Nats { folder: folder.to_owned(), config, log, port: *port, program: None };
        server.start()?;
        servers.push(server);
    }
    let urls: Vec<String> =
        ports.iter().map(|port| format!("nats://{USER}:{password}@127.0.0.1:{port}")).collect();
    Ok((servers, urls.join(",")))
}

const USER: &str = "kith";

impl Nats {
    /// Returns when it accepts connections.
    pub(super) fn start(&mut self) -> Outcome<u32> {
        let server = nats_server()?;
        let start = Start { folder: &self.folder, ends_by: "KILL", log: &self.log, owner: None };
        let args = ["-c".to_owned(), self.config.display().to_string()];
        let program = start.run(&server, &args).map_err(|error| unstarted("NATS", &error))?;
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if !program.is_running() || begin.elapsed() > START_PATIENCE {
                return Err(unstarted("NATS", &fs::read_to_string(&self.log).unwrap_or_default()));
            }
            thread::sleep(PAUSE);
        }
        Ok(self.program.insert(program).pid)
    }

    pub(super) fn pid(&self) -> Option<u32> {
        self.program.as_ref().map(|program| program.pid)
    }

    pub(super) fn kill(&mut self) -> Option<Instant> {
        self.program.take().map(|mut program| program.kill())
    }
}

/// PostgreSQL on a socket in its folder.
#[derive(Debug)]
pub(super) struct Postgres {
    programs: PathBuf,
    /// Of the run.
    folder: PathBuf,
    /// Of the server.
    dir: PathBuf,
    owner: Option<Owner>,
    program: Option<Program>,
}

impl Postgres {
    /// Returns when it accepts connections. Each commit is synced to the disk.
    pub(super) fn begin(folder: &Path) -> Outcome<Postgres> {
        let failed = |error: std::io::Error| unstarted("PostgreSQL", &error);
        let dir = folder.join("postgres");
        fs::create_dir(&dir).map_err(failed)?;
        let mut postgres = Postgres {
            programs: postgres_programs()?,
            folder: folder.to_owned(),
            dir,
            owner: owner(),
            program: None,
        };
        if let Some(Owner { user, group }) = postgres.owner {
            chown(&postgres.dir, Some(user), Some(group)).map_err(failed)?;
        }
        fs::set_permissions(&postgres.dir, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        let mut initdb = Command::new(postgres.programs.join("initdb"));
        initdb.arg("-D").arg(postgres.dir.join("data")).args(["-U", "kith", "-A", "trust", "-E", "UTF8"]);
        initdb.args(["--locale=C", "--no-sync"]).current_dir(&postgres.dir).process_group(0);
        if let Some(Owner { user, group }) = postgres.owner {
            initdb.uid(user).gid(group);
        }
        let made = initdb.stdin(Stdio::null()).output().map_err(failed)?;
        if !made.status.success() {
            return Err(unstarted("PostgreSQL", &String::from_utf8_lossy(&made.stderr)));
        }
        postgres.start()?;
        Ok(postgres)
    }

    /// The first tries after a kill can fail, because processes of the dead server still have its memory.
    pub(super) fn start(&mut self) -> Outcome<u32> {
        let begin = Instant::now();
        let log = self.dir.join("log");
        loop {
            let start = Start { folder: &self.folder, ends_by: "INT", log: &log, owner: self.owner };
            let dir = self.dir.display();
            let args = ["-D", &format!("{dir}/data"), "-k", &dir.to_string()].map(str::to_owned).into_iter();
            let args: Vec<String> = args
                .chain(["-c", "listen_addresses=", "-c", "max_connections=200"].map(str::to_owned))
                .collect();
            let program = start
                .run(&self.programs.join("postgres"), &args)
                .map_err(|error| unstarted("PostgreSQL", &error))?;
            loop {
                let said = fs::read_to_string(&log).unwrap_or_default();
                if said.contains("ready to accept connections") {
                    return Ok(self.program.insert(program).pid);
                }
                if begin.elapsed() > START_PATIENCE {
                    return Err(unstarted("PostgreSQL", &said));
                }
                if !program.is_running() {
                    break;
                }
                thread::sleep(PAUSE);
            }
            thread::sleep(PAUSE * 4);
        }
    }

    pub(super) fn pid(&self) -> Option<u32> {
        self.program.as_ref().map(|program| program.pid)
    }

    pub(super) fn kill(&mut self) -> Option<Instant> {
        self.program.take().map(|mut program| program.kill())
    }

    pub(super) fn url(&self) -> String {
        let dir = self.dir.display().to_string().replace('%', "%25").replace('/', "%2F");
        format!("postgres://kith@{dir}/postgres")
    }
}

fn unstarted(name: &str, why: &dyn Display) -> Trouble {
    Trouble::new(format!("cannot start {name} for the run")).because(why.to_string().trim())
}

/// As `scripts/nats.sh` finds it.
fn nats_server() -> Outcome<PathBuf> {
    let named = std::env::var_os("NATS_SERVER").map(PathBuf::from);
    let found =
        named.into_iter().chain(in_path("nats-server")).chain([PathBuf::from("/usr/sbin/nats-server")]);
    found.into_iter().find(|path| is_program(path)).ok_or_else(|| {
        Trouble::new("a cluster needs nats-server")
            .remedy("sudo apt-get install nats-server, or set NATS_SERVER to the path of one")
    })
}

/// As `scripts/postgres.sh` finds them: the directory of initdb.
fn postgres_programs() -> Outcome<PathBuf> {
    let named = std::env::var_os("POSTGRES_BIN").map(PathBuf::from);
    let beside = in_path("initdb").filter_map(|path| path.parent().map(Path::to_owned));
    let mut of_debian: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    of_debian.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    let mut found = named.into_iter().chain(beside).chain(of_debian.into_iter().map(|(_, path)| path));
    found.find(|dir| is_program(&dir.join("initdb")) && is_program(&dir.join("postgres"))).ok_or_else(|| {
        Trouble::new("a cluster needs PostgreSQL 13 or newer, or --store sqlite")
            .remedy("sudo apt-get install postgresql, or set POSTGRES_BIN to the directory of initdb")
    })
}

fn in_path(name: &str) -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir| dir.join(name)).collect::<Vec<_>>().into_iter()
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// PostgreSQL refuses to run as root.
fn owner() -> Option<Owner> {
    if !rustix::process::getuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").ok()?;
    ["postgres", "nobody"].into_iter().find_map(|name| owner_named(&users, name))
}

/// From a table as in passwd(5).
fn owner_named(users: &str, name: &str) -> Option<Owner> {
    let fields = |line: &str| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then_some(())?;
        let mut ids = fields.skip(1);
        Some(Owner { user: ids.next()?.parse().ok()?, group: ids.next()?.parse().ok()? })
    };
    users.lines().find_map(fields)
}

/// A free port below those that the kernel gives to outgoing connections, so that it stays free while its server is dead.
fn own_port() -> u16 {
    loop {
        let port = rand::Rng::random_range(&mut rand::rng(), 20_000..30_000);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_of_postgresql_is_found_by_its_whole_name() {
        let users = "root:x:0:0:root:/root:/bin/sh\npostgres2:x:7:8::/:/bin/sh\npostgres:x:101:103:,,,:/var:/bin/sh\n";
        let owner = owner_named(users, "postgres").expect("one line");
        assert_eq!((owner.user, owner.group), (101, 103));
        assert!(owner_named(users, "nobody").is_none());
        assert!(owner_named("postgres:x:many:1", "postgres").is_none());
    }
}
