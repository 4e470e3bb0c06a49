// Tests write pictures only to the folder that the caller has set.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { shot } from './browser.mjs';

test('without a folder no picture is written', async () => {
  const paths = [];
  const page = { screenshot: async ({ path }) => paths.push(path) };
  await shot(page, 'chat', undefined);
  await shot(page, 'chat', '');
  assert.deepEqual(paths, []);
  await shot(page, 'chat', '/pictures');
  assert.deepEqual(paths, ['/pictures/chat.png']);
});

test('tests write pictures by `shot` alone', () => {
  const files = readdirSync(import.meta.dirname).filter(name => name.endsWith('.test.mjs'));
  const own = import.meta.filename;
  const others = files.filter(name => !own.endsWith(`/${name}`));
  assert.ok(others.length > 10);
  const direct = others.filter(name =>
    readFileSync(`${import.meta.dirname}/${name}`, 'utf8').includes('.screenshot({ path'),
  );
  assert.deepEqual(direct, []);
});
