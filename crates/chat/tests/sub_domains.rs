//! The parts of the domain depend on each other in one direction: `docs/design/house.md` has the order.
//!
//! The test reads the sources, because Cargo enforces no walls inside a crate. An import from the crate's
//! root counts as one from the part of that name. Tests inside a file may use any part.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// From the lowest to the highest: a part uses only earlier ones.
const PARTS: [&str; 13] = [
    "site",
    "session",
    "users",
    "presence",
    "contacts",
    "notifications",
    "moderation",
    "calls",
    "rooms",
    "messages",
    "account",
    "import",
    "sign_in",
];

#[test]
fn each_part_uses_only_lower_ones() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let part_by_root_name = root_names(&fs::read_to_string(sources.join("lib.rs")).unwrap());
    let mut from_above = BTreeSet::new();
    for (at, part) in PARTS.iter().enumerate() {
        let files = rust_files(&sources.join(part));
        assert!(!files.is_empty(), "{part} has moved: say so here");
        for file in files {
            for used in used_names(&fs::read_to_string(&file).unwrap()) {
                let first = used.split("::").nth(1).unwrap_or_default();
                let of = part_by_root_name.get(first).map_or(first, String::as_str);
                let is_above = PARTS.iter().position(|part| *part == of).is_some_and(|other| other > at);
                if is_above {
                    from_above.insert(((*part).to_owned(), used));
                }
            }
        }
    }
    assert!(from_above.is_empty(), "a part uses a higher one, which makes a circle: {from_above:#?}");
}

/// Vocabulary of all parts, and their wiring. These files keep no state of a part.
const SHARED: [&str; 19] = [
    "address.rs",
    "call_entry.rs",
    "command.rs",
    "config.rs",
    "contact_list.rs",
    "event.rs",
    "file.rs",
    "id.rs",
    "lib.rs",
    "limits.rs",
    "node",
    "observer.rs",
    "privacy.rs",
    "refusal.rs",
    "relation.rs",
    "rng.rs",
    "serialize.rs",
    "stats.rs",
    "store.rs",
];

#[test]
fn everything_else_is_shared_by_all() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let there: BTreeSet<String> = fs::read_dir(sources)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let listed = PARTS.iter().chain(&SHARED).map(|name| (*name).to_owned()).collect();
    assert_eq!(there, listed, "a new part has a place in the order");
}

/// The part from which each name of the crate's root comes.
fn root_names(lib: &str) -> BTreeMap<String, String> {
    let exports = lib.split("\npub use ").skip(1).filter_map(|rest| rest.split_once(';'));
    let paths = exports.flat_map(|(path, _)| flattened(path));
    paths
        .filter_map(|path| {
            let name = path.rsplit("::").next()?.to_owned();
            Some((name, path.split("::").next()?.to_owned()))
        })
        .collect()
}

/// Paths that begin with `crate::`, of imports and of the code.
fn used_names(source: &str) -> Vec<String> {
    let code: String = source
        .split("\n#[cfg(test)]")
        .next()
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut used = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let is_path =
            code[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '$');
        let rest = &code[at..];
        let is_import = code[..at].ends_with("use ");
        match rest.split_once(';').filter(|_| is_import) {
            Some((import, _)) => used.extend(flattened(import)),
            None if is_path => {
                let end =
                    rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(rest.len());
                used.push(rest[..end].trim_end_matches(':').to_owned());
            }
            None => {}
        }
    }
    used
}

/// `a::{b, c::{d}}` as `a::b`, `a::c::d`.
fn flattened(path: &str) -> Vec<String> {
    let path: String = path.split_whitespace().collect();
    let Some((prefix, inner)) = path.split_once('{') else { return vec![path] };
    let inner = inner.strip_suffix('}').expect("rustfmt has closed it");
    let mut all = Vec::new();
    let (mut depth, mut begin) = (0, 0);
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let one = &inner[begin..at];
                begin = at + 1;
                if !one.is_empty() {
                    all.extend(flattened(&format!("{prefix}{one}")));
                }
            }
            _ => {}
        }
    }
    all
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
    files
}
