//! Authentication of XMPP: no messages of a client that does not know the password are accepted.
#![no_main]

use std::num::NonZeroU32;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use xmpp_proto::sasl::{
    BindingKind, ChannelBinding, HtMessage, Mechanism, Plain, ScramChallenge, ScramClientFirst,
    ScramCredentials, ScramHash, ScramKeys, ScramServer,
};

const SALT: &[u8] = b"salt of the fuzzer";
const ITERATIONS: NonZeroU32 = NonZeroU32::MIN;

static KEYS: LazyLock<[ScramKeys; 2]> = LazyLock::new(|| {
    [ScramHash::Sha1, ScramHash::Sha256]
        .map(|hash| ScramKeys::derive(hash, "a password", SALT, ITERATIONS).expect("the password is allowed"))
});

// The first message, a line feed, and the last one, in which `r=NONCE` stands for what the server chose.
fuzz_target!(|input: &[u8]| {
    if let Ok(plain) = Plain::parse(input) {
        assert!(!plain.username.is_empty() && !plain.password.is_empty());
    }
    if let Ok(message) = HtMessage::parse(input) {
        assert_eq!(message.verify(b"token", b""), None);
    }
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (first, last) = (&input[..end], input.get(end + 1..).unwrap_or_default());
    let Ok(first) = ScramClientFirst::parse(first) else { return };
    assert!(!first.username.is_empty());
    let binding = ChannelBinding { kind: BindingKind::TlsExporter, data: b"exported" };
    for offered in [&[][..], &[binding]] {
        for mechanism in Mechanism::ALL {
            let credentials = ScramCredentials { keys: &*KEYS, salt: SALT, iterations: ITERATIONS };
            let challenge = ScramChallenge { nonce: "nonce", offered, downgrade_hash: None };
            let Ok(server) = ScramServer::new(mechanism, &first, &credentials, &challenge) else { continue };
            let nonce = server.server_first().split(',').next().expect("the nonce comes first").to_owned();
            let last = String::from_utf8_lossy(last).replace("r=NONCE", &nonce);
            assert!(server.verify(last.as_bytes()).is_err());
        }
    }
});
