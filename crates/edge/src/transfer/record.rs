//! The bytes of a record: numbers in little-endian order, and byte strings with their length.

use std::time::Duration;

/// Appends fields.
#[derive(Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn u8(&mut self, value: u8) -> &mut Writer {
        self.0.push(value);
        self
    }

    pub(crate) fn u16(&mut self, value: u16) -> &mut Writer {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Writer {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Writer {
        self.raw(&value.to_le_bytes())
    }

    /// A length, and the bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Writer {
        self.u32(bytes.len() as u32).raw(bytes)
    }

    /// Bytes whose number the reader knows.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Writer {
        self.0.extend_from_slice(bytes);
        self
    }

    /// In milliseconds; `u64::MAX` is none.
    pub(crate) fn time(&mut self, time: Option<Duration>) -> &mut Writer {
        self.u64(time.map_or(u64::MAX, |time| time.as_millis() as u64))
    }
}

/// Takes fields from the front. None: the bytes end too early.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.raw::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.raw().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.raw().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.raw().map(u64::from_le_bytes)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn raw<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    #[allow(clippy::option_option, reason = "the outer one is the end of the bytes")]
    pub(crate) fn time(&mut self) -> Option<Option<Duration>> {
        let millis = self.u64()?;
        Some((millis != u64::MAX).then(|| Duration::from_millis(millis)))
    }
}
