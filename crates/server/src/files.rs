//! The files of a node: where their bytes lie, the secret of their links, and what goes from the disk.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use chat::{Blobs, FileLimits, Node};
use rand::RngCore;
use store::Folder;
use web::files::{Files, Links};

use crate::config::Config;
use crate::pictures::Maker;
use crate::trouble::{Outcome, Trouble};

/// Inside of the data directory.
const FOLDER: &str = "files";
const SECRET: &str = "files.secret";

/// The folder and the links of a node.
pub(crate) struct Place {
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) links: Links,
}

/// Makes both where they are not there yet.
pub(crate) fn open(config: &Config) -> Outcome<Place> {
    let trouble = |error: io::Error| {
        Trouble::new(format!("cannot keep files in {}", config.data.display()))
            .because(error)
            .remedy("give the user that runs kith the right to write there, or say files.file_bytes = 0")
    };
    let folder = Folder::open(&config.data.join(FOLDER)).map_err(trouble)?;
    let secret = secret(&config.data.join(SECRET)).map_err(trouble)?;
    let links = Links::new(secret, &config.files.url, config.files.link_life.as_millis(), crate::now);
    Ok(Place { blobs: Arc::new(folder), links })
}

/// The same after a restart, so that open pages keep their pictures.
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

/// What the node answers of files.
pub(crate) fn routes(node: &Arc<Node>, place: &Place, config: &Config) -> Router {
    let limits = FileLimits {
        file_bytes: config.files.file_bytes,
        user_bytes: config.files.user_bytes,
        site_bytes: config.files.site_bytes,
    };
    web::files::routes(Files {
        node: Arc::clone(node),
        blobs: Arc::clone(&place.blobs),
        pictures: Arc::new(Maker),
        links: place.links.clone(),
        limits,
        clock: crate::now,
        picture_makers: thread::available_parallelism().map_or(1, usize::from),
    })
}

/// Removes what was deleted or never sent, from time to time.
pub(crate) struct Sweeper {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

const EVERY: Duration = Duration::from_secs(5);

impl Sweeper {
    pub(crate) fn begin(node: Arc<Node>, blobs: Arc<dyn Blobs>, config: &Config) -> io::Result<Sweeper> {
        let (stop, stopped) = mpsc::channel();
        let life = config.files.unsent_life.as_millis();
        let sweep = move || {
            if let Err(error) = node.remove_files_of_lost_sites(&*blobs) {
                tracing::warn!(%error, "the files of removed sites stay");
            }
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                match node.remove_stale_files(&*blobs, life, crate::now()) {
                    Ok(0) => {}
                    Ok(gone) => tracing::debug!(gone, "removed files"),
                    Err(error) => tracing::warn!(%error, "files that nobody needs stay"),
                }
            }
        };
        let thread = thread::Builder::new().name("files".into()).spawn(sweep)?;
        Ok(Sweeper { stop, thread })
    }

    pub(crate) fn stop(self) {
        drop(self.stop);
        if self.thread.join().is_err() {
            tracing::error!("the sweeper of files has panicked");
        }
    }
}
