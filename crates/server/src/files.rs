//! The files of a node: their storage, the secret of their links, and their removal.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use axum::Router;
use chat::{Blobs, FileLimits, Node};
use rand::RngCore;
use store::{Bucket, BucketPlace, Folder, KeyPair};
use web::files::{Files, Links, PictureQueue};

use crate::clock_jumps::ClockJumps;
use crate::config;
use crate::config::Config;
use crate::trouble::{Outcome, Trouble};
use crate::xmpp::FilesOfApps;

/// Inside the data directory.
pub(crate) const FOLDER: &str = "files";
pub(crate) const SECRET: &str = "files.secret";

/// Storage and links of a node's files.
pub(crate) struct Place {
    pub(crate) blobs: Arc<dyn Blobs>,
    /// The same storage, if it is a bucket.
    pub(crate) bucket: Option<Arc<Bucket>>,
    pub(crate) links: Links,
}

/// The folder of a node's files.
pub(crate) fn folder(config: &Config) -> PathBuf {
    match config.files.folder.as_str() {
        "" => config.data.join(FOLDER),
        folder => PathBuf::from(folder),
    }
}

/// Creates both if they are missing. `of_cluster`: the secret of links that all nodes of a cluster have.
pub(crate) fn open(config: &Config, of_cluster: Option<[u8; 32]>) -> Outcome<Place> {
    let root = folder(config);
    let trouble = |error: io::Error| {
        Trouble::new(format!("cannot keep files in {}", root.display()))
            .because(error)
            .remedy("let the user of kith write there, or set files.file_bytes = 0")
    };
    let bucket = match config.files.bucket.is_empty() {
        true => None,
        false => Some(Arc::new(bucket(&config.files, &root)?)),
    };
    let blobs: Arc<dyn Blobs> = match &bucket {
        Some(bucket) => Arc::clone(bucket) as Arc<dyn Blobs>,
        None => Arc::new(Folder::open(&root).map_err(trouble)?),
    };
    let secret = match of_cluster {
        Some(secret) => secret,
        None => secret(&config.data.join(SECRET)).map_err(trouble)?,
    };
    Ok(Place { blobs, bucket, links: links(config, secret) })
}

/// Links that this secret signs.
pub(crate) fn links(config: &Config, secret: [u8; 32]) -> Links {
    Links::new(secret, &config.files.url, config.files.link_life.as_millis(), crate::now)
}

fn bucket(files: &config::Files, root: &Path) -> Outcome<Bucket> {
    let place = BucketPlace {
        endpoint: files.bucket_endpoint.clone(),
        name: files.bucket.clone(),
        region: files.bucket_region.clone(),
        in_path: files.bucket_in_path,
        prefix: files.bucket_prefix.clone(),
    };
    let problem = || format!("cannot keep files in the bucket {} at {}", place.name, place.endpoint);
    let bucket = Bucket::open(root, &place, key_pair(Path::new(&files.bucket_key_file))?)
        .map_err(|error| Trouble::new(problem()).because(error).remedy(LOOK_AT))?;
    bucket.check().map_err(|error| Trouble::new(problem()).because(error).remedy(LOOK_AT))?;
    Ok(bucket)
}

const LOOK_AT: &str = "look at files.bucket, files.bucket_endpoint, files.bucket_region, files.bucket_in_path and the key in \
                       files.bucket_key_file: it needs to put, get, delete and list";

fn key_pair(path: &Path) -> Outcome<KeyPair> {
    let problem = || format!("cannot use the bucket's key in {}", path.display());
    let text = fs::read_to_string(path)
        .map_err(|error| Trouble::new(problem()).because(error).remedy("files.bucket_key_file names it"))?;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    match (lines.next(), lines.next(), lines.next()) {
        (Some(id), Some(secret), None) => Ok(KeyPair { id: id.into(), secret: secret.into() }),
        _ => Err(Trouble::new(problem()).remedy("write two lines: the id of the key and its secret")),
    }
}

/// Checks of a bucket's settings that need no request.
pub(crate) fn check(files: &config::Files) -> Outcome {
    let endpoint = &files.bucket_endpoint;
    let is_origin = endpoint.starts_with("https://") || endpoint.starts_with("http://");
    match (files.bucket.is_empty(), is_origin, files.bucket_key_file.is_empty()) {
        (true, _, _) if endpoint.is_empty() => Ok(()),
        (true, _, _) => Err(Trouble::new("files.bucket_endpoint is set, but files.bucket names no bucket")
            .remedy("set files.bucket to its name")),
        (false, false, _) => Err(Trouble::new(format!("files.bucket_endpoint may not be {endpoint:?}"))
            .remedy(
                "set the address of the bucket's service, for example https://s3.eu-west-1.amazonaws.com",
            )),
        (false, true, true) => Err(Trouble::new("files.bucket needs a key")
            .remedy("set files.bucket_key_file to a file with two lines: the id of the key and its secret")),
        (false, true, false) => Ok(()),
    }
}

