//! Client frames to messages: fragments put together, control frames between them, text checked as it comes.

use super::frame::{FrameHead, Opcode, unmask};
use super::{CloseFrame, Violation};

/// Reads what a client sends. 8 bytes while no message is in pieces.
#[derive(Debug, Default)]
pub struct Reader {
    partial: Option<Box<Partial>>,
}

/// A message of which the end is missing.
#[derive(Debug)]
struct Partial {
    is_text: bool,
    bytes: Vec<u8>,
    /// So much of `bytes` is known to be UTF-8.
    checked: usize,
    /// The data frame that is arriving; None between fragments.
    frame: Option<Arriving>,
    /// The newest frame is the message's last.
    ended: bool,
}

#[derive(Debug)]
struct Arriving {
    mask: [u8; 4],
    done: u64,
    length: u64,
}

/// A message of a client.
#[derive(Debug, PartialEq, Eq)]
pub enum Message<'a> {
    Text(Payload<'a>),
    Binary(Payload<'a>),
    Ping(&'a [u8]),
    Pong,
    Close(CloseFrame),
}

/// In place where it came in one frame and one piece.
#[derive(Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    InPlace(&'a [u8]),
    Assembled(Vec<u8>),
}

impl std::ops::Deref for Payload<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Payload::InPlace(bytes) => bytes,
            Payload::Assembled(bytes) => bytes,
        }
    }
}

impl Reader {
    /// Writes down what of a message has come, for another process. Empty: nothing.
    pub fn export(&self) -> Vec<u8> {
        let Some(partial) = &self.partial else { return Vec::new() };
        let flags = [partial.is_text, partial.ended, partial.frame.is_some()];
        let mut record: Vec<u8> = flags.into_iter().map(u8::from).collect();
        let Arriving { mask, done, length } =
            partial.frame.as_ref().unwrap_or(&Arriving { mask: [0; 4], done: 0, length: 0 });
        record.extend_from_slice(mask);
        for number in [*done, *length, partial.checked as u64] {
            record.extend_from_slice(&number.to_le_bytes());
        }
        record.extend_from_slice(&partial.bytes);
        record
    }

    /// A reader from its [record](Self::export). None: it is none.
    pub fn import(record: &[u8]) -> Option<Reader> {
        if record.is_empty() {
            return Some(Reader::default());
        }
        let (flags, rest) = record.split_first_chunk::<3>()?;
        let (mask, rest) = rest.split_first_chunk::<4>()?;
        let (done, rest) = rest.split_first_chunk::<8>()?;
        let (length, rest) = rest.split_first_chunk::<8>()?;
        let (checked, bytes) = rest.split_first_chunk::<8>()?;
        let checked = usize::try_from(u64::from_le_bytes(*checked)).ok()?;
        let (done, length) = (u64::from_le_bytes(*done), u64::from_le_bytes(*length));
        let frame = (flags[2] != 0).then_some(Arriving { mask: *mask, done, length });
        let (is_text, ended) = (flags[0] != 0, flags[1] != 0);
        let is_sound = checked <= bytes.len() && done <= length;
        let partial = Partial { is_text, bytes: bytes.to_vec(), checked, frame, ended };
        is_sound.then(|| Reader { partial: Some(Box::new(partial)) })
    }

