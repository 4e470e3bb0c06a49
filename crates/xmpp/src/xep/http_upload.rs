//! HTTP File Upload (XEP-0363): a slot for a file, and the message with the file.
//!
//! The domain keeps the file without a conversation until a message of its owner has its address; see `docs/design/files.md`. The
//! web's gateway receives the bytes.

use chat::messages::{Command, Event as MessagesEvent};
use chat::{Delivery, Event, FileId, Refusal, Reserve};
use xmpp_proto::ns;
use xmpp_proto::payload::date_time::DateTime;
use xmpp_proto::payload::oob;
use xmpp_proto::payload::upload::{self, Request, Slot};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::Element;

use crate::address::Target;
use crate::config::{FileLinks, FileSlot, Links};
use crate::extensions::{Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Asked, Iq, IqHandler, IqKind, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(363),
    name: "HTTP File Upload",
    version: "1.2.0",
    scenario: "http_upload",
    server_features: &[ns::UPLOAD],
    account_features: &[],
    iq: &[IqHandler { name: "request", ns: ns::UPLOAD, handle: request }],
};

/// §3: the form with the largest size, for service discovery.
pub(crate) fn write_limit(out: &mut Vec<u8>, files: &dyn FileLinks) {
    upload::write_limit(out, files.limits().file_bytes);
}

fn request(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    let files = turn.links().files().filter(|_| iq.target == Target::Server).cloned();
    let Some(files) = files else { return Err(StanzaError::new(Condition::ServiceUnavailable)) };
    if iq.kind != IqKind::Get {
        return Err(StanzaError::new(Condition::BadRequest));
    }
    let Request { filename, bytes, content_type: _ } = Request::of(iq.payload).map_err(StanzaError::new)?;
    let limits = files.limits();
    let reserve = Reserve { name: filename.into(), bytes, limits };
    turn.ask_then(iq, Command::ReserveFile(reserve), move |turn, asked, answer| {
        let (id, name) = match answer.map(file) {
            Ok(Some(file)) => file,
            Ok(None) => return,
            Err(refusal) => {
                let error = refused(refusal, limits.file_bytes, turn.now().0);
                return turn.answer_error(&asked, &error);
            }
        };
        let FileSlot { put, get, authorization } = files.slot(id, name);
        let headers = [("Authorization", &*authorization)];
        turn.answer(asked, |out| Slot { put: &put, get: &get, headers: &headers }.write(out));
    });
    Ok(())
}

/// §6. `most`: the largest file in bytes.
fn refused(refusal: Refusal, most: u64, now: u64) -> StanzaError {
    match refusal {
        Refusal::FileTooLarge => upload::too_large(most),
        Refusal::RateLimited { retry_after_ms } => upload::retry(DateTime(now + u64::from(retry_after_ms))),
        refusal => stanza_error(refusal),
    }
}

fn file(delivery: &Delivery) -> Option<(FileId, &str)> {
    match &delivery.event {
        Event::Messages(MessagesEvent::File { id, name }) => Some((*id, name)),
        _ => None,
    }
}

/// The parts of a message that has a file in the place of its address.
#[derive(Debug, Clone)]
pub(crate) struct WithFile {
    pub(crate) file: FileId,
    pub(crate) body: Box<str>,
    pub(crate) extension: Option<Box<str>>,
}

/// The address of a file of this node: the out-of-band one of the message (XEP-0066), or the whole body.
pub(crate) fn named_file(message: Element<'_>, body: &str, links: &Links) -> Option<(FileId, Box<str>)> {
    let files = links.files()?;
    let url = oob::of(message);
    let url = url.as_deref().unwrap_or(body).trim();
    Some((files.named(url)?, url.into()))
}

/// The body without the line that is nothing but the address of the file.
pub(crate) fn without_address(body: &str, url: &str) -> Box<str> {
    let lines: Vec<&str> = body.lines().filter(|line| line.trim() != url).collect();
    if lines.len() == body.lines().count() { body.into() } else { lines.join("\n").into() }
}

impl Turn<'_, '_> {
    /// Asks the domain whether a message of the user can have this file. Meanwhile the stream reads nothing further. `then` gets
    /// true, or false for a file of somebody else or one that is in a message: then the address stays a text.
    pub(crate) fn with_file(
        &mut self,
        asked: Asked,
        id: FileId,
        then: impl FnOnce(&mut Turn<'_, '_>, Asked, bool) + Send + 'static,
    ) {
        self.pause();
        self.continue_then(asked, Command::FindFile { id }, move |turn, asked, answer| {
            let may_have = answer.map(drop);
            turn.unpause(|turn| match may_have {
                Ok(()) => then(turn, asked, true),
                Err(Refusal::NoSuchFile) => then(turn, asked, false),
                Err(refusal) => turn.fail(&asked, refusal),
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_on_a_line_of_its_own_leaves_the_text() {
        for (body, expected) in [
            ("https://a.example/f", ""),
            ("Look\nhttps://a.example/f", "Look"),
            ("https://a.example/f\nLook\nthere", "Look\nthere"),
            ("Look at https://a.example/f", "Look at https://a.example/f"),
            ("https://a.example/f/g\n", "https://a.example/f/g\n"),
            ("a\r\nb\n", "a\r\nb\n"),
        ] {
            assert_eq!(&*without_address(body, "https://a.example/f"), expected, "{body:?}");
        }
    }

    #[test]
    fn refusals_of_a_slot_say_what_may_be_tried() {
        let text = |refusal| refused(refusal, 100, 0).application.unwrap_or_default();
        assert!(text(Refusal::FileTooLarge).contains("<max-file-size>100</max-file-size>"));
        assert!(
            text(Refusal::RateLimited { retry_after_ms: 1_000 }).contains("stamp='1970-01-01T00:00:01Z'")
        );
        assert_eq!(refused(Refusal::NoRoomForFile, 100, 0).condition, Condition::ResourceConstraint);
    }
}
