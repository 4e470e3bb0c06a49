//! The pending output of one connection, in order, with the end of each send.

use std::collections::{HashMap, VecDeque};
use std::io::IoSlice;

use bytes::Bytes;

use crate::transfer::record::{Reader, Writer};

/// Shared bytes up to this size are copied: a reference would cost more memory and time than the copy.
const COPY_UP_TO: usize = 512;

/// Slices handed to one `writev`.
pub(crate) const MAX_SLICES: usize = 32;

/// Copied sends follow each other in one vector; a shared one is a reference. Exists only while output is pending.
#[derive(Default)]
pub(crate) struct Output {
    sends: VecDeque<Send>,
    copied: Vec<u8>,
    /// Index in `copied` of the first unwritten byte.
    copied_from: usize,
    /// Written bytes of the first send.
    begun: usize,
    len: usize,
}

/// Holders and length of each shared send, by its address; and the length of all.
#[derive(Default)]
pub(crate) struct SharedSends(HashMap<usize, (usize, usize)>, pub(crate) usize);

enum Send {
    Copied(usize),
    Shared(Bytes),
}

impl Send {
    fn len(&self) -> usize {
        match self {
            Send::Copied(len) => *len,
            Send::Shared(bytes) => bytes.len(),
        }
    }
}

impl Output {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Memory that an empty one holds.
    pub(crate) fn capacity(&self) -> usize {
        self.copied.capacity() + self.sends.capacity() * size_of::<Send>()
    }

    /// Writes the pending sends down, each with its end.
    pub(crate) fn export(&self, record: &mut Writer) {
        record.u32(self.begun as u32).u32(self.sends.len() as u32);
        let (mut at, mut begun) = (self.copied_from, self.begun);
        for send in &self.sends {
            record.u32(send.len() as u32);
            match send {
                Send::Copied(len) => {
                    record.raw(&self.copied[at..at + len - begun]);
                    at += len - begun;
                }
                Send::Shared(bytes) => {
                    record.raw(&bytes[begun..]);
                }
            }
            begun = 0;
        }
    }

    pub(crate) fn import(record: &mut Reader<'_>) -> Option<Output> {
        let (begun, sends) = (record.u32()? as usize, record.u32()?);
        let mut output = Output::default();
        for _ in 0..sends {
            let len = record.u32()? as usize;
            // Of the first send the written bytes are not there, and nobody reads them.
            let written = if output.sends.is_empty() { begun } else { 0 };
            let (bytes, rest) = record.0.split_at_checked(len.checked_sub(written)?)?;
            record.0 = rest;
            output.copied.resize(output.copied.len() + written, 0);
            output.copied.extend_from_slice(bytes);
            output.sends.push_back(Send::Copied(len));
            output.len += bytes.len();
        }
        (output.copied_from, output.begun) = (begun, begun);
        Some(output)
    }

    pub(crate) fn push(&mut self, parts: &[&[u8]]) {
        let mut len = 0;
        for part in parts {
            self.copied.extend_from_slice(part);
            len += part.len();
        }
        if len > 0 {
            self.sends.push_back(Send::Copied(len));
            self.len += len;
        }
    }

    pub(crate) fn push_shared(&mut self, bytes: Bytes) {
        if bytes.len() <= COPY_UP_TO {
            return self.push(&[&bytes]);
        }
        self.len += bytes.len();
        self.sends.push_back(Send::Shared(bytes));
    }

