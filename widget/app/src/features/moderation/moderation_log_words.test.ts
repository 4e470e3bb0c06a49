import { readFileSync } from 'node:fs';
import { LANGUAGES } from 'virtual:messages';
import { expect, test } from 'vitest';

const english = (await (await LANGUAGES.en!()).late()).late((_, forms) => forms.other);

test('every act in the moderation log has a text', () => {
  const page = readFileSync(new URL('../../../../../docs/protocol.md', import.meta.url), 'utf8');
  const listed = /The acts in the record: ([^.]*)\./.exec(page)?.[1] ?? '';
  const acts = [...listed.matchAll(/`(\w+)`/g)].map(([, act]) => act as string);
  expect(acts.length).toBeGreaterThan(30);
  const known = { ...english.siteSettings.recorded, ...english.moderation.recordActs };
  expect(acts.filter(act => !(act in known))).toEqual([]);
});