    /// Reads at most one message from the beginning of `input`. Answers the bytes consumed; with no message,
    /// more input is needed. What is not consumed must come again. Text is valid UTF-8. After a violation
    /// nothing may be read any more.
    pub fn read<'a>(
        &mut self,
        input: &'a mut [u8],
        limit: usize,
    ) -> Result<(usize, Option<Message<'a>>), Violation> {
        let mut used = 0;
        loop {
            if let Some(partial) = &mut self.partial
                && partial.frame.is_some()
            {
                used += partial.take(&mut input[used..])?;
                match partial.frame {
                    Some(_) => return Ok((used, None)),
                    None if partial.ended => return Ok((used, Some(self.finish()?))),
                    None => {}
                }
            }
            let Some(head) = FrameHead::parse(&input[used..])? else { return Ok((used, None)) };
            self.check(&head, limit)?;
            let start = used + head.bytes;
            let whole = (input.len() - start) as u64 >= head.payload;
            match head.opcode {
                Opcode::Close | Opcode::Ping | Opcode::Pong => {
                    if !whole {
                        return Ok((used, None));
                    }
                    let end = start + head.payload as usize;
                    let payload = &mut input[start..end];
                    unmask(payload, head.mask, 0);
                    return Ok((end, Some(control(head.opcode, payload)?)));
                }
                Opcode::Text | Opcode::Binary if head.fin && whole => {
                    let end = start + head.payload as usize;
                    let payload = &mut input[start..end];
                    unmask(payload, head.mask, 0);
                    return Ok((end, Some(data(head.opcode, payload)?)));
                }
                _ => {
                    used = start;
                    self.begin(&head);
                }
            }
        }
    }

    /// Whether this frame may come now, and be so long (RFC 6455 §5.4).
    fn check(&self, head: &FrameHead, limit: usize) -> Result<(), Violation> {
        let so_far = match (&self.partial, head.opcode) {
            (_, Opcode::Close | Opcode::Ping | Opcode::Pong) => return Ok(()),
            (Some(partial), Opcode::Continuation) => partial.bytes.len(),
            (None, Opcode::Text | Opcode::Binary) => 0,
            (None, _) => return Err(Violation::protocol("continuation of nothing")),
            (Some(_), _) => return Err(Violation::protocol("new message inside another")),
        };
        if head.payload > (limit - so_far.min(limit)) as u64 {
            return Err(Violation::TOO_LARGE);
        }
        Ok(())
    }

    /// From here on the frame's payload is taken as it comes. Nothing is reserved for what is only promised.
    fn begin(&mut self, head: &FrameHead) {
        let partial = self.partial.get_or_insert_with(|| {
            Box::new(Partial {
                is_text: head.opcode == Opcode::Text,
                bytes: Vec::new(),
                checked: 0,
                frame: None,
                ended: false,
            })
        });
        partial.ended = head.fin;
        partial.frame = Some(Arriving { mask: head.mask, done: 0, length: head.payload });
    }

    fn finish<'a>(&mut self) -> Result<Message<'a>, Violation> {
        let partial = self.partial.take().expect("only called with a message that has ended");
        if !partial.is_text {
            return Ok(Message::Binary(Payload::Assembled(partial.bytes)));
        }
        if partial.checked < partial.bytes.len() {
            return Err(Violation::BAD_UTF8);
        }
        Ok(Message::Text(Payload::Assembled(partial.bytes)))
    }
}

impl Partial {
    /// Takes what is there of the arriving frame.
    fn take(&mut self, input: &mut [u8]) -> Result<usize, Violation> {
        let Some(frame) = &mut self.frame else { return Ok(0) };
        let take = usize::try_from(frame.length - frame.done).unwrap_or(usize::MAX).min(input.len());
        unmask(&mut input[..take], frame.mask, frame.done);
        self.bytes.extend_from_slice(&input[..take]);
        frame.done += take as u64;
        if frame.done == frame.length {
            self.frame = None;
        }
        if self.is_text {
            self.check_text()?;
        }
        Ok(take)
    }

    /// Fails at the first wrong byte; a character that is cut at the end may still be completed.
    fn check_text(&mut self) -> Result<(), Violation> {
        match std::str::from_utf8(&self.bytes[self.checked..]) {
            Ok(text) => self.checked += text.len(),
            Err(error) if error.error_len().is_some() => return Err(Violation::BAD_UTF8),
            Err(error) => self.checked += error.valid_up_to(),
        }
        Ok(())
    }
}

fn control(opcode: Opcode, payload: &[u8]) -> Result<Message<'_>, Violation> {
    Ok(match opcode {
        Opcode::Ping => Message::Ping(payload),
        Opcode::Pong => Message::Pong,
        _ => Message::Close(CloseFrame::parse(payload)?),
    })
}

