//! Connections to addresses that a stranger chooses: a push service that a browser names, a page that a member links
//! to.
//!
//! Such a connection must not reach our own network. A name is resolved once, and *all* of its addresses must be public
//! ([`is_public`]). The connection uses the address that was checked, because a second lookup could return another one.
//! [`HttpClient`] sends HTTP requests over these connections, for push, previews and the load tool.
//!
//! This crate does not know the content of requests and does not decide which may be sent. It follows no redirects.

mod address;
mod http;
mod lookups;

use std::sync::Arc;

/// The types of requests.
pub use http_body_util::Full;
pub use hyper::body::Bytes;
pub use hyper::{Request, header};
use tokio::net::TcpStream;

pub use address::is_public;
pub use http::{Body, End, HeadBounds, HttpClient, HttpError, Origin, Response};
pub use lookups::Lookups;

/// The addresses to which a client may connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Names of the public network, at the scheme's usual port.
    Public,
    /// Every address: for tests, and for a service that the operator runs.
    Anywhere,
}

/// The reason why a connection failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreached {
    #[error("its name leads to no address")]
    NoAddress,
    #[error("its name leads to an address that is not public")]
    NotPublic,
    #[error("the connection failed: {0}")]
    Failed(Arc<str>),
}

/// The number of a name's addresses that are tried.
const TRIES: usize = 2;

/// Connects to a name. Refuses a name if one of its addresses is private: its owner may want us to call a host of our
/// own.
pub async fn connect(lookups: &Lookups, host: &str, port: u16, reach: Reach) -> Result<TcpStream, Unreached> {
    let found = lookups.find(host, port).await.map_err(|_| Unreached::NoAddress)?;
    if reach == Reach::Public && !found.iter().all(|address| is_public(address.ip())) {
        return Err(Unreached::NotPublic);
    }
    let mut why = Unreached::NoAddress;
    for address in found.iter().take(TRIES) {
        match TcpStream::connect(address).await {
            Ok(socket) => return Ok(socket),
            Err(error) => why = Unreached::Failed(error.to_string().into()),
        }
    }
    Err(why)
}
