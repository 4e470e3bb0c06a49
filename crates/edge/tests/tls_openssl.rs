//! OpenSSL as a client of connections that keep only secrets. Without `openssl` on the machine these tests do nothing, and say so.

#![allow(clippy::unwrap_used)] // a test may panic

use crate::echo;

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use echo::{Echo, Seen};
use edge::tls::{self, Acceptor, Memory};
use edge::{Closed, Edge, EdgeConfig, Listener, mailboxes};
use rustls_pki_types::PrivateKeyDer;

const PATIENCE: Duration = Duration::from_secs(20);

const TLS13: [&[&str]; 3] = [
    &["-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256"],
    &["-tls1_3", "-ciphersuites", "TLS_AES_256_GCM_SHA384"],
    &["-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"],
];
const TLS12: [&[&str]; 3] = [
    &["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"],
    &["-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"],
    &["-tls1_2", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"],
];

struct Server {
    edge: Edge,
    seen: Receiver<Seen>,
}

/// None: the machine has no `openssl`.
fn server() -> Option<Server> {
    if Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: no `openssl` on this machine");
        return None;
    }
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = tls::server_config(vec![made.cert.der().clone()], key).unwrap();
    let acceptor = Acceptor::new(Memory::Low.of_server(&config));
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let config = EdgeConfig { listeners: vec![Listener::tls(addr, acceptor)], ..EdgeConfig::default() };
    let (_, inboxes) = mailboxes(1);
    let (sender, seen) = channel();
    let edge = Edge::start(config, inboxes, move |_| Echo::new(sender.clone())).unwrap();
    Some(Server { edge, seen })
}

impl Server {
    fn client(&self, arguments: &[&str]) -> Client {
        let mut child = Command::new("openssl")
            .args(["s_client", "-connect", &self.edge.local_addrs()[0].to_string()])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let (output, errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let to_lines = sender.clone();
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).for_each(|line| drop(to_lines.send(line)));
        });
        std::thread::spawn(move || {
            BufReader::new(errors).lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)));
        });
        Client { stdin: child.stdin.take().unwrap(), child, lines }
    }

    fn closed(&self) -> Closed {
        loop {
            if let Seen::Closed(_, why) = self.seen.recv_timeout(PATIENCE).unwrap() {
                return why;
            }
        }
    }
}

struct Client {
    child: Child,
    stdin: ChildStdin,
    /// Of both outputs.
    lines: Receiver<String>,
}

impl Client {
    fn say(&mut self, line: &str) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Waits for a line that contains this text.
    fn hears(&mut self, text: &str) -> String {
        let mut before = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => before.push(line),
                Err(_) => panic!("no `{text}` in {before:#?}"),
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_talks_updates_keys_and_closes() {
    let Some(server) = server() else { return };
    for arguments in TLS13.iter().chain(&TLS12) {
        let mut client = server.client(arguments);
        client.say("hello");
        client.hears("hello");
        if arguments[0] == "-tls1_3" {
            // Commands of s_client: `k` updates the client's key, `K` asks for ours as well.
            for (command, line) in [("k", "one"), ("K", "two"), ("K", "three")] {
                client.say(command);
                client.hears("KEYUPDATE");
                client.say(line);
                client.hears(line);
            }
        }
        let long = "long".repeat(2_000);
        client.say(&long);
        client.hears(&long);
        client.say("Q");
        assert_eq!(server.closed(), Closed::ByPeer, "with close_notify, {arguments:?}");
    }
}

#[test]
fn it_sees_our_end() {
    let Some(server) = server() else { return };
    for arguments in TLS13.iter().chain(&TLS12) {
        let mut client = server.client(arguments);
        client.say("last words");
        client.hears("last words");
        client.say("close");
        // s_client prints `closed` after close_notify, and an error without it.
        assert_eq!(client.hears("closed"), "closed", "{arguments:?}");
        assert_eq!(server.closed(), Closed::ByUs { flushed: true });
    }
}

#[test]
fn it_resumes() {
    let Some(server) = server() else { return };
    for arguments in TLS13.iter().chain(&TLS12) {
        let session = std::env::temp_dir().join(format!("edge-openssl-{}", std::process::id()));
        let path = session.to_str().unwrap();
        let mut first = server.client(&[arguments, &["-sess_out", path][..]].concat());
        first.say("hello");
        first.hears("hello");
        first.say("Q");
        assert_eq!(server.closed(), Closed::ByPeer);
        drop(first);
        let mut second = server.client(&[arguments, &["-sess_in", path][..]].concat());
        second.hears("Reused, TLS");
        second.say("again");
        second.hears("again");
        std::fs::remove_file(&session).unwrap();
        drop(second);
        server.closed();
    }
}

/// RFC 5746 §4.4: the warning lets the client decide, and this one gives up.
#[test]
fn its_renegotiation_is_refused() {
    let Some(server) = server() else { return };
    let mut client = server.client(TLS12[0]);
    client.say("hello");
    client.hears("hello");
    client.say("R");
    client.hears("no renegotiation");
    server.closed();
    assert_eq!(server.edge.counters().totals().renegotiations_refused, 1);
}
