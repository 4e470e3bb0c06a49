//! CPU time of other processes during a run: they slow down both the server and the generator.

use std::fs;
use std::sync::Arc;

use crate::conductor::own_cpu;
use crate::options::RunOptions;
use crate::probe::{Probe, Sample};
use crate::report::{Measure, Run};

/// Above this share, the latency of a run depends more on other processes than on the server.
const MUCH_PERCENT: f64 = 25.0;

/// The CPU times at the begin of the run.
#[derive(Debug, Clone)]
pub struct OtherProcesses {
    server: Option<Probe>,
    begin: Option<Times>,
}

/// Seconds since the machine was started.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Times {
    busy: f64,
    /// The sum over all cores.
    passed: f64,
    ours: f64,
}

impl OtherProcesses {
    /// The processes of the server are not counted, if they are on this machine and known.
    pub fn begin(options: &RunOptions) -> OtherProcesses {
        let server = match &options.processes {
            Some(processes) => Some(Probe::Cluster(Arc::clone(processes))),
            None => options.server.map(Probe::Process),
        };
        OtherProcesses { begin: times(server.as_ref()), server }
    }

    /// Adds their share to the run, and returns a warning if it was large. Call before the server ends.
    pub fn note(self, run: &mut Run) -> Option<String> {
        let share = share(self.begin?, times(self.server.as_ref())?)?;
        let name = "taken by other processes of this machine";
        run.measures.push(Measure::new("other_processes_percent", name, "% of its CPU", share));
        let warning = format!(
            "Other processes took {share:.0} % of this machine's CPU meanwhile: times and rates are no better than that."
        );
        (share > MUCH_PERCENT).then(|| {
            run.lines.push(warning.clone());
            warning
        })
    }
}

fn share(begin: Times, end: Times) -> Option<f64> {
    let passed = end.passed - begin.passed;
    let others = (end.busy - begin.busy) - (end.ours - begin.ours);
    (passed > 0.0).then(|| (others / passed * 100.0).clamp(0.0, 100.0))
}

fn times(server: Option<&Probe>) -> Option<Times> {
    let of_server = match server.map(Probe::look) {
        None => 0.0,
        Some(Sample { parts: Some(parts), .. }) => parts.all().cpu_seconds,
        Some(sample) => sample.cpu_seconds?,
    };
    let (busy, passed) = of_machine(&fs::read_to_string("/proc/stat").ok()?)?;
    Some(Times { busy, passed, ours: own_cpu()? + of_server })
}

/// The first line of /proc/stat (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal. Guest times are
/// in the first two. Time stolen by other machines of the host counts as used by other processes.
fn of_machine(stat: &str) -> Option<(f64, f64)> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().take(8);
    let ticks: Vec<f64> = fields.filter_map(|field| field.parse().ok()).collect();
    let all: f64 = ticks.iter().sum();
    let idle = ticks.get(3)? + ticks.get(4)?;
    let second = rustix::param::clock_ticks_per_second() as f64;
    Some(((all - idle) / second, all / second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_is_neither_idle_nor_ours_belongs_to_other_processes() {
        let second = rustix::param::clock_ticks_per_second();
        let stat = format!(
            "cpu  {} 0 {} {} {} 0 0 {} 0 0\ncpu0 1 1\n",
            3 * second,
            second,
            4 * second,
            second,
            second
        );
        assert_eq!(of_machine(&stat), Some((5.0, 10.0)));
        let begin = Times { busy: 5.0, passed: 10.0, ours: 1.0 };
        let end = Times { busy: 13.0, passed: 20.0, ours: 4.0 };
        assert_eq!(share(begin, end), Some(50.0));
        assert_eq!(share(begin, begin), None);
    }

    #[test]
    fn much_is_said() {
        let mut run = Run::not_made("x", "");
        let long_ago = Times { busy: -1e9, passed: -1e9, ours: 0.0 };
        let warning = OtherProcesses { server: None, begin: Some(long_ago) }.note(&mut run);
        if cfg!(target_os = "linux") {
            assert_eq!((run.measures.len(), run.lines), (1, Vec::from_iter(warning)));
        }
    }
}
