//! Bodies of BOSH: attributes are within their bounds, and the session that is found before parsing is the parsed one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xmpp_proto::bosh::{Request, peek_sid, write};
use xmpp_proto::xml::{Limits, document};

fuzz_target!(|input: &[u8]| {
    let peeked = peek_sid(input);
    let Ok(tree) = document(input, &Limits::default()) else { return };
    let Ok(request) = Request::of(tree.root()) else { return };
    assert!((1..1 << 53).contains(&request.rid));
    // An entity, a line break or a value with `sid=` in it can differ; a server finds no session then.
    if let (Some(peeked), Some(sid)) = (peeked, request.sid)
        && !input.contains(&b'&')
        && !peeked.contains(char::is_control)
        && input.windows(4).filter(|four| *four == b"sid=").count() == 1
    {
        assert_eq!(peeked, sid);
    }
    let mut elements = Vec::new();
    for child in tree.root().children() {
        child.write(&mut elements, "");
    }
    let mut out = Vec::new();
    write(&mut out, Some(request.rid), None, &elements);
    let limits = Limits { stanza_bytes: usize::MAX, depth: u16::MAX, attributes: u16::MAX, ..Limits::default() };
    let again = document(&out, &limits).expect("we write well-formed XML");
    assert_eq!(again.root().children().count(), tree.root().children().count());
});
