// The shapes that are not needed at once. Whoever draws one of them imports this file.

import { addShapes } from './icon.tsx';

const LATE = {
  archive: 'M4 8.5V19h16V8.5M3 4.5h18v4H3zM10 12.5h4',
  bell: 'M6 16.5h12l-1.5-2.2V10a4.5 4.5 0 0 0-9 0v4.3L6 16.5ZM10 19.5h4',
  copy: 'M9 9h10.5v10.5H9zM15 5H4.5v10.5',
  block: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM6 6l12 12',
  add: 'M10 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6.5 9a6.5 6.5 0 0 1 11.4-4.3M18.5 14v6M15.5 17h6',
  remove: 'M10 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6.5 9a6.5 6.5 0 0 1 11.4-4.3M15.5 17h6',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 3v1.5M12 19.5V21M3 12h1.5M19.5 12H21M5.6 5.6l1.1 1.1M17.3 17.3l1.1 1.1M5.6 18.4l1.1-1.1M17.3 6.7l1.1-1.1',
  moon: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10Z',
  auto: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 3.5v17M12 8h5M12 12h8M12 16h6',
  jump: 'M12 19V7M6.5 12 12 6.5l5.5 5.5M5 3.5h14',
  leave: 'M13.5 8V4.5h-9v15h9V16M9.5 12h10.5M16.5 8.5 20 12l-3.5 3.5',
  snow: 'M12 3v18M4.2 7.5l15.6 9M19.8 7.5l-15.6 9',
  plus: 'M12 5v14M5 12h14',
  flag: 'M6 20.5V4M6 5h11.5l-2.3 4 2.3 4H6',
  shield: 'M12 20.5c-4.5-1.6-7-5-7-9.3V6l7-2.5L19 6v5.2c0 4.3-2.5 7.7-7 9.3ZM9 11.8l2.2 2.2 4-4.2',
  gear: 'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M5.6 18.4l2.2-2.2M16.2 7.8l2.2-2.2',
  unread: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8Z',
  at: 'M12 15.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm3.5-7v4.7a2.4 2.4 0 0 0 4.8 0V12a8.3 8.3 0 1 0-3.4 6.7',
  forward: 'M14 6l5.5 5.5L14 17M19 11.5h-8a6 6 0 0 0-6 6V19',
} as const;

export type LateIconName = keyof typeof LATE;

addShapes(LATE);
