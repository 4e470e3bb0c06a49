import { expect, test } from 'vitest';
import { triggerAt } from './trigger.ts';

function check(text: string, expected: string | undefined) {
  const found = triggerAt(text, text.length);
  expect(found && `${found.kind} ${found.query} ${found.length}`).toBe(expected);
}

test('a shortcode begins at the edge of a word and has two letters', () => {
  check(':ta', 'emoji ta 3');
  check('so :THUMBS', 'emoji thumbs 7');
  check(':t', undefined);
  check('10:30', undefined);
  check('see:ta', undefined);
  check('https://a.example:80', undefined);
});

test('one that is closed is finished', () => {
  check('so :tada:', 'finished_emoji tada 6');
  check(':+1:', 'finished_emoji +1 4');
  check('::', undefined);
});

test('a mention is the start of a name of one or two words', () => {
  check('@', 'mention  1');
  check('hi @an', 'mention an 3');
  check('@anna li', 'mention anna li 8');
  check('@anna lindqvist is', undefined);
  check('@anna ', undefined);
  check('mail@anna', undefined);
});

test('in code nothing is completed, and only what stands before the cursor counts', () => {
  check('`a :ta', undefined);
  expect(triggerAt(':tada and more', 4)?.query).toBe('tad');
});
