//! Re-encodes pictures of users.
//!
//! The crate decodes, turns upright, scales and encodes each picture. Metadata, trailing archives and broken headers
//! are gone from the output. A decoder turns bytes of strangers into indices, so it runs in a process of its own that
//! can be ended (`kith picture`). This crate reads no file, no clock and no network.
//!
//! Read first: [`remake`] and [`portrait`].

mod blurhash;

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, ImageDecoder, ImageEncoder, ImageFormat, ImageReader, Limits};

/// Largest accepted file, and most bytes of a decoded picture.
pub const MOST_BYTES: usize = 64 << 20;
/// Most pixels of a picture: enough for a phone's camera.
pub const MOST_PIXELS: u64 = 25_000_000;
/// Longest side of a picture, in pixels.
pub const LONGEST_SIDE: u32 = 2_560;
pub const THUMBNAIL_SIDE: u32 = 480;
/// Longest side of a picture of a person.
pub const PORTRAIT_SIDE: u32 = 256;
/// Most pixels of a picture that becomes a portrait. Apps scale such pictures before they publish them.
pub const PORTRAIT_PIXELS: u64 = 4_194_304;
/// Most bytes of a portrait: a larger one is scaled down further.
pub const PORTRAIT_BYTES: usize = 64 * 1024;

const QUALITY: u8 = 85;
const THUMBNAIL_QUALITY: u8 = 75;

/// A re-encoded picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remade {
    /// Media type of the picture and of its thumbnail.
    pub media_type: &'static str,
    pub width: u32,
    pub height: u32,
    pub blurhash: String,
    pub bytes: Vec<u8>,
    /// Empty if the picture is not larger than its thumbnail would be.
    pub thumbnail: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("no picture that is known here")]
    Unknown,
    #[error("the picture has more than {MOST_BYTES} bytes or {MOST_PIXELS} pixels")]
    TooLarge,
    #[error("the picture cannot be read: {0}")]
    Broken(image::ImageError),
}

/// Decodes, turns upright, scales and encodes a picture. Uses the first picture of an animation.
pub fn remake(file: &[u8]) -> Result<Remade, Refused> {
    let format = known_format(file)?;
    let upright = decode(file, format, MOST_PIXELS)?;
    let (width, height) = fitted(&upright, LONGEST_SIDE);
    let picture = match (width, height) == (upright.width(), upright.height()) {
        true => upright,
        // Averages the source pixels of each pixel: quick, without a copy in floating point.
        false => upright.thumbnail_exact(width, height),
    };
    let (width, height) = fitted(&picture, THUMBNAIL_SIDE);
    let small = picture.thumbnail_exact(width, height);
    let is_drawing = format != ImageFormat::Jpeg;
    let (bytes, media_type) = encode(&picture, is_drawing, QUALITY).map_err(Refused::Broken)?;
    let has_thumbnail = (width, height) != (picture.width(), picture.height());
    let thumbnail = match has_thumbnail {
        true => encode_as(&small, media_type, THUMBNAIL_QUALITY).map_err(Refused::Broken)?,
        false => Vec::new(),
    };
    Ok(Remade {
        media_type,
        width: picture.width(),
        height: picture.height(),
        blurhash: blurhash::of(&small.thumbnail_exact(32, 32).to_rgb8()),
        bytes,
        thumbnail,
    })
}

/// Like [`remake`], for the picture of a person: small, and without a thumbnail.
pub fn portrait(file: &[u8]) -> Result<Remade, Refused> {
    let format = known_format(file)?;
    let upright = decode(file, format, PORTRAIT_PIXELS)?;
    let is_drawing = format != ImageFormat::Jpeg;
    let mut side = PORTRAIT_SIDE;
    loop {
        let (width, height) = fitted(&upright, side);
        let picture = upright.thumbnail_exact(width, height);
        let (bytes, media_type) = encode(&picture, is_drawing, QUALITY).map_err(Refused::Broken)?;
        // Only noise with transparency is so long, and a quarter of the pixels has a quarter of the bytes.
        if bytes.len() > PORTRAIT_BYTES {
            side /= 2;
            continue;
        }
        let blurhash = blurhash::of(&picture.thumbnail_exact(32, 32).to_rgb8());
        return Ok(Remade { media_type, width, height, blurhash, bytes, thumbnail: Vec::new() });
    }
}

