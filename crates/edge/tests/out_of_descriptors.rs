//! No descriptor left. Alone in its process, because it lowers the limit.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // a test may panic

mod echo;

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::mpsc::channel;
use std::time::Duration;

use echo::Echo;
use edge::{Edge, EdgeConfig, Listener, mailboxes};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn connections_beyond_the_limit_are_refused_and_others_are_served() {
    let config = EdgeConfig {
        listeners: vec![Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))],
        ..EdgeConfig::default()
    };
    let (_mailboxes, inboxes) = mailboxes(1);
    let (seen, _seen) = channel();
    let server = Edge::start(config, inboxes, move |_| Echo::new(seen.clone())).unwrap();
    let connect = || {
        let stream = TcpStream::connect(server.local_addrs()[0])?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        Ok::<_, std::io::Error>(stream)
    };
    let echo = |stream: &mut TcpStream| {
        stream.write_all(b"hello\n").unwrap();
        let mut received = [0; 6];
        stream.read_exact(&mut received).unwrap();
        assert_eq!(&received, b"hello\n");
    };
    let mut early = connect().unwrap();
    echo(&mut early);

    let hard = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: hard }).unwrap();
    let mut ballast: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    // One descriptor for each caller's own end; none for the server's.
    for turned_away in 1..=3 {
        ballast.pop();
        let mut stream = connect().unwrap();
        let mut end = [0; 1];
        assert!(matches!(stream.read(&mut end), Ok(0) | Err(_)), "it is told, not left waiting");
        // Counted after it is closed, so perhaps not yet; once the worker serves others it must be.
        echo(&mut early);
        assert_eq!(server.counters().totals().no_descriptors, turned_away);
        drop(stream);
        ballast.push(File::open("/dev/null").unwrap());
    }
    drop(ballast);
    echo(&mut connect().unwrap());
}
