//! A node with homes of several slots: it starts a process for each slot that it shall have, and moves slots.
//!
//! A process per slot, because a home then needs nothing new: it takes the lease of its slot, and ends when it loses it. A slot that
//! fails costs its own sites alone.

mod child;
mod slot_metrics;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use chat::Slot;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGUSR2};
use signal_hook::iterator::Signals;
use store::{Clock, Look, Members, name_of_holder};

use self::child::{Child, ChildStart};
use super::hand_over::{self, is_admitted};
use super::placement::{SlotView, Step, assign, steps};
use super::status_server::{Answer, Request, StatusServer};
use super::{HAND_OVER_PATH, Place, STATUS_PATH};
use crate::config::Loaded;
use crate::data_lock::DataLock;
use crate::metrics::{Format, Metrics, Sample};
use crate::serve::{self, Purpose};
use crate::status::MetricsAccess;
use crate::take_over::service;
use crate::trouble::{Outcome, Trouble};
use crate::{data_dir, print_with};

/// Between two looks at the leases.
const LOOK: Duration = Duration::from_millis(250);
/// After an outage of PostgreSQL the homes have so much time to renew their leases, which may have ended meanwhile.
const PATIENCE: Duration = Duration::from_secs(3);
/// Between two starts of a process for one slot: grows from the first to the second while the process ends at once.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];
/// A process that has run for so long did start.
const STARTED: Duration = Duration::from_secs(20);
/// A process of this node that was killed may be listed for so long.
const NAME_PATIENCE: Duration = Duration::from_secs(15);

/// Runs until a signal stops it.
pub(crate) fn run(
    loaded: &Loaded,
    place: &Place,
    purpose: Purpose,
    mut signals: Signals,
) -> Outcome<ExitCode> {
    let config = &loaded.config;
    let url = config.database.as_deref().expect("the settings were checked");
    let lock = DataLock::acquire(&config.data, crate::now())?;
    let members = join(url, &place.nats.name)?;
    // As the other nodes read it.
    let name = name_of_holder(members.holder()).to_owned();
    let seen = Arc::new(Seen {
        name: name.clone(),
        access: MetricsAccess::of(config)?,
        commands: place.secret.for_commands(),
        is_leaving: AtomicBool::new(false),
        state: Mutex::default(),
    });
    let answers = Arc::clone(&seen);
    let server = StatusServer::begin(config, move |request| answers.answer(request))?;
    let addresses = serve::Addresses { http: server.http(), https: None, xmpp: None };
    let _run_file = serve::write_run_file(addresses, config);
    print_with(|out| {
        writeln!(out, "Kith {} runs homes of {} slots.\n", env!("CARGO_PKG_VERSION"), config.cluster.slots)?;
        writeln!(out, "  http    http://{}\n  data    {}\n", server.http(), config.data.display())?;
        writeln!(out, "Stop it with Ctrl-C.\n")
    })?;
    service::is_ready();
    let mut supervisor = Supervisor {
        loaded,
        purpose,
        name,
        commands: place.secret.for_commands(),
        members,
        seen,
        slots: (0..config.cluster.slots).map(|_| OfSlot::default()).collect(),
        away: None,
        patient_until: Instant::now(),
        last_homes: Vec::new(),
        calm_since: Instant::now(),
    };
    let mut stop_by = None;
    loop {
        for signal in signals.pending() {
            match (signal, stop_by) {
                (SIGHUP, _) => supervisor.reload(),
                (SIGUSR2, _) => tracing::warn!(
                    "a node with homes has no connections of clients: drain it, and start the new version"
                ),
                (_, None) => {
                    tracing::info!("stopping: this node gives its slots away");
                    supervisor.seen.is_leaving.store(true, Ordering::Relaxed);
                    stop_by = Some(Instant::now() + Duration::from(config.stop.grace));
                }
                (signal, Some(_)) => std::process::exit(128 + signal),
            }
        }
        supervisor.turn();
        if stop_by.is_some_and(|by| supervisor.has_left() || Instant::now() >= by) {
            break;
        }
        thread::sleep(LOOK);
    }
    serve::end_at_the_next(signals);
    supervisor.stop(config.stop.grace.into());
    drop(lock);
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Becomes a member of the cluster. Two nodes with one name would take slots from each other.
fn join(url: &str, name: &str) -> Outcome<Members> {
    let number = u64::from_be_bytes(std::array::from_fn({
        let random = serve::random();
        move |at| random[at]
    }));
    let members = Members::connect(url, name, number).map_err(data_dir::unusable_server)?;
    let begin = Instant::now();
    loop {
        let look = members.look(1, Clock::OfDatabase).map_err(data_dir::unreadable)?;
        let is_same = |node: &&String| name_of_holder(node) == name_of_holder(members.holder());
        if look.nodes.iter().filter(is_same).count() <= 1 {
            return Ok(members);
        }
        if begin.elapsed() > NAME_PATIENCE {
            return Err(Trouble::new(format!("another node of the cluster has the name {name}"))
                .remedy("set cluster.name to a name of this node alone"));
        }
        thread::sleep(LOOK);
    }
}

struct Supervisor<'a> {
    loaded: &'a Loaded,
    purpose: Purpose,
    name: String,
    /// The key for commands to a home.
    commands: String,
    members: Members,
    seen: Arc<Seen>,
    slots: Vec<OfSlot>,
    /// The time since PostgreSQL does not answer.
    away: Option<Instant>,
    patient_until: Instant,
    /// The homes of all slots at the last look, and the time since they are the same.
    last_homes: Vec<Option<String>>,
    calm_since: Instant,
}

