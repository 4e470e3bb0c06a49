//! Close frames: what may stand in them (RFC 6455 §5.5.1 and §7.4).

use super::Violation;

/// A peer's goodbye.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloseFrame {
    /// None where it gave no code.
    pub code: Option<u16>,
}

impl CloseFrame {
    pub(super) fn parse(payload: &[u8]) -> Result<CloseFrame, Violation> {
        let Some((code, reason)) = payload.split_first_chunk::<2>() else {
            return match payload {
                [] => Ok(CloseFrame { code: None }),
                _ => Err(Violation::protocol("close frame of one byte")),
            };
        };
        let code = u16::from_be_bytes(*code);
        if !is_valid_close_code(code) {
            return Err(Violation::protocol("close code that may not be sent"));
        }
        std::str::from_utf8(reason).map_err(|_| Violation::BAD_UTF8)?;
        Ok(CloseFrame { code: Some(code) })
    }
}

/// RFC 6455 §7.4.2 and the IANA registry: 1004 to 1006 and 1015 never travel, 1016 to 2999 are unassigned.
pub(super) fn is_valid_close_code(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_never_travel_are_refused() {
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535_u16] {
            assert!(CloseFrame::parse(&code.to_be_bytes()).is_err(), "{code}");
        }
        for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999_u16] {
            assert_eq!(CloseFrame::parse(&code.to_be_bytes()), Ok(CloseFrame { code: Some(code) }));
        }
    }

    #[test]
    fn reasons_are_text() {
        assert_eq!(CloseFrame::parse(b""), Ok(CloseFrame { code: None }));
        assert_eq!(CloseFrame::parse(b"\x03").unwrap_err().code, 1002);
        assert_eq!(CloseFrame::parse(b"\x03\xe8fine").unwrap().code, Some(1000));
        assert_eq!(CloseFrame::parse(b"\x03\xe8\xff").unwrap_err(), Violation::BAD_UTF8);
    }
}
