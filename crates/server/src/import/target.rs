//! Where an import goes: the address of a running node, or the store.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chat::token::Claims;
use chat::{ImportJob, ImportOutcome, ImportRules, ImportStore, Late, Site};
use reach::header::{AUTHORIZATION, CONTENT_TYPE};
use reach::{Full, HeadBounds, HttpClient, Origin, Reach, Request};
use serde::Deserialize;
use store::Sqlite;
use web::parse_import_line;

use super::source::Part;
use super::{Answer, Totals};
use crate::config::Loaded;
use crate::data_dir::wait;
use crate::data_lock::DataLock;
use crate::span::Span;
use crate::trouble::{Outcome, Trouble};
use crate::{run_file, token};

pub(super) enum Target {
    Store { store: Arc<Sqlite>, site: Site, rules: Box<ImportRules>, _lock: DataLock },
    Node(Live),
}

/// A running node.
pub(super) struct Live {
    http: SocketAddr,
    site: Site,
    late: Late,
}

/// For connecting, sending a part of the file and the answer.
const PATIENCE: Duration = Duration::from_secs(120);
const ANSWER_BYTES: usize = 1 << 20;
const HEAD: HeadBounds = HeadBounds { bytes: 16 * 1024, fields: 64 };
/// A node that asks for more has no room for the site today.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
const TRIES: u32 = 100;

impl Target {
    pub(super) fn open(
        dir: &Path,
        store: Arc<Sqlite>,
        site: Site,
        loaded: &Loaded,
        append_late: bool,
    ) -> Outcome<Target> {
        let late = if append_late { Late::Append } else { Late::Refuse };
        if !DataLock::is_held(dir) {
            let (now, limits) = (crate::now(), &loaded.config.limits);
            let lock = DataLock::acquire(dir, now)?;
            let rules = Box::new(ImportRules {
                late,
                body_bytes: limits.body_bytes,
                contacts: limits.contacts,
                rooms: chat::RoomLimits {
                    members: limits.room_members,
                    per_user: limits.rooms_per_user,
                    owned: limits.rooms_owned,
                },
                trim: site.settings.retention.trim(site.id, now),
                now,
            });
            return Ok(Target::Store { store, site, rules, _lock: lock });
        }
        drop(store);
        let data = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
        let node = run_file::running().into_iter().find(|node| node.data == data).ok_or_else(|| {
            Trouble::new("nothing was imported")
                .because(
                    "another process holds the data directory, and it is no node that this user has started",
                )
                .remedy("run the command as the node's user, or stop the other process")
        })?;
        Ok(Target::Node(Live { http: node.http_from_here(), site, late }))
    }

    pub(super) fn import(&mut self, part: &Part) -> Outcome<Answer> {
        match self {
            Target::Store { store, site, rules, .. } => into_store(store, site, rules, part),
            Target::Node(live) => live.import(part),
        }
    }
}

fn into_store(store: &Arc<Sqlite>, site: &Site, rules: &ImportRules, part: &Part) -> Outcome<Answer> {
    let mut answer = Answer::default();
    let (mut numbers, mut items) = (Vec::new(), Vec::new());
    for (number, line) in &part.lines {
        match parse_import_line(line) {
            Ok(item) => {
                numbers.push(*number);
                items.push(item);
            }
            Err(why) => answer.refuse(*number, why),
        }
    }
    let job = ImportJob { site: site.id, items, rules: rules.clone() };
    let imported = wait(|done| store.import(job, done))?;
    for (number, outcome) in numbers.into_iter().zip(imported.outcomes) {
        match outcome {
            ImportOutcome::Added => answer.totals.added += 1,
            ImportOutcome::Known => answer.totals.known += 1,
            ImportOutcome::Expired => answer.totals.expired += 1,
            ImportOutcome::Refused(why) => answer.refuse(number, why.to_string()),
        }
    }
    answer.errors.sort_unstable();
    Ok(answer)
}