fn known_format(file: &[u8]) -> Result<ImageFormat, Refused> {
    if file.len() > MOST_BYTES {
        return Err(Refused::TooLarge);
    }
    let format = image::guess_format(file).map_err(|_| Refused::Unknown)?;
    let known = [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::Gif, ImageFormat::WebP];
    if known.contains(&format) { Ok(format) } else { Err(Refused::Unknown) }
}

/// Checks width and height before it allocates memory for the pixels.
fn decode(file: &[u8], format: ImageFormat, most_pixels: u64) -> Result<DynamicImage, Refused> {
    let mut decoder =
        ImageReader::with_format(Cursor::new(file), format).into_decoder().map_err(Refused::Broken)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > most_pixels
        || decoder.total_bytes() > MOST_BYTES as u64 * 2
        || width == 0
        || height == 0
    {
        return Err(Refused::TooLarge);
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_BYTES as u64 * 4);
    decoder.set_limits(limits).map_err(Refused::Broken)?;
    // Unreadable metadata counts as no metadata.
    let orientation = decoder.orientation().unwrap_or(image::metadata::Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(Refused::Broken)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// The largest size of the same shape with no side longer than this; never larger than the original.
fn fitted(picture: &DynamicImage, longest: u32) -> (u32, u32) {
    let (width, height) = (picture.width(), picture.height());
    if width.max(height) <= longest {
        return (width, height);
    }
    let scaled = |side: u32| {
        let scaled = u64::from(side) * u64::from(longest) / u64::from(width.max(height));
        u32::try_from(scaled).unwrap_or(longest).max(1)
    };
    (scaled(width), scaled(height))
}

/// Encodes transparent pictures as PNG. Does the same for drawings and screenshots, which PNG keeps sharp, up to twice
/// the size of a JPEG.
fn encode(
    picture: &DynamicImage,
    is_drawing: bool,
    quality: u8,
) -> image::ImageResult<(Vec<u8>, &'static str)> {
    if is_translucent(picture) {
        return Ok((encode_as(picture, PNG, quality)?, PNG));
    }
    let jpeg = encode_as(picture, JPEG, quality)?;
    if is_drawing {
        let png = encode_as(picture, PNG, quality)?;
        if png.len() <= jpeg.len() * 2 {
            return Ok((png, PNG));
        }
    }
    Ok((jpeg, JPEG))
}

const PNG: &str = "image/png";
const JPEG: &str = "image/jpeg";

fn encode_as(picture: &DynamicImage, media_type: &str, quality: u8) -> image::ImageResult<Vec<u8>> {
    let mut out = Vec::new();
    if media_type == JPEG {
        JpegEncoder::new_with_quality(&mut out, quality).encode_image(&picture.to_rgb8())?;
        return Ok(out);
    }
    let encoder = PngEncoder::new_with_quality(&mut out, CompressionType::Default, FilterType::Adaptive);
    let (width, height) = (picture.width(), picture.height());
    match is_translucent(picture) {
        true => encoder.write_image(&picture.to_rgba8(), width, height, image::ExtendedColorType::Rgba8)?,
        false => encoder.write_image(&picture.to_rgb8(), width, height, image::ExtendedColorType::Rgb8)?,
    }
    Ok(out)
}

fn is_translucent(picture: &DynamicImage) -> bool {
    picture.color().has_alpha() && picture.to_rgba8().pixels().any(|pixel| pixel.0[3] < 255)
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage, Rgba, RgbaImage};
    use proptest::prelude::*;

    use super::*;

    /// A picture whose colours change from pixel to pixel, as in a photo.
    fn photo(width: u32, height: u32) -> DynamicImage {
        let pixel = |x: u32, y: u32| {
            let noise =
                (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(2_246_822_519)).wrapping_mul(3_266_489_917);
            let grain = |shift: u32| (noise >> shift) as u8 % 32;
            Rgb([(x * 200 / width) as u8 + grain(9), (y * 200 / height) as u8 + grain(16), 100 + grain(24)])
        };
        RgbImage::from_fn(width, height, pixel).into()
    }

    fn jpeg(picture: &DynamicImage) -> Vec<u8> {
        encode_as(picture, JPEG, 90).unwrap()
    }

    fn sides(bytes: &[u8]) -> (u32, u32) {
        let picture = image::load_from_memory(bytes).unwrap();
        (picture.width(), picture.height())
    }

    /// A JPEG with this EXIF orientation (EXIF 2.32 §4.6.4, tag 0x112), a comment, and an archive after its end.
    fn dressed(picture: &DynamicImage, orientation: u8) -> Vec<u8> {
        let plain = jpeg(picture);
        let mut exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
        exif.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
        let mut out = plain[..2].to_vec();
        for (marker, body) in [(0xe1, &exif[..]), (0xfe, b"52.5200 N 13.4050 E")] {
            out.extend([0xff, marker]);
            out.extend((body.len() as u16 + 2).to_be_bytes());
            out.extend(body);
        }
        out.extend(&plain[2..]);
        out.extend(b"PK\x03\x04 <script>alert(1)</script>");
        out
    }

    #[test]
    fn a_photo_is_turned_upright_and_loses_its_location() {
        let remade = remake(&dressed(&photo(600, 400), 6)).unwrap();
        assert_eq!((remade.width, remade.height, remade.media_type), (400, 600, "image/jpeg"));
        assert_eq!((sides(&remade.bytes), sides(&remade.thumbnail)), ((400, 600), (320, 480)));
        for part in [&b"Exif"[..], b"52.5200", b"PK\x03\x04", b"<script>"] {
            for bytes in [&remade.bytes, &remade.thumbnail] {
                assert!(!bytes.windows(part.len()).any(|window| window == part), "{part:?}");
            }
        }
    }

    #[test]
    fn a_large_picture_is_scaled_and_a_small_one_keeps_its_size() {
        let large = remake(&jpeg(&photo(4_000, 1_000))).unwrap();
        assert_eq!((large.width, large.height), (2_560, 640));
        assert_eq!((sides(&large.bytes), sides(&large.thumbnail)), ((2_560, 640), (480, 120)));
        let small = remake(&jpeg(&photo(30, 20))).unwrap();
        assert_eq!((sides(&small.bytes), small.thumbnail.len()), ((30, 20), 0));
        let thin = remake(&jpeg(&photo(6_000, 2))).unwrap();
        assert_eq!(sides(&thin.thumbnail), (480, 1), "no side vanishes");
    }

    #[test]
    fn drawings_keep_their_edges_and_their_transparency() {
        let drawing =
            RgbImage::from_fn(200, 100, |x, _| if x < 100 { Rgb([255, 0, 0]) } else { Rgb([9, 9, 9]) });
        let png = encode_as(&drawing.clone().into(), PNG, 0).unwrap();
        let remade = remake(&png).unwrap();
        assert_eq!(remade.media_type, "image/png");
        assert_eq!(image::load_from_memory(&remade.bytes).unwrap().to_rgb8(), drawing);
        let glass = RgbaImage::from_pixel(10, 10, Rgba([1, 2, 3, 100]));
        let remade = remake(&encode_as(&glass.clone().into(), PNG, 0).unwrap()).unwrap();
        assert_eq!(image::load_from_memory(&remade.bytes).unwrap().to_rgba8(), glass);
        let noise = remake(&encode_as(&photo(800, 800), PNG, 0).unwrap()).unwrap();
        assert_eq!(noise.media_type, "image/jpeg", "a photo that somebody has saved without loss");
    }

    /// IHDR claims 60,000 × 60,000 pixels but has none: the decoder must not allocate memory for them.
    #[test]
    fn a_bomb_of_pixels_is_refused_by_its_header() {
        let mut png = encode_as(&photo(4, 4), PNG, 0).unwrap();
        png[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
        png[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
        let crc = crc(&png[12..29]);
        png[29..33].copy_from_slice(&crc.to_be_bytes());
        assert!(matches!(remake(&png), Err(Refused::TooLarge)), "{:?}", remake(&png).map(|_| ()));
        let mut gif = b"GIF89a".to_vec();
        gif.extend([0xff, 0xff, 0xff, 0xff, 0, 0, 0]);
        assert!(remake(&gif).is_err());
        assert!(matches!(remake(&vec![0; MOST_BYTES + 1]), Err(Refused::TooLarge)));
    }

    #[test]
    fn a_portrait_is_small_in_pixels_and_bytes() {
        let of_photo = portrait(&jpeg(&photo(600, 400))).unwrap();
        assert_eq!((sides(&of_photo.bytes), of_photo.media_type), ((256, 170), "image/jpeg"));
        assert_eq!(sides(&portrait(&jpeg(&photo(30, 20))).unwrap().bytes), (30, 20));
        let noise = RgbaImage::from_fn(300, 300, |x, y| {
            let mixed =
                (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(3_266_489_917)).wrapping_mul(2_246_822_519);
            Rgba(mixed.to_be_bytes())
        });
        let of_noise = portrait(&encode_as(&noise.into(), PNG, 0).unwrap()).unwrap();
        assert!(of_noise.bytes.len() <= PORTRAIT_BYTES, "{}", of_noise.bytes.len());
        assert_eq!(of_noise.media_type, "image/png");
    }

    /// A flat picture of 25 million pixels has few bytes, and takes long to decode.
    #[test]
    fn a_portrait_of_too_many_pixels_is_refused() {
        let flat = RgbImage::from_pixel(2_100, 2_100, Rgb([1, 2, 3]));
        let png = encode_as(&flat.into(), PNG, 0).unwrap();
        assert!(matches!(portrait(&png), Err(Refused::TooLarge)));
        assert!(portrait(b"<svg xmlns='http://www.w3.org/2000/svg'/>").is_err());
    }

    #[test]
    fn an_invalid_picture_is_refused() {
        for bytes in [
            &b""[..],
            b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
            b"BM______________",
            b"II*\0",
            b"\xff\xd8\xff",
            b"GIF89a",
            b"\x89PNG\r\n\x1a\n",
            b"RIFF\x04\0\0\0WEBP",
        ] {
            assert!(remake(bytes).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn damage_is_refused_or_shown(at in 0_usize..600, with: u8, cut in 0_usize..600) {
            for whole in [jpeg(&photo(40, 30)), encode_as(&photo(10, 10), PNG, 0).unwrap()] {
                let mut damaged = whole.clone();
                let at = at % damaged.len();
                damaged[at] = with;
                damaged.truncate(damaged.len() - cut % damaged.len());
                if let Ok(remade) = remake(&damaged) {
                    prop_assert!(remade.width <= LONGEST_SIDE && remade.height <= LONGEST_SIDE);
                    prop_assert!(image::load_from_memory(&remade.bytes).is_ok());
                }
            }
        }
    }

    /// PNG's CRC (ISO 3309).
    fn crc(bytes: &[u8]) -> u32 {
        let step = |crc: u32, byte: &u8| {
            (0..8)
                .fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
        };
        !bytes.iter().fold(!0, step)
    }
}
