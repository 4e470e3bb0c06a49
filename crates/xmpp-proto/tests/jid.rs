//! Addresses, with the crate `jid` as the judge.

use proptest::prelude::*;
use xmpp_proto::jid::Jid;

/// Text that often is an address.
fn addresses() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[a-z0-9.-]{1,12}",
        2 => "[ -~]{0,12}",
        2 => "\\PC{0,8}",
        1 => "[a-zA-ZäöüÄÖÜßα-ωΑ-Ωאבגا-ي一-龥ａ-ｚⅠ-Ⅻ\u{AD}\u{200D}\u{E001}\u{AA}\u{1D400}]{1,8}",
    ];
    let domain = prop_oneof![
        4 => "[a-z0-9-]{1,10}(\\.[a-z]{1,8}){0,2}\\.?",
        1 => "[a-zA-ZäöüÄÖÜß。-]{1,10}\\.[a-z]{2}",
        1 => "xn--[a-z0-9-]{1,10}",
        1 => "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}",
        1 => "\\[[0-9a-f:.]{2,20}\\]",
        1 => "\\PC{0,10}",
    ];
    (prop::option::of(part.clone()), domain, prop::option::of(part)).prop_map(|(local, domain, resource)| {
        let local = local.map_or(String::new(), |local| format!("{local}@"));
        let resource = resource.map_or(String::new(), |resource| format!("/{resource}"));
        format!("{local}{domain}{resource}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_written_address_is_read_as_itself(text in addresses()) {
        if let Ok(jid) = Jid::parse(&text) {
            prop_assert_eq!(&Jid::parse(jid.as_str()), &Ok(jid.clone()));
            prop_assert_eq!(&Jid::of(jid.local(), jid.domain(), jid.resource()), &Ok(jid.clone()));
            prop_assert_eq!(&Jid::parse(jid.bare()), &Ok(jid.to_bare()));
        }
    }

    #[test]
    fn local_parts_and_resources_are_prepared_as_another_implementation_does(text in addresses()) {
        let (bare, resource) = text.split_once('/').map_or((&*text, None), |(bare, resource)| (bare, Some(resource)));
        let local = bare.split_once('@').map(|(local, _)| local);
        if let Some(local) = local {
            let ours = Jid::of(Some(local), "example.com", None).ok().map(|jid| jid.local().unwrap().to_owned());
            let theirs = jid::NodePart::new(local).ok().map(|part| part.to_string());
            prop_assert!(ours == theirs || ours.is_none() && is_unstable(&theirs, |part| {
                jid::NodePart::new(part).ok().map(|part| part.to_string())
            }), "{:?} {:?}", ours, theirs);
        }
        if let Some(resource) = resource {
            let ours = Jid::of(None, "example.com", Some(resource)).ok().map(|jid| jid.resource().unwrap().to_owned());
            let theirs = jid::ResourcePart::new(resource).ok().map(|part| part.to_string());
            prop_assert!(ours == theirs || ours.is_none() && is_unstable(&theirs, |part| {
                jid::ResourcePart::new(part).ok().map(|part| part.to_string())
            }), "{:?} {:?}", ours, theirs);
        }
    }

    /// The other implementation allows more ASCII characters, and names with a number at their end. It does not decode
    /// A-labels, does not shorten IPv6 addresses, and maps ß, ς and joiners as IDNA 2003 did.
    #[test]
    fn our_domains_are_domains_of_another_implementation(text in "([a-zA-ZäöüÄÖÜα-ρσ-ω0-9-]{1,10}\\.){0,2}[a-z0-9]{1,6}\\.?") {
        let theirs = jid::Jid::new(&text).ok().map(|jid| jid.to_string());
        match Jid::parse(&text) {
            Ok(ours) if text.to_lowercase().contains("xn--") => prop_assert!(theirs.is_some(), "{}", ours),
            Ok(ours) => prop_assert_eq!(Some(ours.to_string()), theirs),
            Err(_) => {
                let last = text.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
                prop_assert!(theirs.is_none() || last.bytes().all(|byte| byte.is_ascii_digit()), "{:?}", theirs);
            }
        }
    }

    #[test]
    fn any_text_is_an_address_or_an_error(text in any::<String>()) {
        let _ = Jid::parse(&text);
    }
}

/// Whether another preparation changes the part; we refuse these.
fn is_unstable(prepared: &Option<String>, prepare: impl Fn(&str) -> Option<String>) -> bool {
    prepared.as_ref().is_some_and(|part| prepare(part).as_ref() != Some(part))
}
