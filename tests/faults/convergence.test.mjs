// Differences between what a client shows and what a fresh client sees.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Archive } from './archive.mjs';
import { differences } from './convergence.mjs';

/** Anna's client and a fresh one, which agree. */
function agreeing() {
  const archive = new Archive();
  archive.add('c', [
    { seq: 1, id: 'a1', from: 'anna' },
    { seq: 2, id: 't1', from: 'tom' },
  ]);
  const messages = [
    { seq: 1, id: 'a1', mine: true, state: 'read' },
    { seq: 2, id: 't1', mine: false, state: 'received' },
  ];
  return {
    archive,
    shown: {
      conversations: new Map([['c', { unread: 1, read: 1, last: 2, messages }]]),
      contacts: new Map([['tom', 'contact']]),
      presence: new Map([['tom', 'online']]),
      unsent: 0,
    },
    fresh: {
      conversations: new Map([['c', { unread: 1, read: 1, last: 2, theirReceived: 2, theirRead: 2 }]]),
      contacts: new Map([['tom', 'contact']]),
      presence: new Map([['tom', 'online']]),
    },
    present: new Map([['tom', 'online']]),
  };
}

test('two clients that agree have no differences', () => {
  assert.deepEqual(differences(agreeing()), []);
});

const cases = {
  'an unread count': one => {
    one.shown.conversations.get('c').unread = 2;
  },
  'a read marker': one => {
    one.shown.conversations.get('c').read = 0;
  },
  'a missing conversation': one => one.shown.conversations.clear(),
  'a missing last message': one => {
    one.shown.conversations.get('c').last = 1;
  },
  'another message at a seq': one => {
    one.shown.conversations.get('c').messages[1].id = 't2';
  },
  'a hole in the timeline': one => {
    one.shown.conversations.get('c').messages[0].seq = 0;
  },
  'a message that is shown as unread by the other member': one => {
    one.shown.conversations.get('c').messages[0].state = 'sent';
  },
  'a queued message': one => {
    one.shown.unsent = 1;
  },
  'a contact': one => one.shown.contacts.delete('tom'),
  'a presence that the client shows': one => one.shown.presence.set('tom', 'unknown'),
  'a presence that the server has': one => one.fresh.presence.set('tom', 'offline'),
  'a history that a fresh client does not see to its end': one => {
    one.archive.add('c', [{ seq: 3, id: 't2', from: 'tom' }]);
  },
};

for (const [name, change] of Object.entries(cases)) {
  test(`a difference: ${name}`, () => {
    const one = agreeing();
    change(one);
    assert.notDeepEqual(differences(one), []);
  });
}
