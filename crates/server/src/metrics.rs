//! `/metrics`: the counters of a node's parts in Prometheus' text format or OpenMetrics.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::process;

/// One value at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    /// Without `_total`, which the format adds to counters.
    pub(crate) name: String,
    pub(crate) help: &'static str,
    pub(crate) value: Value,
    /// One label, where a name has several figures; these follow each other.
    pub(crate) label: Option<(&'static str, Cow<'static, str>)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value {
    /// Never decreases.
    Counter(u64),
    Seconds(f64),
    Gauge(u64),
    /// A gauge with a fraction: a moment, in seconds since the epoch.
    Moment(f64),
}

impl Sample {
    pub(crate) fn counter(name: impl Into<String>, help: &'static str, value: u64) -> Sample {
        Sample { name: name.into(), help, value: Value::Counter(value), label: None }
    }

    pub(crate) fn seconds(name: impl Into<String>, help: &'static str, value: f64) -> Sample {
        Sample { name: name.into(), help, value: Value::Seconds(value), label: None }
    }

    pub(crate) fn gauge(name: impl Into<String>, help: &'static str, value: u64) -> Sample {
        Sample { name: name.into(), help, value: Value::Gauge(value), label: None }
    }

    pub(crate) fn moment(name: impl Into<String>, help: &'static str, value: f64) -> Sample {
        Sample { name: name.into(), help, value: Value::Moment(value), label: None }
    }

    pub(crate) fn labelled(self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Sample {
        Sample { label: Some((name, value.into())), ..self }
    }
}

/// A source of samples.
pub(crate) type Source = Box<dyn Fn() -> Vec<Sample> + Send + Sync>;

/// All sources of a node, read at each scrape.
pub(crate) struct Metrics {
    sources: Arc<[Source]>,
    registry: Registry,
}

/// The formats that a scraper accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    OpenMetrics,
}

impl Format {
    /// By the `Accept` of a request. Text if it does not accept OpenMetrics.
    pub(crate) fn accepted(accept: &str) -> Format {
        let wants = |range: &str| {
            let mut parts = range.split(';').map(str::trim);
            let is_refused = |part: &str| part.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
            parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/openmetrics-text"))
                && !parts.any(is_refused)
        };
        if accept.split(',').any(wants) { Format::OpenMetrics } else { Format::Text }
    }

    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Format::Text => "text/plain; version=0.0.4; charset=utf-8",
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

impl Metrics {
    /// The process itself is always among them.
    pub(crate) fn new(mut sources: Vec<Source>) -> Metrics {
        sources.insert(0, Box::new(process::samples));
        sources.insert(1, Box::new(build));
        let sources: Arc<[Source]> = sources.into();
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Sources(Arc::clone(&sources))));
        Metrics { sources, registry }
    }

    pub(crate) fn write(&self, format: Format) -> String {
        let mut out = String::with_capacity(16 * 1024);
        let written = match format {
            Format::Text => self.write_text(&mut out),
            Format::OpenMetrics => prometheus_client::encoding::text::encode(&mut out, &self.registry),
        };
        written.expect("a String takes everything");
        out
    }

    /// Prometheus' text format, version 0.0.4, which the library does not write. In it, a counter's `_total` is a part of its name,
    /// and the text has no end mark.
    fn write_text(&self, out: &mut String) -> fmt::Result {
        for source in &*self.sources {
            for family in source().chunk_by(|one, next| one.name == next.name) {
                let Some(first) = family.first() else { continue };
                let (kind, suffix) = match first.value {
                    Value::Counter(_) | Value::Seconds(_) => ("counter", "_total"),
                    Value::Gauge(_) | Value::Moment(_) => ("gauge", ""),
                };
                let (name, help) = (&first.name, first.help);
                writeln!(out, "# HELP {name}{suffix} {help}\n# TYPE {name}{suffix} {kind}")?;
                for sample in family {
                    match &sample.label {
                        Some((label, value)) => {
                            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                            write!(out, "{name}{suffix}{{{label}=\"{value}\"}} ")?;
                        }
                        None => write!(out, "{name}{suffix} ")?,
                    }
                    match sample.value {
                        Value::Counter(value) | Value::Gauge(value) => writeln!(out, "{value}")?,
                        Value::Seconds(value) | Value::Moment(value) => writeln!(out, "{value}")?,
                    }
                }
            }
        }
        Ok(())
    }
}

