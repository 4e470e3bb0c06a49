//! Re-encodes pictures in a process of its own, `kith picture`. A decoder turns bytes of strangers into indices, and a process can have
//! limits and be ended.

mod sandbox;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};

use chat::{FileType, Node, Picture};
use serde::{Deserialize, Serialize};
use web::files::{Made, PictureFault, PictureQueue, Pictures, Remade};

use crate::allocator;

/// Longest time for one picture, and most CPU time.
const TIME: Duration = Duration::from_secs(20);
const CPU_TIME: Duration = Duration::from_secs(10);
/// Most address space of the process, including the program, which is mapped and mostly not resident.
const MEMORY: u64 = 1 << 30;
/// Exit code of the process for an invalid picture.
const REFUSED: u8 = 3;

/// Starts this very program for each picture.
pub(crate) struct Maker;

/// The first line of the process' output; the picture and its thumbnail follow.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    media_type: String,
    width: u32,
    height: u32,
    blurhash: String,
    bytes: u64,
    thumbnail_bytes: u64,
    /// The kernel filters the system calls of the process.
    is_confined: bool,
}

/// A node's single queue of pictures.
pub(crate) fn queue(node: &Arc<Node>) -> PictureQueue {
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    PictureQueue::new(Arc::clone(node), Arc::new(Maker), at_once, crate::now)
}

/// Whether a picture process is confined on this machine.
pub(crate) fn is_confined() -> io::Result<bool> {
    let mut child = start(Stdio::piped(), Size::Whole)?;
    let mut input = child.stdin.take().expect("it was asked for");
    // The process may end before it has read everything.
    let _ = input.write_all(POINT);
    drop(input);
    let output = child.stdout.take().expect("it was asked for");
    let header = ended_after(&mut child, TIME, || read_header(&mut BufReader::new(output)));
    child.wait()?;
    Ok(header?.is_confined)
}

/// A picture of one point.
const POINT: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\xff\0\0\0\0\xff!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

impl Pictures for Maker {
    fn make(&self, from: File, _: FileType, whole: File, thumbnail: File) -> Made {
        run_process(from, Size::Whole, whole, Some(thumbnail))
    }

    fn portrait(&self, from: File, _: FileType, portrait: File) -> Made {
        run_process(from, Size::Portrait, portrait, None)
    }
}

/// The size of the picture that the process makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Whole,
    Portrait,
}

fn run_process(from: File, size: Size, whole: File, thumbnail: Option<File>) -> Made {
    let mut child = match start(Stdio::from(from), size) {
        Ok(child) => child,
        Err(error) => return Made { outcome: Err(PictureFault::Failed(error)), cpu: Duration::ZERO },
    };
    let began = Instant::now();
    let header = read_output(&mut child, whole, thumbnail);
    // Read before the wait, which removes the process' data.
    let cpu = cpu_time(&child).unwrap_or_else(|| began.elapsed());
    let outcome =
        child.wait().map_err(PictureFault::Failed).and_then(|status| match (header, status.code()) {
            (Ok(header), Some(0)) => {
                warn_if_free(header.is_confined);
                Ok(Remade {
                    kind: FileType::named(&header.media_type),
                    picture: Picture {
                        width: header.width,
                        height: header.height,
                        blurhash: header.blurhash.into(),
                        has_thumbnail: header.thumbnail_bytes > 0,
                    },
                    bytes: header.bytes,
                    thumbnail_bytes: header.thumbnail_bytes,
                })
            }
            (_, Some(code)) if code == i32::from(REFUSED) => Err(PictureFault::Bad("refused".into())),
            // Ended by a limit, or by a bug that this picture triggers.
            (_, _) => Err(PictureFault::Bad(format!("the process ended with {status}"))),
        });
    Made { outcome, cpu }
}

fn read_output(child: &mut Child, mut whole: File, mut thumbnail: Option<File>) -> io::Result<Header> {
    let output = child.stdout.take().expect("it was asked for");
    ended_after(child, TIME, || receive(output, &mut whole, thumbnail.as_mut()))
}

/// Logged once, for the operator.
fn warn_if_free(is_confined: bool) {
    static SAID: Once = Once::new();
    if !is_confined {
        SAID.call_once(|| {
            tracing::warn!(
                "the kernel does not filter the system calls of the process that decodes pictures"
            );
        });
    }
}

/// CPU time of the process after its end; the caller still waits for it. None if the system does not report it.
#[cfg(target_os = "linux")]
fn cpu_time(child: &Child) -> Option<Duration> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let pid = Pid::from_child(child);
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // proc_pid_stat(5): behind the name, which ends with the last bracket, utime and stime are the 12th and 13th.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let ticks = ticks()? + ticks()?;
    Some(Duration::from_millis(ticks * 1_000 / rustix::param::clock_ticks_per_second().max(1)))
}

#[cfg(not(target_os = "linux"))]
fn cpu_time(_: &Child) -> Option<Duration> {
    None
}

fn start(from: Stdio, size: Size) -> io::Result<Child> {
    // Works even if the file was replaced by a newer one meanwhile.
    let program = match cfg!(target_os = "linux") {
        true => "/proc/self/exe".into(),
        false => std::env::current_exe()?,
    };
    Command::new(program)
        .arg("picture")
        .args((size == Size::Portrait).then_some("--portrait"))
        .env_clear()
        .env(allocator::VARIABLE, allocator::WITHOUT_A_THREAD)
        .stdin(from)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

/// Kills the process after the time limit.
fn ended_after<T>(child: &mut Child, time: Duration, work: impl FnOnce() -> T + Send) -> T
where
    T: Send,
{
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let work = scope.spawn(move || {
            let outcome = work();
            drop(done);
            outcome
        });
        if is_done.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            // It may just have ended.
            let _ = child.kill();
        }
        work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn receive(output: impl Read, whole: &mut File, thumbnail: Option<&mut File>) -> io::Result<Header> {
    let mut output = BufReader::new(output);
    let header = read_header(&mut output)?;
    copy(&mut output, whole, header.bytes)?;
    if let Some(thumbnail) = thumbnail {
        copy(&mut output, thumbnail, header.thumbnail_bytes)?;
    }
    Ok(header)
}

fn read_header(output: &mut impl BufRead) -> io::Result<Header> {
    let mut line = String::new();
    output.take(4_096).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

fn copy(from: &mut impl Read, to: &mut File, bytes: u64) -> io::Result<()> {
    match io::copy(&mut from.take(bytes), to)? == bytes {
        true => Ok(()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// The process' side: reads a picture from stdin and writes the re-encoded one to stdout.
pub(crate) fn run(is_portrait: bool) -> ExitCode {
    let is_confined = sandbox::enter();
    match remade(is_portrait).and_then(|remade| say(&remade, is_confined)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(REFUSED),
    }
}

fn remade(is_portrait: bool) -> io::Result<picture::Remade> {
    let mut file = Vec::new();
    io::stdin().lock().take(picture::MOST_BYTES as u64 + 1).read_to_end(&mut file)?;
    let remade = if is_portrait { picture::portrait(&file) } else { picture::remake(&file) };
    remade.map_err(io::Error::other)
}

fn say(remade: &picture::Remade, is_confined: bool) -> io::Result<()> {
    let header = Header {
        media_type: remade.media_type.into(),
        width: remade.width,
        height: remade.height,
        blurhash: remade.blurhash.clone(),
        bytes: remade.bytes.len() as u64,
        thumbnail_bytes: remade.thumbnail.len() as u64,
        is_confined,
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(&header)?)?;
    out.write_all(&remade.bytes)?;
    out.write_all(&remade.thumbnail)?;
    out.flush()
}
