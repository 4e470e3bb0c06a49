import type { Contact, Person, Presence } from '@kith/client';
import { expect, test } from 'vitest';
import { lateWords, wordsOf } from '../../wording/late_words.ts';
import { fetchWording } from '../../wording/wording.ts';
import { found, type Row, sections } from './sections.ts';

const WORDING = await fetchWording(['en']);
await lateWords.fetch(WORDING);
const words = wordsOf(WORDING, 'contacts');
const contact = (user: string, state: Contact['state'] = 'contact'): Contact => ({ user, name: user, state });
const person = (user: string, name = user): Person => ({ user, name });

function known(contacts: Contact[], directory: Person[], online: string[] = []) {
  const presenceOf = (user: string): Presence => (online.includes(user) ? 'online' : 'offline');
  return { contacts, more: false, directory, me: 'me', presenceOf };
}

function outline(rows: Row[]): string[] {
  return rows.map(row =>
    row.kind === 'heading'
      ? `# ${row.text}${row.count === undefined ? '' : ` ${row.count}`}`
      : row.person.user,
  );
}

test('while more contacts are on the server, their number is a lower bound', () => {
  const counted = (more: boolean) =>
    sections({ ...known([contact('ana')], []), more }, words).find(row => row.id === 'contacts');
  expect(counted(true)).toMatchObject({ count: 1, more: true });
  expect(counted(false)).not.toHaveProperty('more');
});

test('requests come first, blocked users last, and both appear in no other list', () => {
  const contacts = [
    contact('ana'),
    contact('bob', 'request_received'),
    contact('eve', 'blocked'),
    contact('tom', 'request_sent'),
  ];
  const rows = sections(
    known(
      contacts,
      ['ana', 'bob', 'eve', 'kim', 'me'].map(user => person(user)),
      ['ana', 'kim', 'eve'],
    ),
    words,
  );
  expect(outline(rows)).toEqual([
    '# Requests 1',
    'bob',
    '# Online now 2',
    'ana',
    'kim',
    '# Your contacts 2',
    'ana',
    'tom',
    '# All members',
    'kim',
    '# Blocked 1',
    'eve',
  ]);
});

test('empty sections have no heading', () => {
  expect(sections(known([], []), words)).toEqual([]);
});

test('row ids differ if a person is listed as online and as contact', () => {
  const rows = sections(known([contact('ana')], [], ['ana']), words);
  expect(new Set(rows.map(row => row.id)).size).toBe(rows.length);
});

test('a search matches the start of words, ignores case and accents, and lists contacts first', () => {
  const here = known([{ ...contact('jose'), name: 'José Álvarez' }], [person('al', 'Alba Jose')]);
  expect(outline(found('alv', here, []))).toEqual(['jose']);
  expect(outline(found('JOSE', here, []))).toEqual(['jose', 'al']);
  expect(outline(found('jo alv', here, []))).toEqual(['jose']);
  expect(outline(found('varez', here, []))).toEqual([]);
});

test('results of the server are added once, and never include the current user', () => {
  const here = known([contact('ana')], []);
  expect(outline(found('an', here, [person('ana'), person('anton'), person('me', 'An')]))).toEqual([
    'ana',
    'anton',
  ]);
});

test('a contact is found by the own name and by the display name', () => {
  const aunt = { ...contact('ana'), name: 'Aunt Ann', displayName: 'Ana Lima' };
  const here = known([aunt, contact('ben')], []);
  expect(['aunt', 'ann', 'lima', 'ben a'].map(query => outline(found(query, here, [])))).toEqual([
    ['ana'],
    ['ana'],
    ['ana'],
    [],
  ]);
});
