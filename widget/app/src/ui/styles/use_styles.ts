// Adds styles as constructed sheets and not as style elements, so that the policy `style-src 'self'` is enough.

import { useAppContext } from '../../app_context.tsx';

const adopted = new WeakMap<ShadowRoot, Set<string>>();

/** Adds the styles of a lazy part once. It runs during the render, because a layout effect may measure the part. */
export function useStyles(css: string): void {
  const { root } = useAppContext();
  if (root === undefined) return;
  const there = adopted.get(root) ?? new Set();
  adopted.set(root, there);
  if (there.has(css)) return;
  there.add(css);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}
