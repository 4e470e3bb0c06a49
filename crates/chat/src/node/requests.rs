//! Limits of requests outside a session, for gateways.

use std::net::IpAddr;

use crate::{Identified, Node, Refusal, RequestKind, Timestamp, UserId};

impl Node {
    /// Counts a request of an address, before the request is read.
    pub fn take_request(&self, kind: RequestKind, address: IpAddr, now: Timestamp) -> Result<(), Refusal> {
        self.inner().requests.take_request(kind, address, now)
    }

    /// Whether this user may upload more today. Only guests have a limit, shared by all guests of an address.
    pub fn may_upload(
        &self,
        who: &Identified,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        self.inner().requests.may_upload(who.is_guest(), address, now)
    }

    /// Counts bytes that have arrived.
    pub fn uploaded(&self, who: &Identified, address: Option<IpAddr>, bytes: u64, now: Timestamp) {
        self.inner().requests.uploaded(who.is_guest(), address, bytes, now);
    }

    /// Whether the user and the site have CPU time for pictures left.
    pub fn may_make_picture(&self, user: UserId, is_guest: bool, now: Timestamp) -> Result<(), Refusal> {
        self.inner().requests.may_make_picture(user, is_guest, now)
    }

    /// Counts the CPU time that a picture took, also of a failed one.
    pub fn picture_made(&self, user: UserId, is_guest: bool, cpu_ms: u64, now: Timestamp) {
        self.inner().requests.picture_made(user, is_guest, cpu_ms, now);
    }
}
