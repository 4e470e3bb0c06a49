// The type of the export `stories` of a `NAME.stories.tsx` file beside a shared part.

import type { VNode } from 'preact';

/** Maps a state's name to a component that shows the part in that state. A component may use hooks. */
export type Stories = Record<string, () => VNode>;
