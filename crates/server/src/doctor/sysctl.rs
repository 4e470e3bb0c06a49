//! The sysctl file: its content, conflicts with other files, and the write.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::finding::{Finding, Setting};
use super::harmful;
use super::plan::Plan;
use crate::trouble::{Outcome, Trouble};

/// A path that `sysctl --system` reads (sysctl(8)).
pub(crate) const FILE: &str = "/etc/sysctl.d/60-kith.conf";

/// The command that loads the file now; the system loads it at boot.
pub(super) const LOAD: &str = "sysctl --system";

/// One line of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) file: PathBuf,
    pub(super) key: String,
    pub(super) value: String,
}

/// The text of the file: the lines of the findings, the requested lines, and lines of an older file for other settings, which may be
/// the reason why those are in order. None if no line is needed.
pub(super) fn text(findings: &[Finding], asked: &[Setting], older: &str, plan: &Plan) -> Option<String> {
    if asked.is_empty() && findings.iter().all(|finding| finding.sysctl.is_empty()) {
        return None;
    }
    let mut text = format!(
        "# For {} connections, by `kith doctor --connections {0} --apply`. To load it: {LOAD}\n",
        plan.connections
    );
    let mut said: Vec<&str> = Vec::new();
    for Setting { key, value } in asked {
        if said.is_empty() {
            text += "\n# asked for with --sysctl\n";
        }
        text += &format!("{key} = {value}\n");
        said.push(key);
    }
    for finding in findings {
        let needed: Vec<&Setting> =
            finding.sysctl.iter().filter(|setting| !said.contains(&setting.key.as_str())).collect();
        if !needed.is_empty() {
            text += &format!("\n# {}: {}\n", finding.topic, finding.why);
        }
        for Setting { key, value } in needed {
            text += &format!("{key} = {value}\n");
            said.push(key);
        }
    }
    let kept = parse(older)
        .filter(|(key, value)| !said.contains(&key.as_str()) && harmful::judge(key, value, plan).is_none());
    let kept: String = kept.map(|(key, value)| format!("{key} = {value}\n")).collect();
    if !kept.is_empty() {
        text += "\n# as it was\n";
    }
    Some(text + &kept)
}

/// A requested setting: `KEY=VALUE`. A harmful one is refused.
pub(super) fn asked(text: &str, plan: &Plan) -> Outcome<Setting> {
    let refused = |why: &str| Trouble::new(format!("--sysctl {text} is refused")).because(why);
    let Some((key, value)) = parse(text).next().filter(|(_, value)| is_one_line(text) && !value.is_empty())
    else {
        return Err(refused("it is not a setting").remedy("for example: --sysctl net.core.somaxconn=8192"));
    };
    match harmful::judge(&key, &value, plan) {
        None => Ok(Setting { key, value }),
        Some(harm) => Err(refused(harm.why).remedy(match harm.better {
            Some(better) => format!("--sysctl {key}={better}, or leave it out"),
            None => "leave it out; where a change is needed, the findings have it".into(),
        })),
    }
}

fn is_one_line(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'#')
}

/// Lines with a setting (sysctl.conf(5)): comments begin with `#` or `;`, a `-` before the key permits a missing one, and `/` can
/// replace the dot.
fn parse(text: &str) -> impl Iterator<Item = (String, String)> {
    text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])).filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let key = key.trim().trim_start_matches('-').replace('/', ".");
        let value = value.split_whitespace().collect::<Vec<&str>>().join(" ");
        (!key.is_empty()).then_some((key, value))
    })
}

/// Lines of later files with other values, which win over ours.
pub(super) fn overruled<'a>(text: &'a str, lines: &'a [Line], ours: &Path) -> Vec<&'a Line> {
    let wanted: BTreeMap<String, String> = parse(text).collect();
    let is_later = |line: &Line| {
        let of_main = line.file == Path::new(MAIN_FILE);
        line.file != ours && (of_main || line.file.file_name() > ours.file_name())
    };
    let other = |line: &&Line| wanted.get(&line.key).is_some_and(|value| *value != line.value);
    lines.iter().filter(|line| is_later(line)).filter(other).collect()
}

const MAIN_FILE: &str = "/etc/sysctl.conf";

/// In the order of `sysctl --system` (sysctl(8)): sorted by file name; of two files with one name the first counts.
const FOLDERS: [&str; 5] =
    ["/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"];

/// The lines that are set at boot, in their order. Skips unreadable files.
pub(super) fn lines_of_machine() -> Vec<Line> {
    let mut files = BTreeMap::new();
    for entry in FOLDERS.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten()).flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "conf") {
            files.entry(entry.file_name()).or_insert(path);
        }
    }
    let files = files.into_values().chain([PathBuf::from(MAIN_FILE)]);
    files.flat_map(|file| lines_of(&file)).collect()
}

fn lines_of(file: &Path) -> Vec<Line> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let file = || file.to_owned();
    parse(&text).map(|(key, value)| Line { file: file(), key, value }).collect()
}

/// Atomic, also in a power failure.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut name = path.file_name().unwrap_or_default().to_owned();
    // `sysctl --system` reads `*.conf` only.
    name.push(format!(".{}.new", std::process::id()));
    let aside = folder.join(name);
    let written = (|| {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(&aside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&aside, path)?;
        fs::File::open(folder)?.sync_all()
    })();
    if written.is_err() {
        let _ = fs::remove_file(&aside);
    }
    written
}
