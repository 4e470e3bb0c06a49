//! The requests to a bucket: signed, bounded in time, with errors by their kind.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::time::Duration;

use chat::{FileId, Rendition, SiteId};
use rusty_s3::actions::{ListObjectsV2, ListObjectsV2Response, S3Action};
use rusty_s3::{Bucket, Credentials, UrlStyle};
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

use super::key;

/// Lifetime of a signed address. It begins with the request.
const SIGNED_FOR: Duration = Duration::from_secs(60);
const CONNECT: Duration = Duration::from_secs(10);
/// Time-out without a byte.
const SILENCE: Duration = Duration::from_secs(30);
/// Most bytes of a list response: 1,000 keys with their metadata.
const LIST_BYTES: u64 = 4 << 20;

/// The address of a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketPlace {
    /// As in `https://s3.eu-west-1.amazonaws.com`.
    pub endpoint: String,
    pub name: String,
    pub region: String,
    /// Whether the bucket's name is a part of the path, not of the host name.
    pub in_path: bool,
    /// The prefix of all keys, as in `kith/`; may be empty.
    pub prefix: String,
}

/// Credentials of the bucket.
#[derive(Clone)]
pub struct KeyPair {
    pub id: String,
    pub secret: String,
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyPair").field("id", &self.id).finish_non_exhaustive()
    }
}

pub(super) struct Remote {
    bucket: Bucket,
    keys: Credentials,
    prefix: String,
    agent: Agent,
}

/// The bytes of an object, as a stream.
pub(super) struct Object(Box<dyn Read + Send>);

impl Read for Object {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Remote {
    pub(super) fn new(place: &BucketPlace, keys: KeyPair) -> io::Result<Remote> {
        let wrong = |why: String| io::Error::new(ErrorKind::InvalidInput, why);
        let endpoint =
            place.endpoint.parse().map_err(|error| wrong(format!("{}: {error}", place.endpoint)))?;
        let style = if place.in_path { UrlStyle::Path } else { UrlStyle::VirtualHost };
        let bucket = Bucket::new(endpoint, style, place.name.clone(), place.region.clone())
            .map_err(|error| wrong(error.to_string()))?;
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            .timeout_per_write(Some(SILENCE))
            .build();
        let keys = Credentials::new(keys.id, keys.secret);
        Ok(Remote { bucket, keys, prefix: place.prefix.clone(), agent: agent.into() })
    }

    pub(super) fn put(&self, key: &str, bytes: &File) -> io::Result<()> {
        let key = self.whole(key);
        let url = self.bucket.put_object(Some(&self.keys), &key).sign(SIGNED_FOR);
        // The node sends the media type with each download; the bucket stores only bytes.
        let answer =
            self.agent.put(url.as_str()).header("content-type", "application/octet-stream").send(bytes);
        checked(answer).map(drop)
    }

    pub(super) fn bytes(&self, key: &str) -> io::Result<u64> {
        let key = self.whole(key);
        let url = self.bucket.head_object(Some(&self.keys), &key).sign(SIGNED_FOR);
        let answer = checked(self.agent.head(url.as_str()).call())?;
        let length = answer.headers().get("content-length").and_then(|length| length.to_str().ok());
        length
            .and_then(|length| length.parse().ok())
            .ok_or_else(|| io::Error::other("the bucket does not say how long an object is"))
    }

    /// The object from offset `from` to its end.
    pub(super) fn get(&self, key: &str, from: u64) -> io::Result<Object> {
        let key = self.whole(key);
        let url = self.bucket.get_object(Some(&self.keys), &key).sign(SIGNED_FOR);
        let request = self.agent.get(url.as_str()).header("accept-encoding", "identity");
        let answer = checked(request.header("range", format!("bytes={from}-")).call())?;
        if from > 0 && answer.status() != StatusCode::PARTIAL_CONTENT {
            return Err(io::Error::other("the bucket gives no parts of objects"));
        }
        Ok(Object(Box::new(answer.into_body().into_reader())))
    }

    /// Removes all renditions. Succeeds if none exists.
    pub(super) fn remove_all(&self, file: FileId) -> io::Result<()> {
        Rendition::ALL.into_iter().try_for_each(|rendition| self.remove(&self.whole(&key(file, rendition))))
    }

    /// The sites that have objects in the bucket.
    pub(super) fn sites(&self) -> io::Result<Vec<SiteId>> {
        let mut sites = Vec::new();
        self.each_page(&self.prefix, Some("/"), |page| {
            let names = page.common_prefixes.iter().filter_map(|of| of.prefix.strip_prefix(&self.prefix));
            // Names that are not numbers belong to others.
            sites.extend(names.filter_map(|name| name.trim_end_matches('/').parse().ok()).map(SiteId));
            Ok(())
        })?;
        Ok(sites)
    }

    pub(super) fn remove_site(&self, site: SiteId) -> io::Result<()> {
        let prefix = self.whole(&format!("{}/", site.0));
        self.each_page(&prefix, None, |page| {
            page.contents.iter().try_for_each(|object| self.remove(&object.key))
        })
    }

    fn remove(&self, whole_key: &str) -> io::Result<()> {
        let url = self.bucket.delete_object(Some(&self.keys), whole_key).sign(SIGNED_FOR);
        match checked(self.agent.delete(url.as_str()).call()) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn each_page(
        &self,
        prefix: &str,
        delimiter: Option<&str>,
        mut of: impl FnMut(ListObjectsV2Response) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut next: Option<String> = None;
        loop {
            let mut action = ListObjectsV2::new(&self.bucket, Some(&self.keys));
            action.with_prefix(prefix);
            if let Some(delimiter) = delimiter {
                action.with_delimiter(delimiter);
            }
            if let Some(token) = next.take() {
                action.with_continuation_token(token);
            }
            let mut answer = checked(self.agent.get(action.sign(SIGNED_FOR).as_str()).call())?;
            let text = answer.body_mut().with_config().limit(LIST_BYTES).read_to_string();
            let mut page = ListObjectsV2::parse_response(&text.map_err(ureq::Error::into_io)?)
                .map_err(|error| io::Error::other(format!("the bucket's list cannot be read: {error}")))?;
            next = page.next_continuation_token.take();
            of(page)?;
            if next.is_none() {
                return Ok(());
            }
        }
    }

    fn whole(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }
}

/// Converts errors, without their addresses, because these carry a signature.
fn checked(answer: Result<Response<Body>, ureq::Error>) -> io::Result<Response<Body>> {
    let answer = answer.map_err(ureq::Error::into_io)?;
    let status = answer.status();
    let (kind, why) = match status {
        _ if status.is_success() => return Ok(answer),
        StatusCode::NOT_FOUND => (ErrorKind::NotFound, "there is no such bucket or object"),
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => {
            (ErrorKind::PermissionDenied, "it refuses our key")
        }
        _ if status.is_redirection() => {
            (ErrorKind::InvalidInput, "it is elsewhere: another endpoint or region")
        }
        _ => (ErrorKind::Other, "it is in trouble"),
    };
    Err(io::Error::new(kind, format!("the bucket answers {}: {why}", status.as_u16())))
}
