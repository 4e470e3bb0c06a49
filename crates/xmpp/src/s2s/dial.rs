//! Connections that we open to other servers: the look-up of addresses, and one attempt after the other.

use std::collections::HashMap;

use edge::tls::ServerName;
use edge::{Connect, Conns, Handle};
use xmpp_proto::payload::dialback::Verdict;

use super::initiator::{Pair, Purpose};
use super::link::Failure;
use super::stream::Outgoing;
use super::{Address, Content, Stream};
use crate::gateway::{Conn, Gateway, State};

/// Addresses of one server that are tried.
const MOST_TRIES: usize = 4;
/// Checks of keys of a worker at the same time. A stranger causes them, so they are few.
const MOST_CHECKS: usize = 64;
/// Connections of a worker that are being opened.
const MOST_DIALS: usize = 512;

#[derive(Default)]
pub(super) struct Dials {
    by_number: HashMap<u64, Dial>,
    last: u64,
    checks: usize,
    /// Dials whose attempt has failed.
    again: Vec<u64>,
}

struct Dial {
    pair: Pair,
    purpose: Purpose,
    /// The stream that waits for the check of its key.
    back: Option<Handle>,
    /// The best is the last.
    addresses: Vec<Address>,
}

impl Gateway {
    /// Looks up the server of `pair.remote`, and connects.
    pub(super) fn dial(&mut self, pair: Pair, purpose: Purpose, back: Option<Handle>) {
        let dials = &mut self.federation.dials;
        dials.last += 1;
        let number = dials.last;
        let is_check = back.is_some();
        let dial = Dial { pair, purpose, back, addresses: Vec::new() };
        let is_full = dials.by_number.len() >= MOST_DIALS || is_check && dials.checks >= MOST_CHECKS;
        let (Some(servers), Some((worker, _))) = (&self.shared.config.servers, self.federation.users.place)
        else {
            return self.dial_failed(dial, Failure::Timeout);
        };
        if is_full {
            return self.dial_failed(dial, Failure::Timeout);
        }
        let domain = dial.pair.remote.clone();
        dials.checks += usize::from(is_check);
        dials.by_number.insert(number, dial);
        let shared = self.shared.clone();
        servers.names.look_up(
            &domain,
            Box::new(move |addresses| {
                shared.send_to_worker(worker, Content::Found { dial: number, addresses });
            }),
        );
    }

    pub(super) fn addresses_found(
        &mut self,
        number: u64,
        addresses: Vec<Address>,
        conns: &mut Conns<'_, Conn>,
    ) {
        let Some(dial) = self.federation.dials.by_number.get_mut(&number) else { return };
        if addresses.is_empty() {
            return self.end_dial(number, Failure::NotFound);
        }
        dial.addresses = addresses.into_iter().take(MOST_TRIES).collect();
        dial.addresses.reverse();
        self.try_next(number, conns);
    }

    fn try_next(&mut self, number: u64, conns: &mut Conns<'_, Conn>) {
        let (Some(dial), Some(servers)) =
            (self.federation.dials.by_number.get_mut(&number), &self.shared.config.servers)
        else {
            return;
        };
        let Some((config, has_certificate)) = servers.names.client(&dial.pair.local) else {
            return self.end_dial(number, Failure::NotFound);
        };
        while let (Some(address), Ok(name)) =
            (dial.addresses.pop(), ServerName::try_from(String::from(&*dial.pair.remote)))
        {
            let tls = address.direct_tls.then(|| (config.clone(), name));
            let stream = Outgoing::new(
                dial.pair.clone(),
                dial.purpose.clone(),
                number,
                address.direct_tls,
                has_certificate,
            );
            let conn = Conn { state: State::Server(Box::new(Stream::Out(stream))) };
            if conns.connect(Connect { to: address.to, from: None, tls }, conn).is_ok() {
                return;
            }
        }
        self.end_dial(number, Failure::Timeout);
    }

    /// A connection of this dial has ended before it was of use.
    pub(super) fn attempt_failed(&mut self, number: u64) {
        self.federation.dials.again.push(number);
    }

    /// Tries the next addresses. Called once per turn.
    pub(crate) fn dial_again(&mut self, conns: &mut Conns<'_, Conn>) {
        for number in std::mem::take(&mut self.federation.dials.again) {
            self.try_next(number, conns);
        }
    }

    /// The connection has done what the dial was for.
    pub(super) fn dial_is_done(&mut self, number: u64) -> Option<Handle> {
        let dials = &mut self.federation.dials;
        let dial = dials.by_number.remove(&number)?;
        dials.checks -= usize::from(dial.back.is_some());
        dial.back
    }

    fn end_dial(&mut self, number: u64, failure: Failure) {
        let dials = &mut self.federation.dials;
        let Some(dial) = dials.by_number.remove(&number) else { return };
        dials.checks -= usize::from(dial.back.is_some());
        self.dial_failed(dial, failure);
    }

    fn dial_failed(&mut self, dial: Dial, failure: Failure) {
        match dial.back {
            Some(to) => {
                let content = Content::Checked { to, pair: dial.pair, verdict: Verdict::Error };
                self.shared.send_to_worker(to.worker(), content);
            }
            None => self.link_failed(&dial.pair, failure, self.federation.users.steady_ms),
        }
    }
}
