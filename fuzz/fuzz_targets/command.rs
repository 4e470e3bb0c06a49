//! Frames of clients: any bytes give a command or a reason, and each command can be written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use web_proto::Command;

fuzz_target!(|frame: &[u8]| match Command::parse(frame) {
    Ok(command) => {
        let mut written = Vec::new();
        command.write(&mut written);
        assert_eq!(Command::parse(&written), Ok(command));
    }
    Err(why) => assert!(why.text.len() < 100 && why.id.is_none_or(|id| id.len() <= web_proto::ID_BYTES)),
});
