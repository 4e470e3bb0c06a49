// Opens the profile of somebody; what shows it comes when it is opened first.

import type { AppContextValue } from '../../app_context.tsx';
import { lazy } from '../../ui/lazy/lazy.tsx';

const cardPart = lazy(() => import('./profile_card.tsx'), 'ProfileCard');

export function openProfile({ show }: AppContextValue, user: string): void {
  show(cardPart, { user });
}
