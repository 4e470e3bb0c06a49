// The icon shapes for calls. A module that shows one of them must import this file.

import { addShapes } from './icon.tsx';

const OF_CALLS = {
  phone:
    'M6.5 4h3l1.6 4-2 1.4a10.5 10.5 0 0 0 5.5 5.5l1.4-2 4 1.6v3a2 2 0 0 1-2.2 2A15.8 15.8 0 0 1 4.5 6.2 2 2 0 0 1 6.5 4Z',
  camera: 'M4 7h10.5v10H4zM14.5 11l5.5-3.2v8.4L14.5 13',
  cameraOff: 'M4 4l16 16M9.5 7h5v5M14.5 11l5.5-3.2v8.4l-3-1.7M14.5 14.5V17H4V7h3',
  voice: 'M12 14.5a3 3 0 0 0 3-3v-5a3 3 0 0 0-6 0v5a3 3 0 0 0 3 3ZM5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3.5',
  voiceOff:
    'M4 4l16 16M9 9v2.5a3 3 0 0 0 4.6 2.5M15 10.5v-4a3 3 0 0 0-5.8-1M5.5 11.5a6.5 6.5 0 0 0 10 5.5M18.5 11.5a6.5 6.5 0 0 1-.6 2.7M12 18v3.5',
  hangUp:
    'M3.5 14.5c0-5 17-5 17 0v1.6a1 1 0 0 1-1.2 1l-3.1-.7a1 1 0 0 1-.8-1v-2a13 13 0 0 0-6.8 0v2a1 1 0 0 1-.8 1l-3.1.7a1 1 0 0 1-1.2-1Z',
  screen: 'M3.5 5h17v11h-17zM8.5 20h7M12 16v4M12 13.2V8M9.5 10.2 12 7.8l2.5 2.4',
  apart: 'M3.5 5h17v14h-17zM12 12h6v4.5h-6z',
  flip: 'M4 12a8 8 0 0 1 13.6-5.7L20 8.5M20 4v4.5h-4.5M20 12a8 8 0 0 1-13.6 5.7L4 15.5M4 20v-4.5h4.5',
  move: 'M12 3.5v17M3.5 12h17M9.5 6 12 3.5 14.5 6M9.5 18l2.5 2.5 2.5-2.5M6 9.5 3.5 12 6 14.5M18 9.5l2.5 2.5-2.5 2.5',
  dials:
    'M4 7.5h9M17 7.5h3M4 16.5h3M11 16.5h9M15 9.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM9 18.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  speaker: 'M4.5 9.5v5h3l4.5 4v-13l-4.5 4h-3ZM15.5 9a4 4 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11',
  missed: 'M5 7l7 7 7-7M5 7h5M5 7v5',
  going: 'M7 17 17 7M17 7H9.5M17 7v7.5',
  coming: 'M17 7 7 17M7 17h7.5M7 17V9.5',
} as const;

export type CallIconName = keyof typeof OF_CALLS;

addShapes(OF_CALLS);
