import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { en as guard } from '../site_settings/words.en.ts';
import { en as safety } from './words.en.ts';

test('every act of the record has words', () => {
  const page = readFileSync(new URL('../../../../../docs/protocol.md', import.meta.url), 'utf8');
  const listed = /The acts in the record: ([^.]*)\./.exec(page)?.[1] ?? '';
  const acts = [...listed.matchAll(/`(\w+)`/g)].map(([, act]) => act as string);
  expect(acts.length).toBeGreaterThan(30);
  const known = { ...guard().recorded, ...safety().recordActs };
  expect(acts.filter(act => !(act in known))).toEqual([]);
});
