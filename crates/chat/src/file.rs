//! A file of a message. A short table of first bytes decides its type; the sender's claim has no effect.

use serde::{Deserialize, Serialize};

use crate::FileId;
use crate::serialize::serialize_as_text;

/// A media type of the table (RFC 9110 §8.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileType(&'static str);

/// Bytes at the start of a file that decide its type.
pub(crate) const HEAD_BYTES: usize = 64;

impl FileType {
    /// Every other type: for download only.
    pub const OTHER: FileType = FileType("application/octet-stream");

    /// Bytes at the start of a file that [`of`](Self::of) needs.
    pub const HEAD_BYTES: usize = HEAD_BYTES;

    /// The type by the first bytes of a file. `is_voice`: a container that may hold sound or video counts as
    /// sound.
    pub fn of(head: &[u8], is_voice: bool) -> FileType {
        let found = match head {
            [0xff, 0xd8, 0xff, ..] => "image/jpeg",
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => "image/png",
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "image/gif",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => "audio/wav",
            [b'I', b'D', b'3', ..] | [0xff, 0xfb | 0xf3 | 0xf2, ..] => "audio/mpeg",
            [0xff, 0xf1 | 0xf9, ..] => "audio/aac",
            [b'f', b'L', b'a', b'C', ..] => "audio/flac",
            [b'O', b'g', b'g', b'S', ..] => "audio/ogg",
            [0x1a, 0x45, 0xdf, 0xa3, ..] if is_webm(head) => match is_voice {
                true => "audio/webm",
                false => "video/webm",
            },
            [_, _, _, _, b'f', b't', b'y', b'p', brand @ ..] if brand.len() >= 4 => match &brand[..4] {
                b"M4A " => "audio/mp4",
                b"isom" | b"iso2" | b"iso4" | b"iso5" | b"iso6" | b"mp41" | b"mp42" | b"avc1" | b"M4V " => {
                    if is_voice {
                        "audio/mp4"
                    } else {
                        "video/mp4"
                    }
                }
                _ => return FileType::OTHER,
            },
            _ => return FileType::OTHER,
        };
        FileType(found)
    }

    /// Parses a stored type; unknown ones become [`OTHER`](Self::OTHER).
    pub fn named(name: &str) -> FileType {
        NAMES.iter().find(|known| **known == name).map_or(FileType::OTHER, |known| FileType(known))
    }

    pub fn name(self) -> &'static str {
        self.0
    }

    /// A picture, which is shown after it was encoded anew.
    pub fn is_picture(self) -> bool {
        self.0.starts_with("image/")
    }

    /// Sound or video, which browsers play.
    pub fn is_played(self) -> bool {
        self.0.starts_with("audio/") || self.0.starts_with("video/")
    }
}

serialize_as_text!(FileType, name, |name| Some(FileType::named(name)));

const NAMES: [&str; 13] = [
    "image/jpeg",
    "image/png",
    "image/gif",
    "image/webp",
    "audio/wav",
    "audio/mpeg",
    "audio/aac",
    "audio/flac",
    "audio/ogg",
    "audio/webm",
    "audio/mp4",
    "video/webm",
    "video/mp4",
];

/// The DocType element of the EBML header (RFC 8794 §11.2.4) is `webm`; otherwise the file is another kind of
/// Matroska.
fn is_webm(head: &[u8]) -> bool {
    head.windows(7).any(|window| window == [0x42, 0x82, 0x84, b'w', b'e', b'b', b'm'])
}

/// A file in a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    pub id: FileId,
    /// The last part of the sender's file name: for display, never a path.
    pub name: Box<str>,
    pub kind: FileType,
    pub bytes: u64,
    /// Only of a picture.
    pub picture: Option<Picture>,
    /// Only of sound or video, as the sender's client measured it.
    pub duration_ms: Option<u32>,
    /// A voice message, recorded for this message.
    pub voice: bool,
    pub peaks: Option<Peaks>,
}

/// Properties of a picture that was encoded anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub blurhash: Box<str>,
    /// A thumbnail exists, because the picture is larger than one.
    pub has_thumbnail: bool,
}

/// The loudness of a voice message over time, as its sender's client measured it. One digit for each of up to
/// 64 equal parts, from `0` for silence to `z` for the loudest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peaks(Box<str>);

impl Peaks {
    pub const MOST: usize = 64;

    /// None for every other form or length: devices draw the value.
    pub fn parse(text: &str) -> Option<Peaks> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
        ((1..=Peaks::MOST).contains(&text.len()) && text.bytes().all(is_digit)).then(|| Peaks(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

serialize_as_text!(Peaks, as_str, Peaks::parse);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn peaks_are_at_most_64_digits() {
        for text in ["0", "09azz", &"z".repeat(64)] {
            assert_eq!(Peaks::parse(text).as_ref().map(Peaks::as_str), Some(text));
        }
        for text in ["", "A", "1 2", "é", "1\0", "\u{202e}", "<b>", &"0".repeat(65)] {
            assert_eq!(Peaks::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_first_bytes_decide_the_type() {
        let webm = b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm\x42\x87";
        for (head, is_voice, name) in [
            (&b"\xff\xd8\xff\xe0\0\x10JFIF"[..], false, "image/jpeg"),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", false, "image/png"),
            (b"GIF89a", false, "image/gif"),
            (b"RIFF\0\0\0\0WEBPVP8 ", false, "image/webp"),
            (b"RIFF\0\0\0\0WAVEfmt ", false, "audio/wav"),
            (b"ID3\x04", false, "audio/mpeg"),
            (b"OggS\0", true, "audio/ogg"),
            (webm, false, "video/webm"),
            (webm, true, "audio/webm"),
            (b"\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska", false, "application/octet-stream"),
            (b"\0\0\0\x20ftypisom", false, "video/mp4"),
            (b"\0\0\0\x20ftypM4A ", false, "audio/mp4"),
            (b"\0\0\0\x20ftypheic", false, "application/octet-stream"),
            (b"\0\0\0\x20ftyp", false, "application/octet-stream"),
            // Types that a browser would run or open by itself are downloads.
            (
                b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'>",
                false,
                "application/octet-stream",
            ),
            (b"<!doctype html><script>", false, "application/octet-stream"),
            (b"%PDF-1.7", false, "application/octet-stream"),
            (b"PK\x03\x04", false, "application/octet-stream"),
            (b"GIF", false, "application/octet-stream"),
            (b"", true, "application/octet-stream"),
        ] {
            assert_eq!(FileType::of(head, is_voice).name(), name, "{head:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_found_is_of_the_table(head in prop::collection::vec(any::<u8>(), 0..HEAD_BYTES), voice: bool) {
            let found = FileType::of(&head, voice);
            prop_assert_eq!(FileType::named(found.name()), found);
        }
    }
}
