// A voice message among the files of a message.

import type { SentFile } from '@kith/client';
import { useClient } from '../surroundings.tsx';
import { fetchFile } from './link.ts';
import { Sound } from './sound.tsx';

export function Voice({ file }: { file: SentFile }) {
  const client = useClient();
  return (
    <Sound
      fetch={() => fetchFile(client, file, false)}
      duration={(file.duration ?? 0) / 1_000}
      peaks={file.peaks}
    />
  );
}
