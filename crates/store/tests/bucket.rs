//! The bytes of files in a bucket, against another project's S3 server. Complete files are moved, read from the bucket,
//! and removed; if a move fails, the file stays and is read from the disk.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::asking;

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use asking::Directory;
use chat::{Blobs, FileId, Rendition, SiteId};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use store::{Bucket, BucketPlace, KeyPair};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

const ID: &str = "AKIAIOSFODNN7EXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

/// A server with one bucket, `files`, whose objects are files of a directory. It ends when it is dropped.
struct Server {
    objects: PathBuf,
    endpoint: String,
    runtime: Runtime,
}

impl Server {
    fn start(directory: &Directory) -> Server {
        let root = directory.path().join("server");
        let objects = root.join("files");
        fs::create_dir_all(&objects).unwrap();
        let mut service = S3ServiceBuilder::new(s3s_fs::FileSystem::new(root).unwrap());
        service.set_auth(SimpleAuth::from_single(ID, SECRET));
        let service = service.build();
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let service = service.clone();
                tokio::spawn(async move {
                    // A connection that the client ends is no failure.
                    let _ = Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(socket), service)
                        .await;
                });
            }
        });
        Server { objects, endpoint, runtime }
    }

    fn bucket(&self, directory: &Directory) -> Bucket {
        open(directory, &self.endpoint, SECRET)
    }

    /// Names of all objects, sorted.
    fn names(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut left = vec![self.objects.clone()];
        while let Some(next) = left.pop() {
            for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
                match entry.file_type().unwrap().is_dir() {
                    true => left.push(entry.path()),
                    false => found
                        .push(entry.path().strip_prefix(&self.objects).unwrap().to_str().unwrap().to_owned()),
                }
            }
        }
        found.sort();
        found
    }

    fn end(self) {
        self.runtime.shutdown_background();
    }
}

fn open(directory: &Directory, endpoint: &str, secret: &str) -> Bucket {
    let place = BucketPlace {
        endpoint: endpoint.to_owned(),
        name: "files".into(),
        region: "us-east-1".into(),
        in_path: true,
        prefix: "kith/".into(),
    };
    let keys = KeyPair { id: ID.into(), secret: secret.into() };
    Bucket::open(&directory.path().join("node"), &place, keys).unwrap()
}

fn id(site: u32, number: u64) -> FileId {
    FileId { site: SiteId(site), number }
}

fn read(bucket: &Bucket, file: FileId, rendition: Rendition) -> Vec<u8> {
    let blob = bucket.open(file, rendition).unwrap();
    let mut bytes = vec![0; usize::try_from(blob.bytes()).unwrap()];
    blob.read_at(&mut bytes, 0).unwrap();
    bytes
}

#[test]
fn what_is_complete_is_moved_and_read_from_there() {
    let directory = Directory::quick();
    let server = Server::start(&directory);
    let bucket = server.bucket(&directory);
    let (text, picture, begun) = (id(7, 0xabcd), id(7, 2), id(7, 3));
    bucket.upload(text).unwrap().write_all(b"a letter").unwrap();
    bucket.upload(begun).unwrap().write_all(b"half of").unwrap();
    bucket.upload(picture).unwrap().write_all(b"from the camera").unwrap();
    bucket.create(picture, Rendition::Picture).unwrap().write_all(b"anew").unwrap();
    bucket.create(picture, Rendition::Thumbnail).unwrap().write_all(b"small").unwrap();
    bucket.drop_upload(picture).unwrap();
    for complete in [text, picture, text] {
        bucket.settle(complete).unwrap();
    }
    assert_eq!(read(&bucket, text, Rendition::Upload), b"a letter", "before it is moved");
    assert_eq!(bucket.move_settled().unwrap(), 2);
    assert_eq!(bucket.move_settled().unwrap(), 0, "all is done");
    let there =
        ["kith/7/0000000000000002.picture", "kith/7/0000000000000002.thumbnail", "kith/7/000000000000abcd"];
    assert_eq!(server.names(), there);
    assert!(!directory.path().join("node/7/cd/000000000000abcd").exists(), "it lies in one place");
    // A started upload continues here.
    assert_eq!(bucket.arrived(begun).unwrap(), 7);
    // Like a restarted node.
    let bucket = server.bucket(&directory);
    assert_eq!(read(&bucket, text, Rendition::Upload), b"a letter");
    assert_eq!(read(&bucket, picture, Rendition::Thumbnail), b"small");
    assert_eq!(bucket.open(picture, Rendition::Upload).err().unwrap().kind(), ErrorKind::NotFound);
}