fn build() -> Vec<Sample> {
    let sample = Sample::gauge("kith_build_info", "The running version, as a label; always 1.", 1);
    vec![sample.labelled("version", env!("CARGO_PKG_VERSION"))]
}

struct Sources(Arc<[Source]>);

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} sources of metrics", self.0.len())
    }
}

impl Collector for Sources {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for source in &*self.0 {
            // Samples of one name are one family with one header.
            for family in source().chunk_by(|one, next| one.name == next.name) {
                encode_family(&mut encoder, family)?;
            }
        }
        Ok(())
    }
}

fn encode_family(encoder: &mut DescriptorEncoder<'_>, family: &[Sample]) -> fmt::Result {
    let Some(first) = family.first() else { return Ok(()) };
    let kind = match first.value {
        Value::Counter(_) | Value::Seconds(_) => MetricType::Counter,
        Value::Gauge(_) | Value::Moment(_) => MetricType::Gauge,
    };
    let mut metric = encoder.encode_descriptor(&first.name, first.help, None, kind)?;
    for sample in family {
        match &sample.label {
            Some((name, value)) => encode_value(sample.value, metric.encode_family(&[(*name, &**value)])?)?,
            None => return encode_value(sample.value, metric),
        }
    }
    Ok(())
}

fn encode_value(value: Value, encoder: MetricEncoder<'_>) -> fmt::Result {
    match value {
        Value::Counter(value) => ConstCounter::new(value).encode(encoder),
        Value::Seconds(value) => ConstCounter::new(value).encode(encoder),
        Value::Gauge(value) => ConstGauge::new(value).encode(encoder),
        Value::Moment(value) => ConstGauge::new(value).encode(encoder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_written_in_prometheus_format() {
        let source = || {
            vec![
                Sample::counter("kith_things", "Things so far.", 7),
                Sample::gauge("kith_open", "Open now.", 3),
                Sample::counter("kith_refusals", "Refusals.", 1).labelled("code", "bad_token"),
                Sample::counter("kith_refusals", "Refusals.", 2).labelled("code", "full"),
            ]
        };
        let text = Metrics::new(vec![Box::new(source)]).write(Format::OpenMetrics);
        for line in [
            "# TYPE kith_things counter",
            "kith_things_total 7",
            "kith_open 3",
            "kith_refusals_total{code=\"bad_token\"} 1",
            "kith_refusals_total{code=\"full\"} 2",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
        assert_eq!(text.matches("# TYPE kith_refusals ").count(), 1);
    }

    #[test]
    fn the_text_format_names_counters_with_their_suffix() {
        let source = || {
            vec![
                Sample::counter("kith_refusals", "Refusals.", 1).labelled("code", "bad_token"),
                Sample::counter("kith_refusals", "Refusals.", 2).labelled("code", "full"),
                Sample::gauge("kith_open", "Open now.", 3),
            ]
        };
        let text = Metrics::new(vec![Box::new(source)]).write(Format::Text);
        let ours = "# HELP kith_refusals_total Refusals.\n# TYPE kith_refusals_total counter\n\
                    kith_refusals_total{code=\"bad_token\"} 1\nkith_refusals_total{code=\"full\"} 2\n\
                    # HELP kith_open Open now.\n# TYPE kith_open gauge\nkith_open 3\n";
        assert!(text.ends_with(ours), "{text}");
        assert!(!text.contains("# EOF"));
    }

    #[test]
    fn a_scraper_gets_the_format_it_asks_for() {
        for (accept, format) in [
            ("", Format::Text),
            ("*/*", Format::Text),
            ("text/plain;version=0.0.4;q=0.5,*/*;q=0.1", Format::Text),
            ("application/openmetrics-text;version=1.0.0,text/plain;q=0.5", Format::OpenMetrics),
            ("text/plain, application/openmetrics-text; q=0", Format::Text),
        ] {
            assert_eq!(Format::accepted(accept), format, "{accept}");
        }
    }

    #[test]
    fn the_process_is_among_them_under_its_usual_names() {
        let text = Metrics::new(Vec::new()).write(Format::OpenMetrics);
        for name in ["process_cpu_seconds_total ", "process_resident_memory_bytes ", "process_open_fds "] {
            let line = text.lines().find(|line| line.starts_with(name)).expect(name);
            let value: f64 = line[name.len()..].parse().expect("a number");
            assert!(value > 0.0 || name.contains("cpu"), "{line}");
        }
    }
}
