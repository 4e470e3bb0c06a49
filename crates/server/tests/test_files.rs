//! Holds each crate to the tests that it has: a file of tests that no binary includes would never run.

use std::fs;
use std::path::Path;

#[test]
fn each_file_of_tests_is_part_of_a_binary() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = 0;
    let mut forgotten = Vec::new();
    for folder in fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path()) {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        // Elsewhere Cargo makes a binary of each file.
        if !manifest.contains("\nautotests = false") {
            continue;
        }
        let paths: Vec<&str> =
            manifest.lines().filter_map(|line| line.strip_prefix("path = \"tests/")).collect();
        let binaries: Vec<String> = paths
            .iter()
            .map(|path| fs::read_to_string(folder.join("tests").join(path.trim_end_matches('"'))).unwrap())
            .collect();
        for entry in fs::read_dir(folder.join("tests")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let Some(module) = name.strip_suffix(".rs") else { continue };
            found += 1;
            let own = paths.contains(&format!("{name}\"").as_str());
            let line = format!("mod {module};");
            if !own && !binaries.iter().any(|binary| binary.lines().any(|one| one == line)) {
                forgotten.push(folder.join("tests").join(&name));
            }
        }
    }
    assert!(found > 80, "the files of tests are elsewhere now: {found}");
    assert_eq!(forgotten, Vec::<std::path::PathBuf>::new(), "add `mod …;` to the binary");
}
