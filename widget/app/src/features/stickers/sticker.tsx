// A sticker in its message, or its text if the site has removed the sticker.

import type { ConversationKey, Message, SentFile, Sticker } from '@kith/client';
import { useState } from 'preact/hooks';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { Picture } from '../files/picture.tsx';
import css from './sticker.css?inline';

/** Longest side in CSS pixels. */
const SIDE = 160;

export function StickerView({ message }: { message: Message; to: ConversationKey }) {
  useStyles(css);
  const [lost, setLost] = useState(false);
  const { sticker, body } = message;
  if (sticker === undefined || lost) return <span class="body-text">{body}</span>;
  const scale = Math.min(1, SIDE / Math.max(sticker.width, sticker.height, 1));
  const [width, height] = [sticker.width, sticker.height].map(side => `${Math.round(side * scale)}px`);
  return (
    <span class="sticker" title={body} style={{ width, height }}>
      <Picture file={fileOf(sticker)} label={body} onLost={() => setLost(true)} />
    </span>
  );
}

/** Describes a sticker as a file, because `Picture` renders files. */
export function fileOf({ id, words, url, width, height }: Sticker): SentFile {
  return { id, name: words, type: 'image/png', size: 0, url, width, height };
}
