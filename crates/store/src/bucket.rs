//! The bytes of files in a bucket of S3, or of what speaks its language.
//!
//! There is nothing to append to in a bucket, and an upload must not wait for one: so all is written into a [`Folder`]
//! first. What is complete gets a mark, and is moved by a thread of its own ([`Bucket::move_settled`]). Until then it is
//! read from the folder, so a bucket that is away for a while delays nobody but those who read what is there already.
//!
//! Keys are `SITE/ID`, as in the folder, behind the operator's prefix.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chat::{Blob, Blobs, FileId, Rendition, SiteId};

use crate::folder::{self, Folder};

mod remote;

pub use remote::{BucketPlace, KeyPair};
use remote::{Object, Remote};

/// After so many that could not be moved, a round ends: the bucket is away, and the rest can wait too.
const FAILURES: usize = 3;

/// Chat's [`Blobs`] in a bucket, with a folder before it.
pub struct Bucket {
    folder: Folder,
    /// An empty file for each one that is complete and not moved yet, `SITE-ID`.
    marks: PathBuf,
    remote: Arc<Remote>,
}

impl Bucket {
    /// Creates the folder where it does not exist. Nothing is asked of the bucket yet.
    ///
    /// # Errors
    /// Of the folder; and [`ErrorKind::InvalidInput`] where the place is none that can be called.
    pub fn open(root: &Path, place: &BucketPlace, keys: KeyPair) -> io::Result<Bucket> {
        let folder = Folder::open(root)?;
        let marks = root.join("moving");
        folder::create_directory(&marks)?;
        Ok(Bucket { folder, marks, remote: Arc::new(Remote::new(place, keys)?) })
    }

    /// Asks the bucket for something that is not there. Blocks, for some seconds at most.
    ///
    /// # Errors
    /// It cannot be reached, or does not know us.
    pub fn try_it(&self) -> io::Result<()> {
        self.remote.sites().map(drop)
    }

    /// Moves what is complete, and answers how many files that were. Blocks for as long as that takes; what is under way when the process
    /// ends is moved by the next one, as an object is in a bucket wholly or not at all.
    ///
    /// # Errors
    /// The first that came, after the others were tried, too.
    pub fn move_settled(&self) -> io::Result<usize> {
        let (mut moved, mut failures) = (0, Vec::new());
        for entry in fs::read_dir(&self.marks)? {
            let entry = entry?;
            let Some(file) = entry.file_name().to_str().and_then(marked) else { continue };
            match self.move_one(file, &entry.path()) {
                Ok(()) => moved += 1,
                Err(error) => failures.push(error),
            }
            if failures.len() == FAILURES {
                break;
            }
        }
        failures.into_iter().next().map_or(Ok(moved), Err)
    }

    fn move_one(&self, file: FileId, mark: &Path) -> io::Result<()> {
        for rendition in Rendition::ALL {
            if let Some(bytes) = self.folder.find(file, rendition)? {
                self.remote.put(&key(file, rendition), &bytes)?;
            }
        }
        // Somebody may have removed it meanwhile: the mark goes first then, and what was put after that is ours to remove.
        if !mark.try_exists()? {
            return self.remote.remove_all(file);
        }
        self.folder.remove(file)?;
        folder::remove_if_there(mark)
    }

    fn mark(&self, file: FileId) -> PathBuf {
        self.marks.join(format!("{}-{:016x}", file.site.0, file.number))
    }
}

impl Blobs for Bucket {
    fn arrived(&self, file: FileId) -> io::Result<u64> {
        self.folder.arrived(file)
    }

    fn upload(&self, file: FileId) -> io::Result<fs::File> {
        self.folder.upload(file)
    }

    fn create(&self, file: FileId, rendition: Rendition) -> io::Result<fs::File> {
        self.folder.create(file, rendition)
    }

    fn open(&self, file: FileId, rendition: Rendition) -> io::Result<Box<dyn Blob>> {
        match self.folder.open(file, rendition) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            opened => return opened,
        }
        let key = key(file, rendition);
        let bytes = self.remote.bytes(&key)?;
        Ok(Box::new(Distant { remote: Arc::clone(&self.remote), key, bytes, reading: Mutex::new(None) }))
    }

    /// A mark that a crash takes away costs nothing: the bytes are served from the folder then.
    fn settle(&self, file: FileId) -> io::Result<()> {
        fs::File::create(self.mark(file)).map(drop)
    }

    fn drop_upload(&self, file: FileId) -> io::Result<()> {
        self.folder.drop_upload(file)
    }

    fn remove(&self, file: FileId) -> io::Result<()> {
        folder::remove_if_there(&self.mark(file))?;
        self.folder.remove(file)?;
        self.remote.remove_all(file)
    }

    fn remove_other_sites(&self, sites: &[SiteId]) -> io::Result<()> {
        self.folder.remove_other_sites(sites)?;
        for lost in self.remote.sites()?.into_iter().filter(|site| !sites.contains(site)) {
            self.remote.remove_site(lost)?;
        }
        Ok(())
    }
}

/// An object in the bucket, read from front to back with one request.
struct Distant {
    remote: Arc<Remote>,
    key: String,
    bytes: u64,
    /// The answer that is being read, and how far.
    reading: Mutex<Option<(u64, Object)>>,
}

impl Blob for Distant {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, mut object)) = reading.take()
            && at == offset
            && object.read_exact(buffer).is_ok()
        {
            *reading = Some((at + buffer.len() as u64, object));
            return Ok(());
        }
        // The first piece, or another place; or the bucket has given up a reader who was slow: asked again, once.
        let mut object = self.remote.get(&self.key, offset)?;
        object.read_exact(buffer)?;
        *reading = Some((offset + buffer.len() as u64, object));
        Ok(())
    }
}

fn key(file: FileId, rendition: Rendition) -> String {
    format!("{}/{}", file.site.0, folder::name(file, rendition))
}

fn marked(name: &str) -> Option<FileId> {
    let (site, number) = name.split_once('-')?;
    Some(FileId { site: SiteId(site.parse().ok()?), number: u64::from_str_radix(number, 16).ok()? })
}
