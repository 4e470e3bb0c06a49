import { expect, test } from 'vitest';
import { readCatalogues, texts } from './catalogue.mjs';
import { compile, missing, PLURAL } from './compile.mjs';

const { pluralOf } = await import(`data:text/javascript,${encodeURIComponent(PLURAL)}`);

/** The compiled texts of `rooms`: English, or another language with English for missing texts. */
function rooms(english, own, language = 'en') {
  const catalogues = new Map([['en', texts({ rooms: english })]]);
  if (own) catalogues.set(language, texts({ rooms: own }));
  return new Function('plural', `return ${compile(catalogues, language, ['rooms'])}`)(pluralOf(language));
}

test('a text without arguments is a string, whatever is in it', () => {
  const { leave, more } = rooms({ leave: 'It’s `$` or \\n', more: { kinds: "'{'braces'}'" } });
  expect([leave, more.kinds]).toEqual(['It’s `$` or \\n', '{braces}']);
});

test('an inserted name is isolated, a number and a formatted time are not', () => {
  const words = rooms({
    leave: 'Leave {name}?',
    choice: 'Choice {position, number}',
    until: 'until {time}',
    seconds: '{count, plural, one {1 second} other {# seconds}}',
  });
  expect(words.leave('Ana')).toBe('Leave \u2068Ana\u2069?');
  expect(words.choice(3)).toBe('Choice 3');
  expect(words.until('10:02')).toBe('until 10:02');
  expect([words.seconds(1), words.seconds(7)]).toEqual(['1 second', '7 seconds']);
});

test('several arguments are passed by name, so that a language may reorder them', () => {
  const english = { asks: '{name} invites you to {room}' };
  const said = rooms(english, { asks: '{room}: {name}' }, 'pl').asks({ name: 'Ana', room: 'Bees' });
  expect(said).toBe('\u2068Bees\u2069: \u2068Ana\u2069');
});

test('a name within a plural form is isolated too, and `#` there is the number', () => {
  const { news } = rooms({
    news: '{count, plural, =0 {Nothing from {name}} one {One from {name}} other {# from {name}}}',
  });
  const say = count => news({ count, name: 'Ana' });
  expect([0, 1, 2].map(say)).toEqual([
    'Nothing from \u2068Ana\u2069',
    'One from \u2068Ana\u2069',
    '2 from \u2068Ana\u2069',
  ]);
});

test('the form of a number is that of the language', () => {
  const english = { days: '{count, plural, one {1 day} other {# days}}' };
  const polish = { days: '{count, plural, one {1 dzień} few {# dni} many {# dni.} other {# dnia}}' };
  const { days } = rooms(english, polish, 'pl');
  expect([1, 2, 5, 22].map(days)).toEqual(['1 dzień', '2 dni', '5 dni.', '22 dni']);
});

test('a text selects by a word', () => {
  const { left } = rooms({ left: '{why, select, banned {You were banned.} other {You left.}}' });
  expect(['banned', 'left', 'toString'].map(left)).toEqual(['You were banned.', 'You left.', 'You left.']);
});

test('a text that a language does not have is the English one, in the forms of English', () => {
  const english = {
    days: '{count, plural, one {1 day} other {# days}}',
    leave: 'Leave {name}?',
    join: 'Join',
  };
  const words = rooms(english, { join: 'Войти' }, 'ru');
  // Russian uses the same form for 21 as for 1.
  expect([1, 21].map(words.days)).toEqual(['1 day', '21 days']);
  expect([words.leave('Аня'), words.join]).toEqual(['Leave \u2068Аня\u2069?', 'Войти']);
  const catalogues = new Map([
    ['en', texts({ rooms: english })],
    ['ru', texts({ rooms: { join: 'Войти' } })],
  ]);
  expect(missing(catalogues, 'ru')).toEqual(['rooms.days', 'rooms.leave']);
});

test('a text without its argument is called like the English one', () => {
  expect(rooms({ one: 'One of {name}' }, { one: 'Jeden' }, 'pl').one('Ana')).toBe('Jeden');
  expect(() => rooms({ one: 'One' }, { one: '{name}' }, 'pl')).toThrow('English has no argument {name}');
});

test('every text of every language compiles', () => {
  const catalogues = readCatalogues();
  const namespaces = Array.from(catalogues.get('en').keys(), path => path.split('.', 1)[0]);
  for (const language of catalogues.keys())
    expect(() => new Function('plural', `return ${compile(catalogues, language, namespaces)}`)).not.toThrow();
});
