//! Anonymous ids of occupants (XEP-0421): the same user has the same id in a room, whatever the nickname.

use crate::ns;
use crate::xml::{Element, Open};

/// A room removes what its occupants sent, and writes its own.
pub fn of(stanza: Element<'_>) -> Option<&str> {
    stanza.child("occupant-id", ns::OCCUPANT_ID)?.attr("id")
}

pub fn write(out: &mut Vec<u8>, id: &str) {
    Open::new(out, "occupant-id").attr("xmlns", ns::OCCUPANT_ID).attr("id", id).empty();
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};

    #[test]
    fn a_written_id_is_read_again() {
        let xml = format!("<presence>{}</presence>", written(|out| super::write(out, "dd72")));
        assert_eq!(super::of(read(&xml).root()), Some("dd72"));
    }
}
