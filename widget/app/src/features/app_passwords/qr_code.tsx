// A QR code as one path of an inline SVG: black on white in every theme, because cameras read nothing else as well.

import { generate } from 'lean-qr/nano';
import { useMemo } from 'preact/hooks';

/** Light modules around the code that cameras need (ISO/IEC 18004 §5.3.8). */
const QUIET = 4;

export function QrCode({ text, label }: { text: string; label: string }) {
  const { path, size } = useMemo(() => draw(text), [text]);
  const edge = size + 2 * QUIET;
  return (
    <svg class="qr-code" role="img" aria-label={label} viewBox={`${-QUIET} ${-QUIET} ${edge} ${edge}`}>
      <path d={path} />
    </svg>
  );
}

/** A rectangle for each run of dark modules in a row. */
function draw(text: string): { path: string; size: number } {
  const code = generate(text);
  let path = '';
  for (let y = 0; y < code.size; y += 1) {
    for (let x = 0; x < code.size; x += 1) {
      const from = x;
      while (code.get(x, y)) x += 1;
      if (x > from) path += `M${from} ${y}h${x - from}v1h${from - x}z`;
    }
  }
  return { path, size: code.size };
}
