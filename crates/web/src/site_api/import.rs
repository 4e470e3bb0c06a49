//! `POST /v1/sites/{site}/import`: JSON lines of another system, stored at the pace that leaves members' messages their latency.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use chat::{Caller, IMPORT_JOB, ImportItem, ImportOutcome, Late, Refusal, SiteId};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use web_proto::Code;

use super::{Answer, Api, Credentials, Refused, answered, field};
use crate::import::parse_import_line;

/// Of one request.
const BODY_BYTES: usize = 1 << 20;
const LINES: usize = 1_000;
/// Requests that take turns. One more is refused, so that none waits longer than a client does.
const REQUESTS: usize = 4;
/// Errors that an answer has, at most.
const MOST_ERRORS: usize = 100;
/// After a job that took so long, the node's imports rest for this many times as long.
const REST: u32 = 3;
/// A slow disk must not stop an import for minutes.
const LONGEST_REST: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub(super) struct Importer {
    pub(super) api: Api,
    pub(super) lane: Arc<Lane>,
}

/// One job at a time on this node. Requests of several sites take turns by job, in the order in which they ask.
pub(super) struct Lane {
    job: Semaphore,
    requests: Semaphore,
    /// Sites with a request under way.
    sites: Mutex<HashSet<SiteId>>,
}

impl Lane {
    pub(super) fn new() -> Lane {
        Lane { job: Semaphore::new(1), requests: Semaphore::new(REQUESTS), sites: Mutex::default() }
    }

    fn sites(&self) -> MutexGuard<'_, HashSet<SiteId>> {
        self.sites.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before its body is read: a site holds one body in memory.
    fn enter(&self, site: SiteId) -> Result<UnderWay<'_>, Refusal> {
        match self.sites().insert(site) {
            true => Ok(UnderWay { lane: self, site }),
            false => Err(Refusal::RateLimited { retry_after_ms: 1_000 }),
        }
    }
}

/// The one request of a site.
struct UnderWay<'a> {
    lane: &'a Lane,
    site: SiteId,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.lane.sites().remove(&self.site);
    }
}

/// Outcomes of the lines of a request.
#[derive(Default)]
struct Report {
    added: u32,
    known: u32,
    expired: u32,
    refused: u32,
    errors: Vec<Value>,
}

impl Report {
    fn refuse(&mut self, line: usize, why: &impl ToString) {
        self.refused += 1;
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(json!({ "line": line, "text": why.to_string() }));
        }
    }

    fn note(&mut self, line: usize, outcome: ImportOutcome) {
        match outcome {
            ImportOutcome::Added => self.added += 1,
            ImportOutcome::Known => self.known += 1,
            ImportOutcome::Expired => self.expired += 1,
            ImportOutcome::Refused(why) => self.refuse(line, &why),
        }
    }
}

pub(super) async fn import(
    State(importer): State<Importer>,
    Path(site): Path<String>,
    credentials: Credentials,
    uri: Uri,
    body: Body,
) -> Response {
    answered(do_import(&importer, &site, &credentials, &uri, body).await)
}

async fn do_import(
    importer: &Importer,
    site: &str,
    credentials: &Credentials,
    uri: &Uri,
    body: Body,
) -> Answer {
    let api = &importer.api;
    // First the caller: nothing is read for a stranger.
    let caller = api.caller(site, credentials).await?;
    let late = match field(uri, "late").as_deref() {
        None | Some("refuse") => Late::Refuse,
        Some("append") => Late::Append,
        Some(_) => return Err(Refused::value("late: refuse or append")),
    };
    api.node.may_import(&caller, 0, (api.clock)())?;
    let _under_way = importer.lane.enter(caller.site())?;
    let too_large = || Refused(Code::TooLarge, format!("at most {LINES} lines and {BODY_BYTES} bytes"), None);
    let body = to_bytes(body, BODY_BYTES).await.map_err(|_| too_large())?;
    let lines: Vec<(usize, &[u8])> = body
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(at, line)| (at + 1, line.trim_ascii()))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    if lines.len() > LINES {
        return Err(too_large());
    }
    let busy = |_| Refusal::RateLimited { retry_after_ms: 2_000 };
    let _turns = importer.lane.requests.try_acquire().map_err(busy)?;
    api.node.may_import(&caller, body.len() as u64, (api.clock)())?;
    let mut report = Report::default();
    for part in lines.chunks(IMPORT_JOB) {
        import_part(importer, &caller, late, part, &mut report).await?;
    }
    let Report { added, known, expired, refused, errors } = report;
    Ok(json!({
        "added": added, "known": known, "expired": expired, "refused": refused, "errors": errors,
    }))
}

async fn import_part(
    importer: &Importer,
    caller: &Caller,
    late: Late,
    part: &[(usize, &[u8])],
    report: &mut Report,
) -> Result<(), Refused> {
    let (mut numbers, mut items): (Vec<usize>, Vec<ImportItem>) = (Vec::new(), Vec::new());
    for (number, line) in part {
        match parse_import_line(line) {
            Ok(item) => {
                numbers.push(*number);
                items.push(item);
            }
            Err(why) => report.refuse(*number, &why),
        }
    }
    if items.is_empty() {
        return Ok(());
    }
    let (api, lane) = (&importer.api, &importer.lane);
    let turn = lane.job.acquire().await.map_err(|_| Refusal::Unavailable)?;
    let begin = Instant::now();
    let now = (api.clock)();
    let stored = api.ask(|node, respond| node.import(caller, items, late, now, respond)).await;
    sleep((begin.elapsed() * REST).min(LONGEST_REST)).await;
    drop(turn);
    for (number, outcome) in numbers.into_iter().zip(stored?) {
        report.note(number, outcome);
    }
    Ok(())
}
