//! Connections to addresses of a stranger's choice: a push service that a browser names, a page that a member links to.
//!
//! Such a connection must not reach our own network. So a name is resolved once, *all* of its addresses must be public
//! ([`is_public`]), and the connection goes to the address that was checked: a second lookup could give another one.
//! [`HttpClient`] sends HTTP requests over these connections, for push, previews and the load tool.
//!
//! Deliberately not here: the content of requests, which of them may be sent, and redirects.

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

/// How far one may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Names of the public network at their usual port.
    Public,
    /// Whatever is asked for: for tests, and where the operator runs such a service of their own.
    Anywhere,
}

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreached {
    #[error("its name leads to no address")]
    NoAddress,
    #[error("its name leads to an address that is not public")]
    NotPublic,
    #[error("the connection failed: {0}")]
    Failed(Arc<str>),
}

/// Of a name's addresses so many are tried.
const TRIES: usize = 2;

/// Connects to a name. Who mixes one of our addresses into those of a name means to have us call it, and is not called at all.
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
