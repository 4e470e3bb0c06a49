//! A stream over TCP: one XML document for each direction (RFC 6120 §4).

use xmpp_proto::stream::StreamError;
use xmpp_proto::xml::{Item, Limits, Reader};

use super::Arrived;

pub(super) fn read(
    reader: &mut Reader,
    input: &[u8],
    limits: &Limits,
) -> Result<(usize, Option<Arrived>), StreamError> {
    let (used, item) = reader.read(input, limits)?;
    let arrived = item.map(|item| match item {
        Item::Header(header) => Arrived::Header(header),
        Item::Stanza(tree) => Arrived::Element(tree),
        Item::End => Arrived::End,
    });
    Ok((used, arrived))
}