/// Moves complete files into the bucket at intervals. The thread ends with the process; the next process repeats an interrupted
/// move.
pub(crate) fn begin_moving(bucket: Arc<Bucket>) -> io::Result<()> {
    let go_on = move || {
        loop {
            match bucket.move_settled() {
                Ok(0) => {}
                Ok(moved) => tracing::debug!(moved, "moved files to the bucket"),
                Err(error) => {
                    tracing::warn!(%error, "cannot move files to the bucket; they stay on this disk")
                }
            }
            thread::sleep(EVERY);
        }
    };
    thread::Builder::new().name("bucket".into()).spawn(go_on).map(drop)
}

/// The secret survives restarts, so that open pages keep their pictures.
fn secret(path: &Path) -> io::Result<[u8; 32]> {
    let mut secret = [0; 32];
    match fs::File::open(path) {
        Ok(mut file) => file.read_exact(&mut secret)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            rand::rng().fill_bytes(&mut secret);
            let mut options = fs::OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            {
                use std::os::unix::fs::OpenOptionsExt;
                options.mode(0o600);
            }
            options.open(path)?.write_all(&secret)?;
        }
        Err(error) => return Err(error),
    }
    Ok(secret)
}

fn limits(files: &config::Files) -> FileLimits {
    FileLimits {
        file_bytes: files.file_bytes,
        user_bytes: files.user_bytes,
        guest_bytes: files.guest_bytes,
        site_bytes: files.site_bytes,
    }
}

/// None: the node has no files.
pub(crate) fn of_apps(links: &Links, config: &Config) -> Option<FilesOfApps> {
    let files = &config.files;
    let life_ms = files.open_life.as_millis();
    (files.file_bytes > 0).then(|| FilesOfApps { links: links.clone(), limits: limits(files), life_ms })
}

/// The routes of files.
pub(crate) fn routes(
    node: &Arc<Node>,
    place: &Place,
    pictures: Arc<PictureQueue>,
    config: &Config,
) -> Router {
    let limits = limits(&config.files);
    web::files::routes(Files {
        node: Arc::clone(node),
        blobs: Arc::clone(&place.blobs),
        pictures,
        links: place.links.clone(),
        limits,
        clock: crate::now,
    })
}

/// Removes deleted and unsent files at intervals.
pub(crate) struct Sweeper {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
    at_work: Arc<Mutex<()>>,
}

const EVERY: Duration = Duration::from_secs(5);

impl Sweeper {
    pub(crate) fn begin(node: Arc<Node>, blobs: Arc<dyn Blobs>, config: &Config) -> io::Result<Sweeper> {
        let (stop, stopped) = mpsc::channel();
        let (life, open_life) = (config.files.unsent_life.as_millis(), config.files.open_life.as_millis());
        let at_work = Arc::<Mutex<()>>::default();
        let works = Arc::clone(&at_work);
        let sweep = move || {
            if let Err(error) = node.remove_files_of_lost_sites(&*blobs) {
                tracing::warn!(%error, "cannot remove the files of removed sites");
            }
            let mut jumps = ClockJumps::new(crate::now(), Instant::now());
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                let _working = works.lock();
                let now = crate::now();
                jumps.look(now, Instant::now());
                if !jumps.may_remove() {
                    continue;
                }
                match node.remove_stale_files(&*blobs, life, open_life, now) {
                    Ok(0) => {}
                    Ok(gone) => tracing::debug!(gone, "removed files"),
                    Err(error) => tracing::warn!(%error, "cannot remove unused files"),
                }
            }
        };
        let thread = thread::Builder::new().name("files".into()).spawn(sweep)?;
        Ok(Sweeper { stop, thread, at_work })
    }

    /// It does nothing until the guard is dropped.
    pub(crate) fn hold(&self) -> MutexGuard<'_, ()> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stop(self) {
        drop(self.stop);
        if self.thread.join().is_err() {
            tracing::error!("the thread that removes files panicked");
        }
    }
}
