//! Entity time (XEP-0202).

use super::date_time::DateTime;
use crate::ns;
use crate::xml::Open;

/// Writes the answer of a server, which has no time zone.
pub fn write(out: &mut Vec<u8>, now: DateTime) {
    Open::new(out, "time").attr("xmlns", ns::TIME).children(|out| {
        // COMPAT(xmpp-parsers, 2026): XEP-0082 also allows `Z`, which not every client reads here.
        Open::new(out, "tzo").text("+00:00");
        Open::new(out, "utc").text(&now.to_string());
    });
}

#[cfg(test)]
mod tests {
    use super::super::written;
    use super::*;

    #[test]
    fn the_answer_is_in_utc() {
        assert_eq!(
            written(|out| write(out, DateTime(1_166_551_115_000))),
            "<time xmlns='urn:xmpp:time'><tzo>+00:00</tzo><utc>2006-12-19T17:58:35Z</utc></time>"
        );
    }
}
