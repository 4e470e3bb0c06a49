//! A placeholder for a picture in some twenty letters: BlurHash (<https://blurha.sh>) with 4 × 3 components.

use std::f32::consts::PI;

use image::RgbImage;

const ACROSS: u32 = 4;
const DOWN: u32 = 3;

pub(crate) fn of(picture: &RgbImage) -> String {
    let factors: Vec<[f32; 3]> = (0..DOWN)
        .flat_map(|j| (0..ACROSS).map(move |i| (i, j)))
        .map(|(i, j)| factor(picture, i, j))
        .collect();
    let (average, others) = factors.split_first().expect("there are twelve");
    let greatest = others.iter().flatten().fold(0.0_f32, |most, value| most.max(value.abs()));
    let quantised = (greatest * 166.0 - 0.5).floor().clamp(0.0, 82.0) as u32;
    let scale = (quantised + 1) as f32 / 166.0;
    let mut hash = String::with_capacity(28);
    push(&mut hash, (ACROSS - 1) + (DOWN - 1) * 9, 1);
    push(&mut hash, quantised, 1);
    let [r, g, b] = average.map(to_srgb);
    push(&mut hash, r << 16 | g << 8 | b, 4);
    for factor in others {
        let [r, g, b] = factor.map(|value| {
            let rooted = (value / scale).abs().sqrt().copysign(value);
            (rooted * 9.0 + 9.5).floor().clamp(0.0, 18.0) as u32
        });
        push(&mut hash, r * 19 * 19 + g * 19 + b, 2);
    }
    hash
}

/// The amplitude of wave (`i`, `j`) in the picture, by colour.
fn factor(picture: &RgbImage, i: u32, j: u32) -> [f32; 3] {
    let (width, height) = (picture.width() as f32, picture.height() as f32);
    let mut sums = [0.0; 3];
    for (x, y, pixel) in picture.enumerate_pixels() {
        let wave = (PI * i as f32 * x as f32 / width).cos() * (PI * j as f32 * y as f32 / height).cos();
        for (sum, value) in sums.iter_mut().zip(pixel.0) {
            *sum += wave * to_linear(value);
        }
    }
    let normalised = if i == 0 && j == 0 { 1.0 } else { 2.0 };
    sums.map(|sum| sum * normalised / (width * height))
}

/// IEC 61966-2-1.
fn to_linear(value: u8) -> f32 {
    let value = f32::from(value) / 255.0;
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

fn to_srgb(value: f32) -> u32 {
    let value = value.clamp(0.0, 1.0);
    let curved = if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
    (curved * 255.0 + 0.5) as u32
}

fn push(hash: &mut String, value: u32, digits: u32) {
    const LETTERS: &[u8; 83] =
        b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~";
    for place in (0..digits).rev() {
        let digit = value / 83_u32.pow(place) % 83;
        hash.push(char::from(LETTERS[digit as usize]));
    }
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    #[test]
    fn one_colour_is_itself_without_waves() {
        let hash = of(&RgbImage::from_pixel(32, 32, Rgb([255, 0, 0])));
        assert_eq!((hash.len(), &hash[..1]), (28, "L"), "4 × 3 components");
        // The average in base 83: 0xff0000.
        assert_eq!(&hash[2..6], "TI:j");
    }

    #[test]
    fn left_and_right_differ() {
        let half =
            |dark_left: bool| {
                of(&RgbImage::from_fn(32, 32, |x, _| {
                    if (x < 16) == dark_left { Rgb([0; 3]) } else { Rgb([255; 3]) }
                }))
            };
        assert_ne!(half(true), half(false));
        assert_eq!(half(true)[2..6], half(false)[2..6], "the average is the same");
    }
}
