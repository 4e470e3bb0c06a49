import { expect, test } from 'vitest';
import { xmppUri } from './xmpp_uri.ts';

test('characters that a URI does not allow are escaped', () => {
  expect(xmppUri('anna@garden.example')).toBe('xmpp:anna@garden.example');
  expect(xmppUri('^ann\\20^o\\27^neill@forum')).toBe('xmpp:%5Eann%5C20%5Eo%5C27%5Eneill@forum');
  expect(xmppUri('zoë@forum')).toBe('xmpp:zo%C3%AB@forum');
});
