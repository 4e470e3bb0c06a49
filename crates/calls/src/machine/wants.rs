//! The attributes of an Allocate request.

use crate::allocation::Family;
use crate::refusal::Refusal;
use crate::stun::{Message, attribute};

/// IANA's protocol number.
const UDP: u8 = 17;

/// The requested properties of an allocation.
pub(super) struct Wants {
    pub(super) family: Family,
    /// Also the other family.
    pub(super) both: bool,
    pub(super) port: Port,
}

/// The port of a relay (RFC 8656 §18.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Port {
    Any,
    Even,
}

/// RFC 8656 §7.2, the steps for attributes.
pub(super) fn wants(message: &Message<'_>) -> Result<Wants, Refusal> {
    match message.attribute(attribute::REQUESTED_TRANSPORT) {
        Some([UDP, ..]) => {}
        Some([_, _, _, _]) => return Err(Refusal::UnsupportedTransport),
        _ => return Err(Refusal::BadRequest),
    }
    let family = message.attribute(attribute::REQUESTED_ADDRESS_FAMILY);
    let additional = message
        .attribute(attribute::ADDITIONAL_ADDRESS_FAMILY)
        .or(message.attribute(attribute::ADDITIONAL_ADDRESS_FAMILY_DRAFT));
    let token = message.attribute(attribute::RESERVATION_TOKEN).is_some();
    let even = message.attribute(attribute::EVEN_PORT).map(|value| value.first().copied().unwrap_or(0));
    let reserves = even.is_some_and(|flags| flags & 0x80 != 0);
    if token && (even.is_some() || family.is_some() || additional.is_some())
        || additional.is_some() && (family.is_some() || reserves)
        || additional.is_some_and(|value| Family::numbered(value) != Some(Family::V6))
    {
        return Err(Refusal::BadRequest);
    }
    // Reservations are not supported: RFC 8656 §7.2 requires this code for a reserved port and for an unknown token.
    if token || reserves {
        return Err(Refusal::Capacity);
    }
    let family = match family {
        Some(value) => Family::numbered(value).ok_or(Refusal::AddressFamily)?,
        None => Family::V4,
    };
    let port = if even.is_some() { Port::Even } else { Port::Any };
    Ok(Wants { family, both: additional.is_some(), port })
}
