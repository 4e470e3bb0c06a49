//! Keeps the lease of a home on PostgreSQL: renews it, gives it away, and ends this process when another home has it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use ::cluster::Term;
use serde_json::{Value, json};
use store::{Clock, Lease, LeaseState, name_of_holder};

use super::steady_now;
use crate::metrics::{Sample, Source};
use crate::trouble::{Outcome, Trouble};

const RENEW: Duration = Duration::from_secs(1);
/// A lease without a renewal ends after this time, by PostgreSQL's clock.
pub(super) const VALID: Duration = Duration::from_secs(4);
/// Renewals that an announcement on the bus asks for come at most so often.
const PAUSE_MS: u64 = 200;
/// The wait for PostgreSQL when this process ends.
const RELEASE: Duration = Duration::from_secs(3);

/// The reason why this process is no longer the home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    Lost(String),
    /// The holder that gets the lease.
    GivenTo(String),
}

/// The lease that this home has.
pub(crate) struct Keeper {
    lease: Arc<Lease>,
    term: Term,
    /// By [`steady_now`]: no other home can have it before.
    valid_until: AtomicU64,
    renewed: AtomicU64,
    seen: Mutex<LeaseState>,
    ending: OnceLock<Ending>,
    is_released: AtomicBool,
    wake: SyncSender<()>,
    /// Ends the process, as a signal would.
    end: Box<dyn Fn() + Send + Sync>,
}

