// `/kith-sw.js`: a site imports it in its service worker, or uses it as the worker.

import { serve, type WorkerScope } from './worker.ts';

serve(self as unknown as WorkerScope);
