//! XMPP addresses: an address that is written is read as itself, and its parts make it again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xmpp_proto::jid::Jid;
use xmpp_proto::payload::date_time::DateTime;

fuzz_target!(|text: &str| {
    if let Some(moment) = DateTime::parse(text) {
        assert_eq!(DateTime::parse(&moment.to_string()), Some(moment));
    }
    let Ok(jid) = Jid::parse(text) else { return };
    assert_eq!(Jid::parse(jid.as_str()).as_ref(), Ok(&jid));
    assert_eq!(Jid::of(jid.local(), jid.domain(), jid.resource()).as_ref(), Ok(&jid));
    assert_eq!(Jid::parse(jid.bare()), Ok(jid.to_bare()));
    if let Some(resource) = jid.resource() {
        assert_eq!(jid.to_bare().with_resource(resource), Ok(jid.clone()));
    }
    for part in [jid.local(), Some(jid.domain()), jid.resource()].into_iter().flatten() {
        assert!((1..=1023).contains(&part.len()));
    }
});
