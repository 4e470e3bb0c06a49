// Light or dark: what the member chose here, else what the site's tag says, else what the system says.

import { useLayoutEffect, useState } from 'preact/hooks';
import { useMedia } from '../use_media/use_media.ts';

export type Theme = 'light' | 'dark' | 'auto';

export interface ThemeChoice {
  dark: boolean;
  choice: Theme;
  choose(theme: Theme): void;
}

/** Written only when the member chooses; before that nothing of ours is stored. */
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
        // A browser may refuse storage; the choice then lasts as long as the page.
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
