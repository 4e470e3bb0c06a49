//! The widget's files of the last builds, kept on disk: a page from before an upgrade still fetches late parts by their old names.
//!
//! A node writes the files of its own build into the data directory when it starts, for the next version. Names contain a hash of the
//! content, so one name means the same bytes in every build.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use axum::Router;
use axum::extract::{Path as UrlPath, State};
use axum::http::header::{
    ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use ring::digest::{SHA256, digest};

use crate::widget::{self, Embedded};

/// In the data directory. Not in backups, because each node writes its own.
const FOLDER: &str = "widget-builds";
/// Builds kept, including the running one; the least recently run is removed first.
const KEPT_BUILDS: usize = 4;
/// The kept compressed form, and its extension: nearly every browser accepts it.
const BROTLI: &str = "br";

/// Files of older builds by name; no name of a request ever becomes a path.
#[derive(Debug, Default)]
pub(crate) struct OlderBuilds(HashMap<String, PathBuf>);

/// Writes this build's files, removes builds beyond the bound, and returns the others.
pub(crate) fn keep(data: &Path, files: &[Embedded], now: SystemTime) -> io::Result<OlderBuilds> {
    let folder = data.join(FOLDER);
    let ours: Vec<&Embedded> = files.iter().filter(|file| file.path.starts_with(PREFIX)).collect();
    if !ours.is_empty() {
        write(&folder.join(id(&ours)), &ours, now)?;
    }
    let builds = newest_first(&folder)?;
    for beyond in builds.iter().skip(KEPT_BUILDS) {
        fs::remove_dir_all(beyond)?;
    }
    let mut older = HashMap::new();
    for build in builds.iter().take(KEPT_BUILDS) {
        for entry in fs::read_dir(build)? {
            let path = entry?.path();
            let is_form = path.extension().is_some_and(|ending| ending == BROTLI);
            if let (false, Some(name)) = (is_form, path.file_name().and_then(|name| name.to_str())) {
                older.entry(name.to_owned()).or_insert(path);
            }
        }
    }
    Ok(OlderBuilds(older))
}

const PREFIX: &str = "/kith/";

/// Identifier of a build: a hash of its file names, which contain hashes of their content.
fn id(files: &[&Embedded]) -> String {
    let names: Vec<&str> = files.iter().map(|file| file.path).collect();
    let hash = digest(&SHA256, names.join("\n").as_bytes());
    hash.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a build atomically; its modification time is its last run.
fn write(build: &Path, files: &[&Embedded], now: SystemTime) -> io::Result<()> {
    if !build.is_dir() {
        let part = build.with_extension("part");
        if part.exists() {
            fs::remove_dir_all(&part)?;
        }
        fs::create_dir_all(&part)?;
        for file in files {
            let path = part.join(&file.path[PREFIX.len()..]);
            fs::write(&path, file.bytes)?;
            if let Some(brotli) = file.brotli {
                fs::write(with_form(&path), brotli)?;
            }
        }
        fs::rename(&part, build)?;
    }
    fs::File::open(build)?.set_modified(now)
}

fn with_form(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(".");
    path.push(BROTLI);
    path.into()
}

fn newest_first(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut builds = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() && entry.path().extension().is_none() {
            builds.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    builds.sort();
    Ok(builds.into_iter().rev().map(|(_, path)| path).collect())
}

/// Routes for names outside the running build, whose files are answered before the router.
pub(crate) fn routes(older: OlderBuilds) -> Router {
    Router::new().route("/kith/{name}", get(file)).with_state(Arc::new(older))
}

async fn file(
    State(older): State<Arc<OlderBuilds>>,
    UrlPath(name): UrlPath<String>,
    headers: HeaderMap,
) -> Response {
    let gone = || {
        // Pages of any site request their build's files.
        let fields = [(CACHE_CONTROL, "no-store"), (ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
        (StatusCode::NOT_FOUND, fields, "no such file\n").into_response()
    };
    let Some(path) = older.0.get(&name).cloned() else { return gone() };
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|field| field.to_str().ok()).unwrap_or_default();
    let takes_brotli = accepted.split(',').any(|coding| coding.trim() == BROTLI);
    let Ok(Some(form)) = tokio::task::spawn_blocking(move || read(&path, takes_brotli)).await else {
        return gone();
    };
    // The same fields as for files of the running build.
    let fields = [
        (CONTENT_TYPE, widget::content_type(&name)),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (VARY, "accept-encoding"),
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    match form {
        Form::Brotli(bytes) => (fields, [(CONTENT_ENCODING, BROTLI)], bytes).into_response(),
        Form::Plain(bytes) => (fields, bytes).into_response(),
    }
}

enum Form {
    Brotli(Vec<u8>),
    Plain(Vec<u8>),
}

fn read(path: &Path, takes_brotli: bool) -> Option<Form> {
    let brotli = takes_brotli.then(|| fs::read(with_form(path)).ok()).flatten();
    brotli.map(Form::Brotli).or_else(|| fs::read(path).ok().map(Form::Plain))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use tower::ServiceExt;

    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("kith-builds-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Scratch(path)
        }

        fn builds(&self) -> usize {
            fs::read_dir(self.0.join(FOLDER)).expect("it is there").count()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn build(path: &'static str, bytes: &'static [u8]) -> [Embedded; 2] {
        let file = |path, bytes, brotli| Embedded { path, bytes, brotli, zstd: None, gzip: None };
        [file("/kith.js", b"loader", None), file(path, bytes, Some(b"smaller"))]
    }

    fn at(day: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + day * 86_400)
    }

    fn ask(older: OlderBuilds, path: &str, accepted: &str) -> (StatusCode, String, HeaderMap) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let request =
            Request::get(path).header("accept-encoding", accepted).body(Body::empty()).expect("one");
        runtime.block_on(async {
            let answer = routes(older).oneshot(request).await.expect("an answer");
            let (head, body) = answer.into_parts();
            let body = to_bytes(body, 1_000).await.expect("a body");
            (head.status, String::from_utf8_lossy(&body).into_owned(), head.headers)
        })
    }

    #[test]
    fn a_page_of_the_build_before_still_gets_its_files() {
        let scratch = Scratch::new("before");
        keep(&scratch.0, &build("/kith/late-1111111.js", b"the old part"), at(0)).expect("a disk");
        let next = build("/kith/late-2222222.js", b"the new part");
        let older = || keep(&scratch.0, &next, at(1)).expect("a disk");
        let (status, body, head) = ask(older(), "/kith/late-1111111.js", "gzip");
        assert_eq!((status, body.as_str()), (StatusCode::OK, "the old part"));
        assert_eq!(head[CONTENT_TYPE], "text/javascript; charset=utf-8");
        assert_eq!(head[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
        let (_, body, head) = ask(older(), "/kith/late-1111111.js", "gzip, br");
        assert_eq!((body.as_str(), &head[CONTENT_ENCODING]), ("smaller", &"br".parse().expect("a value")));
        for path in
            ["/kith/late-3333333.js", "/kith/late-1111111.js.br", "/kith/..%2f..%2fkith.db", "/kith/kith.js"]
        {
            assert_eq!(ask(older(), path, "").0, StatusCode::NOT_FOUND, "{path}");
        }
    }

    #[test]
    fn the_builds_that_ran_last_are_kept() {
        let scratch = Scratch::new("bound");
        let paths =
            ["/kith/a-1.js", "/kith/a-2.js", "/kith/a-3.js", "/kith/a-4.js", "/kith/a-5.js", "/kith/a-6.js"];
        for (day, path) in (0..).zip(paths) {
            keep(&scratch.0, &build(path, b"x"), at(day)).expect("a disk");
            // A build that runs again, such as after a downgrade, counts as new.
            keep(&scratch.0, &build(paths[0], b"x"), at(day)).expect("a disk");
        }
        assert_eq!(scratch.builds(), KEPT_BUILDS);
        let older = keep(&scratch.0, &[], at(9)).expect("a disk");
        let mut names: Vec<_> = older.0.into_keys().collect();
        names.sort();
        assert_eq!(names, ["a-1.js", "a-4.js", "a-5.js", "a-6.js"]);
    }
}
