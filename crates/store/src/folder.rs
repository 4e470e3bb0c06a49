//! The bytes of files in a folder: `SITE/BB/ID`. BB is the last byte of the id, so that no directory grows large.
//!
//! An upload is written at its final place. Its length is its progress, so no second record can disagree. The
//! renditions of a picture lie beside the upload and replace it once the file's row says so.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use chat::{Blob, Blobs, FileId, Rendition, SiteId};

/// Chat's [`Blobs`] in one folder.
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Creates the folder (mode 0700) if it does not exist.
    pub fn open(root: &Path) -> io::Result<Folder> {
        create_directory(root)?;
        Ok(Folder { root: root.to_owned() })
    }

    /// Names consist of numbers only: no text of a client gets into a path.
    fn path(&self, file: FileId, rendition: Rendition) -> PathBuf {
        let mut path = self.root.join(file.site.0.to_string());
        path.push(format!("{:02x}", file.number & 0xff));
        path.push(name(file, rendition));
        path
    }

    /// The stored file of a rendition.
    pub(crate) fn find(&self, file: FileId, rendition: Rendition) -> io::Result<Option<File>> {
        match File::open(self.path(file, rendition)) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&self, file: FileId, rendition: Rendition, options: &mut OpenOptions) -> io::Result<File> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let path = self.path(file, rendition);
        match options.open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                path.parent().map_or(Ok(()), create_directory)?;
                options.open(&path)
            }
            opened => opened,
        }
    }
}

impl Blobs for Folder {
    fn arrived(&self, file: FileId) -> io::Result<u64> {
        match fs::metadata(self.path(file, Rendition::Upload)) {
            Ok(found) => Ok(found.len()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn upload(&self, file: FileId) -> io::Result<File> {
        self.write(file, Rendition::Upload, OpenOptions::new().read(true).append(true).create(true))
    }

    fn create(&self, file: FileId, rendition: Rendition) -> io::Result<File> {
        self.write(file, rendition, OpenOptions::new().write(true).create(true).truncate(true))
    }

    fn open(&self, file: FileId, rendition: Rendition) -> io::Result<Box<dyn Blob>> {
        let opened = File::open(self.path(file, rendition))?;
        let bytes = opened.metadata()?.len();
        Ok(Box::new(Opened { file: opened, bytes }))
    }

    /// Nothing more to do: an upload is at its final place already.
    fn settle(&self, _: FileId) -> io::Result<()> {
        Ok(())
    }

    fn drop_upload(&self, file: FileId) -> io::Result<()> {
        remove_if_there(&self.path(file, Rendition::Upload))
    }

    fn remove(&self, file: FileId) -> io::Result<()> {
        for rendition in Rendition::ALL {
            remove_if_there(&self.path(file, rendition))?;
        }
        Ok(())
    }

    fn remove_other_sites(&self, sites: &[SiteId]) -> io::Result<()> {
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            let site = entry.file_name().to_str().and_then(|name| name.parse().ok()).map(SiteId);
            // Directories whose names are not numbers belong to others and are not removed.
            if site.is_some_and(|site| !sites.contains(&site)) && entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }
}

struct Opened {
    file: File,
    bytes: u64,
}

impl Blob for Opened {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, offset)
    }

    #[cfg(not(unix))]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }
}

/// The last part of a path, and of a key in a bucket.
pub(crate) fn name(file: FileId, rendition: Rendition) -> String {
    let ending = match rendition {
        Rendition::Upload => "",
        Rendition::Picture => ".picture",
        Rendition::Thumbnail => ".thumbnail",
    };
    format!("{:016x}{ending}", file.number)
}

pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
