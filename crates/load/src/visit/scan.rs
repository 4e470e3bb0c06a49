//! Scans the site before the first visitor, so that visitors need not parse the files that they fetch.

use reach::header::{ACCEPT, ACCEPT_ENCODING, USER_AGENT};

use super::Kind;
use super::browsers::ANSWER_PATIENCE;
use super::exchange::{AGENT, PACKED, PLAIN};
use super::site::{self, File, Page, Site};
use crate::conductor::LoadError;
use crate::node_api::{self, Answer, NodeApi};

/// Most pages that visitors view.
const PAGES_MOST: usize = 8;
/// Most files of a site: a site with more is not ours.
const FILES_MOST: usize = 200;
const FILE_BYTES: usize = 64 * 1024 * 1024;

pub(super) struct Scan<'a> {
    api: NodeApi<'a>,
    site: Site,
}

impl Scan<'_> {
    /// Begins at a page.
    pub(super) fn site(first: &str, api: NodeApi<'_>) -> Result<Site, LoadError> {
        let mut scan = Scan { api, site: Site::default() };
        let seen = scan.pages(first).and_then(|loader| scan.modules(loader));
        seen.map_err(|why| LoadError::Page(first.to_owned(), why))?;
        Ok(scan.site)
    }

    /// Scans the pages that the first one links to, with their files; returns the loader's file number.
    fn pages(&mut self, first: &str) -> Result<u16, String> {
        let (mut paths, mut loader) = (vec![first.to_owned()], None);
        let mut at = 0;
        while at < paths.len() {
            let path = paths[at].clone();
            let page = self.fetch(&path, false)?;
            at += 1;
            if page.status != 200 {
                return Err(format!("{path} answers with the status {}; name another --page", page.status));
            }
            let found = site::found(&path, &String::from_utf8_lossy(&page.body));
            if at == 1 {
                paths.extend(found.pages.into_iter().take(PAGES_MOST - 1));
                self.site.token = found.token;
            }
            let mut files = Vec::new();
            for (path, kind) in found.files {
                let file = self.file(&path, kind)?;
                loader = loader.or((kind == Kind::Loader).then_some(file));
                files.push(file);
            }
            self.site.pages.push(Page { path, files });
        }
        loader.ok_or_else(|| {
            "there is no tag of Kith's loader, `<script src=\"/kith.js\">`, in the page".to_owned()
        })
    }

    /// The modules that the loader loads, with their imports: the widget's shell.
    fn modules(&mut self, loader: u16) -> Result<(), String> {
        self.site.loader = loader;
        let mut scripts = vec![self.site.files[loader as usize].path.clone()];
        while let Some(script) = scripts.pop() {
            let text = self.fetch(&script, false)?.body;
            for module in site::modules(&script, &String::from_utf8_lossy(&text)) {
                let known = self.site.files.len();
                let file = self.file(&module, Kind::Shell)?;
                if self.site.files.len() > known {
                    self.site.shell.push(file);
                    scripts.push(module);
                }
            }
        }
        Ok(())
    }

    /// The file's number. Requests a new file with a browser's encodings, because its tag is that of the compressed
    /// form.
    fn file(&mut self, path: &str, kind: Kind) -> Result<u16, String> {
        if let Some(known) = self.site.files.iter().position(|file| file.path == path) {
            return Ok(known as u16);
        }
        if self.site.files.len() == FILES_MOST {
            return Err(format!("it has more than {FILES_MOST} files"));
        }
        let seen = self.fetch(path, true)?;
        if seen.status != 200 {
            return Err(format!("its file {path} answers with the status {}", seen.status));
        }
        let caching = site::caching(seen.cache_control.as_deref(), seen.etag);
        self.site.files.push(File { path: path.to_owned(), kind, caching });
        Ok(self.site.files.len() as u16 - 1)
    }

    fn fetch(&self, path: &str, packed: bool) -> Result<Answer, String> {
        let codings = if packed { PACKED } else { PLAIN };
        let fields = [(ACCEPT_ENCODING, codings), (USER_AGENT, AGENT), (ACCEPT, "*/*")];
        let request = node_api::get(path, &fields).ok_or_else(|| format!("{path} is no path"))?;
        let answer = self.api.send(request, FILE_BYTES, ANSWER_PATIENCE);
        answer.map_err(|error| format!("{path} is not answered: {error}"))
    }
}
