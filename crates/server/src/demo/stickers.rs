//! The stickers of the allotment society, drawn for it: the drawings stand beside the pictures (`stickers/*.svg`).

use chat::{FileType, NewSticker, SiteId, Sticker, StickerId, Timestamp};
use rand::RngCore;

const SIDE: u32 = 240;

macro_rules! drawn {
    ($($name:literal $words:literal,)*) => {
        [$(($words, include_bytes!(concat!("stickers/", $name, ".png")).as_slice()),)*]
    };
}

const STICKERS: [(&str, &[u8]); 6] = drawn! {
    "hello" "👋 Hello",
    "thanks" "🌻 Thank you",
    "busy" "🐝 Busy, back later",
    "slow" "🐌 No hurry",
    "rain" "💧 Watering today",
    "harvest" "🧺 Harvest!",
};

pub(super) fn of(site: SiteId, now: Timestamp) -> impl Iterator<Item = NewSticker> {
    STICKERS.into_iter().map(move |(words, bytes)| {
        let sticker = Sticker {
            id: StickerId { site, number: rand::rng().next_u64() },
            series: "Allotment".into(),
            words: words.into(),
            kind: FileType::named("image/png"),
            width: SIDE,
            height: SIDE,
        };
        NewSticker { sticker, bytes: bytes.to_vec(), added: now }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stickers_fit_the_limits_of_a_site() {
        for new in of(SiteId(1), Timestamp(0)) {
            assert_eq!(new.check(), Ok(()), "{}", new.sticker.words);
            assert_eq!(FileType::of(&new.bytes[..FileType::HEAD_BYTES], false), new.sticker.kind);
            // Width and height of the header (PNG §11.2.1).
            let side = |at: usize| u32::from_be_bytes(new.bytes[at..at + 4].try_into().expect("four bytes"));
            assert_eq!((side(16), side(20)), (SIDE, SIDE), "{}", new.sticker.words);
        }
    }
}
