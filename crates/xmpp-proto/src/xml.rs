//! XML as XMPP uses it (RFC 6120 §11): read in pieces, kept as a tree, written without one.

mod reader;
mod stored;
mod tree;
mod write;

pub use reader::{Item, Limits, Reader, document};
pub use stored::{restore, to_stored};
pub use tree::{Children, Element, Tree};
pub use write::{Open, escape, escape_attribute};
