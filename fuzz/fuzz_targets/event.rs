//! Frames of servers, as a client reads them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use web_proto::Event;

fuzz_target!(|frame: &[u8]| {
    if let Ok(event) = Event::parse(frame) {
        let mut written = Vec::new();
        event.write(&mut written);
        assert_eq!(Event::parse(&written).ok(), Some(event));
    }
});
