// Opens the profile of a user; its code is fetched on first use.

import type { AppContextValue } from '../../app_context.tsx';
import { lazy } from '../../ui/lazy/lazy.tsx';

const cardPart = lazy(() => import('./profile_card.tsx'), 'ProfileCard');

export function openProfile({ show }: AppContextValue, user: string): void {
  show(cardPart, { user });
}