#[derive(Default)]
struct OfSlot {
    child: Option<Child>,
    without_home_since: Option<Instant>,
    not_before: Option<Instant>,
    pause: Duration,
}

impl Supervisor<'_> {
    /// One look, and what follows from it.
    fn turn(&mut self) {
        let now = Instant::now();
        self.reap(now);
        if self.seen.is_leaving.load(Ordering::Relaxed) {
            // Again after each new connection.
            if let Err(error) = self.members.leave() {
                tracing::debug!(%error, "cannot leave the cluster");
            }
        }
        let look = match self.members.look(self.slots.len() as u8, Clock::OfDatabase) {
            Ok(look) => look,
            Err(error) => {
                if self.away.replace(self.away.unwrap_or(now)).is_none() {
                    tracing::warn!(%error, "cannot see the leases of the homes; trying again");
                }
                return;
            }
        };
        if self.away.take().is_some() {
            self.patient_until = now + PATIENCE;
        }
        let homes: Vec<Option<String>> = look.slots.iter().map(home).collect();
        if homes != self.last_homes || homes.iter().any(Option::is_none) {
            self.calm_since = now;
        }
        self.last_homes.clone_from(&homes);
        for (slot, home) in self.slots.iter_mut().zip(&homes) {
            let since = slot.without_home_since.get_or_insert(now);
            if home.is_some() || now < self.patient_until {
                *since = now;
            }
        }
        let nodes: Vec<&str> = look.nodes.iter().map(|holder| name_of_holder(holder)).collect();
        let views: Vec<SlotView<'_>> = self
            .slots
            .iter()
            .zip(&look.slots)
            .zip(&homes)
            .map(|((slot, seen), home)| slot.view(seen, home, now))
            .collect();
        let calm = now.duration_since(self.calm_since).as_millis() as u64;
        let steps = match now < self.patient_until {
            true => Vec::new(),
            false => steps(&self.name, &nodes, &views, calm),
        };
        self.seen.see(status(&self.name, &look, &nodes, &views, &self.slots));
        steps.into_iter().for_each(|step| self.carry_out(step, now));
    }

    fn carry_out(&mut self, step: Step, now: Instant) {
        match step {
            Step::Start(slot) => {
                let of_slot = &mut self.slots[usize::from(slot.0)];
                if of_slot.not_before.is_some_and(|time| now < time) {
                    return;
                }
                of_slot.pause = (of_slot.pause * 2).clamp(PAUSES[0], PAUSES[1]);
                of_slot.not_before = Some(now + of_slot.pause);
                // Only one slot has the demo community.
                let purpose = if slot == Slot::FIRST { self.purpose } else { Purpose::Serve };
                match (ChildStart { loaded: self.loaded, slot, purpose, name: &self.name }).start() {
                    Ok(child) => {
                        tracing::info!(slot = slot.0, pid = child.pid(), "started the process of a slot");
                        of_slot.child = Some(child);
                    }
                    Err(trouble) => tracing::error!(slot = slot.0, "{trouble}"),
                }
            }
            Step::Stop(slot) => {
                if let Some(child) = &mut self.slots[usize::from(slot.0)].child {
                    child.terminate();
                }
            }
            Step::Give { slot, to } => {
                if let Some(child) = &self.slots[usize::from(slot.0)].child
                    && !child.gives()
                {
                    tracing::info!(slot = slot.0, to, "this slot moves");
                    child.give_away(slot, &to, &self.commands);
                    // The next one waits for this one.
                    self.calm_since = now;
                }
            }
        }
    }

    /// Forgets processes that have ended.
    fn reap(&mut self, now: Instant) {
        for (number, slot) in self.slots.iter_mut().enumerate() {
            let Some(child) = &mut slot.child else { continue };
            let Some(status) = child.ended() else {
                if child.age(now) >= STARTED {
                    slot.pause = Duration::ZERO;
                }
                continue;
            };
            match (status.code(), child.is_asked_to_end()) {
                (Some(0 | 75), _) | (_, true) => {
                    tracing::info!(slot = number, "the process of a slot has ended")
                }
                _ => {
                    tracing::error!(slot = number, %status, "the process of a slot has failed; it starts again if its slot shall be here")
                }
            }
            slot.child = None;
        }
    }

    fn has_left(&self) -> bool {
        self.slots.iter().all(|slot| slot.child.is_none())
    }

    fn reload(&mut self) {
        self.slots.iter().filter_map(|slot| slot.child.as_ref()).for_each(Child::reload);
    }

    /// Ends the processes that are left: their slots have no home until another node takes them.
    fn stop(&mut self, grace: Duration) {
        let mut children: Vec<Child> = self.slots.iter_mut().filter_map(|slot| slot.child.take()).collect();
        children.iter_mut().for_each(Child::terminate);
        let begin = Instant::now();
        while begin.elapsed() < grace + PATIENCE && children.iter_mut().any(|child| child.ended().is_none()) {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl OfSlot {
    fn view<'a>(&self, seen: &'a store::SlotState, home: &'a Option<String>, now: Instant) -> SlotView<'a> {
        let since = self.without_home_since.unwrap_or(now);
        SlotView {
            home: home.as_deref(),
            without_home: now.duration_since(since).as_millis() as u64,
            ready: seen.lease.homes.iter().map(|holder| name_of_holder(holder)).collect(),
            pinned: seen.pinned.as_deref(),
            runs_here: self.child.is_some(),
        }
    }
}

/// The name of the node that has the lease of a slot.
fn home(slot: &store::SlotState) -> Option<String> {
    let is_held = slot.lease.left_ms > 0 && !slot.lease.holder.is_empty();
    is_held.then(|| name_of_holder(&slot.lease.holder).to_owned())
}

/// The state of a supervisor for its answers over HTTP.
struct Seen {
    name: String,
    access: MetricsAccess,
    commands: String,
    is_leaving: AtomicBool,
    state: Mutex<Value>,
}

impl Seen {
    fn see(&self, mut state: Value) {
        state["leaving"] = self.is_leaving.load(Ordering::Relaxed).into();
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    fn answer(&self, request: &Request<'_>) -> Answer {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match request.path {
            "/healthz" if request.is_read() => Answer::text("200 OK", "ok\n".into()),
            "/readyz" if request.is_read() => match state.is_null() {
                true => Answer::text("503 Service Unavailable", "not ready\n".into()),
                false => Answer::text("200 OK", "ready\n".into()),
            },
            STATUS_PATH | "/metrics" if request.is_read() && !request.is_admitted(&self.access) => {
                Answer::without_token()
            }
            STATUS_PATH if request.is_read() => Answer::json(&state),
            "/metrics" if request.is_read() => Answer::metrics(self.metrics(&state)),
            HAND_OVER_PATH if request.method == "POST" => {
                match is_admitted(&request.authorization(), &self.commands) {
                    false => Answer::text("401 Unauthorized", "needs the secret of the cluster".into()),
                    true if request.has(hand_over::TO) => {
                        let why = "this node has homes of several slots: kith cluster pin NODE --site KEY moves one of them, \
                                   and kith cluster drain gives all of them away";
                        Answer::text("409 Conflict", why.into())
                    }
                    true if others(&state, &self.name) == 0 => {
                        Answer::text("409 Conflict", "no other node with homes is there".into())
                    }
                    true => {
                        self.is_leaving.store(true, Ordering::Relaxed);
                        Answer::text("200 OK", "another node".into())
                    }
                }
            }
            _ => Answer::text(
                "503 Service Unavailable",
                "this node has homes alone; clients connect with fronts\n".into(),
            ),
        }
    }

    /// Of this process and those of its slots. Waits for them.
    fn metrics(&self, state: &Value) -> String {
        let slots = state["slots"].as_array().into_iter().flatten();
        let pids =
            slots.filter_map(|slot| Some((slot["slot"].as_u64()? as u8, slot["pid"].as_u64()? as u32)));
        let of_slots = slot_metrics::ask(pids, self.access.token());
        let answered: Vec<u8> = of_slots.iter().map(|(slot, _)| *slot).collect();
        let (state, name) = (state.clone(), self.name.clone());
        let own = Metrics::new(vec![Box::new(move || figures(&state, &name, &answered))]);
        slot_metrics::merge(&own.write(Format::Text), &of_slots)
    }
}

fn others(state: &Value, name: &str) -> usize {
    state["nodes"].as_array().map_or(0, |nodes| nodes.iter().filter(|node| *node != name).count())
}

fn status(name: &str, look: &Look, nodes: &[&str], views: &[SlotView<'_>], slots: &[OfSlot]) -> Value {
    let wanted = assign(nodes, views);
    let rows = look.slots.iter().zip(views).zip(wanted).zip(slots).enumerate().map(
        |(number, (((seen, view), wanted), slot))| {
            json!({
                "slot": number,
                "home": view.home,
                "term": seen.lease.term,
                "left_ms": seen.lease.left_ms,
                "ready": view.ready,
                "pinned": view.pinned,
                "wanted": wanted,
                "pid": slot.child.as_ref().map(Child::pid),
            })
        },
    );
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    json!({ "role": "homes", "name": name, "nodes": nodes, "slots": rows.collect::<Vec<_>>() })
}

/// `answered`: the slots whose processes on this node have answered.
fn figures(state: &Value, name: &str, answered: &[u8]) -> Vec<Sample> {
    let mut samples = vec![
        Sample::gauge(
            "kith_cluster_nodes",
            "Nodes with homes that are members of the cluster.",
            state["nodes"].as_array().map_or(0, Vec::len) as u64,
        ),
        Sample::gauge(
            "kith_cluster_leaving",
            "1: this node gives its slots away.",
            (state["leaving"] == true).into(),
        ),
    ];
    for slot in state["slots"].as_array().into_iter().flatten() {
        let number = slot["slot"].to_string();
        let mut gauge = |name: &'static str, help: &'static str, value: u64| {
            samples.push(Sample::gauge(name, help, value).labelled("slot", number.clone()));
        };
        gauge(
            "kith_cluster_slot_here",
            "1: the home of this slot is on this node.",
            (slot["home"] == name).into(),
        );
        gauge(
            "kith_cluster_slot_lease_left_ms",
            "Time until the lease of this slot ends without a renewal; 0: it has no home.",
            slot["left_ms"].as_u64().unwrap_or_default(),
        );
        gauge(
            "kith_cluster_slot_misplaced",
            "1: the home of this slot is not on the node that shall have it.",
            (slot["home"] != slot["wanted"]).into(),
        );
        if slot["pid"].is_number() {
            gauge(
                "kith_cluster_slot_answers",
                "1: the process of this slot on this node has answered the scrape.",
                answered.iter().any(|number| slot["slot"] == *number).into(),
            );
        }
    }
    // Those of one name follow each other.
    samples.sort_by(|one, next| one.name.cmp(&next.name));
    samples
}
