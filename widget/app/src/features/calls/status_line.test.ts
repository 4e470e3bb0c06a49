// @vitest-environment happy-dom

import { beforeAll, expect, test } from 'vitest';
import { WORDING } from '../../../test/draw.ts';
import { plain } from '../../../test/plain.ts';
import { lateWords, wordsOf } from '../../wording/late_words.ts';
import { begun, type CallView, type End, endOf } from './call_view.ts';
import { figures, mend, quality, sentence, trouble } from './status_line.ts';

beforeAll(() => lateWords.fetch(WORDING));
const words = () => wordsOf(WORDING, 'calls');
const shown = (more: Partial<CallView>): CallView => ({ ...begun('tom', 'audio', 'up', false), ...more });
const told = { mic: true, camera: false, screen: false, weak: false };

test('a problem has a text, and a good connection has none', () => {
  const says = (more: Partial<CallView>) => {
    const text = trouble(shown(more), 'Tom', words());
    return text && plain(text);
  };
  expect(says({ stage: 'calling' })).toBe('Calling…');
  expect(says({ connected: false })).toBe('Connecting…');
  expect(says({ connected: false, quality: { loss: 0, kbits: 1, weak: false } })).toBe('Reconnecting…');
  expect(says({ connected: true, holding: true })).toBe('On hold');
  expect(says({ connected: true, away: true })).toBe('Tom lost the connection. Reconnecting…');
  expect(says({ connected: true, theirs: { ...told, mic: false } })).toBe('Tom is muted');
  expect(says({ connected: true, theirs: { ...told, weak: true } })).toBe('Weak network: Tom’s video is off');
  expect(says({ connected: true, theirs: told })).toBeUndefined();
});

test('the line shows the duration, the path and a weak network', () => {
  const now = { way: 'relayed', loss: 0.125, kbits: 640, weak: false } as const;
  expect(quality(shown({ since: 5_000, quality: now }), 70_000, words())).toBe('1:05 · relayed');
  expect(quality(shown({ quality: now, weak: true }), 0, words())).toBe('relayed · weak network: video off');
  expect(figures(shown({ quality: now }), words())).toBe('12.5% lost · 640 kbit/s');
});

test('each end has a text', () => {
  const ends = Object.keys(words().ends) as End[];
  expect(ends.length).toBe(14);
  for (const end of ends) expect(sentence(shown({ end }), 'Tom', words())).not.toBe('');
  expect(sentence(shown({ end: 'ended', ms: 61_000 }), 'Tom', words())).toBe('Call ended after 1:01');
  expect(['not_allowed', 'in_call', 'rate_limited', 'offline', 'no_such_call', 'full'].map(endOf)).toEqual([
    'contactsOnly',
    'inCall',
    'tooMany',
    'offline',
    'lost',
    'failed',
  ]);
});

test('after a refused microphone, the text explains how to allow it in this browser', () => {
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36';
  const safari = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/17.0 Safari/605.1.15';
  const { mends } = words();
  expect(mend('denied', chrome, words())).toBe(mends.chromium);
  expect(mend('denied', safari, words())).toBe(mends.safari);
  expect(mend('denied', 'Mozilla/5.0 (X11; rv:140.0) Gecko/20100101 Firefox/140.0', words())).toBe(
    mends.firefox,
  );
  expect(mend('denied', `${chrome} Mobile Android`, words())).toBe(mends.phone);
  expect(mend('none', chrome, words())).toBe(mends.none);
});
