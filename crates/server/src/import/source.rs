//! The file of an import: read in parts, with a checkpoint from which an interrupted import continues.
//!
//! The checkpoint is a small file in the data directory, one per site. It is valid for a file that begins with the same bytes (their
//! SHA-256), for the same site in the same database. Without a valid one, the file is read from the beginning, which is slower and
//! has no other effect.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use chat::Site;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use web::IMPORT_LINE_BYTES;

use super::Totals;
use crate::trouble::{Outcome, Trouble};

pub(super) struct Source {
    input: Box<dyn BufRead>,
    name: PathBuf,
    /// None: standard input, which cannot be read again.
    checkpoint: Option<PathBuf>,
    bytes: Option<u64>,
    /// Hash of all imported lines so far.
    hash: Context,
    reached: Checkpoint,
}

/// Position of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Checkpoint {
    site: u32,
    /// When the site was added, because another database may have another site under its number.
    site_created: u64,
    epoch: u32,
    sha256: String,
    offset: u64,
    line: u64,
    totals: Totals,
}

/// A part of the file.
pub(super) struct Part {
    /// With their numbers; without empty ones.
    pub(super) lines: Vec<(u64, Vec<u8>)>,
    /// All bytes, including empty lines.
    read: Vec<u8>,
    until_line: u64,
}

impl Source {
    pub(super) fn open(name: &Path, dir: &Path, site: &Site, epoch: u32) -> Outcome<Source> {
        let begin = Checkpoint {
            site: site.id.0,
            site_created: site.created.0,
            epoch,
            sha256: String::new(),
            offset: 0,
            line: 0,
            totals: Totals::default(),
        };
        let hash = Context::new(&SHA256);
        if name.to_str() == Some("-") {
            let input = Box::new(BufReader::new(io::stdin()));
            let name = name.to_owned();
            return Ok(Source { input, name, checkpoint: None, bytes: None, hash, reached: begin });
        }
        let unreadable = |error: io::Error| {
            Trouble::new(format!("cannot read {}", name.display()))
                .because(error)
                .remedy("name a file of JSON lines, or - for standard input")
        };
        let mut file = File::open(name).map_err(unreadable)?;
        let bytes = file.metadata().map_err(unreadable)?.len();
        let path = dir.join(format!("import-{}.json", site.key));
        let (hash, reached) = match resume(&mut file, &path, &begin).map_err(unreadable)? {
            Some(found) => found,
            None => {
                file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
                (hash, begin)
            }
        };
        if reached.line > 0 {
            eprintln!("continuing after line {}, the last one imported before", reached.line);
        }
        let input = Box::new(BufReader::with_capacity(1 << 20, file));
        Ok(Source { input, name: name.to_owned(), checkpoint: Some(path), bytes: Some(bytes), hash, reached })
    }

    pub(super) fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    pub(super) fn line(&self) -> u64 {
        self.reached.line
    }

    pub(super) fn offset(&self) -> u64 {
        self.reached.offset
    }

    /// The next lines; None at the end. A line that is too long is cut, so it is refused, and the import continues after it.
    pub(super) fn next(&mut self, lines: usize, bytes: usize) -> Outcome<Option<Part>> {
        let mut part = Part { lines: Vec::new(), read: Vec::new(), until_line: self.reached.line };
        let mut held = 0;
        while part.lines.len() < lines && held + IMPORT_LINE_BYTES <= bytes {
            let begin = part.read.len();
            let length = self.input.read_until(b'\n', &mut part.read).map_err(|error| self.unread(&error))?;
            if length == 0 {
                break;
            }
            part.until_line += 1;
            let line = part.read[begin..].trim_ascii();
            let line = &line[..line.len().min(IMPORT_LINE_BYTES + 1)];
            if !line.is_empty() {
                held += line.len() + 1;
                part.lines.push((part.until_line, line.to_vec()));
            }
        }
        Ok((part.until_line > self.reached.line).then_some(part))
    }

    /// The part is stored.
    pub(super) fn done(&mut self, part: &Part, totals: Totals) -> Outcome {
        self.hash.update(&part.read);
        self.reached.sha256 = hex(&self.hash);
        self.reached.offset += part.read.len() as u64;
        self.reached.line = part.until_line;
        self.reached.totals.add(totals);
        let Some(path) = &self.checkpoint else { return Ok(()) };
        let aside = path.with_extension("new");
        let json = serde_json::to_vec(&self.reached).expect("it is plain data");
        fs::write(&aside, json).and_then(|()| fs::rename(&aside, path)).map_err(|error| {
            Trouble::new(format!("cannot write {}", path.display()))
                .because(error)
                .remedy("free some disk space and import the file again; imported lines do not change")
        })
    }

