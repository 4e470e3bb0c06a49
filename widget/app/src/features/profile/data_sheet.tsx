// The member's data: a copy to download, and the removal of the account.

import { type Client, RequestError } from '@kith/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext } from '../../app_context.tsx';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import danger from '../../ui/theme/danger.css?inline';
import { useWords } from '../../wording/late_words.ts';
import { exportLines } from './account_export.ts';
import css from './profile.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  mayRemove: boolean;
  onClose(): void;
}

export function DataSheet({ mayRemove, onClose }: Props) {
  useStyles(danger);
  useStyles(css);
  const words = useWords('profile');
  return (
    <Sheet title={words.yourData} onClose={onClose}>
      <Copy />
      {mayRemove && <Removal />}
    </Sheet>
  );
}

/** `failed`: the export stopped before its end, and no file was saved. */
type Progress = { lines: number } | 'done' | 'failed';

function Copy() {
  const { client } = useAppContext();
  const words = useWords('profile');
  const [progress, setProgress] = useState<Progress>();
  const leaves = useRef(new AbortController());
  useEffect(() => () => leaves.current.abort(), []);
  const busy = typeof progress === 'object';
  const begin = async () => {
    if (busy) return;
    setProgress({ lines: 0 });
    try {
      const parts = await collect(client, leaves.current.signal, lines => setProgress({ lines }));
      save(parts, `chat-${client.me()?.user ?? ''}.jsonl`.replace(/[^\w.-]/g, '_'));
      setProgress('done');
    } catch {
      if (!leaves.current.signal.aborted) setProgress('failed');
    }
  };
  return (
    <section class="sheet-form" aria-labelledby="data-copy">
      <h3 class="data-title" id="data-copy">
        {words.copyTitle}
      </h3>
      <p class="privacy-note">{words.copyHint}</p>
      <button type="button" class="button button-main data-button" aria-disabled={busy} onClick={begin}>
        <Icon name="save" />
        {words.copySave}
      </button>
      <p class="privacy-note" role="status">
        {typeof progress === 'object' &&
          words.copyLines({ count: progress.lines, number: words.number(progress.lines) })}
        {progress === 'done' && words.copyDone}
        {progress === 'failed' && words.profileFailed.other}
      </p>
    </section>
  );
}

async function collect(
  client: Client,
  signal: AbortSignal,
  told: (lines: number) => void,
): Promise<string[]> {
  const parts: string[] = [];
  for await (const line of exportLines(request => client.ask(request), pause, signal)) {
    parts.push(line);
    if (parts.length % 50 === 0) told(parts.length);
  }
  return parts;
}

const pause = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms));

function save(parts: string[], name: string) {
  const url = URL.createObjectURL(new Blob(parts, { type: 'application/x-ndjson' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Browsers start to read the URL some time after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function Removal() {
  const { client, confirm, announce } = useAppContext();
  const words = useWords('profile');
  const [messages, setMessages] = useState(false);
  const remove = () => {
    client.ask({ t: 'remove_account', messages }).catch((error: unknown) => {
      const refused = error instanceof RequestError && error.code === 'not_allowed';
      if (refused) announce(words.profileFailed.other ?? '');
      // The server ends the session before it answers. Delete the member's data in this browser.
      else if (client.status().code === 'removed') client.forget();
    });
  };
  return (
    <section class="sheet-form" aria-labelledby="data-removal">
      <h3 class="data-title" id="data-removal">
        {words.removeTitle}
      </h3>
      <p class="privacy-note">{words.removeHint}</p>
      <label class="sheet-choice">
        <input type="checkbox" checked={messages} onChange={() => setMessages(!messages)} />
        {words.removeMessages}
      </label>
      <button
        type="button"
        class="button button-danger data-button"
        onClick={() =>
          confirm({
            title: words.removeAsk,
            text: messages ? words.removeExplainAll : words.removeExplain,
            action: words.removeTitle,
            onYes: remove,
          })
        }
      >
        <Icon name="trash" />
        {words.removeTitle}
      </button>
    </section>
  );
}
