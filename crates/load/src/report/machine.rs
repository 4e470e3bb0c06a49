//! The machine of a run.

use std::fs;
use std::thread;

use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    pub cores: usize,
    pub processor: Option<String>,
    pub memory_bytes: Option<u64>,
    pub kernel: Option<String>,
}

impl Machine {
    /// This machine.
    pub fn here() -> Machine {
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").ok();
        Machine {
            cores: thread::available_parallelism().map_or(1, usize::from),
            processor: field(&cpu, "model name"),
            memory_bytes: field(&memory, "MemTotal")
                .and_then(|text| text.strip_suffix(" kB")?.parse::<u64>().ok())
                .map(|kilobytes| kilobytes * 1024),
            kernel: kernel.map(|text| format!("Linux {}", text.trim())),
        }
    }

    /// One line.
    pub(super) fn sentence(&self) -> String {
        let cores = if self.cores == 1 { "1 core".to_owned() } else { format!("{} cores", self.cores) };
        let memory = self.memory_bytes.map(|bytes| format!("{:.0} GB", bytes as f64 / 1e9));
        let parts = [Some(cores), self.processor.clone(), memory, self.kernel.clone()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'))?;
    Some(line.trim().to_owned())
}
