// A voice message among the files of a message.

import type { SentFile } from '@kith/client';
import { useClient } from '../../app_context.tsx';
import { fetchFile } from './file_url.ts';
import { VoicePlayer } from './voice_player.tsx';

export function VoiceMessage({ file }: { file: SentFile }) {
  const client = useClient();
  return (
    <VoicePlayer
      fetch={() => fetchFile(client, file, false)}
      duration={(file.duration ?? 0) / 1_000}
      peaks={file.peaks}
    />
  );
}
