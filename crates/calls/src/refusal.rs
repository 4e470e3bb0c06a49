//! Refusals of a client's request.

/// With the codes of RFC 8489 §14.8 and RFC 8656 §19.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    BadRequest,
    Unauthorized,
    Forbidden,
    UnknownAttribute,
    AllocationMismatch,
    StaleNonce,
    AddressFamily,
    WrongCredentials,
    UnsupportedTransport,
    PeerFamily,
    Quota,
    Capacity,
}

impl Refusal {
    pub(crate) const ALL: [Refusal; 12] = [
        Refusal::BadRequest,
        Refusal::Unauthorized,
        Refusal::Forbidden,
        Refusal::UnknownAttribute,
        Refusal::AllocationMismatch,
        Refusal::StaleNonce,
        Refusal::AddressFamily,
        Refusal::WrongCredentials,
        Refusal::UnsupportedTransport,
        Refusal::PeerFamily,
        Refusal::Quota,
        Refusal::Capacity,
    ];

    pub(crate) fn code(self) -> u16 {
        match self {
            Refusal::BadRequest => 400,
            Refusal::Unauthorized => 401,
            Refusal::Forbidden => 403,
            Refusal::UnknownAttribute => 420,
            Refusal::AllocationMismatch => 437,
            Refusal::StaleNonce => 438,
            Refusal::AddressFamily => 440,
            Refusal::WrongCredentials => 441,
            Refusal::UnsupportedTransport => 442,
            Refusal::PeerFamily => 443,
            Refusal::Quota => 486,
            Refusal::Capacity => 508,
        }
    }

    /// The reason phrase of the specification.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Refusal::BadRequest => "Bad Request",
            Refusal::Unauthorized => "Unauthorized",
            Refusal::Forbidden => "Forbidden",
            Refusal::UnknownAttribute => "Unknown Attribute",
            Refusal::AllocationMismatch => "Allocation Mismatch",
            Refusal::StaleNonce => "Stale Nonce",
            Refusal::AddressFamily => "Address Family not Supported",
            Refusal::WrongCredentials => "Wrong Credentials",
            Refusal::UnsupportedTransport => "Unsupported Transport Protocol",
            Refusal::PeerFamily => "Peer Address Family Mismatch",
            Refusal::Quota => "Allocation Quota Reached",
            Refusal::Capacity => "Insufficient Capacity",
        }
    }

    /// The label in metrics.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Refusal::BadRequest => "bad_request",
            Refusal::Unauthorized => "unauthorized",
            Refusal::Forbidden => "forbidden",
            Refusal::UnknownAttribute => "unknown_attribute",
            Refusal::AllocationMismatch => "allocation_mismatch",
            Refusal::StaleNonce => "stale_nonce",
            Refusal::AddressFamily => "address_family",
            Refusal::WrongCredentials => "wrong_credentials",
            Refusal::UnsupportedTransport => "unsupported_transport",
            Refusal::PeerFamily => "peer_family",
            Refusal::Quota => "quota",
            Refusal::Capacity => "capacity",
        }
    }
}
