// @vitest-environment happy-dom

import { act } from 'preact/test-utils';
import { beforeAll, expect, test } from 'vitest';
import { FakePush } from '../../../dev/fake_push.ts';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { lateWords } from '../../wording/late_words.ts';
import { offsetNow } from './clock_time.ts';
import { PushSettings } from './push_settings.tsx';

beforeAll(() => lateWords.fetch(WORDING));

const settle = () => new Promise<void>(resolve => setTimeout(resolve, 0));

/** Renders the settings and waits for their requests. */
async function drawn(prepare: (drawing: Drawing) => void = () => undefined) {
  const drawing = new Drawing();
  prepare(drawing);
  const happen = async (what: () => unknown) => {
    await act(async () => {
      what();
      await settle();
    });
    // The change may cause further effects.
    await act(settle);
  };
  await happen(() => drawing.draw(<PushSettings />));
  const click = (name: string) => happen(() => drawing.button(name).click());
  const isOn = (name: string) => drawing.button(name).getAttribute('aria-checked');
  return { drawing, click, isOn, happen };
}

const HERE = 'Notify me in this browser';

test('notifications are off by default, and turning them on shows more settings', async () => {
  const { drawing, click, isOn } = await drawn();
  expect([isOn(HERE), drawing.text().includes('Quiet hours')]).toEqual(['false', false]);
  await click(HERE);
  expect([isOn(HERE), isOn('Show message text'), isOn('Quiet hours')]).toEqual(['true', 'true', 'false']);
  await click('Show message text');
  expect(drawing.client.notifying.bodies).toBe(false);
  await click(HERE);
  expect(isOn(HERE)).toBe('false');
});

test('quiet hours use local time', async () => {
  const { drawing, click, happen } = await drawn(({ client }) => {
    client.notifying.devices = 1;
  });
  await click('Quiet hours');
  const quiet = { from: 1_320, to: 420, offset: offsetNow() };
  expect(drawing.client.notifying.quiet).toEqual(quiet);
  const [from] = drawing.root.querySelectorAll<HTMLInputElement>('input[type=time]');
  await happen(() => {
    if (from === undefined) return;
    expect(from.value).toBe('22:00');
    from.value = '21:30';
    from.dispatchEvent(new Event('change', { bubbles: true }));
  });
  expect(drawing.client.notifying.quiet).toEqual({ ...quiet, from: 1_290 });
  await click('Quiet hours');
  expect(drawing.client.notifying.quiet).toBeUndefined();
});

test('quiet hours from another time zone change to this one', async () => {
  const elsewhere = offsetNow() === 60 ? 120 : 60;
  const { drawing } = await drawn(({ client }) => {
    client.notifying.devices = 1;
    client.notifying.quiet = { from: 0, to: 60, offset: elsewhere };
  });
  expect(drawing.client.notifying.quiet).toEqual({ from: 0, to: 60, offset: offsetNow() });
});

test('a failure shows its reason and can be retried', async () => {
  const { drawing, click, isOn } = await drawn(({ push }) => {
    push.failing = 'worker';
  });
  await click(HERE);
  expect(drawing.find('[role=alert]').textContent).toBe('Notifications are not set up on this site yet.');
  expect(isOn(HERE)).toBe('false');
  drawing.push.failing = undefined;
  await click(HERE);
  expect([isOn(HERE), drawing.has('[role=alert]')]).toEqual(['true', false]);
});

test('the switch is disabled if the browser blocks notifications', async () => {
  const { drawing, click, isOn } = await drawn(one => {
    Object.assign(one, { push: new FakePush('blocked') });
  });
  expect(drawing.text()).toContain('Your browser blocks notifications');
  await click(HERE);
  expect([isOn(HERE), drawing.button(HERE).getAttribute('aria-disabled')]).toEqual(['false', 'true']);
});

test('a server without push shows no settings', async () => {
  const { drawing } = await drawn(({ client }) => {
    delete client.notifying.key;
  });
  expect(drawing.text()).toBe('');
});

test('the member chooses the delay of mails about missed messages', async () => {
  const { drawing, happen } = await drawn(({ client }) => {
    client.notifying.mail = { address: 'kim@example.com', after: 45 };
  });
  expect(drawing.text()).toContain('To kim@example.com, at most once a day');
  const choice = drawing.find<HTMLSelectElement>('select');
  expect(Array.from(choice.options, one => one.textContent)).toEqual([
    'Never',
    'After 30 minutes',
    'After 45 minutes',
    'After an hour',
    'After 4 hours',
    'After 24 hours',
  ]);
  expect(choice.value).toBe('45');
  await happen(() => {
    choice.value = '0';
    choice.dispatchEvent(new Event('change', { bubbles: true }));
  });
  expect(drawing.client.notifying.mail).toEqual({ address: 'kim@example.com', after: 0 });
});
