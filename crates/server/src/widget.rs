//! The built widget inside the binary.

use bytes::Bytes;
use web::{Assets, File};

/// One file of `widget/dist` with its compressed forms.
pub(crate) struct Embedded {
    /// Path of the address: `/kith.js`, `/kith/app-1a2b3c.js`.
    pub(crate) path: &'static str,
    pub(crate) bytes: &'static [u8],
    pub(crate) brotli: Option<&'static [u8]>,
    pub(crate) zstd: Option<&'static [u8]>,
    pub(crate) gzip: Option<&'static [u8]>,
}

/// Empty if the binary was built without the widget.
pub(crate) const FILES: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/widget.rs"));

/// For the gateway.
pub(crate) fn assets() -> Assets {
    let file = |file: &Embedded| File {
        path: file.path.to_owned(),
        content_type: content_type(file.path),
        bytes: Bytes::from_static(file.bytes),
        brotli: file.brotli.map(Bytes::from_static),
        zstd: file.zstd.map(Bytes::from_static),
        gzip: file.gzip.map(Bytes::from_static),
        // All names except those of the loader and the service worker contain a hash of the content.
        immutable: file.path.starts_with("/kith/"),
    };
    Assets::new(FILES.iter().map(file))
}

pub(crate) fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json" | "map") => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::FILES;

    #[test]
    fn a_widget_is_there_as_a_whole_or_not_at_all() {
        assert!(FILES.is_empty() || FILES.iter().any(|file| file.path == "/kith.js"));
        for file in FILES {
            assert!(!file.bytes.is_empty(), "{}", file.path);
            for smaller in [file.brotli, file.zstd, file.gzip].into_iter().flatten() {
                assert!(smaller.len() < file.bytes.len() + 64, "{}", file.path);
            }
            // RFC 8878 §3.1.1.
            assert!(
                file.zstd.is_none_or(|zstd| zstd.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])),
                "{}",
                file.path
            );
        }
    }
}
