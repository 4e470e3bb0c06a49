//! One member logs in and leaves again: finds out before a run whether its members would be let in.

use std::sync::Arc;
use std::time::Instant;

use web_proto::Event;

use crate::RunOptions;
use crate::arrivals::Arrivals;
use crate::conductor::{Conductor, LoadError, Setup};
use crate::observer::NoObserver;
use crate::target::Transport;
use crate::traffic::Traffic;
use crate::worker::{Commands, Mail, Script, read};

/// Tries; takes half a second.
pub fn try_login(options: &RunOptions) -> Result<(), LoadError> {
    let options = &RunOptions { observer: Arc::new(NoObserver), ..options.clone() };
    let setup = Setup {
        options,
        transport: Transport::Websocket,
        members: 1,
        arrivals: Arrivals::Even(1000.0),
        traffic: Arc::new(Traffic::default()),
    };
    let mut nobody = |_: &str| {};
    let mut trial = Conductor::new(setup, &mut nobody, |_, _| Silent)?;
    trial.ramp();
    if read(&trial.state.counts.welcomed) > 0 {
        trial.each(|| Mail::Leave);
        trial.settle();
        return Ok(());
    }
    let reason = trial.reports()?.failures.into_keys().next();
    Err(LoadError::Login(reason.unwrap_or_else(|| "no answer".to_owned())))
}

/// Commands nothing and keeps nothing.
struct Silent;

impl Script for Silent {
    type Order = ();
    type Result = ();

    fn event(&mut self, _: u32, _: &Event<'_>, _: Instant, _: &mut Commands) {}

    fn order(&mut self, (): (), _: Instant, _: &mut Commands) {}

    fn result(&mut self) {}
}
