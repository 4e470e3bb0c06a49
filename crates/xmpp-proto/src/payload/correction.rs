//! Last message correction (XEP-0308).

use crate::ns;
use crate::xml::{Element, Open};

/// The sender's id of the message that this one replaces.
pub fn of(message: Element<'_>) -> Option<&str> {
    message.child("replace", ns::CORRECTION)?.attr("id")
}

pub fn write(out: &mut Vec<u8>, id: &str) {
    Open::new(out, "replace").attr("xmlns", ns::CORRECTION).attr("id", id).empty();
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};

    #[test]
    fn a_written_correction_is_read_again() {
        let xml = format!("<message><body>a</body>{}</message>", written(|out| super::write(out, "bad1")));
        assert_eq!(super::of(read(&xml).root()), Some("bad1"));
        assert_eq!(super::of(read("<message><replace id='1'/></message>").root()), None);
    }
}
