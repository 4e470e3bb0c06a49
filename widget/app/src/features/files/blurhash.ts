// A blurred preview of a picture, drawn until the picture is loaded (https://blurha.sh).

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~';

/** Red, green, blue and alpha of each pixel. Undefined if `hash` is not valid. */
export function pixels(
  hash: string,
  width: number,
  height: number,
): Uint8ClampedArray<ArrayBuffer> | undefined {
  const size = digits(hash.slice(0, 1));
  const [across, down] = [(size % 9) + 1, Math.floor(size / 9) + 1];
  if (hash.length !== 4 + 2 * across * down || [...hash].some(letter => !LETTERS.includes(letter)))
    return undefined;
  const greatest = (digits(hash.slice(1, 2)) + 1) / 166;
  const average = digits(hash.slice(2, 6));
  const waves = [[average >> 16, (average >> 8) & 255, average & 255].map(linear)];
  for (let at = 6; at < hash.length; at += 2) {
    const value = digits(hash.slice(at, at + 2));
    const parts = [Math.floor(value / 361), Math.floor(value / 19) % 19, value % 19];
    waves.push(parts.map(part => Math.sign(part - 9) * ((part - 9) / 9) ** 2 * greatest));
  }
  const points = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let colour = 0; colour < 3; colour++) {
        let sum = 0;
        for (let j = 0; j < down; j++) {
          for (let i = 0; i < across; i++) {
            const wave = Math.cos((Math.PI * x * i) / width) * Math.cos((Math.PI * y * j) / height);
            sum += (waves[i + j * across]?.[colour] ?? 0) * wave;
          }
        }
        points[4 * (x + y * width) + colour] = curved(sum);
      }
    }
  }
  return points;
}

function digits(text: string): number {
  let value = 0;
  for (const letter of text) value = value * 83 + LETTERS.indexOf(letter);
  return value;
}

function linear(value: number): number {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function curved(value: number): number {
  const share = Math.max(0, Math.min(1, value));
  return Math.round(255 * (share <= 0.0031308 ? share * 12.92 : 1.055 * share ** (1 / 2.4) - 0.055));
}
