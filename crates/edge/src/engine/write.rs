//! Writes output to the socket: plain, or encrypted.

use std::io::{self, IoSlice};

use crate::Records;
use crate::output::MAX_SLICES;
use crate::shared::Shared;
use crate::slot::{Flags, Line};

/// Plaintext encrypted at once. Encrypted bytes can neither be dropped nor shared.
const SEAL_AT_ONCE: usize = 32 * 1024;

/// Most encrypted bytes that are sent together with the next output.
const SENT_ALONG: usize = 4 * 1024;

/// Capacity for that, with each slice in its own records, and the extra capacity that rustls requires.
pub(crate) const SEALED_SIZE: usize = SENT_ALONG + SEAL_AT_ONCE + MAX_SLICES * 3 * 261;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrote {
    /// Nothing is pending.
    All,
    /// The socket is full until it becomes writable.
    Blocked,
    /// Output is pending, but the handshake is not finished.
    Held,
}

/// Writes pending output, and for a closing TLS connection its close_notify.
pub(crate) fn write_out(line: &mut Line, shared: &mut Shared) -> io::Result<Wrote> {
    if line.tls.is_none() {
        return write_plain(line, shared);
    }
    loop {
        let has_output = line.output.as_ref().is_some_and(|output| output.len() > 0);
        let Some(session) = &mut line.tls else { return Ok(Wrote::All) };
        if !has_output && session.may_wait() && !line.flags.has(Flags::CLOSING) {
            return Ok(Wrote::All);
        }
        let unsent = session.unsent.as_ref().map_or(0, |unsent| unsent.0.len());
        // The end of a handshake and the first output share a packet. More pending bytes go first, or they would pile up.
        let goes_along = has_output && !session.is_handshaking() && unsent <= SENT_ALONG;
        if !goes_along && write_unsent(line, shared)? == Wrote::Blocked {
            return Ok(Wrote::Blocked);
        }
        let Some(session) = &mut line.tls else { return Ok(Wrote::All) };
        if session.is_handshaking() {
            return Ok(if has_output { Wrote::Held } else { Wrote::All });
        }
        if has_output {
            if write_sealed(line, shared)? == Wrote::Blocked {
                return Ok(Wrote::Blocked);
            }
        } else if !line.flags.has(Flags::CLOSING)
            || !session.notify_close(&mut shared.pool, &mut shared.keys).map_err(io::Error::other)?
        {
            return Ok(Wrote::All);
        }
    }
}

/// Writes encrypted bytes.
pub(super) fn write_unsent(line: &mut Line, shared: &mut Shared) -> io::Result<Wrote> {
    let Some(session) = &mut line.tls else { return Ok(Wrote::All) };
    let Some(mut unsent) = session.take_unsent() else { return Ok(Wrote::All) };
    let written = write_all(&unsent.0, |slice| line.wire.write(slice));
    if let Ok(written) = written {
        shared.tally().bytes_out.add(written as u64);
        unsent.0.drain(..written);
    }
    let wrote = if unsent.0.is_empty() { Wrote::All } else { Wrote::Blocked };
    session.keep_unsent(unsent, &mut shared.pool);
    written.map(|_| wrote)
}

fn write_plain(line: &mut Line, shared: &mut Shared) -> io::Result<Wrote> {
    let Some(output) = &mut line.output else { return Ok(Wrote::All) };
    while output.len() > 0 {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let filled = output.slices(&mut slices);
        match line.wire.write(&slices[..filled]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                shared.tally().bytes_out.add(written as u64);
                shared.outgoing = shared.outgoing.saturating_sub(written);
                output.advance(written);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Wrote::Blocked),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Wrote::All)
}

/// Encrypts the next part of the output and writes it behind `unsent`, which keeps the bytes that the socket does not take.
fn write_sealed(line: &mut Line, shared: &mut Shared) -> io::Result<Wrote> {
    let (Some(session), Some(output)) = (&mut line.tls, &mut line.output) else { return Ok(Wrote::All) };
    let mut sealed = std::mem::take(&mut shared.sealed);
    if let Some(unsent) = session.take_unsent() {
        sealed.extend_from_slice(&unsent.0);
        shared.pool.give_remainder(unsent);
    }
    let mut slices = [IoSlice::new(&[]); MAX_SLICES];
    let per_send = shared.limits.records == Records::PerSend;
    let filled = if per_send { output.sends(&mut slices) } else { output.slices(&mut slices) };
    let mut room = SEAL_AT_ONCE;
    for slice in &slices[..filled] {
        if per_send && slice.len() > room && room < SEAL_AT_ONCE {
            // If it began now, it would be divided into two.
            break;
        }
        let part = &slice[..slice.len().min(room)];
        session.seal(part, &mut sealed, &mut shared.keys).map_err(io::Error::other)?;
        room -= part.len();
        if room == 0 {
            break;
        }
    }
    shared.outgoing = shared.outgoing.saturating_sub(SEAL_AT_ONCE - room);
    output.advance(SEAL_AT_ONCE - room);
    let written = write_all(&sealed, |slice| line.wire.write(slice))?;
    shared.tally().bytes_out.add(written as u64);
    let wrote = if written == sealed.len() { Wrote::All } else { Wrote::Blocked };
    if wrote == Wrote::Blocked {
        let mut unsent = shared.pool.take_remainder();
        unsent.0.extend_from_slice(&sealed[written..]);
        session.unsent = Some(unsent);
    }
    sealed.clear();
    shared.sealed = sealed;
    Ok(wrote)
}

/// Answers how many bytes the socket took.
fn write_all(bytes: &[u8], mut write: impl FnMut(&[IoSlice<'_>]) -> io::Result<usize>) -> io::Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match write(&[IoSlice::new(&bytes[written..])]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => written += n,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}
