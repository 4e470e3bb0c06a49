//! HTTP file upload (XEP-0363).

use super::data_forms::{self, Field, FormKind};
use super::date_time::DateTime;
use crate::ns;
use crate::stanza::{Condition, ErrorKind, StanzaError};
use crate::xml::{Element, Open};

/// §4: a file that a client wants to upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    pub filename: &'a str,
    pub bytes: u64,
    pub content_type: Option<&'a str>,
}

impl<'a> Request<'a> {
    pub fn of(request: Element<'a>) -> Result<Request<'a>, Condition> {
        let filename = request.attr("filename").filter(|filename| !filename.is_empty());
        let bytes = request.attr("size").and_then(|size| size.parse().ok()).filter(|bytes| *bytes > 0);
        Ok(Request {
            filename: filename.ok_or(Condition::BadRequest)?,
            bytes: bytes.ok_or(Condition::BadRequest)?,
            content_type: request.attr("content-type"),
        })
    }
}

/// §4: where the client uploads the file, and where others download it.
#[derive(Clone, Copy, Debug)]
pub struct Slot<'a> {
    pub put: &'a str,
    pub get: &'a str,
    /// Only `Authorization`, `Cookie` and `Expires` are allowed.
    pub headers: &'a [(&'a str, &'a str)],
}

impl Slot<'_> {
    pub fn write(&self, out: &mut Vec<u8>) {
        Open::new(out, "slot").attr("xmlns", ns::UPLOAD).children(|out| {
            Open::new(out, "put").attr("url", self.put).children(|out| {
                for (name, value) in self.headers {
                    Open::new(out, "header").attr("name", name).text(value);
                }
            });
            Open::new(out, "get").attr("url", self.get).empty();
        });
    }
}

/// §3: writes the form with the largest size of a file, for the answer of service discovery.
pub fn write_limit(out: &mut Vec<u8>, bytes: u64) {
    let bytes = bytes.to_string();
    data_forms::write(out, FormKind::Result, ns::UPLOAD, |out| {
        Field::new("max-file-size", &[&bytes]).write(out)
    });
}

/// §6: the file has more bytes than this.
pub fn too_large(bytes: u64) -> StanzaError {
    StanzaError::new(Condition::NotAcceptable).extension(|out| {
        Open::new(out, "file-too-large").attr("xmlns", ns::UPLOAD).children(|out| {
            Open::new(out, "max-file-size").text(&bytes.to_string());
        });
    })
}

/// §6: the user has uploaded too much, and may try again at this time.
pub fn retry(at: DateTime) -> StanzaError {
    StanzaError::new(Condition::ResourceConstraint).kind(ErrorKind::Wait).extension(|out| {
        Open::new(out, "retry").attr("xmlns", ns::UPLOAD).display("stamp", at).empty();
    })
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_request_names_the_file() {
        let request = |attributes: &str| format!("<request xmlns='urn:xmpp:http:upload:0' {attributes}/>");
        let tree = read(&request("filename='très cool.jpg' size='23456' content-type='image/jpeg'"));
        let expected = Request { filename: "très cool.jpg", bytes: 23456, content_type: Some("image/jpeg") };
        assert_eq!(Request::of(tree.root()), Ok(expected));
        for wrong in [
            "size='1'",
            "filename='' size='1'",
            "filename='a'",
            "filename='a' size='0'",
            "filename='a' size='-1'",
        ] {
            assert_eq!(Request::of(read(&request(wrong)).root()), Err(Condition::BadRequest), "{wrong}");
        }
    }

    #[test]
    fn slots_limits_and_errors_are_written() {
        let slot = Slot {
            put: "https://u.example/1?a&b",
            get: "https://g.example/1",
            headers: &[("Cookie", "a=b")],
        };
        let xml = written(|out| {
            slot.write(out);
            write_limit(out, 5_242_880);
            out.extend_from_slice(too_large(20_000).application.as_deref().unwrap().as_bytes());
            out.extend_from_slice(
                retry(DateTime(1_512_344_525_000)).application.as_deref().unwrap().as_bytes(),
            );
        });
        assert_eq!(
            xml.replace("urn:xmpp:http:upload:0", "U"),
            "<slot xmlns='U'><put url='https://u.example/1?a&amp;b'><header name='Cookie'>a=b</header></put>\
             <get url='https://g.example/1'/></slot><x xmlns='jabber:x:data' type='result'>\
             <field var='FORM_TYPE' type='hidden'><value>U</value></field><field var='max-file-size'>\
             <value>5242880</value></field></x><file-too-large xmlns='U'><max-file-size>20000</max-file-size>\
             </file-too-large><retry xmlns='U' stamp='2017-12-03T23:42:05Z'/>"
        );
    }
}
