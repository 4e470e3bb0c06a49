// What a `NAME.stories.tsx` beside a shared part exports as `stories`.

import type { VNode } from 'preact';

/** By name: how the part looks in one state. Drawn as a component, so that it may use hooks. */
export type Stories = Record<string, () => VNode>;
