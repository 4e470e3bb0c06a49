// Styles as constructed sheets: no style element, so that `style-src 'self'` is enough.

import { useAppContext } from '../../app_context.tsx';

const adopted = new WeakMap<ShadowRoot, Set<string>>();

/** Adds the styles of a part that comes late, once. Before the part is drawn, because it may measure itself then. */
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