impl Keeper {
    /// Renews the lease from now on. `asked`: when it was taken, by [`steady_now`]. `end` is called once, from any thread.
    pub(super) fn begin(
        lease: Arc<Lease>,
        term: u64,
        asked: u64,
        end: impl Fn() + Send + Sync + 'static,
    ) -> Outcome<Arc<Keeper>> {
        let (wake, woken) = mpsc::sync_channel(1);
        let keeper = Arc::new(Keeper {
            lease,
            term: Term(term),
            valid_until: AtomicU64::new(asked + VALID.as_millis() as u64),
            renewed: AtomicU64::new(asked),
            seen: Mutex::default(),
            ending: OnceLock::new(),
            is_released: AtomicBool::new(false),
            wake,
            end: Box::new(end),
        });
        let known = Arc::downgrade(&keeper);
        let run = move || {
            let mut is_away = false;
            loop {
                if woken.recv_timeout(RENEW) == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
                let Some(keeper) = known.upgrade() else { return };
                let has_lost = matches!(keeper.ending.get(), Some(Ending::Lost(_)));
                if has_lost || keeper.is_released.load(Ordering::Acquire) {
                    return;
                }
                keeper.renew(&mut is_away);
            }
        };
        thread::Builder::new()
            .name("lease".into())
            .spawn(run)
            .map_err(|error| Trouble::new("cannot start the node's threads").because(error))?;
        Ok(keeper)
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    pub(crate) fn term(&self) -> Term {
        self.term
    }

    /// None: this process is the home.
    pub(crate) fn ending(&self) -> Option<&Ending> {
        self.ending.get()
    }

    fn renew(&self, is_away: &mut bool) {
        let asked = steady_now().0;
        self.renewed.store(asked, Ordering::Relaxed);
        let renewed = self.lease.renew(Clock::OfDatabase, VALID);
        if self.is_released.load(Ordering::Acquire) {
            return;
        }
        match renewed {
            Ok(true) => {
                self.valid_until.store(asked + VALID.as_millis() as u64, Ordering::Relaxed);
                if std::mem::replace(is_away, false) {
                    tracing::info!(term = self.term.0, "renewed the lease again");
                }
                if let Ok(state) = self.lease.state(Clock::OfDatabase) {
                    *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = state;
                }
            }
            Ok(false) => self.lose("another home has taken it"),
            // While PostgreSQL is away nobody can take it, and writes need PostgreSQL and the term.
            Err(error) => {
                if !std::mem::replace(is_away, true) {
                    tracing::warn!(%error, "cannot renew the lease of this home; trying again");
                }
            }
        }
    }

    fn lose(&self, why: &str) {
        if self.ending.set(Ending::Lost(why.to_owned())).is_ok() {
            tracing::error!(term = self.term.0, %why, "this home has lost its lease, and ends");
            (self.end)();
        }
    }

    /// Until this time, by the clock of this process, no other home can have the lease.
    fn left_ms(&self) -> u64 {
        self.valid_until.load(Ordering::Relaxed).saturating_sub(steady_now().0)
    }

    /// A home with a greater term has announced itself on the bus. That is only a hint while PostgreSQL can be asked.
    pub(super) fn successor(&self, term: Term) {
        if self.left_ms() == 0 {
            self.lose(&format!(
                "PostgreSQL does not answer, and a home with the term {} is on the bus",
                term.0
            ));
        } else if steady_now().0.saturating_sub(self.renewed.load(Ordering::Relaxed)) >= PAUSE_MS {
            // Full: a renewal is due already.
            let _ = self.wake.try_send(());
        }
    }

    /// Ends this home, and lets another one take its place: the named one, or the first that stands by. Returns its name.
    pub(super) fn give_away(&self, to: Option<&str>) -> Result<String, String> {
        if self.left_ms() == 0 {
            return Err("PostgreSQL does not answer".into());
        }
        let others = self.others();
        let names = || others.iter().map(|holder| name_of_holder(holder)).collect::<Vec<_>>().join(", ");
        let holder = match to {
            None => others.first().ok_or("no other home stands by")?,
            Some(name) => {
                let mut named = others.iter().filter(|holder| name_of_holder(holder) == name);
                match (named.next(), named.next()) {
                    (Some(holder), None) => holder,
                    (Some(_), Some(_)) => return Err(format!("several homes have the name {name}")),
                    (None, _) if others.is_empty() => return Err("no other home stands by".into()),
                    (None, _) => {
                        return Err(format!("no home named {name} stands by; there is: {}", names()));
                    }
                }
            }
        };
        if self.ending.set(Ending::GivenTo(holder.clone())).is_err() {
            return Err("this home gives its role away already, or ends".into());
        }
        tracing::info!(to = name_of_holder(holder), "this home gives its role away");
        (self.end)();
        Ok(name_of_holder(holder).to_owned())
    }

    /// The holders of the homes that stand by.
    fn others(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.homes.iter().filter(|holder| *holder != self.lease.holder()).cloned().collect()
    }

    /// Gives the lease to its next holder, or to anybody. Call it after the last write. Waits for a short time.
    pub(crate) fn release(&self) {
        if self.is_released.swap(true, Ordering::AcqRel) {
            return;
        }
        let to = match self.ending.get() {
            Some(Ending::Lost(_)) => return,
            Some(Ending::GivenTo(holder)) => holder.clone(),
            None => String::new(),
        };
        let (lease, (sender, answer)) = (Arc::clone(&self.lease), mpsc::sync_channel(1));
        thread::spawn(move || drop(sender.send(lease.give(&to, Clock::OfDatabase, VALID))));
        match answer.recv_timeout(RELEASE) {
            Ok(Ok(_)) => tracing::info!(term = self.term.0, "released the lease"),
            Ok(Err(error)) => tracing::warn!(%error, "cannot release the lease; it ends by itself"),
            Err(_) => tracing::warn!("cannot release the lease in time; it ends by itself"),
        }
    }

    pub(super) fn status(&self) -> Value {
        let mut state = self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        state.holder = self.lease.holder().to_owned();
        state.term = self.term.0;
        state.left_ms = self.left_ms();
        describe(&state)
    }

    pub(super) fn figures(self: &Arc<Keeper>) -> Source {
        let keeper = Arc::clone(self);
        Box::new(move || figures(true, keeper.left_ms(), keeper.others().len() as u64))
    }
}

/// The state of the lease, and each home with its part.
pub(super) fn describe(state: &LeaseState) -> Value {
    let homes = state.homes.iter().map(|holder| {
        let is_home = *holder == state.holder && state.left_ms > 0;
        json!({ "name": name_of_holder(holder), "state": if is_home { "home" } else { "standby" } })
    });
    json!({
        "holder": name_of_holder(&state.holder),
        "term": state.term,
        "left_ms": state.left_ms,
        "homes": homes.collect::<Vec<_>>(),
    })
}

pub(super) fn figures(is_home: bool, left_ms: u64, standbys: u64) -> Vec<Sample> {
    vec![
        Sample::gauge(
            "kith_cluster_home",
            "1: this node is the home. 0: it stands by until the home is gone.",
            is_home.into(),
        ),
        Sample::gauge(
            "kith_cluster_lease_left_ms",
            "Time until the lease ends without a renewal; 0: nobody has it, or PostgreSQL does not answer.",
            left_ms,
        ),
        Sample::gauge("kith_cluster_standbys", "Homes that stand by.", standbys),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_holder_of_a_valid_lease_is_shown_as_the_home() {
        let homes = vec!["01 kith a".to_owned(), "02 kith b".to_owned()];
        let mut state = LeaseState { holder: "02 kith b".into(), term: 7, left_ms: 3_000, homes };
        let shown = describe(&state);
        assert_eq!((&shown["holder"], &shown["term"]), (&json!("kith b"), &json!(7)));
        assert_eq!(shown["homes"][0], json!({"name": "kith a", "state": "standby"}));
        assert_eq!(shown["homes"][1], json!({"name": "kith b", "state": "home"}));
        state.left_ms = 0;
        assert_eq!(describe(&state)["homes"][1]["state"], "standby");
    }
}
