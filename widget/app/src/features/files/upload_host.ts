// The browser functions of an upload.

import type { Client } from '@kith/client';
import type { UploadHost } from '@kith/client/upload';

export function uploadHost(client: Client): UploadHost {
  return {
    server: client.server,
    access: fresh => client.access(fresh),
    fetch: (url, init) => fetch(url, init),
    now: () => Date.now(),
    timer: (ms, call) => {
      const id = setTimeout(call, ms);
      return () => clearTimeout(id);
    },
    random: () => Math.random(),
  };
}
