// @vitest-environment happy-dom

import { direct, type Message, type Sticker } from '@kith/client';
import { expect, test } from 'vitest';
import { Drawing, NOW } from '../../../test/draw.ts';
import { mayEdit } from '../message/may_edit.ts';
import { fileOf, StickerView } from './sticker.tsx';

const WAVE: Sticker = {
  id: '00000000000000ab',
  set: 'Bees',
  words: '👋 Hello',
  url: '/v1/stickers/1/00000000000000ab',
  width: 480,
  height: 240,
};
const message = (sticker?: Sticker): Message => ({
  id: 'm',
  seq: 1,
  from: 'ana',
  mine: true,
  body: '👋 Hello',
  time: NOW,
  state: 'sent',
  ...(sticker && { sticker }),
});

test('a sticker has a text alternative and its final size before the picture loads', () => {
  const drawing = new Drawing().draw(<StickerView message={message(WAVE)} to={direct('ana')} />);
  expect(drawing.find('canvas').getAttribute('aria-label')).toBe('👋 Hello');
  const { width, height } = drawing.find<HTMLElement>('.sticker').style;
  expect([width, height]).toEqual(['160px', '80px']);
  expect(fileOf(WAVE).url).toBe(WAVE.url);
});

test('a removed sticker is shown as its text', () => {
  const drawing = new Drawing().draw(<StickerView message={message()} to={direct('ana')} />);
  expect([drawing.has('canvas'), drawing.text()]).toEqual([false, '👋 Hello']);
});

test('a sticker cannot be edited', () => {
  expect([mayEdit(message()), mayEdit(message(WAVE))]).toEqual([true, false]);
});

test('a sticker is sent as a message of its own', async () => {
  const { client } = new Drawing();
  const rich = await client.rich();
  expect(rich.sticker(direct('ana'), WAVE, { replyTo: 3 })).toBe('sticker @ana 👋 Hello 3');
});
