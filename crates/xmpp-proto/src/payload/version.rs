//! Software version (XEP-0092).

use crate::ns;
use crate::xml::Open;

/// Writes the answer. The operating system is left out where it would help an attacker.
pub fn write(out: &mut Vec<u8>, name: &str, version: &str, os: Option<&str>) {
    Open::new(out, "query").attr("xmlns", ns::VERSION).children(|out| {
        Open::new(out, "name").text(name);
        Open::new(out, "version").text(version);
        if let Some(os) = os {
            Open::new(out, "os").text(os);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::written;

    #[test]
    fn the_answer_names_the_software() {
        assert_eq!(
            written(|out| super::write(out, "Kith", "1.0", None)),
            "<query xmlns='jabber:iq:version'><name>Kith</name><version>1.0</version></query>"
        );
    }
}
