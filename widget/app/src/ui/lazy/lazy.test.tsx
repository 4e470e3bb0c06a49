// @vitest-environment happy-dom

import { h, render } from 'preact';
import { expect, test, vi } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { AppContext, type AppContextValue } from '../../app_context.tsx';
import { fetchPart, Lazy, type Part } from './lazy.tsx';

test('a part that is loaded between the render and its effects is rendered', async () => {
  const { root } = new Drawing();
  const part: Part<object> = () => Promise.resolve(() => <b>the part</b>);
  const context = { wording: WORDING } as AppContextValue;
  const late = <Lazy part={part} props={{}} meanwhile={<i>wait</i>} />;
  // Do not use `act` here, because it would run the effects at once.
  render(h(AppContext.Provider, { value: context, children: late }), root);
  expect(root.textContent).toBe('wait');
  await fetchPart(part, WORDING);
  await vi.waitFor(() => expect(root.textContent).toBe('the part'));
});
