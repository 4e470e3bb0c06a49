//! Request bodies: by length or in chunks, strictly (RFC 9112 §6 and §7.1), never more than is allowed.

use crate::head::{Framing, Offence};

/// Longest chunk-size line with its extensions, and longest trailer section, in bytes.
const MAX_LINE_BYTES: usize = 256;
const MAX_TRAILER_BYTES: usize = 4096;

/// Reads one body. The caller owns the bytes.
#[derive(Debug)]
pub struct Reader {
    state: State,
    /// So many bytes may still come.
    room: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Length(u64),
    ChunkSize,
    Chunk(u64),
    ChunkEnd,
    Trailer(usize),
    Done,
}

impl Reader {
    /// Refuses a body at once if its `content-length` is too large.
    pub fn new(framing: Framing, limit: usize) -> Result<Reader, Offence> {
        let state = match framing {
            Framing::Length(0) => State::Done,
            Framing::Length(length) if length > limit as u64 => return Err(Offence::BodyTooLarge),
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::ChunkSize,
        };
        Ok(Reader { state, room: limit })
    }

    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Moves bytes from `input` to `body`, up to the last one of the body. Returns the number of consumed bytes.
    pub fn read(&mut self, input: &[u8], body: &mut Vec<u8>) -> Result<usize, Offence> {
        let mut used = 0;
        loop {
            let rest = &input[used..];
            let step = match self.state {
                State::Done => return Ok(used),
                State::Length(left) | State::Chunk(left) => self.data(rest, left, body)?,
                State::ChunkSize => self.chunk_size(rest)?,
                State::ChunkEnd => match rest {
                    [b'\r', b'\n', ..] => {
                        self.state = State::ChunkSize;
                        Some(2)
                    }
                    [] | [b'\r'] => None,
                    _ => return Err(Offence::BadChunk),
                },
                State::Trailer(read) => self.trailer(rest, read)?,
            };
            match step {
                None => return Ok(used),
                Some(bytes) => used += bytes,
            }
        }
    }

    fn data(&mut self, rest: &[u8], left: u64, body: &mut Vec<u8>) -> Result<Option<usize>, Offence> {
        let take = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
        if take == 0 {
            return Ok(None);
        }
        self.room = self.room.checked_sub(take).ok_or(Offence::BodyTooLarge)?;
        body.extend_from_slice(&rest[..take]);
        let left = left - take as u64;
        self.state = match self.state {
            State::Length(_) if left == 0 => State::Done,
            State::Length(_) => State::Length(left),
            _ if left == 0 => State::ChunkEnd,
            _ => State::Chunk(left),
        };
        Ok(Some(take))
    }

    /// `chunk-size [ chunk-ext ] CRLF`; well-formed extensions are ignored, as RFC 9112 §7.1.1 asks.
    fn chunk_size(&mut self, rest: &[u8]) -> Result<Option<usize>, Offence> {
        let Some(line) = line(rest, MAX_LINE_BYTES)? else { return Ok(None) };
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        // 8 digits are 4 GB: beyond every limit, and far from an overflow.
        let clean = (1..=8).contains(&digits) && are_extensions(&line[digits..]);
        if !clean {
            return Err(Offence::BadChunk);
        }
        let size = line[..digits].iter().fold(0, |sum, digit| sum << 4 | u64::from(hex_value(*digit)));
        if size > self.room as u64 {
            return Err(Offence::BodyTooLarge);
        }
        self.state = if size == 0 { State::Trailer(0) } else { State::Chunk(size) };
        Ok(Some(line.len() + 2))
    }

    /// Trailer fields are dropped: nothing here has a use for them (RFC 9110 §6.5.1 allows it).
    fn trailer(&mut self, rest: &[u8], read: usize) -> Result<Option<usize>, Offence> {
        let Some(line) = line(rest, MAX_TRAILER_BYTES)? else { return Ok(None) };
        let read = read + line.len() + 2;
        if read > MAX_TRAILER_BYTES {
            return Err(Offence::HeadTooLarge);
        }
        let well_formed = line.is_empty() || matches!(line.iter().position(|&b| b == b':'), Some(1..));
        if !well_formed || matches!(line.first(), Some(b' ' | b'\t')) {
            return Err(Offence::BadHeader);
        }
        self.state = if line.is_empty() { State::Done } else { State::Trailer(read) };
        Ok(Some(line.len() + 2))
    }
}

/// `*( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )` (RFC 9112 §7.1.1). What is none, two servers could
/// read differently.
fn are_extensions(mut rest: &[u8]) -> bool {
    while !rest.is_empty() {
        let Some(after) = rest.trim_ascii_start().strip_prefix(b";") else { return false };
        let Some(after) = skip_token(after.trim_ascii_start()) else { return false };
        rest = after;
        if let Some(value) = after.trim_ascii_start().strip_prefix(b"=") {
            let value = value.trim_ascii_start();
            let after = if value.starts_with(b"\"") { skip_quoted(value) } else { skip_token(value) };
            let Some(after) = after else { return false };
            rest = after;
        }
    }
    true
}

/// RFC 9110 §5.6.2.
fn skip_token(text: &[u8]) -> Option<&[u8]> {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    let length = text.iter().take_while(|byte| is_token(byte)).count();
    (length > 0).then(|| &text[length..])
}

