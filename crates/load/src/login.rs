//! A trial login before a run: it shows whether the server accepts the members.

use std::sync::Arc;

use web_proto::Event;

use crate::RunOptions;
use crate::conductor::{Conductor, LoadError, RAMP, Setup};
use crate::failures::Reasons;
use crate::observer::NoObserver;
use crate::target::Transport;
use crate::worker::{Context, Mail, Script, read};

/// Tries one login; takes half a second. `transport`: of the plan, if it has one. A node of ours is tried over WebSocket.
pub fn try_login(options: &RunOptions, transport: Option<Transport>) -> Result<(), LoadError> {
    let options = &RunOptions { observer: Arc::new(NoObserver), kill: None, ..options.clone() };
    let transport = transport.filter(|transport| transport.is_of_peer()).unwrap_or(Transport::Websocket);
    let setup = Setup { options, transport, members: 1, arrivals: RAMP };
    let mut nobody = |_: &str| {};
    let mut trial = Conductor::<Silent>::new(setup, &Arc::new(()), &mut nobody)?;
    trial.ramp();
    if read(&trial.state.counts.welcomed) > 0 {
        trial.each(|| Mail::Leave);
        trial.settle();
        return Ok(());
    }
    let reason = trial.outcome(0)?.failures.into_keys().next();
    Err(LoadError::Login(reason.unwrap_or_else(|| "no answer".to_owned())))
}

/// Sends nothing and keeps nothing.
#[derive(Default)]
struct Silent;

impl Script for Silent {
    type Shared = ();
    type Order = ();
    type Tally = Reasons;

    fn event(&mut self, _: u32, _: &Event<'_>, _: &mut Context<Silent>) {}

    fn order(&mut self, (): (), _: &mut Context<Silent>) {}
}
