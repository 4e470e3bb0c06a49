//! The TURN server of a run, and its credentials.

use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use calls::Credentials;
use calls::client::Caller;
use serde::Deserialize;

use super::TurnPlan;
use crate::conductor::now_unix;
use crate::node_api::{self, NodeApi};
use crate::token::SiteTokens;
use crate::{LoadError, RunOptions};

const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct TurnServer {
    pub(super) addr: SocketAddr,
    /// Of its credentials.
    secret: Credentials,
    /// Unix seconds at which they expire.
    until: u64,
}

/// The response to `POST /v1/ice`.
#[derive(Debug, Deserialize)]
struct Ice {
    ice: Vec<IceServer>,
}

#[derive(Debug, Deserialize)]
struct IceServer {
    urls: Vec<String>,
}

impl TurnServer {
    pub(super) fn find(plan: &TurnPlan, options: &RunOptions) -> Result<TurnServer, LoadError> {
        let until = now_unix().as_secs() + 7_200;
        let secret = plan.turn_secret_file.as_ref().map(fs::read);
        // Credentials from the node are for calls; a load's relays use its secret.
        let secret = secret.ok_or(LoadError::Plan(
            "the secret of the node's TURN server is needed: name calls.turn_secret_file as turn-secret-file",
        ))?;
        let secret = Credentials::new(secret?.trim_ascii());
        let addr = match plan.server {
            Some(addr) => addr,
            None => address_of_node(options)?,
        };
        Ok(TurnServer { addr, secret, until })
    }

    /// A client with credentials of its own.
    pub(super) fn caller(&self, number: u32) -> Caller {
        let first = u64::from(number) << 32;
        let TurnServer { secret, until, .. } = self;
        let name = format!("{until}:1-{number:x}");
        Caller::new(&name, &secret.password(&name), first)
    }
}

fn address_of_node(options: &RunOptions) -> Result<SocketAddr, LoadError> {
    let ice =
        ask(options).ok_or(LoadError::Plan("the node does not say which TURN server it has: name one"))?;
    let none = LoadError::Plan("the node has no TURN server over UDP: set calls.listen, or name another");
    ice.ice.iter().flat_map(|server| &server.urls).find_map(|url| address(url)).ok_or(none)
}

fn ask(options: &RunOptions) -> Option<Ice> {
    let target = &options.target;
    if target.tls {
        return None;
    }
    let tokens = SiteTokens::new(options, now_unix().as_secs());
    let (site, token) = tokens.of(0);
    let request = node_api::post("/v1/ice", &token, format!(r#"{{"site":"{site}"}}"#))?;
    let answer = NodeApi::new(target, None).send(request, 64 * 1024, PATIENCE).ok()?;
    serde_json::from_slice(&answer.body).ok()
}

/// The address of a server over UDP, in the syntax of RFC 7065.
fn address(url: &str) -> Option<SocketAddr> {
    let host = url.strip_prefix("turn:").filter(|rest| !rest.contains("transport=tcp"))?;
    let host = host.split('?').next()?;
    host.to_socket_addrs().ok()?.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_over_udp_are_found_among_others() {
        assert_eq!(address("turn:127.0.0.1:3478"), Some("127.0.0.1:3478".parse().unwrap()));
        assert_eq!(address("turn:127.0.0.1:3478?transport=udp"), Some("127.0.0.1:3478".parse().unwrap()));
        assert_eq!(address("turn:[::1]:3478"), Some("[::1]:3478".parse().unwrap()));
        for other in
            ["turn:127.0.0.1:3478?transport=tcp", "turns:127.0.0.1:5349", "stun:127.0.0.1:3478", "turn:"]
        {
            assert_eq!(address(other), None, "{other}");
        }
    }
}
