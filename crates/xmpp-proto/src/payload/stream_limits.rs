//! Stream limits (XEP-0478), as a stream feature.

use crate::ns;
use crate::xml::Open;

/// `idle_seconds`: the server closes a stream that was silent for so long.
pub fn write(out: &mut Vec<u8>, max_bytes: usize, idle_seconds: Option<u64>) {
    Open::new(out, "limits").attr("xmlns", ns::STREAM_LIMITS).children(|out| {
        Open::new(out, "max-bytes").text(&max_bytes.to_string());
        if let Some(seconds) = idle_seconds {
            Open::new(out, "idle-seconds").text(&seconds.to_string());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::written;

    #[test]
    fn limits_are_written() {
        assert_eq!(
            written(|out| super::write(out, 262_144, Some(1800))),
            "<limits xmlns='urn:xmpp:stream-limits:0'><max-bytes>262144</max-bytes><idle-seconds>1800</idle-seconds>\
             </limits>"
        );
    }
}