/// RFC 9110 §5.6.4. Control bytes cannot be in the line.
fn skip_quoted(text: &[u8]) -> Option<&[u8]> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(&text[at + 1..]),
            // The escaped byte must be there.
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// A line without its CR LF; None while it is not complete.
fn line(rest: &[u8], limit: usize) -> Result<Option<&[u8]>, Offence> {
    match rest.iter().position(|&byte| (byte < 0x20 && byte != b'\t') || byte == 0x7f) {
        Some(end) if end > limit => Err(Offence::BadChunk),
        None if rest.len() > limit => Err(Offence::BadChunk),
        None => Ok(None),
        Some(end) => match (rest[end], rest.get(end + 1)) {
            (b'\r', Some(b'\n')) => Ok(Some(&rest[..end])),
            (b'\r', None) => Ok(None),
            _ => Err(Offence::BadChunk),
        },
    }
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chunked(input: &[u8], limit: usize) -> Result<(Vec<u8>, usize, bool), Offence> {
        let mut reader = Reader::new(Framing::Chunked, limit)?;
        let mut body = Vec::new();
        let used = reader.read(input, &mut body)?;
        Ok((body, used, reader.is_done()))
    }

    #[test]
    fn reads_chunks_with_extensions_and_trailers() {
        let input = b"4\r\nWiki\r\n6;a=b\r\npedia \r\n0\r\nx: y\r\n\r\nGET /";
        let (body, used, done) = chunked(input, 100).unwrap();
        assert_eq!((body.as_slice(), used, done), (&b"Wikipedia "[..], input.len() - 5, true));
    }

    #[test]
    fn extensions_are_read_as_their_grammar_says() {
        for good in ["1;a", "1;a=b", "1 ; a = b;c", "1\t;a=\"b;=\\\" c\"", "1;a;b=\"\""] {
            assert_eq!(
                chunked(format!("{good}\r\nx\r\n0\r\n\r\n").as_bytes(), 10).map(|it| it.0),
                Ok(b"x".to_vec()),
                "{good}"
            );
        }
        for bad in [
            "1;",
            "1;;a",
            "1;=b",
            "1;a=",
            "1;a b",
            "1;a=\"b",
            "1;a=\"b\\\"",
            "1 ",
            "1 a",
            "1;a=b c",
            "1;a=\"b\"c",
            "1;(a)",
        ] {
            assert_eq!(
                chunked(format!("{bad}\r\nx\r\n0\r\n\r\n").as_bytes(), 10),
                Err(Offence::BadChunk),
                "{bad}"
            );
        }
    }

    #[test]
    fn malformed_chunks_are_refused() {
        for input in [
            "g\r\n",
            "\r\n",
            "-1\r\n",
            "+1\r\na",
            "0x1\r\na",
            " 1\r\na",
            "1 \r\na",
            "1\na\r\n0\r\n\r\n",
            "1\rX",
            "1\r\nab\r\n",
            "1\r\na\n",
            "1\r\naX\n",
            "123456789\r\n",
            "1;\n\r\na",
            "1;\0\r\n",
            "0\r\n\n",
            ";\r\n",
        ] {
            assert_eq!(chunked(input.as_bytes(), 1 << 40).unwrap_err(), Offence::BadChunk, "{input:?}");
        }
        for input in ["0\r\n a: b\r\n", "0\r\nnonsense\r\n", "0\r\n: b\r\n"] {
            assert_eq!(chunked(input.as_bytes(), 100).unwrap_err(), Offence::BadHeader, "{input:?}");
        }
        let endless = format!("1;{}", "a".repeat(1000));
        assert_eq!(chunked(endless.as_bytes(), 100).unwrap_err(), Offence::BadChunk);
    }

    #[test]
    fn no_body_grows_past_its_limit() {
        assert_eq!(chunked(b"65\r\n", 100).unwrap_err(), Offence::BodyTooLarge);
        assert_eq!(chunked(b"3\r\nabc\r\n3\r\n", 5).unwrap_err(), Offence::BodyTooLarge);
        assert_eq!(Reader::new(Framing::Length(101), 100).unwrap_err(), Offence::BodyTooLarge);
        let trailers = format!("0\r\n{}", "a: b\r\n".repeat(1000));
        assert_eq!(chunked(trailers.as_bytes(), 5).unwrap_err(), Offence::HeadTooLarge);
    }

    fn encode(chunks: &[Vec<u8>]) -> Vec<u8> {
        let mut out = Vec::new();
        for chunk in chunks {
            out.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            out.extend_from_slice(chunk);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"0\r\n\r\n");
        out
    }

    /// As on a connection: bytes that were not consumed come again, before the new ones.
    fn read_in_pieces(framing: Framing, input: &[u8], cuts: &[usize]) -> (Vec<u8>, bool) {
        let mut reader = Reader::new(framing, 1 << 20).unwrap();
        let (mut body, mut kept) = (Vec::new(), Vec::new());
        let mut at = 0;
        for cut in cuts.iter().map(|cut| cut % (input.len() + 1)).chain([input.len()]) {
            if cut > at {
                kept.extend_from_slice(&input[at..cut]);
                at = cut;
                let used = reader.read(&kept, &mut body).unwrap();
                kept.drain(..used);
            }
        }
        (body, reader.is_done() && kept.is_empty())
    }

    proptest! {
        #[test]
        fn cutting_the_input_changes_nothing(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..8),
            mut cuts in prop::collection::vec(any::<usize>(), 0..20),
        ) {
            let plain = chunks.concat();
            let input = encode(&chunks);
            cuts.sort_by_key(|cut| cut % (input.len() + 1));
            prop_assert_eq!(read_in_pieces(Framing::Chunked, &input, &cuts), (plain.clone(), true));
            cuts.sort_by_key(|cut| cut % (plain.len() + 1));
            let length = Framing::Length(plain.len() as u64);
            prop_assert_eq!(read_in_pieces(length, &plain, &cuts), (plain, true));
        }

        #[test]
        fn noise_is_refused_or_waited_for(input in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok((body, used, _)) = chunked(&input, 50) {
                prop_assert!(used <= input.len() && body.len() <= 50);
            }
        }
    }
}
