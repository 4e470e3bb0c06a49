//! One visitor's browser: decides the next requests from its pages and its cache. No sockets, no clock.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use edge::Handle;

use super::Kind;
use super::site::Site;
use crate::client::Masks;

/// A file or page to fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) what: What,
    pub(super) kind: Kind,
    /// When the browser wanted it: waiting for a connection counts.
    pub(super) due: Instant,
    /// The file is cached, and the request validates it.
    pub(super) known: bool,
    /// A kept connection broke during it once already.
    pub(super) again: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Page(u16),
    File(u16),
    Token,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Loads the page and its files.
    Loading,
    Token,
    LoggingIn,
    /// Reads the page; only the WebSocket has pending requests.
    There,
}

/// The consequence of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Fetch the waiting jobs.
    Fetch,
    LogIn,
    /// The page failed: the visitor views another one.
    GiveUp,
}

#[derive(Debug)]
pub(super) struct Visitor {
    pub(super) stage: Stage,
    pub(super) jobs: VecDeque<Job>,
    /// Jobs that have a connection.
    pub(super) in_flight: u32,
    /// Connections for files, with pending ones.
    pub(super) connections: u32,
    pub(super) idle: Vec<Handle>,
    pub(super) socket: Option<Handle>,
    /// Opens the messenger on this page.
    pub(super) opens: bool,
    /// A view and a message that became due while another page was loading.
    pub(super) owed_view: Option<Instant>,
    pub(super) owed_message: Option<Instant>,
    pub(super) leaves: bool,
    page: u16,
    /// When each file was fetched.
    cache: Box<[Option<Instant>]>,
}

impl Visitor {
    pub(super) fn new(site: &Site) -> Visitor {
        Visitor {
            stage: Stage::There,
            jobs: VecDeque::new(),
            in_flight: 0,
            connections: 0,
            idle: Vec::new(),
            socket: None,
            opens: false,
            owed_view: None,
            owed_message: None,
            leaves: false,
            page: 0,
            cache: vec![None; site.files.len()].into(),
        }
    }

    /// Fills the cache as if the visit had begun earlier: each file was fetched at a random time within its freshness.
    pub(super) fn warm(&mut self, site: &Site, now: Instant, stay: Duration, chance: &mut Masks) {
        for (cached, file) in self.cache.iter_mut().zip(&site.files) {
            let Some(fresh_for) = file.caching.fresh_for else { continue };
            let age = fresh_for.min(stay).mul_f64(chance.chance());
            *cached = now.checked_sub(age).or(Some(now));
        }
    }

    /// Views a page: the first one, then any.
    pub(super) fn view(&mut self, site: &Site, first: bool, due: Instant, chance: &mut Masks) {
        self.stage = Stage::Loading;
        self.opens = first || chance.chance() < 0.5;
        let pages = site.pages.len();
        self.page = if first { 0 } else { ((chance.chance() * pages as f64) as usize).min(pages - 1) as u16 };
        self.jobs.clear();
        self.jobs.push_back(Job {
            what: What::Page(self.page),
            kind: Kind::Page,
            due,
            known: false,
            again: false,
        });
    }

    /// Handles a job that has its answer, or has failed.
    pub(super) fn done(&mut self, site: &Site, job: Job, good: bool, now: Instant) -> Next {
        match job.what {
            What::Page(_) if !good => return self.give_up(),
            What::Page(page) => {
                let files = &site.pages[page as usize].files;
                files.iter().for_each(|file| self.want(site, *file, now));
                let loads = self.jobs.iter().any(|job| job.what == What::File(site.loader));
                if !loads {
                    self.want_shell(site, now);
                }
            }
            What::File(file) => {
                if good {
                    self.cache[file as usize] = Some(now);
                }
                if file == site.loader && good {
                    self.want_shell(site, now);
                }
            }
            What::Token if good => return self.log_in(),
            What::Token => return self.give_up(),
        }
        if !self.jobs.is_empty() || self.in_flight > 0 {
            return Next::Fetch;
        }
        // All files are loaded: the widget starts.
        if site.token.is_none() {
            return self.log_in();
        }
        self.stage = Stage::Token;
        self.jobs.push_back(Job {
            what: What::Token,
            kind: Kind::Token,
            due: now,
            known: false,
            again: false,
        });
        Next::Fetch
    }

    pub(super) fn give_up(&mut self) -> Next {
        self.stage = Stage::There;
        self.owed_message = None;
        self.jobs.clear();
        Next::GiveUp
    }

    fn log_in(&mut self) -> Next {
        self.stage = Stage::LoggingIn;
        Next::LogIn
    }

    fn want_shell(&mut self, site: &Site, now: Instant) {
        site.shell.iter().for_each(|file| self.want(site, *file, now));
    }

