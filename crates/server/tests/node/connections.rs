//! `edge.connections_per_address` behind a trusted proxy: a connection counts for the client that the proxy names.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use crate::running::{PATIENCE, Running, Scratch, poll, text};

/// A connection of the proxy that has carried one request of this client, and stays open. Returns the status, too.
fn carried(node: &Running, client: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(node.http).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request =
        format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nX-Forwarded-For: {client}\r\n\r\n", node.http);
    stream.write_all(request.as_bytes()).unwrap();
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).unwrap();
    let status = text(&begin).split(' ').nth(1).unwrap().to_owned();
    (stream, status)
}

#[test]
fn connections_behind_a_trusted_proxy_count_for_the_client_that_it_names() {
    let scratch = Scratch::new("connections");
    let file = scratch.path().join("kith.toml");
    let settings = "[web]\ntrusted_proxies = \"127.0.0.0/8\"\n[edge]\nconnections_per_address = 2\n";
    fs::write(&file, settings).unwrap();
    let node = Running::start(&scratch, "demo", &["--config", file.to_str().unwrap()]);
    let (first, status) = carried(&node, "203.0.113.5");
    assert_eq!(status, "200");
    // A value that the client wrote in front of it changes nothing.
    let (_second, status) = carried(&node, "198.51.100.1, 203.0.113.5");
    assert_eq!(status, "200");
    assert_eq!(carried(&node, "203.0.113.5").1, "429", "the third");
    assert_eq!(carried(&node, "198.51.100.2, 203.0.113.5").1, "429", "whatever it says of itself");
    // The proxy still serves all others, and an IPv6 network counts as one client.
    let held = ["203.0.113.6", "2001:db8::1", "2001:db8::2"].map(|client| carried(&node, client));
    assert!(held.iter().all(|(_, status)| status == "200"));
    assert_eq!(carried(&node, "2001:db8::3").1, "429");
    assert_eq!(node.metric("kith_edge_over_address_limit_total"), 3.0);
    drop(first);
    poll("the place of a closed connection", || (carried(&node, "203.0.113.5").1 == "200").then_some(()));
}