impl Answer {
    fn refuse(&mut self, line: u64, why: String) {
        self.totals.refused += 1;
        self.errors.push((line, why));
    }
}

/// The node's answer.
#[derive(Deserialize)]
struct Said {
    #[serde(flatten)]
    totals: Totals,
    errors: Vec<SaidError>,
}

#[derive(Deserialize)]
struct SaidError {
    /// In the body of the request.
    line: u64,
    text: String,
}

#[derive(Deserialize)]
struct SaidNo {
    text: String,
    retry_after: Option<u64>,
}

impl Live {
    fn import(&self, part: &Part) -> Outcome<Answer> {
        let mut body = Vec::new();
        for (_, line) in &part.lines {
            body.extend_from_slice(line);
            body.push(b'\n');
        }
        for _ in 0..TRIES {
            let token = self.token()?;
            let (status, text) = self.ask(&token, body.clone()).map_err(|error| {
                Trouble::new("lost the connection to the node")
                    .because(error)
                    .remedy("import the file again when the node runs; it continues where it stopped")
            })?;
            if status == 200 {
                return read_answer(part, &text);
            }
            let no = serde_json::from_str::<SaidNo>(&text).ok();
            let wait = no.as_ref().and_then(|no| no.retry_after).map(Duration::from_millis);
            match wait {
                Some(wait) if wait <= LONGEST_WAIT => std::thread::sleep(wait),
                _ => return Err(refused(status, no.map_or(text, |no| no.text), wait)),
            }
        }
        Err(refused(429, "the node is busy".into(), None))
    }

    fn token(&self) -> Outcome<String> {
        let claims = Claims { sub: "kith import".into(), role: Some("service".into()), ..Claims::default() };
        token::sign(&self.site, claims, Span::seconds(300), crate::now()).ok_or_else(|| {
            Trouble::new(format!("cannot sign for the site {}", self.site.key))
                .because("it has no valid HS256 secret; with public keys, only the site itself can sign")
                .remedy(
                    "let the site's server send the lines to POST /v1/sites/{site}/import, or stop the node",
                )
        })
    }

    /// The status and the body of the answer.
    fn ask(&self, token: &str, body: Vec<u8>) -> Result<(u16, String), String> {
        let Live { http, site, late } = self;
        let late = if *late == Late::Append { "?late=append" } else { "" };
        let request = Request::post(format!("/v1/sites/{}/import{late}", site.key))
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .header(CONTENT_TYPE, "application/x-ndjson")
            .body(Full::new(body.into()))
            .map_err(|error| error.to_string())?;
        let client = HttpClient::plain(Reach::Anywhere, HEAD);
        let host = http.ip().to_string();
        let to = Origin { tls: false, host: &host, port: http.port() };
        let answer = client.send_blocking(to, request, ANSWER_BYTES, PATIENCE);
        let (head, body) = answer.map_err(|error| error.to_string())?;
        Ok((head.status.as_u16(), String::from_utf8_lossy(&body.bytes).into_owned()))
    }
}

fn read_answer(part: &Part, text: &str) -> Outcome<Answer> {
    let said: Said = serde_json::from_str(text).map_err(|error| {
        Trouble::new("cannot parse the answer of the node")
            .because(error)
            .remedy("use the `kith` of the same version as the node")
    })?;
    let in_file = |line: u64| part.lines.get((line as usize).checked_sub(1)?).map(|(number, _)| *number);
    let errors = said.errors.into_iter();
    let errors = errors.filter_map(|error| Some((in_file(error.line)?, error.text))).collect();
    Ok(Answer { totals: said.totals, errors })
}

fn refused(status: u16, why: String, wait: Option<Duration>) -> Trouble {
    let trouble = Trouble::new(format!("the node refused the import ({status})")).because(why);
    match wait {
        Some(wait) => trouble.remedy(format!(
            "run the command again in {} minutes, when the site may import more (limits.import_bytes): it continues where it stopped",
            wait.as_secs().div_ceil(60)
        )),
        None => trouble.remedy("import the file again; it continues where it stopped"),
    }
}
