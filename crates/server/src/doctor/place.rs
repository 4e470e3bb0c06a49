//! The node's disk, clock and certificate.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::finding::Finding;

pub(super) fn free_space(data: &Path) -> Finding {
    let existing = data.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("."));
    let why = "when the disk is full, the node refuses messages; reading still works";
    let mend = "free some space, or name another directory with --data DIR";
    match rustix::fs::statvfs(existing) {
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let found = format!("{} MB free at {}", free >> 20, data.display());
            match free >> 20 {
                0..64 => Finding::warn("disk", found, why, mend).fail_if(true),
                64..1_024 => Finding::warn("disk", found, why, mend),
                _ => Finding::ok("disk", found),
            }
        }
        Err(error) => Finding::warn("disk", error.to_string(), why, mend).fail_if(true),
    }
}

/// Every group of messages waits for one fsync before its acknowledgement.
pub(super) fn sync_time(data: &Path) -> Finding {
    let why = "the node acknowledges a message after it is on disk, so each sender waits at least this long";
    match measure_sync(data) {
        Ok(Some(median)) => {
            let found = format!("fsync takes {:.1} ms", median.as_secs_f64() * 1e3);
            if median < Duration::from_millis(20) {
                Finding::ok("disk speed", found)
            } else {
                Finding::warn(
                    "disk speed",
                    found,
                    why,
                    "put --data on an SSD, or set store.sync = \"normal\"",
                )
            }
        }
        Ok(None) => Finding::ok("disk speed", "not measured: the data directory does not exist yet"),
        Err(error) => {
            let mend =
                format!("chown the directory to this user, or name another: --data DIR ({})", data.display());
            Finding::warn("disk speed", error.to_string(), "the node cannot write its database", mend)
                .fail_if(true)
        }
    }
}

fn measure_sync(data: &Path) -> io::Result<Option<Duration>> {
    if !data.is_dir() {
        return Ok(None);
    }
    let path = data.join(format!(".doctor-{}", std::process::id()));
    let mut file = fs::File::create(&path)?;
    let measured = (0..9)
        .map(|_| {
            let begin = Instant::now();
            file.write_all(&[0; 4096])?;
            file.sync_data()?;
            Ok(begin.elapsed())
        })
        .collect::<io::Result<Vec<Duration>>>();
    fs::remove_file(&path)?;
    let mut times = measured?;
    times.sort_unstable();
    Ok(times.get(times.len() / 2).copied())
}

/// Without another clock, only impossible times are found.
pub(super) fn clock(unix_ms: u64) -> Finding {
    // 2026-01-01: this version of Kith did not exist before.
    const BUILT_AFTER: u64 = 1_767_225_600_000;
    if unix_ms >= BUILT_AFTER {
        return Finding::ok("clock", "plausible");
    }
    Finding::warn(
        "clock",
        "it is before 2026 on this machine",
        "the node checks tokens by the clock; with a wrong clock nobody can sign in",
        "timedatectl set-ntp true",
    )
    .fail_if(true)
}

pub(super) fn certificate(path: &Path, unix_ms: u64) -> Finding {
    let why = "browsers refuse a node whose certificate has expired";
    let mend = "renew it, then send SIGHUP to the node: kill -HUP PID";
    match fs::read(path).map_err(|error| error.to_string()).and_then(|pem| not_after(&pem)) {
        Ok(end) => {
            let days = (end as i64 - (unix_ms / 1_000) as i64) / 86_400;
            let found = format!("valid for {days} more days");
            match days {
                ..1 => Finding::warn("certificate", found, why, mend).fail_if(true),
                1..15 => Finding::warn("certificate", found, why, mend),
                _ => Finding::ok("certificate", found),
            }
        }
        Err(error) => {
            Finding::warn("certificate", error, why, "name a PEM file with --tls-cert").fail_if(true)
        }
    }
}

/// Unix seconds at which the first certificate of a chain ends.
fn not_after(pem: &[u8]) -> Result<u64, String> {
    let block = x509_parser::pem::Pem::iter_from_buffer(pem)
        .find_map(|block| block.ok().filter(|block| block.label == "CERTIFICATE"))
        .ok_or("the file has no certificate")?;
    let certificate = block.parse_x509().map_err(|error| error.to_string())?;
    u64::try_from(certificate.validity().not_after.timestamp()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_read_and_judged() {
        let dir = std::env::temp_dir().join(format!("kith-doctor-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("the temporary directory is writable");
        let mut params = rcgen::CertificateParams::new(vec!["localhost".into()]).expect("a name");
        params.not_after = rcgen::date_time_ymd(2030, 1, 1);
        let key = rcgen::KeyPair::generate().expect("a key");
        let path = dir.join("cert.pem");
        fs::write(&path, params.self_signed(&key).expect("a certificate").pem()).expect("it is written");
        const END: u64 = 1_893_456_000;
        assert_eq!(not_after(&fs::read(&path).expect("it is there")), Ok(END));
        let at = |seconds: u64| certificate(&path, seconds * 1_000).state;
        assert_eq!(at(END - 90 * 86_400), State::Ok);
        assert_eq!(at(END - 5 * 86_400), State::Warn);
        assert_eq!(at(END + 1), State::Fail);
        assert_eq!(certificate(&dir, 0).state, State::Fail);
        fs::remove_dir_all(&dir).expect("it is ours");
    }

    #[test]
    fn an_impossible_clock_is_found() {
        assert_eq!(clock(0).state, State::Fail);
        assert_eq!(clock(1_800_000_000_000).state, State::Ok);
    }
}
