//! Bidirectional Server-to-Server Connections (XEP-0288): the feature, and the request of the server that has opened the stream.

use crate::ns;
use crate::xml::{Element, Open};

/// Whether the features of a stream offer it.
pub fn is_offered(features: Element<'_>) -> bool {
    features.child("bidi", ns::BIDI_FEATURE).is_some()
}

pub fn write_feature(out: &mut Vec<u8>) {
    Open::new(out, "bidi").attr("xmlns", ns::BIDI_FEATURE).empty();
}

/// The request, which comes before the authentication (XEP-0288 §2).
pub fn is_request(element: Element<'_>) -> bool {
    element.is("bidi", ns::BIDI)
}

pub fn write_request(out: &mut Vec<u8>) {
    Open::new(out, "bidi").attr("xmlns", ns::BIDI).empty();
}
