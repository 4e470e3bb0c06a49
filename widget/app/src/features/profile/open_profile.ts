// Opens the profile of somebody; what shows it comes when it is opened first.

import type { Surroundings } from '../../app_context.tsx';
import { late } from '../../ui/lazy/lazy.tsx';

const cardPart = late(() => import('./profile_card.tsx'), 'ProfileCard');

export function openProfile({ show }: Surroundings, user: string): void {
  show(cardPart, { user });
}
