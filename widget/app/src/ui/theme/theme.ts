// The theme, light or dark: the member's choice, else the setting of the site's tag. `auto` follows the system.

import { useLayoutEffect, useState } from 'preact/hooks';
import { useMedia } from '../use_media/use_media.ts';

export type Theme = 'light' | 'dark' | 'auto';

export interface ThemeChoice {
  dark: boolean;
  choice: Theme;
  choose(theme: Theme): void;
}

/** The key in local storage. Nothing is stored until the member makes a choice. */
const STORED = 'kith.theme';

export function useTheme(fromTag: Theme, host: Element): ThemeChoice {
  const [choice, setChoice] = useState<Theme>(() => stored() ?? fromTag);
  const system = useMedia('(prefers-color-scheme: dark)');
  const dark = choice === 'auto' ? system : choice === 'dark';
  useLayoutEffect(() => host.setAttribute('data-theme', dark ? 'dark' : 'light'), [host, dark]);
  return {
    dark,
    choice,
    choose(theme) {
      setChoice(theme);
      try {
        localStorage.setItem(STORED, theme);
      } catch {
        // The browser may refuse storage. The choice is then lost when the page unloads.
      }
    },
  };
}

function stored(): Theme | undefined {
  try {
    const value = localStorage.getItem(STORED);
    return value === 'light' || value === 'dark' || value === 'auto' ? value : undefined;
  } catch {
    return undefined;
  }
}
