//! The bytes of files in a bucket of S3, or of a service with the same API.
//!
//! A bucket has no append operation, and an upload must not wait for it. So every upload goes into a [`Folder`] first.
//! A complete file gets a mark, and a separate thread moves it ([`Bucket::move_settled`]). Until then the file is read
//! from the folder. A bucket that is unavailable for a while delays only readers of files that were moved before.
//!
//! Keys are `SITE/ID`, as in the folder, after the operator's prefix.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chat::{Blob, Blobs, FileId, Rendition, SiteId};

use crate::folder::{self, Folder};

mod remote;

pub use remote::{BucketPlace, KeyPair};
use remote::{Object, Remote};

/// A round ends after this number of failed files: the bucket is probably unavailable, and the rest can wait.
const FAILURES: usize = 3;

/// Chat's [`Blobs`] in a bucket, with a folder for uploads.
pub struct Bucket {
    folder: Folder,
    /// The directory of marks: an empty file `SITE-ID` for each file that is complete and not moved yet.
    marks: PathBuf,
    remote: Arc<Remote>,
}

impl Bucket {
    /// Creates the folder if it does not exist. Sends no request to the bucket yet.
    ///
    /// # Errors Errors of the folder, and [`ErrorKind::InvalidInput`] if `place` is not a valid address.
    pub fn open(root: &Path, place: &BucketPlace, keys: KeyPair) -> io::Result<Bucket> {
        let folder = Folder::open(root)?;
        let marks = root.join("moving");
        folder::create_directory(&marks)?;
        Ok(Bucket { folder, marks, remote: Arc::new(Remote::new(place, keys)?) })
    }

    /// Checks the connection: asks the bucket for a key that does not exist. Blocks, for some seconds at most.
    ///
    /// # Errors The bucket cannot be reached, or refuses the credentials.
    pub fn check(&self) -> io::Result<()> {
        self.remote.sites().map(drop)
    }

    /// Moves complete files and returns their number. Blocks until it is done. If the process ends meanwhile, the next
    /// one moves the rest: an object is in a bucket completely or not at all.
    ///
    /// # Errors The first error, after the other files were tried.
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
        // Another thread may have removed the file meanwhile. It removes the mark first, so the objects put after that
        // must be removed here.
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
        Ok(Box::new(RemoteBlob { remote: Arc::clone(&self.remote), key, bytes, reading: Mutex::new(None) }))
    }

    /// If a crash loses a mark, the file stays in the folder and is served from there.
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
struct RemoteBlob {
    remote: Arc<Remote>,
    key: String,
    bytes: u64,
    /// The response that is being read, and the offset of its next byte.
    reading: Mutex<Option<(u64, Object)>>,
}

impl Blob for RemoteBlob {
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
        // The first read, a jump to another offset, or a slow reader whose connection the bucket closed: send one new
        // request.
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
