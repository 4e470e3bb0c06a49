// `/kith-sw.js`: what a site's service worker imports, or is.

import { serve, type WorkerScope } from './worker.ts';

serve(self as unknown as WorkerScope);
