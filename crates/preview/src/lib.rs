//! What a page says of itself: title, a few words, a picture; for those who are sent a link to it.
//!
//! Both the address and the page are a stranger's: only the public network is called ([`reach`]), each redirect is looked at like the first
//! address, and time, bytes and redirects have bounds. Nothing of a page is run, and nothing of it but plain text goes on; its picture is
//! bytes for whoever makes pictures anew.
//!
//! Read first: [`Client::page`], [`read`].

mod address;
mod client;
mod page;

pub use address::{WebAddress, WrongAddress};
pub use client::{Client, May, Trouble};
pub use page::{DESCRIPTION_BYTES, Page, TITLE_BYTES, read};
