//! Last activity (XEP-0012): how long a user is away, or a server runs.

use crate::ns;
use crate::xml::Open;

/// Writes the answer. The status is that of the user's last unavailable presence.
pub fn write(out: &mut Vec<u8>, seconds: u64, status: Option<&str>) {
    let open = Open::new(out, "query").attr("xmlns", ns::LAST_ACTIVITY).display("seconds", seconds);
    open.text(status.unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::super::written;
    use super::*;

    #[test]
    fn the_answer_counts_seconds() {
        assert_eq!(
            written(|out| write(out, 903, Some("Heading home"))),
            "<query xmlns='jabber:iq:last' seconds='903'>Heading home</query>"
        );
        assert_eq!(written(|out| write(out, 0, None)), "<query xmlns='jabber:iq:last' seconds='0'/>");
    }
}
