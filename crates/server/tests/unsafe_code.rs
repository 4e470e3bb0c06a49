//! Checks that unsafe code exists in one file only.

use std::fs;
use std::path::{Path, PathBuf};

/// Each unsafe block there has a comment that proves it sound.
const MAY: &str = "crates/edge/src/system.rs";

#[test]
fn one_file_has_unsafe_code_and_each_place_has_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"deny\""));
    let mut sources = Vec::new();
    collect(&root.join("crates"), &mut sources);
    assert!(sources.len() > 100, "{}", sources.len());
    let allows = |path: &&PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        text.lines().any(|line| line.starts_with("#") && line.contains("allow(unsafe_code)"))
    };
    let allowing: Vec<_> = sources.iter().filter(allows).collect();
    assert_eq!(allowing, [&root.join(MAY)]);

    let text = fs::read_to_string(root.join(MAY)).unwrap();
    let places = text.lines().filter(|line| line.trim_start().contains("unsafe { ")).count();
    assert_eq!(places, text.matches("// SAFETY: ").count());
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}
