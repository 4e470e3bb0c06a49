//! A description in a record for another process: as SDP.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xmpp_proto::sdp::Description;

pub(super) fn serialize<S: Serializer>(description: &Option<Description>, to: S) -> Result<S::Ok, S::Error> {
    description.as_ref().map(Description::to_sdp).serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Description>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
    Description::parse(&text).map(Some).ok_or_else(|| D::Error::custom("not a description"))
}