    /// Requests a file unless it is cached.
    fn want(&mut self, site: &Site, file: u16, now: Instant) {
        let entry = &site.files[file as usize];
        let cached = self.cache[file as usize].filter(|_| entry.caching.fresh_for.is_some());
        let fresh_for = entry.caching.fresh_for.unwrap_or_default();
        if cached.is_some_and(|at| now.saturating_duration_since(at) < fresh_for) {
            return;
        }
        let known = cached.is_some() && entry.caching.tag.is_some();
        self.jobs.push_back(Job { what: What::File(file), kind: entry.kind, due: now, known, again: false });
    }
}

/// The time between two pages: from half to one and a half of the mean.
pub(super) fn gap(mean: Duration, chance: &mut Masks) -> Duration {
    mean.mul_f64(0.5 + chance.chance())
}

/// The rest of such a time at a random moment: a random moment is more likely to be in a long one.
pub(super) fn rest_of_gap(mean: Duration, chance: &mut Masks) -> Duration {
    loop {
        let gap = 0.5 + chance.chance();
        if chance.chance() * 1.5 < gap {
            return mean.mul_f64(gap * chance.chance());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::site::{Caching, File, Page};
    use super::*;

    fn site() -> Site {
        let file = |path: &str, kind, seconds: Option<u64>, tag: Option<&str>| File {
            path: path.to_owned(),
            kind,
            caching: Caching { fresh_for: seconds.map(Duration::from_secs), tag: tag.map(str::to_owned) },
        };
        Site {
            pages: vec![Page { path: "/".to_owned(), files: vec![0, 1, 2] }],
            files: vec![
                file("/style.css", Kind::File, Some(300), None),
                file("/kith.js", Kind::Loader, Some(300), Some("\"l\"")),
                file("/me.svg", Kind::Avatar, None, None),
                file("/kith/app.js", Kind::Shell, Some(31_536_000), Some("\"s\"")),
            ],
            loader: 1,
            shell: vec![3],
            token: Some("/token".to_owned()),
        }
    }

    /// Answers all requests at once; returns the fetched files, with a star for conditional requests.
    fn browse(visitor: &mut Visitor, site: &Site, now: Instant) -> (Vec<String>, Next) {
        let mut seen = Vec::new();
        loop {
            let job = visitor.jobs.pop_front().expect("something to fetch");
            let path = match job.what {
                What::Page(page) => &site.pages[page as usize].path,
                What::File(file) => &site.files[file as usize].path,
                What::Token => "/token",
            };
            seen.push(format!("{path}{}", if job.known { "*" } else { "" }));
            match visitor.done(site, job, true, now) {
                Next::Fetch => {}
                next => return (seen, next),
            }
        }
    }

    #[test]
    fn a_browser_fetches_in_order_and_caches_fresh_files() {
        let (site, mut chance, start) = (site(), Masks::new(1), Instant::now());
        let mut visitor = Visitor::new(&site);
        let mut visit = |first, seconds| {
            let now = start + Duration::from_secs(seconds);
            visitor.view(&site, first, now, &mut chance);
            browse(&mut visitor, &site, now).0.join(" ")
        };
        assert_eq!(visit(true, 0), "/ /style.css /kith.js /me.svg /kith/app.js /token");
        assert_eq!(visit(false, 100), "/ /me.svg /token");
        assert_eq!(visit(false, 400), "/ /style.css /kith.js* /me.svg /token");
    }

    #[test]
    fn a_failed_file_is_not_cached_and_a_missing_page_ends_the_view() {
        let (site, mut chance, now) = (site(), Masks::new(1), Instant::now());
        let mut visitor = Visitor::new(&site);
        visitor.view(&site, true, now, &mut chance);
        let page = visitor.jobs.pop_front().unwrap();
        assert_eq!(visitor.done(&site, page, true, now), Next::Fetch);
        let style = visitor.jobs.pop_front().unwrap();
        visitor.done(&site, style, false, now);
        assert_eq!(visitor.cache[0], None);
        visitor.view(&site, false, now, &mut chance);
        let page = visitor.jobs.pop_front().unwrap();
        assert_eq!(visitor.done(&site, page, false, now), Next::GiveUp);
        assert_eq!((visitor.stage, visitor.jobs.len()), (Stage::There, 0));
    }

    #[test]
    fn gaps_have_their_mean_and_their_rests_that_of_renewal() {
        let (mut chance, mean) = (Masks::new(7), Duration::from_secs(100));
        let average = |draw: &mut dyn FnMut() -> Duration| {
            (0..20_000).map(|_| draw().as_secs_f64()).sum::<f64>() / 20_000.0
        };
        let gaps = average(&mut || gap(mean, &mut chance));
        assert!((98.0..102.0).contains(&gaps), "{gaps}");
        // E[gap²] / 2 E[gap] of a gap that is uniform from 50 to 150: 54.2.
        let rests = average(&mut || rest_of_gap(mean, &mut chance));
        assert!((52.5..56.0).contains(&rests), "{rests}");
    }
}
