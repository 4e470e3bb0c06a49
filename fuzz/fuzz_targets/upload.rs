//! What the head of an upload says: any bytes give numbers and names, or are refused; and what is understood can be said again.
#![no_main]

use std::fmt::Write;

use libfuzzer_sys::fuzz_target;
use web::fuzz::upload_head;

fuzz_target!(|input: &[u8]| {
    let (length, metadata) = input.split_at(input.len().min(20).min(usize::from(input.first().copied().unwrap_or(0)) % 21));
    let (length, metadata) = upload_head(length, metadata);
    if let Some(length) = length {
        assert_eq!(upload_head(length.to_string().as_bytes(), b"").0, Some(length));
    }
    if let Some(pairs) = metadata {
        let mut said = String::new();
        for (key, value) in &pairs {
            let comma = if said.is_empty() { "" } else { "," };
            write!(said, "{comma}{key} {}", base64(value.as_bytes())).expect("memory");
        }
        assert_eq!(upload_head(b"", said.as_bytes()).1, Some(pairs));
    }
});

/// RFC 4648 §4, so that nobody else's is needed.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let word = part.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= part.len() { char::from(letter) } else { '=' });
        }
    }
    text
}
