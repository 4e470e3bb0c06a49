//! Message delivery receipts (XEP-0184).

use crate::ns;
use crate::xml::{Element, Open};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt<'a> {
    /// The sender wants to know when the message arrives.
    Request,
    /// The message with this id has arrived.
    Received { id: &'a str },
}

impl<'a> Receipt<'a> {
    pub fn of(message: Element<'a>) -> Option<Receipt<'a>> {
        message.children().filter(|child| child.ns() == ns::RECEIPTS).find_map(|child| match child.name() {
            "request" => Some(Receipt::Request),
            // XEP-0184 §7: the id is required.
            "received" => child.attr("id").map(|id| Receipt::Received { id }),
            _ => None,
        })
    }

    pub fn write(self, out: &mut Vec<u8>) {
        match self {
            Receipt::Request => Open::new(out, "request").attr("xmlns", ns::RECEIPTS).empty(),
            Receipt::Received { id } => {
                Open::new(out, "received").attr("xmlns", ns::RECEIPTS).attr("id", id).empty();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_written_receipt_is_read_again() {
        for receipt in [Receipt::Request, Receipt::Received { id: "m'1" }] {
            let xml = format!("<message>{}</message>", written(|out| receipt.write(out)));
            assert_eq!(Receipt::of(read(&xml).root()), Some(receipt));
        }
        assert_eq!(
            Receipt::of(read("<message><received xmlns='urn:xmpp:receipts'/></message>").root()),
            None
        );
    }
}
