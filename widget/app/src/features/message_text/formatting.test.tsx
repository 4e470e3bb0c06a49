// @vitest-environment happy-dom
// No text may create an element outside of the subset, an unlisted attribute, or a link with a misleading text.

import { expect, test } from 'vitest';
import { Drawing } from '../../../test/draw.ts';
import { blocksOf, plainOf } from './formatting.ts';
import { isOnlyEmoji, MessageText } from './message_text.tsx';

const people: Record<string, string> = { anna: 'Anna', 'u-7': 'Tom Becker', room: 'room' };
const nameOf = (user: string) => (Object.hasOwn(people, user) ? people[user] : undefined);

function html(body: string, inert = false): string {
  const drawing = new Drawing().draw(<MessageText body={body} inert={inert} nameOf={nameOf} />);
  return drawing.find('.body-text').innerHTML.replace(/ (target|rel|title)="[^"]*"/g, '');
}

test.each([
  ['hello', '<span>hello</span>'],
  ['**bold** text', '<span><strong>bold</strong> text</span>'],
  ['*it* and _it_', '<span><em>it</em> and <em>it</em></span>'],
  ['~~gone~~', '<span><s>gone</s></span>'],
  ['**a *b* ~~c~~**', '<span><strong>a <em>b</em> <s>c</s></strong></span>'],
  ['`**a**`', '<span><code>**a**</code></span>'],
  ['2*3*4 and snake_case_name', '<span>2*3*4 and snake_case_name</span>'],
  ['* not a mark * here', '<ul><li>not a mark * here</li></ul>'],
  ['a * b * c', '<span>a * b * c</span>'],
  ['\\*no\\*', '<span>*no*</span>'],
  ['**open', '<span>**open</span>'],
  ['**a\n\nb** **c**', '<span>**a\n\nb** <strong>c</strong></span>'],
  ['*a **b** c*', '<span><em>a <strong>b</strong> c</em></span>'],
])('inline: %s', (body, expected) => {
  expect(html(body)).toBe(expected);
});

test.each([
  ['- one\n- two', '<ul><li>one</li><li>two</li></ul>'],
  ['3. three\n4. four', '<ol start="3"><li>three</li><li>four</li></ol>'],
  ['a\n\n- b\n\nc', '<span>a</span><ul><li>b</li></ul><span>c</span>'],
  ['> said\n> **so**\nyes', '<blockquote>said\n<strong>so</strong></blockquote><span>yes</span>'],
  ['```js\n<b>**x**</b>\n```', '<pre dir="ltr"><code>&lt;b&gt;**x**&lt;/b&gt;</code></pre>'],
  ['```\nnot closed', '<span>```\nnot closed</span>'],
  ['-5 degrees', '<span>-5 degrees</span>'],
])('blocks: %s', (body, expected) => {
  expect(html(body)).toBe(expected);
});

test.each([
  ['see https://a.example/x.', '<span>see <a href="https://a.example/x">https://a.example/x</a>.</span>'],
  [
    '**https://a.example/x**',
    '<span><strong><a href="https://a.example/x">https://a.example/x</a></strong></span>',
  ],
  ['[the plan](https://a.example/p_(1))', '<span><a href="https://a.example/p_(1)">the plan</a></span>'],
  ['[**b**](http://a.example/)', '<span><a href="http://a.example/"><strong>b</strong></a></span>'],
  [
    'mailto:ana@a.example?bcc=x@y.example',
    '<span><a href="mailto:ana@a.example">mailto:ana@a.example?bcc=x@y.example</a></span>',
  ],
  ['[x](javascript:alert(1))', '<span>[x](javascript:alert(1))</span>'],
  ['[x](data:text/html,1)', '<span>[x](data:text/html,1)</span>'],
  ['[x](https://bank.example@evil.example/)', '<span>[x](https://bank.example@evil.example/)</span>'],
])('links: %s', (body, expected) => {
  expect(html(body)).toBe(expected);
});

test('a link text that looks like an address links only to that address', () => {
  expect(html('[https://bank.example](https://evil.example)')).not.toContain('>https://bank.example</a>');
  expect(html('[bank.example](https://evil.example)')).not.toContain('>bank.example</a>');
  expect(html('[www.bank.example](https://evil.example)')).not.toContain('>www.bank.example</a>');
  expect(html('[https://a.example/](https://a.example)')).toContain('>https://a.example/</a>');
});

