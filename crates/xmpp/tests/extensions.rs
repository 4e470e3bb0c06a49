//! The table of extensions in the documentation and `doap.xml` come from [`xmpp::EXTENSIONS`].
//! `KITH_BLESS=1 cargo test -p xmpp --test all extensions` writes both.

use std::fmt::Write;
use std::path::Path;

use xmpp::{EXTENSIONS, Extension, Spec};

#[test]
fn the_documentation_lists_every_extension() {
    check("docs/reference/xmpp.md", &table());
}

#[test]
fn doap_lists_every_extension() {
    check("doap.xml", &doap());
}

/// Service discovery and readers expect one order, and no number twice.
#[test]
fn extensions_are_sorted_by_number() {
    let numbers: Vec<_> = EXTENSIONS.iter().map(|one| number(one)).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    assert!(numbers.windows(2).all(|pair| pair[0] != pair[1]), "{numbers:?}");
}

#[test]
fn every_extension_has_a_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let missing = EXTENSIONS.iter().filter(|one| !folder.join(format!("{}.scn", one.scenario)).exists());
    let missing: Vec<&str> = missing.map(|one| one.name).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn check(path: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("KITH_BLESS").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{} is outdated: run this test with KITH_BLESS=1", path.display());
}

fn number(extension: &Extension) -> (bool, u16) {
    match extension.spec {
        Spec::Rfc(number) => (false, number),
        Spec::Xep(number) => (true, number),
    }
}

fn table() -> String {
    let mut out = String::from(
        "<!-- Written by a test from `crates/xmpp/src/extensions.rs`. Not edited by hand. -->\n\n# Extensions of XMPP\n\n\
         Look up here whether Kith supports an extension, and in which version. Each has a scenario with the name in the last column in\n\
         `tests/scenarios`.\n\n| document | name | version | scenario |\n|---|---|---|---|\n",
    );
    for Extension { spec, name, version, scenario, .. } in EXTENSIONS {
        let document = match spec {
            Spec::Rfc(number) => format!("RFC {number}"),
            Spec::Xep(number) => {
                format!("[XEP-{number:04}](https://xmpp.org/extensions/xep-{number:04}.html)")
            }
        };
        writeln!(out, "| {document} | {name} | {version} | `{scenario}` |").unwrap();
    }
    out
}

/// XEP-0453.
fn doap() -> String {
    let mut out = String::from(
        "<?xml version='1.0' encoding='UTF-8'?>\n<!-- Written by a test from crates/xmpp/src/extensions.rs. Not edited by hand. -->\n\
         <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://usefulinc.com/ns/doap#'\n    \
         xmlns:xmpp='https://linkmauve.fr/ns/xmpp-doap#'>\n  <Project>\n    <name>Kith</name>\n    \
         <shortdesc xml:lang='en'>An instant messenger for communities: widget, XMPP, files and calls in one server</shortdesc>\n    \
         <programming-language>Rust</programming-language>\n    \
         <category rdf:resource='https://linkmauve.fr/ns/xmpp-doap#category-server'/>\n    \
         <implements rdf:resource='https://xmpp.org/rfcs/rfc6120.html'/>\n    \
         <implements rdf:resource='https://xmpp.org/rfcs/rfc6121.html'/>\n",
    );
    for Extension { spec, version, .. } in EXTENSIONS {
        if let Spec::Xep(number) = spec {
            writeln!(
                out,
                "    <implements><xmpp:SupportedXep><xmpp:xep rdf:resource='https://xmpp.org/extensions/xep-{number:04}.html'/>\
                 <xmpp:status>complete</xmpp:status><xmpp:version>{version}</xmpp:version></xmpp:SupportedXep></implements>"
            )
            .unwrap();
        }
    }
    out.push_str("  </Project>\n</rdf:RDF>\n");
    out
}