    /// The first bytes to write, with adjacent sends in one slice. Returns the number of filled slices.
    pub(crate) fn slices<'a>(&'a self, into: &mut [IoSlice<'a>; MAX_SLICES]) -> usize {
        let mut filled = 0;
        let mut run_from = self.copied_from;
        let mut run_to = run_from;
        let mut begun = self.begun;
        for send in &self.sends {
            // One slice for the run before this send, and one for the send.
            if filled + 2 > MAX_SLICES {
                break;
            }
            match send {
                Send::Copied(len) => run_to += len - begun,
                Send::Shared(bytes) => {
                    if run_to > run_from {
                        into[filled] = IoSlice::new(&self.copied[run_from..run_to]);
                        filled += 1;
                        run_from = run_to;
                    }
                    into[filled] = IoSlice::new(&bytes[begun..]);
                    filled += 1;
                }
            }
            begun = 0;
        }
        if run_to > run_from {
            into[filled] = IoSlice::new(&self.copied[run_from..run_to]);
            filled += 1;
        }
        filled
    }

    /// The output with one slice for each send.
    pub(crate) fn sends<'a>(&'a self, into: &mut [IoSlice<'a>; MAX_SLICES]) -> usize {
        let (mut at, mut begun, mut filled) = (self.copied_from, self.begun, 0);
        for (send, slice) in self.sends.iter().zip(into) {
            *slice = IoSlice::new(match send {
                Send::Copied(len) => {
                    at += len - begun;
                    &self.copied[at + begun - len..at]
                }
                Send::Shared(bytes) => &bytes[begun..],
            });
            begun = 0;
            filled += 1;
        }
        filled
    }

    /// Removes this many written bytes.
    pub(crate) fn advance(&mut self, mut written: usize) {
        self.len -= written;
        while let Some(first) = self.sends.front() {
            let rest = first.len() - self.begun;
            let step = written.min(rest);
            if matches!(first, Send::Copied(_)) {
                self.copied_from += step;
            }
            written -= step;
            if step < rest {
                self.begun += step;
                break;
            }
            self.begun = 0;
            self.sends.pop_front();
        }
        self.compact();
    }

    /// Drops the sends of which no byte is written. Returns their bytes.
    pub(crate) fn drop_unbegun(&mut self) -> usize {
        let keep =
            if self.begun > 0 { self.sends.front().map_or(0, |send| send.len() - self.begun) } else { 0 };
        let dropped = self.len - keep;
        self.sends.truncate(usize::from(keep > 0));
        let copied = if matches!(self.sends.front(), Some(Send::Copied(_))) { keep } else { 0 };
        self.copied.truncate(self.copied_from + copied);
        self.len = keep;
        self.compact();
        // A peer that does not read would keep this buffer for long.
        self.copied.shrink_to_fit();
        self.sends.shrink_to_fit();
        dropped
    }

    /// Counts the memory that this output holds. Bytes that several outputs share count once, in `shared`.
    pub(crate) fn measure(&self, shared: &mut SharedSends) -> usize {
        let own = self.capacity() + size_of::<Output>();
        for send in &self.sends {
            if let Send::Shared(bytes) = send {
                let (holders, _) = shared.0.entry(bytes.as_ptr() as usize).or_insert((0, bytes.len()));
                *holders += 1;
                if *holders == 1 {
                    shared.1 += bytes.len();
                }
            }
        }
        own
    }

    /// Removes this output from `shared` before it is dropped. Returns the bytes without another holder.
    pub(crate) fn unmeasure(&self, shared: &mut SharedSends) -> usize {
        let mut freed = 0;
        for send in &self.sends {
            if let Send::Shared(bytes) = send
                && let Some((holders, len)) = shared.0.get_mut(&(bytes.as_ptr() as usize))
            {
                *holders = holders.saturating_sub(1);
                if *holders == 0 {
                    freed += *len;
                }
            }
        }
        freed
    }

    pub(crate) fn clear(&mut self) {
        self.sends.clear();
        self.copied.clear();
        self.copied_from = 0;
        self.begun = 0;
        self.len = 0;
    }

