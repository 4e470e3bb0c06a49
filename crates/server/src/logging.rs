//! Structured logs on stderr. No part of Kith gives them a message body or a token.

use tracing_subscriber::EnvFilter;

use crate::config::{Log, LogFormat};
use crate::trouble::{Outcome, Trouble};

/// Begins to log. Once per process.
pub(crate) fn begin(settings: &Log) -> Outcome {
    let filter = EnvFilter::try_new(&settings.level).map_err(|error| {
        Trouble::new(format!("`{}` does not say what to log", settings.level))
            .because(error)
            .remedy("for example: --log info, or --log warn,edge=debug")
    })?;
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match settings.format {
        LogFormat::Text => logs.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).init(),
        LogFormat::Json => logs.json().flatten_event(true).init(),
    }
    Ok(())
}
