//! Centrifugo's Protobuf protocol (`definitions/client.proto` of centrifugal/protocol): messages behind their lengths.
//!
//! The few fields that plans need are read and written by hand; others are skipped.

use std::borrow::Cow;

use super::{EachReply, Fault, Reply};

// Numbers of fields.
const ID: u64 = 1;
const CONNECT: u64 = 4;
const PUBLISH: u64 = 7;
const TOKEN: u64 = 1;
const CHANNEL: u64 = 1;
const DATA: u64 = 2;
const REPLY_ERROR: u64 = 2;
const REPLY_PUSH: u64 = 4;
const REPLY_CONNECT: u64 = 5;
const REPLY_PUBLISH: u64 = 8;
const ERROR_CODE: u64 = 1;
const CONNECT_PONG: u64 = 8;
const PUSH_PUBLICATION: u64 = 4;
const PUBLICATION_DATA: u64 = 4;
const PUBLICATION_INFO: u64 = 5;
const INFO_USER: u64 = 1;

// Wire types.
const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const BYTES: u64 = 2;
const FIXED_32: u64 = 5;

const CUT: Fault = Fault::Centrifugo("a reply that is cut");

pub(super) fn connect(number: u32, token: &str) -> Vec<u8> {
    let mut request = Vec::with_capacity(token.len() + 4);
    put_bytes(TOKEN, token.as_bytes(), &mut request);
    command(number, CONNECT, &request)
}

pub(super) fn publish(number: u32, user: &str, text: &str) -> Vec<u8> {
    let mut request = Vec::with_capacity(user.len() + text.len() + 8);
    put_varint(CHANNEL << 3 | BYTES, &mut request);
    put_varint(user.len() as u64 + 1, &mut request);
    request.push(b'#');
    request.extend_from_slice(user.as_bytes());
    put_bytes(DATA, text.as_bytes(), &mut request);
    command(number, PUBLISH, &request)
}

fn command(number: u32, field: u64, request: &[u8]) -> Vec<u8> {
    let mut command = Vec::with_capacity(request.len() + 10);
    put_varint(ID << 3 | VARINT, &mut command);
    put_varint(number.into(), &mut command);
    put_bytes(field, request, &mut command);
    let mut out = Vec::with_capacity(command.len() + 4);
    put_varint(command.len() as u64, &mut out);
    out.extend_from_slice(&command);
    out
}

fn put_bytes(field: u64, bytes: &[u8], out: &mut Vec<u8>) {
    put_varint(field << 3 | BYTES, out);
    put_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(super) fn replies<'a>(mut frame: &'a [u8], each: &mut EachReply<'_, 'a>) -> Result<(), Fault> {
    while !frame.is_empty() {
        each(read(bytes(&mut frame)?)?)?;
    }
    Ok(())
}

fn read(reply: &[u8]) -> Result<Reply<'_>, Fault> {
    let (mut number, mut found) = (0, if reply.is_empty() { Reply::Ping } else { Reply::Other });
    each_field(reply, |field, value| {
        match (field, value) {
            (ID, Value::Number(id)) => number = id as u32,
            (REPLY_ERROR, Value::Bytes(error)) => {
                found = Reply::Refused { number: 0, code: self::number(error, ERROR_CODE)? as u32 };
            }
            (REPLY_CONNECT, Value::Bytes(connected)) => {
                found = Reply::Connected { pong: self::number(connected, CONNECT_PONG)? > 0 };
            }
            (REPLY_PUBLISH, Value::Bytes(_)) => found = Reply::Published { number: 0 },
            (REPLY_PUSH, Value::Bytes(push)) => found = read_push(push)?,
            _ => {}
        }
        Ok(())
    })?;
    // The number may come after the content.
    match &mut found {
        Reply::Published { number: of } | Reply::Refused { number: of, .. } => *of = number,
        _ => {}
    }
    Ok(found)
}

