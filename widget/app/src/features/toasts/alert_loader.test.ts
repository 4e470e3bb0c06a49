// @vitest-environment happy-dom

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeClient } from '../../../dev/fake_client.ts';
import { createAlertLoader } from './alert_loader.ts';
import { SETTLE_MS } from './message_alerts.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function scene() {
  const client = new FakeClient({ people: 8, chats: 4, now: Date.now() });
  const alerts = createAlertLoader(client, () => false);
  client.on('message', alerts.hear);
  const here = () => vi.waitFor(() => expect(alerts.notices()).toBeDefined());
  const settled = () => vi.advanceTimersByTimeAsync(SETTLE_MS);
  return { client, alerts, here, settled };
}

test('a message that arrives before the code is loaded gets a notice later', async () => {
  const { client, alerts, here, settled } = scene();
  expect(alerts.notices()).toBeUndefined();
  client.arrive('u2', 'early');
  alerts.readOut();
  await here();
  await settled();
  expect(alerts.notices()?.toast()).toMatchObject({ message: { body: 'early' }, unheard: true });
  client.arrive('u2', 'later');
  await settled();
  expect(alerts.notices()?.toast()).toMatchObject({ message: { body: 'later' }, unheard: false });
});

test('the code loads when idle and calls the listener', async () => {
  const { alerts, here } = scene();
  let changed = 0;
  alerts.listen(() => {
    changed += 1;
  });
  await vi.advanceTimersByTimeAsync(1_000);
  await here();
  expect(changed).toBe(1);
});

test('no notice is shown after destroy', async () => {
  const { client, alerts, here, settled } = scene();
  client.arrive('u2', 'hello');
  alerts.destroy();
  await here();
  await settled();
  expect(alerts.notices()?.toast()).toBeUndefined();
});
