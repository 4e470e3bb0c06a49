//! Pictures are made anew in a process of their own, `kith picture`: a decoder is the one place where bytes of strangers
//! become indices, and a process can be held to limits and ended.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use chat::{FileType, Picture};
use serde::{Deserialize, Serialize};
use web::files::{PictureFault, Pictures, Remade};

/// Longest time for one picture.
const TIME: Duration = Duration::from_secs(20);
/// Most memory of the process, with the program itself, which is mapped and mostly not there.
const MEMORY: u64 = 1 << 30;
/// What the process says where a picture is none.
const REFUSED: u8 = 3;

/// Starts this very program for each picture.
pub(crate) struct Maker;

/// The first line of what the process says; the picture and its thumbnail follow.
#[derive(Debug, Serialize, Deserialize)]
struct Told {
    media_type: String,
    width: u32,
    height: u32,
    blurhash: String,
    bytes: u64,
    thumbnail_bytes: u64,
}

impl Pictures for Maker {
    fn remake(
        &self,
        from: File,
        _: FileType,
        mut whole: File,
        mut thumbnail: File,
    ) -> Result<Remade, PictureFault> {
        let mut child = start(from).map_err(PictureFault::Failed)?;
        let output = child.stdout.take().expect("it was asked for");
        let told = ended_after(&mut child, TIME, || receive(output, &mut whole, &mut thumbnail));
        let status = child.wait().map_err(PictureFault::Failed)?;
        match (told, status.code()) {
            (Ok(told), Some(0)) => Ok(Remade {
                kind: FileType::named(&told.media_type),
                picture: Picture {
                    width: told.width,
                    height: told.height,
                    blurhash: told.blurhash.into(),
                    has_thumbnail: told.thumbnail_bytes > 0,
                },
                bytes: told.bytes,
                thumbnail_bytes: told.thumbnail_bytes,
            }),
            (_, Some(code)) if code == i32::from(REFUSED) => Err(PictureFault::Bad("refused".into())),
            // Ended by a limit, or by a mistake that this picture has found.
            (_, _) => Err(PictureFault::Bad(format!("the process ended with {status}"))),
        }
    }
}

fn start(from: File) -> io::Result<Child> {
    // Also where the file was replaced by a newer one meanwhile.
    let program = match cfg!(target_os = "linux") {
        true => "/proc/self/exe".into(),
        false => std::env::current_exe()?,
    };
    Command::new(program)
        .arg("picture")
        .env_clear()
        .stdin(Stdio::from(from))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

/// Ends the process when the work takes longer.
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
            // It may have ended this moment.
            let _ = child.kill();
        }
        work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn receive(output: impl Read, whole: &mut File, thumbnail: &mut File) -> io::Result<Told> {
    let mut output = BufReader::new(output);
    let mut line = String::new();
    output.by_ref().take(4_096).read_line(&mut line)?;
    let told: Told = serde_json::from_str(&line)?;
    copy(&mut output, whole, told.bytes)?;
    copy(&mut output, thumbnail, told.thumbnail_bytes)?;
    Ok(told)
}

fn copy(from: &mut impl Read, to: &mut File, bytes: u64) -> io::Result<()> {
    match io::copy(&mut from.take(bytes), to)? == bytes {
        true => Ok(()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// The other side: reads a picture from stdin and says it anew on stdout.
pub(crate) fn run() -> ExitCode {
    limit();
    match remade().and_then(|remade| say(&remade)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(REFUSED),
    }
}

fn remade() -> io::Result<picture::Remade> {
    let mut file = Vec::new();
    io::stdin().lock().take(picture::MOST_BYTES as u64 + 1).read_to_end(&mut file)?;
    picture::remake(&file).map_err(io::Error::other)
}

fn say(remade: &picture::Remade) -> io::Result<()> {
    let told = Told {
        media_type: remade.media_type.into(),
        width: remade.width,
        height: remade.height,
        blurhash: remade.blurhash.clone(),
        bytes: remade.bytes.len() as u64,
        thumbnail_bytes: remade.thumbnail.len() as u64,
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(&told)?)?;
    out.write_all(&remade.bytes)?;
    out.write_all(&remade.thumbnail)?;
    out.flush()
}

/// What a mistake in a decoder could take: no more than this much memory and time, no file, no image of itself.
fn limit() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let most = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    for (resource, limit) in [
        (Resource::As, most(MEMORY)),
        (Resource::Cpu, most(TIME.as_secs())),
        (Resource::Fsize, most(0)),
        (Resource::Core, most(0)),
        (Resource::Nofile, most(3)),
    ] {
        // Where the system knows no such limit, time is the one that holds.
        let _ = setrlimit(resource, limit);
    }
}
