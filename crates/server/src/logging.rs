//! Structured logs on stderr, without message bodies and tokens.

use std::sync::atomic::{AtomicU64, Ordering};

use log::{Level, Metadata, Record};
use tracing_log::{AsLog, LogTracer};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::config::{Log, LogFormat};
use crate::trouble::{Outcome, Trouble};

/// Starts logging. Call it once per process.
pub(crate) fn begin(settings: &Log) -> Outcome {
    let filter = EnvFilter::try_new(&settings.level).map_err(|error| {
        Trouble::new(format!("`{}` is not a log level", settings.level))
            .because(error)
            .remedy("for example: --log info, or --log warn,edge=debug")
    })?;
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let begun = match settings.format {
        LogFormat::Text => {
            let logs = logs.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).finish();
            tracing::subscriber::set_global_default(logs)
        }
        LogFormat::Json => tracing::subscriber::set_global_default(logs.json().flatten_event(true).finish()),
    };
    begun.map_err(|error| Trouble::new("cannot start logging").because(error))?;
    // A warning of rustls is counted at every level.
    log::set_max_level(LevelFilter::current().as_log().max(log::LevelFilter::Warn));
    log::set_boxed_logger(Box::new(FromLibraries(LogTracer::new())))
        .map_err(|error| Trouble::new("cannot start logging").because(error))
}

/// Errors of a TLS client, in the words of rustls: an IP address or an invalid host name as SNI, a renegotiation. rustls warns of each,
/// and any stranger can cause thousands. Here they are debug lines and a metric.
static TLS_PEER_MISTAKES: AtomicU64 = AtomicU64::new(0);

pub(crate) fn tls_peer_mistakes() -> u64 {
    TLS_PEER_MISTAKES.load(Ordering::Relaxed)
}

/// Records of libraries that use the `log` crate.
struct FromLibraries(LogTracer);

impl log::Log for FromLibraries {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        is_of_a_tls_peer(metadata) || self.0.enabled(metadata)
    }

    fn log(&self, record: &Record<'_>) {
        if !is_of_a_tls_peer(record.metadata()) {
            return self.0.log(record);
        }
        TLS_PEER_MISTAKES.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(target: "tls", "{}", record.args());
    }

    fn flush(&self) {}
}

fn is_of_a_tls_peer(metadata: &Metadata<'_>) -> bool {
    metadata.level() == Level::Warn && metadata.target().starts_with("rustls")
}
