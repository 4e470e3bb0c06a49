import { expect, test } from 'vitest';
import { triggerAt } from './trigger.ts';

function check(text: string, expected: string | undefined) {
  const found = triggerAt(text, text.length);
  expect(found && `${found.kind} ${found.query} ${found.length}`).toBe(expected);
}

test('a shortcode starts at a word boundary and has at least two letters', () => {
  check(':ta', 'emoji ta 3');
  check('so :THUMBS', 'emoji thumbs 7');
  check(':t', undefined);
  check('10:30', undefined);
  check('see:ta', undefined);
  check('https://a.example:80', undefined);
});

test('a shortcode with a closing colon is finished', () => {
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

test('code is not completed, and text after the cursor is ignored', () => {
  check('`a :ta', undefined);
  expect(triggerAt(':tada and more', 4)?.query).toBe('tad');
});