#[test]
fn pieces_are_read_in_any_order_and_never_beyond_the_end() {
    let directory = Directory::quick();
    let server = Server::start(&directory);
    let bucket = server.bucket(&directory);
    let bytes: Vec<u8> = (0..700_000_u32).map(|at| (at % 251) as u8).collect();
    bucket.upload(id(1, 1)).unwrap().write_all(&bytes).unwrap();
    bucket.settle(id(1, 1)).unwrap();
    bucket.move_settled().unwrap();
    let blob = bucket.open(id(1, 1), Rendition::Upload).unwrap();
    assert_eq!(blob.bytes(), 700_000);
    for at in [0, 128 * 1024, 256 * 1024, 17, 699_000 - 128 * 1024, 0] {
        let mut piece = vec![0; 128 * 1024];
        blob.read_at(&mut piece, at as u64).unwrap();
        assert!(piece == bytes[at..at + piece.len()], "from {at}");
    }
    assert!(blob.read_at(&mut [0; 2], 699_999).is_err(), "there is one byte left");
    assert!(blob.read_at(&mut [0; 1], 700_000).is_err(), "there is none");
}

#[test]
fn a_removed_file_is_gone_from_all_places() {
    let directory = Directory::quick();
    let server = Server::start(&directory);
    let bucket = server.bucket(&directory);
    for site in [1, 2, 12] {
        for number in [1, 2] {
            bucket.upload(id(site, number)).unwrap().write_all(b"x").unwrap();
            bucket.settle(id(site, number)).unwrap();
        }
    }
    bucket.remove(id(1, 2)).unwrap();
    assert_eq!(bucket.move_settled().unwrap(), 5, "what was removed before is not moved");
    bucket.remove(id(2, 2)).unwrap();
    bucket.remove(id(2, 2)).unwrap();
    fs::create_dir(server.objects.join("kith/of others")).unwrap();
    fs::write(server.objects.join("kith/of others/1"), "x").unwrap();
    bucket.remove_other_sites(&[SiteId(2), SiteId(3)]).unwrap();
    assert_eq!(server.names(), ["kith/2/0000000000000001", "kith/of others/1"]);
}

#[test]
fn while_the_bucket_is_away_files_wait_and_are_read() {
    let directory = Directory::quick();
    let server = Server::start(&directory);
    let endpoint = server.endpoint.clone();
    server.end();
    let bucket = open(&directory, &endpoint, SECRET);
    for number in 1..=9 {
        bucket.upload(id(1, number)).unwrap().write_all(b"patient").unwrap();
        bucket.settle(id(1, number)).unwrap();
    }
    assert!(bucket.check().is_err());
    assert!(bucket.move_settled().is_err());
    assert_eq!(read(&bucket, id(1, 9), Rendition::Upload), b"patient");
    let server = Server::start(&directory);
    let bucket = server.bucket(&directory);
    bucket.check().unwrap();
    assert_eq!(bucket.move_settled().unwrap(), 9);
    assert_eq!(server.names().len(), 9);
}

#[test]
fn a_wrong_key_is_reported_as_such() {
    let directory = Directory::quick();
    let server = Server::start(&directory);
    let bucket = open(&directory, &server.endpoint, "another secret");
    let error = bucket.check().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
    assert!(!error.to_string().contains("X-Amz"), "no signature is in what is told: {error}");
    let keys = KeyPair { id: ID.into(), secret: SECRET.into() };
    assert!(!format!("{keys:?}").contains(SECRET));
}
