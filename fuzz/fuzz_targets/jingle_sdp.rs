//! Descriptions of calls: what is read from SDP or Jingle is written, and read again as the same, in both forms.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xmpp_proto::payload::jingle::{Author, Outgoing, Step};
use xmpp_proto::payload::jingle_messages::JingleMessage;
use xmpp_proto::sdp::{Candidate, Description, Kind};
use xmpp_proto::xml::{Limits, document};

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        if let Some(candidate) = Candidate::parse(text) {
            assert_eq!(Candidate::parse(&candidate.to_line()), Some(candidate));
        }
        Description::parse(text).into_iter().for_each(check);
    }
    let Ok(tree) = document(input, &Limits::default()) else { return };
    let _ = JingleMessage::of(tree.root());
    let Some(Ok(step)) = Step::of(tree.root()) else { return };
    let _ = (step.candidates(), step.reason(), step.info());
    for author in [Author::Initiator, Author::Responder] {
        step.description(author).into_iter().for_each(check);
    }
});

fn check(description: Description) {
    // A value that is not written, as a source without parameters, is lost once.
    let sdp = description.to_sdp();
    assert!(sdp.lines().all(|line| line.as_bytes().get(1) == Some(&b'=')), "{sdp}");
    let read = Description::parse(&sdp).expect("we write valid SDP");
    assert_eq!(read.sections.len(), description.sections.len());
    assert_eq!(Description::parse(&read.to_sdp()).as_ref(), Some(&read));
    assert_eq!(read.clone().answering(&read).as_ref(), Some(&read));
    let calls = read.only(&[Kind::Audio, Kind::Video]);
    if calls.sections.is_empty() {
        return;
    }
    let mut out = Vec::new();
    Outgoing { sid: "s", initiator: "a", responder: "b" }.write_initiate(&mut out, &calls);
    let limits = Limits { stanza_bytes: usize::MAX, ..Limits::default() };
    let tree = document(&out, &limits).expect("we write well-formed XML");
    let step = Step::of(tree.root()).expect("Jingle").expect("a step");
    let again = step.description(Author::Initiator).expect("we write valid Jingle");
    let types = |one: &Description| one.media().map(|media| media.payload_types.len()).collect::<Vec<_>>();
    assert_eq!(types(&again), types(&calls));
    assert!(Description::parse(&again.to_sdp()).is_some());
}
