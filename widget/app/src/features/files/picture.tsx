// Draws a picture on a canvas. The picture is fetched as data: the page's policy then needs only
// `connect-src`, which it allows anyway, and no pictures of another origin.

import type { Client, SentFile } from '@kith/client';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useClient } from '../../app_context.tsx';
import { useEffectEvent } from '../../ui/use_effect_event/use_effect_event.ts';
import { pixels } from './blurhash.ts';
import { fetchFile } from './file_url.ts';

interface Props {
  file: SentFile;
  /** Shows the full picture instead of its thumbnail. */
  whole?: boolean;
  /** Shows only the blurred preview. The picture is not fetched. */
  veiled?: boolean;
  label: string;
  onLost(): void;
}

export function Picture({ file, whole = false, veiled = false, label, onLost }: Props) {
  const client = useClient();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [here, setHere] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the id identifies the picture, and its link may change
  useLayoutEffect(() => {
    if (canvas.current && !here) blur(canvas.current, file);
  }, [file.id]);
  const lost = useEffectEvent(onLost);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  useEffect(() => {
    if (veiled) return;
    let wanted = true;
    load(client, file, !whole && file.thumb !== undefined).then(
      bitmap => {
        if (!wanted || canvas.current === null) return;
        draw(canvas.current, bitmap);
        setHere(true);
      },
      () => wanted && lost(),
    );
    return () => {
      wanted = false;
    };
  }, [client, file.id, whole, veiled, lost]);
  return <canvas ref={canvas} class={here ? 'picture is-here' : 'picture'} role="img" aria-label={label} />;
}

/** The decoded pictures that were shown last. */
const kept = new Map<string, Promise<ImageBitmap>>();
const MOST_KEPT = 40;

function load(client: Client, file: SentFile, thumbnail: boolean): Promise<ImageBitmap> {
  // The id identifies the picture, because its link may change.
  const name = `${file.id} ${thumbnail}`;
  const old = kept.get(name);
  kept.delete(name);
  const bitmap = old ?? fetchFile(client, file, thumbnail).then(blob => createImageBitmap(blob));
  kept.set(name, bitmap);
  bitmap.catch(() => kept.delete(name));
  for (const [oldest] of kept) {
    if (kept.size <= MOST_KEPT) break;
    // The garbage collector closes the bitmap, because it may still be on the screen.
    kept.delete(oldest);
  }
  return bitmap;
}

function draw(canvas: HTMLCanvasElement, bitmap: ImageBitmap): void {
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
}

const BLUR = 24;

function blur(canvas: HTMLCanvasElement, file: SentFile): void {
  const { width = 1, height = 1, blurhash } = file;
  const scale = BLUR / Math.max(width, height);
  const [across, down] = [width, height].map(side => Math.max(1, Math.round(side * scale))) as [
    number,
    number,
  ];
  const points = blurhash === undefined ? undefined : pixels(blurhash, across, down);
  const context = canvas.getContext('2d');
  if (points === undefined || !context) return;
  canvas.width = across;
  canvas.height = down;
  context.putImageData(new ImageData(points, across, down), 0, 0);
}
