//! Detects at the start whether the write-ahead log was cut or damaged, which loses acknowledged transactions.
//!
//! SQLite replays a log up to the first frame with a wrong checksum and ignores the rest. The store would then reuse
//! positions and seqs after it for other messages. So the database continues under a new *epoch*, and clients reload. A
//! process that is killed while it writes a frame leaves the same traces as a damaged disk; clients reload then, too.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>
const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The last bit selects the byte order of checksums.
const MAGIC: u32 = 0x377f_0682;

/// Whether the log of the database at `path` has bytes of its present generation that SQLite will not replay. No other
/// process may be writing to it.
pub(crate) fn is_torn(path: &Path) -> io::Result<bool> {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    match File::open(name) {
        Ok(file) => is_torn_log(BufReader::with_capacity(1 << 16, file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_torn_log(mut log: impl Read) -> io::Result<bool> {
    let mut header = [0; HEADER];
    match fill(&mut log, &mut header)? {
        0 => return Ok(false),
        HEADER => {}
        _ => return Ok(true),
    }
    let is_big = number(&header, 0) == MAGIC | 1;
    let mut sum = checksum(is_big, [0, 0], &header[..24]);
    let page = number(&header, 8) as usize;
    let is_header = (number(&header, 0) | 1) == MAGIC | 1
        && sum == [number(&header, 24), number(&header, 28)]
        && (512..=65_536).contains(&page);
    if !is_header {
        // A log that was reset and not written to yet is empty or whole.
        return Ok(true);
    }
    let mut frame = vec![0; FRAME_HEADER + page];
    let mut is_whole = true;
    loop {
        let len = fill(&mut log, &mut frame)?;
        // Frames of older generations, which have other salts, may follow.
        let is_of_now = len >= 16 && frame[8..16] == header[16..24];
        if len < frame.len() {
            return Ok(is_of_now);
        }
        if is_whole && is_of_now {
            sum = checksum(is_big, checksum(is_big, sum, &frame[..8]), &frame[FRAME_HEADER..]);
            is_whole = sum == [number(&frame, 16), number(&frame, 20)];
        } else {
            is_whole = false;
        }
        if is_of_now && !is_whole {
            return Ok(true);
        }
    }
}

/// Reads until the buffer is full or the input ends.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..])? {
            0 => break,
            len => filled += len,
        }
    }
    Ok(filled)
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn checksum(is_big: bool, sum: [u32; 2], bytes: &[u8]) -> [u32; 2] {
    let word = |at: usize| {
        let big = number(bytes, at);
        if is_big { big } else { big.swap_bytes() }
    };
    (0..bytes.len() / 8).fold(sum, |[s0, s1], pair| {
        let s0 = s0.wrapping_add(word(pair * 8)).wrapping_add(s1);
        [s0, s1.wrapping_add(word(pair * 8 + 4)).wrapping_add(s0)]
    })
}