    /// The whole file is stored: the next import begins at the first line.
    pub(super) fn finish(self) -> Outcome<Totals> {
        if let Some(path) = &self.checkpoint {
            let _ = fs::remove_file(path);
        }
        Ok(self.reached.totals)
    }

    fn unread(&self, error: &io::Error) -> Trouble {
        Trouble::new(format!("cannot read after line {} of {}", self.reached.line, self.name.display()))
            .because(error)
            .remedy("import the file again; it continues after this line")
    }
}

/// None: no checkpoint, or one of another file, site or database.
fn resume(file: &mut File, path: &Path, begin: &Checkpoint) -> io::Result<Option<(Context, Checkpoint)>> {
    let Some(found) = fs::read(path).ok().and_then(|json| serde_json::from_slice::<Checkpoint>(&json).ok())
    else {
        return Ok(None);
    };
    let of = |one: &Checkpoint| (one.site, one.site_created, one.epoch);
    if of(&found) != of(begin) || file.metadata()?.len() < found.offset {
        return Ok(None);
    }
    let mut hash = Context::new(&SHA256);
    let (mut left, mut piece) = (found.offset, vec![0; 1 << 20]);
    while left > 0 {
        let most = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = file.read(&mut piece[..most])?;
        if read == 0 {
            return Ok(None);
        }
        hash.update(&piece[..read]);
        left -= read as u64;
    }
    Ok((hex(&hash) == found.sha256).then_some((hash, found)))
}

fn hex(hash: &Context) -> String {
    hash.clone().finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("kith-source-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Scratch(path)
        }

        fn open(&self, epoch: u32) -> Source {
            let site = Site {
                id: chat::SiteId(1),
                key: "garden".into(),
                name: "Garden".into(),
                mode: chat::Mode::Open,
                guests: false,
                origins: Vec::new(),
                secrets: Vec::new(),
                guest_keys: Vec::new(),
                public_url: None,
                domain: None,
                settings: chat::Settings::default(),
                created: chat::Timestamp(1),
            };
            Source::open(&self.0.join("file"), &self.0, &site, epoch).unwrap()
        }

        fn write(&self, text: &str) {
            fs::write(self.0.join("file"), text).unwrap();
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn first(source: &mut Source, lines: usize) -> Option<u64> {
        source.next(lines, 1 << 20).unwrap()?.lines.first().map(|(number, _)| *number)
    }

    #[test]
    fn an_import_continues_after_the_stored_lines_of_the_same_file() {
        let scratch = Scratch::new("resume");
        scratch.write("a\n\nb\nc\n");
        let mut source = scratch.open(1);
        let part = source.next(2, 1 << 20).unwrap().unwrap();
        assert_eq!(part.lines, [(1, b"a".to_vec()), (3, b"b".to_vec())]);
        let totals = Totals { added: 2, ..Totals::default() };
        source.done(&part, totals).unwrap();
        drop(source);
        assert_eq!(first(&mut scratch.open(1), 9), Some(4));
        assert_eq!(first(&mut scratch.open(2), 9), Some(1), "a restored backup");
        scratch.write("a\n\nb\nc\nd\n");
        assert_eq!(first(&mut scratch.open(1), 9), Some(4), "it has grown");
        scratch.write("x\n\nb\nc\n");
        assert_eq!(first(&mut scratch.open(1), 9), Some(1), "another beginning");
        scratch.write("a\n\nb\nc\n");
        let mut source = scratch.open(1);
        let part = source.next(9, 1 << 20).unwrap().unwrap();
        source.done(&part, totals).unwrap();
        assert!(source.next(9, 1 << 20).unwrap().is_none());
        assert_eq!(source.finish().unwrap().added, 4);
        assert_eq!(first(&mut scratch.open(1), 9), Some(1), "the next import begins anew");
    }

    #[test]
    fn a_part_is_bounded_in_lines_and_bytes() {
        let scratch = Scratch::new("bounds");
        let long = "x".repeat(IMPORT_LINE_BYTES * 3);
        scratch.write(&format!("{long}\ny\n{long}\n"));
        let mut source = scratch.open(1);
        let part = source.next(9, IMPORT_LINE_BYTES * 2).unwrap().unwrap();
        assert_eq!(part.lines.len(), 1, "the bytes are used up");
        assert_eq!(part.lines[0].1.len(), IMPORT_LINE_BYTES + 1, "cut, so that it is refused");
    }
}
