//! Message processing hints (XEP-0334).

use crate::ns;
use crate::xml::{Element, Open};

/// The sender's requests to servers on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Not in an archive, and not for a user who comes later.
    pub no_store: bool,
    /// Not in an archive.
    pub no_permanent_store: bool,
    /// Not to other devices.
    pub no_copy: bool,
    /// In the archive, even without a body.
    pub store: bool,
}

impl Hints {
    pub fn of(message: Element<'_>) -> Hints {
        let mut hints = Hints::default();
        for hint in message.children().filter(|child| child.ns() == ns::HINTS) {
            match hint.name() {
                "no-store" => hints.no_store = true,
                "no-permanent-store" => hints.no_permanent_store = true,
                "no-copy" => hints.no_copy = true,
                "store" => hints.store = true,
                _ => {}
            }
        }
        hints
    }

    pub fn write(self, out: &mut Vec<u8>) {
        for (is_set, name) in [
            (self.no_store, "no-store"),
            (self.no_permanent_store, "no-permanent-store"),
            (self.no_copy, "no-copy"),
            (self.store, "store"),
        ] {
            if is_set {
                Open::new(out, name).attr("xmlns", ns::HINTS).empty();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn written_hints_are_read_again() {
        for bits in 0..16u8 {
            let bit = |number: u8| bits & (1 << number) != 0;
            let hints =
                Hints { no_store: bit(0), no_permanent_store: bit(1), no_copy: bit(2), store: bit(3) };
            let xml = format!("<message><store/>{}</message>", written(|out| hints.write(out)));
            assert_eq!(Hints::of(read(&xml).root()), hints);
        }
    }
}
