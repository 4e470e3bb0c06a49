//! Stanza forwarding (XEP-0297): a stanza inside another one.

use super::date_time::DateTime;
use super::delay::Delay;
use crate::ns;
use crate::xml::{Element, Open};

/// Writes a stanza with the moment when it was sent. `stanza` writes it, and declares its namespace, because another
/// one is the default inside.
pub fn write(out: &mut Vec<u8>, stamp: Option<DateTime>, stanza: impl FnOnce(&mut Vec<u8>)) {
    Open::new(out, "forwarded").attr("xmlns", ns::FORWARD).children(|out| {
        if let Some(stamp) = stamp {
            Delay { stamp, from: None }.write(out);
        }
        stanza(out);
    });
}

/// The stanza in a `forwarded` element, and the moment when it was sent.
pub fn of(forwarded: Element<'_>) -> Option<(Element<'_>, Option<DateTime>)> {
    let stanza = forwarded.children().find(|child| matches!(child.ns(), ns::CLIENT | ns::SERVER))?;
    Some((stanza, Delay::of(forwarded).map(|delay| delay.stamp)))
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_written_stanza_is_read_again() {
        let message = read("<message id='1'><body>b</body><x xmlns='urn:x'/></message>");
        let stamp = DateTime(1_278_803_305_000);
        let xml = written(|out| write(out, Some(stamp), |out| message.root().write(out, ns::FORWARD)));
        assert_eq!(
            xml,
            "<forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='2010-07-10T23:08:25Z'/>\
             <message xmlns='jabber:client' id='1'><body>b</body><x xmlns='urn:x'/></message></forwarded>"
        );
        assert_eq!(of(read(&xml).root()), Some((message.root(), Some(stamp))));
        assert_eq!(of(read("<forwarded xmlns='urn:xmpp:forward:0'/>").root()), None);
    }
}
