// Opens the profile of somebody; what shows it comes when it is opened first.

import { late } from '../late.tsx';
import type { Surroundings } from '../surroundings.tsx';

const cardPart = late(() => import('./card.tsx'), 'ProfileCard');

export function openProfile({ show }: Surroundings, user: string): void {
  show(cardPart, { user });
}
