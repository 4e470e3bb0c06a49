//! Reads the title, a short text and the picture of a page that a user links to, for the readers of that link.
//!
//! A stranger chooses the address and the page, so the client calls only the public network ([`reach`]). It checks each
//! redirect like the first address, and bounds time, bytes and redirects. It runs nothing of a page, and returns only
//! plain text and the bytes of a picture. The caller must re-encode the picture.
//!
//! Read first: [`Client::page`], [`read`].

mod address;
mod client;
mod page;

pub use address::{WebAddress, WrongAddress};
pub use client::{Client, May, Trouble};
pub use page::{DESCRIPTION_BYTES, Page, TITLE_BYTES, read};
