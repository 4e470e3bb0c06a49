//! Stream management (XEP-0198): counts of handled stanzas, and streams that survive their connection.

use crate::ns;
use crate::stanza::Condition;
use crate::stream::{StreamCondition, StreamError};
use crate::xml::{Element, Open};

/// An element of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// §3: begins to count. `max` are the seconds that the client wants to have for a resumption.
    Enable { resume: bool, max: Option<u32> },
    /// §5: continues the stream `previd`, of which the client has handled `h` stanzas.
    Resume { h: u32, previd: &'a str },
    /// §4: `r` asks how many stanzas were handled.
    Count,
    /// §4: `a` says how many the peer has handled.
    Handled { h: u32 },
}

impl<'a> Request<'a> {
    /// None: the element is of something else. `bad-request`: it is not of the grammar.
    pub fn of(element: Element<'a>) -> Option<Result<Request<'a>, Condition>> {
        if element.ns() != ns::STREAM_MANAGEMENT {
            return None;
        }
        let h = || element.attr("h").and_then(|h| h.parse().ok()).ok_or(Condition::BadRequest);
        let request = match element.name() {
            "enable" => Ok(Request::Enable {
                resume: matches!(element.attr("resume"), Some("true" | "1")),
                max: element.attr("max").and_then(|max| max.parse().ok()),
            }),
            "resume" => h().and_then(|h| {
                let previd = element.attr("previd").ok_or(Condition::BadRequest)?;
                Ok(Request::Resume { h, previd })
            }),
            "r" => Ok(Request::Count),
            "a" => h().map(|h| Request::Handled { h }),
            _ => Err(Condition::BadRequest),
        };
        Some(request)
    }
}

/// Writes the stream feature.
pub fn write_feature(out: &mut Vec<u8>) {
    open(out, "sm").empty();
}

/// §3: the stream can be resumed by this id for so many seconds.
#[derive(Clone, Copy, Debug)]
pub struct Resumption<'a> {
    pub id: &'a str,
    pub seconds: u32,
}

pub fn write_enabled(out: &mut Vec<u8>, resumption: Option<Resumption<'_>>) {
    match resumption {
        None => open(out, "enabled").empty(),
        Some(Resumption { id, seconds }) => {
            open(out, "enabled").attr("id", id).display("max", seconds).attr("resume", "true").empty();
        }
    }
}

/// §4: asks how many stanzas the peer has handled.
pub fn write_count(out: &mut Vec<u8>) {
    open(out, "r").empty();
}

/// §4: so many stanzas were handled.
pub fn write_handled(out: &mut Vec<u8>, h: u32) {
    open(out, "a").display("h", h).empty();
}

/// §5: the stream continues. Stanzas after the first `h` follow again.
pub fn write_resumed(out: &mut Vec<u8>, previd: &str, h: u32) {
    open(out, "resumed").display("h", h).attr("previd", previd).empty();
}

/// §3, §5: a request failed. With the count of a stream that is gone, its client knows what arrived.
pub fn write_failed(out: &mut Vec<u8>, condition: Condition, h: Option<u32>) {
    let failed = open(out, "failed");
    let failed = match h {
        Some(h) => failed.display("h", h),
        None => failed,
    };
    failed.children(|out| Open::new(out, condition.name()).attr("xmlns", ns::STANZAS).empty());
}

/// §6: the error for a peer that has handled more stanzas than it was sent.
pub fn handled_count_too_high(h: u32, sent: u32) -> StreamError {
    StreamError::new(StreamCondition::UndefinedCondition).extension(|out| {
        open(out, "handled-count-too-high").display("h", h).display("send-count", sent).empty();
    })
}

fn open<'a>(out: &'a mut Vec<u8>, name: &'a str) -> Open<'a> {
    Open::new(out, name).attr("xmlns", ns::STREAM_MANAGEMENT)
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    fn check(element: &str, expected: Option<Result<Request<'_>, Condition>>) {
        let tree = read(&element.replace("/>", " xmlns='urn:xmpp:sm:3'/>"));
        assert_eq!(Request::of(tree.root()), expected, "{element}");
    }

    #[test]
    fn requests_are_read() {
        check("<enable/>", Some(Ok(Request::Enable { resume: false, max: None })));
        check("<enable resume='true' max='60'/>", Some(Ok(Request::Enable { resume: true, max: Some(60) })));
        check("<enable resume='1' max='-1'/>", Some(Ok(Request::Enable { resume: true, max: None })));
        check("<resume h='7' previd='x'/>", Some(Ok(Request::Resume { h: 7, previd: "x" })));
        check("<r/>", Some(Ok(Request::Count)));
        check("<a h='4294967295'/>", Some(Ok(Request::Handled { h: u32::MAX })));
        for wrong in
            ["<a/>", "<a h='4294967296'/>", "<a h='-1'/>", "<resume h='7'/>", "<resume previd='x'/>", "<b/>"]
        {
            check(wrong, Some(Err(Condition::BadRequest)));
        }
        assert_eq!(Request::of(read("<r xmlns='urn:x'/>").root()), None);
    }

    #[test]
    fn answers_are_written() {
        let xml = written(|out| {
            write_feature(out);
            write_enabled(out, None);
            write_enabled(out, Some(Resumption { id: "x", seconds: 300 }));
            write_count(out);
            write_handled(out, 7);
            write_resumed(out, "x", 8);
            write_failed(out, Condition::ItemNotFound, Some(9));
        });
        assert_eq!(
            xml.replace(" xmlns='urn:xmpp:sm:3'", ""),
            "<sm/><enabled/><enabled id='x' max='300' resume='true'/><r/><a h='7'/><resumed h='8' previd='x'/>\
             <failed h='9'><item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></failed>"
        );
        let error = written(|out| handled_count_too_high(10, 8).write(out));
        assert!(error.ends_with(
            "<handled-count-too-high xmlns='urn:xmpp:sm:3' h='10' send-count='8'/></stream:error>"
        ));
    }
}