    /// Written bytes must not pile up in a connection that is never empty.
    fn compact(&mut self) {
        if self.copied_from == self.copied.len() {
            self.copied.clear();
            self.copied_from = 0;
        } else if self.copied_from > self.copied.len() / 2 {
            self.copied.drain(..self.copied_from);
            self.copied_from = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes up to `room` bytes, like a socket.
    fn write(output: &mut Output, room: usize, wire: &mut Vec<u8>) {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let filled = output.slices(&mut slices);
        check_sends(output, &slices[..filled]);
        let bytes: Vec<u8> = slices[..filled].iter().flat_map(|slice| slice.iter().copied()).collect();
        let written = bytes.len().min(room);
        wire.extend_from_slice(&bytes[..written]);
        output.advance(written);
    }

    /// Checks that the bytes are equal, and that no slice has parts of two sends. Each body has bytes of one value.
    fn check_sends(output: &Output, joined: &[IoSlice<'_>]) {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let filled = output.sends(&mut slices);
        assert_eq!(filled, output.sends.len().min(MAX_SLICES));
        let all =
            |slices: &[IoSlice<'_>]| -> Vec<u8> { slices.iter().flat_map(|slice| slice.to_vec()).collect() };
        let (apart, joined) = (all(&slices[..filled]), all(joined));
        let shorter = apart.len().min(joined.len());
        assert_eq!(apart[..shorter], joined[..shorter]);
        for slice in &slices[..filled] {
            assert!(slice.iter().all(|byte| *byte == slice[0]), "two sends in one slice");
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Send(usize),
        Share(usize),
        Write(usize),
        Drop,
        /// To another process.
        Move,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..40usize).prop_map(Step::Send),
            2 => prop_oneof![0..9usize, 500..1500usize].prop_map(Step::Share),
            3 => prop_oneof![0..50usize, 0..3000usize].prop_map(Step::Write),
            1 => Just(Step::Drop),
            1 => Just(Step::Move),
        ]
    }

    #[test]
    fn a_dropped_queue_frees_its_memory() {
        let mut output = Output::default();
        (0..1_000).for_each(|_| output.push(&[&[7; 500]]));
        output.advance(100);
        assert!(output.capacity() >= 500_000);
        output.drop_unbegun();
        assert_eq!(output.len(), 400, "the begun send stays");
        assert!(output.capacity() < 1_000, "{}", output.capacity());
    }

    proptest! {
        /// Each send has its number in every byte, and its length is known. The wire must get whole sends in order, with gaps only
        /// where `drop_unbegun` was called.
        #[test]
        fn the_wire_sees_whole_sends_in_order(steps in prop::collection::vec(step(), 1..200)) {
            let mut output = Output::default();
            let mut wire = Vec::new();
            let mut expected: Vec<u8> = Vec::new();
            let mut ends = vec![0];
            let mut number = 0u8;
            for step in steps {
                match step {
                    Step::Send(len) | Step::Share(len) => {
                        number = number.wrapping_add(1);
                        let body = vec![number; len];
                        expected.extend_from_slice(&body);
                        ends.push(expected.len());
                        if matches!(step, Step::Send(_)) {
                            let (a, b) = body.split_at(len / 2);
                            output.push(&[a, b]);
                        } else {
                            output.push_shared(Bytes::from(body));
                        }
                    }
                    Step::Write(room) => write(&mut output, room, &mut wire),
                    Step::Move => {
                        let mut record = Writer::default();
                        output.export(&mut record);
                        output = Output::import(&mut Reader(&record.0)).expect("it was written just now");
                    }
                    Step::Drop => {
                        let keep = ends.iter().copied().find(|end| *end >= wire.len()).unwrap_or(wire.len());
                        prop_assert_eq!(output.drop_unbegun(), expected.len() - keep);
                        expected.truncate(keep);
                        ends.retain(|end| *end <= keep);
                    }
                }
                prop_assert_eq!(output.len(), expected.len() - wire.len());
                prop_assert_eq!(&wire[..], &expected[..wire.len()]);
            }
            while output.len() > 0 {
                write(&mut output, 1000, &mut wire);
            }
            prop_assert_eq!(wire, expected);
            prop_assert!(output.copied.is_empty() && output.sends.is_empty());
        }
    }
}
