//! Delayed delivery (XEP-0203): when a stanza was sent, if not just now.

use super::date_time::DateTime;
use crate::ns;
use crate::xml::{Element, Open};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay<'a> {
    pub stamp: DateTime,
    /// The address that kept the stanza: a server or a room.
    pub from: Option<&'a str>,
}

impl<'a> Delay<'a> {
    pub fn of(stanza: Element<'a>) -> Option<Delay<'a>> {
        let delay = stanza.child("delay", ns::DELAY)?;
        Some(Delay { stamp: DateTime::parse(delay.attr("stamp")?)?, from: delay.attr("from") })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        let open = Open::new(out, "delay").attr("xmlns", ns::DELAY).opt("from", self.from);
        open.display("stamp", self.stamp).empty();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_written_delay_is_read_again() {
        let delay = Delay { stamp: DateTime(1_031_699_305_007), from: Some("example.com") };
        let xml = written(|out| delay.write(out));
        assert_eq!(
            xml,
            "<delay xmlns='urn:xmpp:delay' from='example.com' stamp='2002-09-10T23:08:25.007Z'/>"
        );
        assert_eq!(Delay::of(read(&format!("<message>{xml}</message>")).root()), Some(delay));
        assert_eq!(
            Delay::of(read("<message><delay xmlns='urn:xmpp:delay' stamp='now'/></message>").root()),
            None
        );
    }
}