fn read_push(push: &[u8]) -> Result<Reply<'_>, Fault> {
    let mut found = Reply::Other;
    each_field(push, |field, value| {
        if let (PUSH_PUBLICATION, Value::Bytes(publication)) = (field, value) {
            let (mut from, mut text) = (Cow::default(), Cow::default());
            each_field(publication, |field, value| {
                match (field, value) {
                    (PUBLICATION_DATA, Value::Bytes(data)) => text = String::from_utf8_lossy(data),
                    (PUBLICATION_INFO, Value::Bytes(info)) => {
                        each_field(info, |field, value| {
                            if let (INFO_USER, Value::Bytes(user)) = (field, value) {
                                from = String::from_utf8_lossy(user);
                            }
                            Ok(())
                        })?;
                    }
                    _ => {}
                }
                Ok(())
            })?;
            found = Reply::Publication { from, text };
        }
        Ok(())
    })?;
    Ok(found)
}

/// The number in this field of a message; 0 if it is missing, as Protobuf leaves out zeros.
fn number(message: &[u8], wanted: u64) -> Result<u64, Fault> {
    let mut found = 0;
    each_field(message, |field, value| {
        if let (true, Value::Number(number)) = (field == wanted, value) {
            found = number;
        }
        Ok(())
    })?;
    Ok(found)
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn each_field<'a>(
    mut message: &'a [u8],
    mut each: impl FnMut(u64, Value<'a>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    while !message.is_empty() {
        let key = varint(&mut message)?;
        match key & 7 {
            VARINT => each(key >> 3, Value::Number(varint(&mut message)?))?,
            BYTES => each(key >> 3, Value::Bytes(bytes(&mut message)?))?,
            FIXED_64 => drop(part(8, &mut message)?),
            FIXED_32 => drop(part(4, &mut message)?),
            _ => return Err(Fault::Centrifugo("a field of an unknown type")),
        }
    }
    Ok(())
}

fn varint(input: &mut &[u8]) -> Result<u64, Fault> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *part(1, input)?.first().ok_or(CUT)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Fault::Centrifugo("an endless number"))
}

/// Bytes behind their length.
fn bytes<'a>(input: &mut &'a [u8]) -> Result<&'a [u8], Fault> {
    let length = varint(input)?;
    part(usize::try_from(length).map_err(|_| CUT)?, input)
}

fn part<'a>(length: usize, input: &mut &'a [u8]) -> Result<&'a [u8], Fault> {
    let (part, rest) = input.split_at_checked(length).ok_or(CUT)?;
    *input = rest;
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        assert_eq!(connect(1, "t"), b"\x07\x08\x01\x22\x03\x0a\x01t");
        assert_eq!(publish(300, "tom", "a b"), b"\x10\x08\xac\x02\x3a\x0b\x0a\x04#tom\x12\x03a b");
    }

    #[test]
    fn numbers_of_any_length_are_read_back() {
        for number in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::MAX] {
            let mut out = Vec::new();
            put_varint(number, &mut out);
            assert_eq!(varint(&mut out.as_slice()), Ok(number));
            assert_eq!(varint(&mut &out[..out.len() - 1]), Err(CUT));
        }
        assert!(varint(&mut [0x80; 11].as_slice()).is_err());
    }

    #[test]
    fn malformed_replies_are_faults() {
        // A length beyond the end, a cut field, an unknown type, and an endless number.
        for bad in [&b"\x05\x08\x02"[..], b"\x02\x42\x01", b"\x02\x0b\x00", b"\x02\x08\x80", &[0x80; 11]] {
            assert!(replies(bad, &mut |_| Ok(())).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn unknown_fields_are_skipped() {
        // Number 20 with 4 bytes, number 21 with 8 bytes, number 22 with text, then the number and the result.
        let reply = b"\xa5\x01abcd\xa9\x01abcdefgh\xb2\x01\x01x\x08\x02\x42\x00";
        let mut found = Vec::new();
        let frame = [&[reply.len() as u8], &reply[..]].concat();
        let read = replies(&frame, &mut |reply| {
            found.push(reply);
            Ok(())
        });
        assert_eq!((read, found), (Ok(()), vec![Reply::Published { number: 2 }]));
    }
}
