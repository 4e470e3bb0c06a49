//! The bytes of files in a folder: written files exist, removed files do not, and other files stay untouched.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::asking;

use std::fs;
use std::io::Write;

use asking::Directory;
use chat::{Blobs, FileId, Rendition, SiteId};
use store::Folder;

fn id(site: u32, number: u64) -> FileId {
    FileId { site: SiteId(site), number }
}

#[test]
fn an_upload_goes_on_where_it_was() {
    let directory = Directory::quick();
    let folder = Folder::open(&directory.path().join("files")).unwrap();
    let file = id(1, 0xabcd);
    assert_eq!(folder.arrived(file).unwrap(), 0);
    folder.upload(file).unwrap().write_all(b"one ").unwrap();
    let again = Folder::open(&directory.path().join("files")).unwrap();
    assert_eq!(again.arrived(file).unwrap(), 4);
    again.upload(file).unwrap().write_all(b"two").unwrap();
    let blob = folder.open(file, Rendition::Upload).unwrap();
    let mut bytes = [0; 5];
    blob.read_at(&mut bytes, 2).unwrap();
    assert_eq!((blob.bytes(), &bytes), (7, b"e two"));
    assert!(blob.read_at(&mut bytes, 3).is_err(), "there is not so much");
    assert_eq!(folder.arrived(id(2, 0xabcd)).unwrap(), 0, "of another site");
}

#[test]
fn renditions_take_the_place_of_an_upload() {
    let directory = Directory::quick();
    let folder = Folder::open(directory.path()).unwrap();
    let file = id(1, 7);
    folder.upload(file).unwrap().write_all(b"from the camera").unwrap();
    for text in ["anew, and longer", "anew"] {
        folder.create(file, Rendition::Picture).unwrap().write_all(text.as_bytes()).unwrap();
    }
    folder.drop_upload(file).unwrap();
    assert!(folder.open(file, Rendition::Upload).is_err());
    assert_eq!(folder.open(file, Rendition::Picture).unwrap().bytes(), 4);
    folder.remove(file).unwrap();
    folder.remove(file).unwrap();
    assert!(folder.open(file, Rendition::Picture).is_err());
}

#[test]
fn files_of_removed_sites_are_deleted_and_foreign_files_stay() {
    let directory = Directory::quick();
    let folder = Folder::open(directory.path()).unwrap();
    for site in [1, 2] {
        folder.upload(id(site, 1)).unwrap().write_all(b"x").unwrap();
    }
    fs::create_dir(directory.path().join("lost+found")).unwrap();
    folder.remove_other_sites(&[SiteId(2)]).unwrap();
    assert_eq!((folder.arrived(id(1, 1)).unwrap(), folder.arrived(id(2, 1)).unwrap()), (0, 1));
    assert!(directory.path().join("lost+found").is_dir());
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_the_folder() {
    use std::os::unix::fs::PermissionsExt;
    let directory = Directory::quick();
    let root = directory.path().join("files");
    let folder = Folder::open(&root).unwrap();
    folder.upload(id(1, 1)).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&root), 0o700);
    assert_eq!(mode(&root.join("1/01")), 0o700);
    assert_eq!(mode(&root.join("1/01/0000000000000001")), 0o600);
}
