//! Puts the server's texts and the built widget into the binary. The texts: a table of each language's namespace `server` of
//! `messages/`. The widget: a table of all files of `widget/dist`, each with its compressed forms.
//! Node 20 makes brotli and gzip; zstd is made here. Without a built widget the table is empty, so that Rust alone can be built and tested.

use std::env;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    fs::write(out().join("messages.rs"), messages(&root.join("messages"))?)?;
    let dist = root.join("widget/dist");
    println!("cargo:rerun-if-changed={}", dist.display());
    let mut files = Vec::new();
    if let Ok(dist) = dist.canonicalize() {
        collect(&dist, &mut files)?;
        files.sort();
        files.retain(|file| is_asset(&dist, file));
        let table = table(&dist, &files)?;
        return fs::write(out().join("widget.rs"), table);
    }
    fs::write(out().join("widget.rs"), "&[]")
}

fn messages(folder: &Path) -> io::Result<String> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let language =
            file.file_stem().and_then(|stem| stem.to_str()).expect("a file is named after its language");
        let texts: serde_json::Value = serde_json::from_slice(&fs::read(&file)?)?;
        writeln!(table, "    ({language:?}, {:?}),", texts["server"].to_string())
            .expect("a String takes everything");
    }
    Ok(table + "]")
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// `kith.js`, `kith-sw.js` and what lies under `kith/`; a compressed form belongs to the file that it was made of.
fn is_asset(dist: &Path, file: &Path) -> bool {
    let compressed = file.extension().is_some_and(|extension| extension == "br" || extension == "gz");
    let path = address(dist, file);
    !compressed && (path == "/kith.js" || path == "/kith-sw.js" || path.starts_with("/kith/"))
}

fn address(dist: &Path, file: &Path) -> String {
    let relative = file.strip_prefix(dist).expect("it was found there");
    format!("/{}", relative.to_str().expect("the names of the widget's files are ASCII"))
}

fn table(dist: &Path, files: &[PathBuf]) -> io::Result<String> {
    let mut table = String::from("&[\n");
    for (number, file) in files.iter().enumerate() {
        let variant = |extension: &str| {
            let path = PathBuf::from(format!("{}.{extension}", file.display()));
            if path.is_file() { format!("Some(include_bytes!({path:?}))") } else { "None".to_owned() }
        };
        writeln!(
            table,
            "    Embedded {{ path: {:?}, bytes: include_bytes!({file:?}), brotli: {}, zstd: {}, gzip: {} }},",
            address(dist, file),
            variant("br"),
            zstd(file, number)?,
            variant("gz"),
        )
        .expect("a String takes everything");
    }
    Ok(table + "]")
}

/// The strongest level whose window every client must be able to hold (RFC 9659 §3).
const ZSTD_LEVEL: i32 = 19;

fn zstd(file: &Path, number: usize) -> io::Result<String> {
    let path = out().join(format!("{number}.zst"));
    fs::write(&path, zstd::bulk::compress(&fs::read(file)?, ZSTD_LEVEL)?)?;
    Ok(format!("Some(include_bytes!({path:?}))"))
}

fn out() -> PathBuf {
    PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"))
}