test('a message of a stranger contains no links', () => {
  expect(html('https://a.example [b](https://b.example)', true)).toBe('<span>https://a.example b</span>');
});

test('known users are mentioned by name, and unknown ids stay unchanged', () => {
  expect(html('hi @anna, @u-7! @nobody mail@anna @annabel')).toBe(
    '<span>hi <bdi class="mention">@Anna</bdi>, <bdi class="mention">@Tom Becker</bdi>! @nobody mail@anna @annabel</span>',
  );
});

test('the plain text contains no formatting marks', () => {
  expect(plainOf('**a** [b](https://b.example) `c`\n- d\n> e')).toBe('a b c\nd\ne');
});

test('one to three emoji without text are large', () => {
  for (const body of ['👍', '👍🏽 🎉', '👩‍💻', '🇩🇪', '❤️']) expect(isOnlyEmoji(body), body).toBe(true);
  for (const body of ['', '1', 'ok 👍', '👍👍👍👍', '#']) expect(isOnlyEmoji(body), body).toBe(false);
});

const TAGS = new Set('DIV SPAN STRONG EM S CODE PRE BLOCKQUOTE UL OL LI A BDI'.split(' '));
const ATTRIBUTES: Record<string, RegExp> = {
  class: /^(body-text|body-text body-emoji|mention|mention mention-me)$/,
  dir: /^ltr$/,
  start: /^\d{1,6}$/,
  href: /^(https?:\/\/[^@/]+(\/|$)|https?:\/\/[^/]+\/|mailto:)/,
  title: /^(https?:\/\/|mailto:)/,
  target: /^_blank$/,
  rel: /^noopener noreferrer nofollow ugc$/,
};
const PARTS = [
  '*',
  '**',
  '_',
  '~~',
  '`',
  '```',
  '```\n',
  '\n',
  '\n\n',
  '> ',
  '- ',
  '1. ',
  '[',
  '](',
  ')',
  '](https://a.example)',
  'https://',
  'http://b.example/?<script>',
  'mailto:',
  'x@y.example',
  'javascript:alert(1)',
  'data:text/html,',
  '\\',
  '<img src=x onerror=alert(1)>',
  '"',
  "'",
  ' onclick=',
  '&lt;',
  '@anna',
  '@',
  'é',
  '👍',
  '\u202e',
  '\u0000',
  ' ',
  'word',
  'a',
  '{}',
  '__proto__',
  'constructor',
  '![x](https://i.example/x.png)',
  '<!--',
  ']]>',
  'style=',
  '||',
] as const;

/** A small pseudo-random generator, so that a seed reproduces a failure. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test.each(Array.from({ length: 24 }, (_, i) => i + 1))('random text stays in the subset, seed %i', seed => {
  const random = chance(seed);
  for (let round = 0; round < 12; round++) {
    const length = 1 + Math.floor(random() * 60);
    const body = Array.from({ length }, () => PARTS[Math.floor(random() * PARTS.length)]).join('');
    const drawing = new Drawing().draw(<MessageText body={body} inert={false} nameOf={nameOf} />);
    for (const element of drawing.root.querySelectorAll('*')) {
      expect(TAGS, body).toContain(element.tagName);
      for (const { name, value } of Array.from(element.attributes)) {
        expect(ATTRIBUTES[name], `${name} in ${JSON.stringify(body)}`).toBeDefined();
        expect(value, body).toMatch(ATTRIBUTES[name] as RegExp);
      }
      if (element.tagName === 'A') expect(new URL(element.getAttribute('href') as string).username).toBe('');
    }
  }
});

test('the longest message of formatting marks is parsed fast, into a bounded number of elements', () => {
  for (const part of [
    '*a',
    '**a ',
    '_',
    '`',
    '[a](',
    '[',
    '> ',
    '@a',
    '~~a~~',
    '*a* ',
    'https://a.example ',
    '(*',
    '\\',
  ]) {
    const body = part.repeat(Math.ceil(8_192 / part.length));
    const before = performance.now();
    const blocks = blocksOf(body, nameOf);
    expect(performance.now() - before, part).toBeLessThan(500);
    expect(JSON.stringify(blocks).split('"kind"').length, part).toBeLessThan(1_500);
  }
});

test('a message of many mentions looks up a bounded number of users', () => {
  const asked: string[] = [];
  blocksOf('@a.b.c.d.e.f '.repeat(600), user => {
    asked.push(user);
    return undefined;
  });
  expect(asked.length).toBeLessThanOrEqual(60);
});
