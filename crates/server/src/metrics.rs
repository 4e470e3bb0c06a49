//! `/metrics`: what the parts of a node have counted, in Prometheus' text format.

use std::borrow::Cow;
use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::process;

/// One figure at one moment.
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
    /// Only ever grows.
    Counter(u64),
    Seconds(f64),
    Gauge(u64),
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

    pub(crate) fn labelled(self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Sample {
        Sample { label: Some((name, value.into())), ..self }
    }
}

/// Something that can say how it is doing.
pub(crate) type Source = Box<dyn Fn() -> Vec<Sample> + Send + Sync>;

/// All sources of a node; asked at each scrape.
pub(crate) struct Metrics {
    registry: Registry,
}

impl Metrics {
    /// The process itself is always among them.
    pub(crate) fn new(mut sources: Vec<Source>) -> Metrics {
        sources.insert(0, Box::new(process::samples));
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Sources(sources)));
        Metrics { registry }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::with_capacity(8 * 1024);
        prometheus_client::encoding::text::encode(&mut text, &self.registry)
            .expect("a String takes everything");
        text
    }
}

struct Sources(Vec<Source>);

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} sources of metrics", self.0.len())
    }
}

impl Collector for Sources {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for source in &self.0 {
            // Samples of one name are one family: the format wants its head only once.
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
        Value::Gauge(_) => MetricType::Gauge,
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_told_as_prometheus_reads_them() {
        let source = || {
            vec![
                Sample::counter("kith_things", "Things so far.", 7),
                Sample::gauge("kith_open", "Open now.", 3),
                Sample::counter("kith_refusals", "Refusals.", 1).labelled("code", "bad_token"),
                Sample::counter("kith_refusals", "Refusals.", 2).labelled("code", "full"),
            ]
        };
        let text = Metrics::new(vec![Box::new(source)]).text();
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
    fn the_process_is_among_them_under_its_usual_names() {
        let text = Metrics::new(Vec::new()).text();
        for name in ["process_cpu_seconds_total ", "process_resident_memory_bytes ", "process_open_fds "] {
            let line = text.lines().find(|line| line.starts_with(name)).expect(name);
            let value: f64 = line[name.len()..].parse().expect("a number");
            assert!(value > 0.0 || name.contains("cpu"), "{line}");
        }
    }
}