fn data(opcode: Opcode, payload: &[u8]) -> Result<Message<'_>, Violation> {
    if opcode == Opcode::Binary {
        return Ok(Message::Binary(Payload::InPlace(payload)));
    }
    match std::str::from_utf8(payload) {
        Ok(_) => Ok(Message::Text(Payload::InPlace(payload))),
        Err(_) => Err(Violation::BAD_UTF8),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMIT: usize = 1000;

    #[derive(Debug, Clone, PartialEq, Eq)]
    enum Heard {
        Text(Vec<u8>),
        Binary(Vec<u8>),
        Ping(Vec<u8>),
        Pong,
        Close(Option<u16>),
    }

    /// A client's frame.
    fn frame(fin: bool, opcode: Opcode, payload: &[u8], mask: [u8; 4]) -> Vec<u8> {
        let mut out = Vec::new();
        super::super::write_frame(&mut out, opcode, payload);
        let head = out.len() - payload.len();
        if !fin {
            out[0] &= 0x7f;
        }
        out[1] |= 0x80;
        unmask(&mut out[head..], mask, 0);
        out.splice(head..head, mask);
        out
    }

    fn plain(fin: bool, opcode: Opcode, payload: &[u8]) -> Vec<u8> {
        frame(fin, opcode, payload, [1, 2, 3, 4])
    }

    /// Feeds the bytes cut at `cuts`, as a connection would.
    fn hear(input: &[u8], cuts: &[usize]) -> (Vec<Heard>, Option<u16>) {
        let (mut reader, mut received, mut kept) = (Reader::default(), Vec::new(), Vec::new());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (input.len() + 1)).collect();
        cuts.sort_unstable();
        let mut at = 0;
        for cut in cuts.into_iter().chain([input.len()]) {
            kept.extend_from_slice(&input[at..cut]);
            at = cut;
            loop {
                match reader.read(&mut kept, LIMIT) {
                    Err(violation) => return (received, Some(violation.code)),
                    Ok((used, message)) => {
                        let more = message.is_some();
                        received.extend(message.map(|message| match message {
                            Message::Text(payload) => Heard::Text(payload.to_vec()),
                            Message::Binary(payload) => Heard::Binary(payload.to_vec()),
                            Message::Ping(payload) => Heard::Ping(payload.to_vec()),
                            Message::Pong => Heard::Pong,
                            Message::Close(close) => Heard::Close(close.code),
                        }));
                        kept.drain(..used);
                        if !more {
                            break;
                        }
                    }
                }
            }
        }
        (received, None)
    }

    fn text(text: &str) -> Heard {
        Heard::Text(text.into())
    }

    #[test]
    fn control_frames_come_between_fragments() {
        let input = [
            plain(false, Opcode::Text, b"a"),
            plain(true, Opcode::Ping, b"p"),
            plain(false, Opcode::Continuation, b""),
            plain(true, Opcode::Pong, b""),
            plain(true, Opcode::Continuation, b"b"),
            plain(true, Opcode::Close, b"\x03\xe8"),
        ]
        .concat();
        let expected = vec![Heard::Ping(b"p".to_vec()), Heard::Pong, text("ab"), Heard::Close(Some(1000))];
        assert_eq!(hear(&input, &[]), (expected, None));
    }

    #[test]
    fn broken_sequences_are_refused() {
        let first = plain(false, Opcode::Text, b"a");
        let table = [
            (vec![plain(true, Opcode::Continuation, b"a")], 1002),
            (vec![plain(false, Opcode::Continuation, b"a")], 1002),
            (vec![first.clone(), plain(true, Opcode::Text, b"b")], 1002),
            (vec![first.clone(), plain(false, Opcode::Binary, b"b")], 1002),
            (vec![plain(true, Opcode::Text, &[b'a'; LIMIT + 1])], 1009),
            (vec![first.clone(), plain(true, Opcode::Continuation, &[b'a'; LIMIT])], 1009),
            (vec![plain(true, Opcode::Text, b"\xff")], 1007),
            (vec![plain(true, Opcode::Text, b"\xed\xa0\x80")], 1007),
            (vec![plain(true, Opcode::Text, b"\xc3")], 1007),
            (vec![first.clone(), plain(false, Opcode::Continuation, b"\xff")], 1007),
            (vec![first, plain(true, Opcode::Continuation, b"\xc3")], 1007),
            (vec![plain(true, Opcode::Close, b"\x03\xed")], 1002),
        ];
        for (frames, code) in table {
            assert_eq!(hear(&frames.concat(), &[]), (vec![], Some(code)), "{frames:?}");
        }
    }

    #[test]
    fn bad_text_fails_before_its_frame_is_complete() {
        let input = plain(true, Opcode::Text, b"good \xf4\x90 and what follows");
        assert_eq!(hear(&input[..6 + 7], &[]), (vec![], Some(1007)));
    }

    #[test]
    fn a_promised_length_reserves_nothing() {
        let mut reader = Reader::default();
        let mut head = [0x81, 0xff, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 1, 2, 3, 4];
        assert_eq!(reader.read(&mut head, 1 << 30), Ok((14, None)));
        assert_eq!(reader.partial.map(|partial| partial.bytes.capacity()), Some(0));
        assert_eq!(size_of::<Reader>(), 8);
    }

    fn messages() -> impl Strategy<Value = Vec<(Heard, Vec<usize>)>> {
        let cuts = prop::collection::vec(any::<usize>(), 0..4);
        let message = prop_oneof![
            "\\PC{0,60}".prop_map(|text| Heard::Text(text.into_bytes())),
            prop::collection::vec(any::<u8>(), 0..300).prop_map(Heard::Binary),
            prop::collection::vec(any::<u8>(), 0..20).prop_map(Heard::Ping),
            Just(Heard::Pong),
        ];
        prop::collection::vec((message, cuts), 0..8)
    }

    /// Cuts the data into fragments, with a ping after each.
    fn fragments(opcode: Opcode, data: &[u8], cuts: &[usize], mask: [u8; 4]) -> (Vec<u8>, usize) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (data.len() + 1)).collect();
        cuts.sort_unstable();
        let (mut out, mut at) = (Vec::new(), 0);
        for (index, &cut) in cuts.iter().enumerate() {
            let opcode = if index == 0 { opcode } else { Opcode::Continuation };
            out.extend(frame(false, opcode, &data[at..cut], mask));
            out.extend(frame(true, Opcode::Ping, b"between", mask));
            at = cut;
        }
        let opcode = if cuts.is_empty() { opcode } else { Opcode::Continuation };
        out.extend(frame(true, opcode, &data[at..], mask));
        (out, cuts.len())
    }

    proptest! {
        #[test]
        fn any_fragmentation_and_any_cut_is_heard_alike(
            messages in messages(), mask: [u8; 4], cuts in prop::collection::vec(any::<usize>(), 0..30),
        ) {
            let (mut input, mut expected) = (Vec::new(), Vec::new());
            for (message, fragment_cuts) in messages {
                let (bytes, pings) = match &message {
                    Heard::Text(data) => fragments(Opcode::Text, data, &fragment_cuts, mask),
                    Heard::Binary(data) => fragments(Opcode::Binary, data, &fragment_cuts, mask),
                    Heard::Ping(data) => (frame(true, Opcode::Ping, data, mask), 0),
                    _ => (frame(true, Opcode::Pong, b"", mask), 0),
                };
                input.extend(bytes);
                expected.extend((0..pings).map(|_| Heard::Ping(b"between".to_vec())));
                expected.push(message);
            }
            prop_assert_eq!(hear(&input, &cuts), (expected, None));
        }

        #[test]
        fn noise_ends_alike_however_it_is_cut(
            input in prop::collection::vec(any::<u8>(), 0..300),
            cuts in prop::collection::vec(any::<usize>(), 0..30),
        ) {
            let (whole, pieces) = (hear(&input, &[]), hear(&input, &cuts));
            prop_assert_eq!(whole.1, pieces.1);
            prop_assert_eq!(whole.0, pieces.0);
        }
    }
}
