// The files of a message: pictures in a grid, of a size that is known before they are here, all others as rows.

import type { Message, SentFile } from '@kith/client';
import { useRef, useState } from 'preact/hooks';
import { Icon } from '../icon/icon.tsx';
import '../icon/late_shapes.ts';
import type { MessageDeeds } from '../message/actions.ts';
import { useSheet } from '../sheets.ts';
import { useClient } from '../surroundings.tsx';
import { addressOf, isOver, renewed } from './link.ts';
import { Picture } from './picture.tsx';
import css from './shown.css?inline';
import { Viewer } from './viewer.tsx';
import { Voice } from './voice.tsx';
import { ending, useFileWords } from './words.ts';

export { catalogues as words } from './words.ts';

interface Props {
  message: Message;
  deeds: MessageDeeds;
}

/** In CSS pixels; larger ones are scaled down to it. */
const WIDEST = 240;
const TALLEST = 300;
const LEAST = 80;

export function Files({ message, deeds }: Props) {
  useSheet(css);
  const files = message.files ?? [];
  const pictures = files.filter(isPicture);
  const [shown, setShown] = useState<string>();
  return (
    <div class="files" dir="auto">
      {pictures.length > 0 && (
        <div class={pictures.length > 1 ? 'pictures is-many' : 'pictures'}>
          {pictures.map(file => (
            <Shot key={file.id} file={file} alone={pictures.length === 1} onShow={() => setShown(file.id)} />
          ))}
        </div>
      )}
      {files
        .filter(file => !isPicture(file))
        .map(file => (file.voice ? <Voice key={file.id} file={file} /> : <Row key={file.id} file={file} />))}
      {shown !== undefined && (
        <Viewer
          pictures={(deeds.messages?.() ?? [message]).flatMap(one => one.files?.filter(isPicture) ?? [])}
          first={shown}
          onClose={() => setShown(undefined)}
        />
      )}
    </div>
  );
}

export function isPicture(file: SentFile): boolean {
  return file.width !== undefined && file.height !== undefined && file.type.startsWith('image/');
}

function Shot({ file, alone, onShow }: { file: SentFile; alone: boolean; onShow(): void }) {
  const words = useFileWords();
  const [lost, setLost] = useState(false);
  const { width, height } = shownSize(file);
  return (
    <button
      type="button"
      class="shot"
      tabIndex={-1}
      aria-label={words.showPicture(file.name)}
      style={alone ? { inlineSize: `${width}px`, aspectRatio: `${width} / ${height}` } : undefined}
      onClick={onShow}
    >
      {lost ? (
        <span class="shot-lost">
          <Icon name="alert" />
          {words.pictureLost}
        </span>
      ) : (
        <Picture file={file} label={words.picture(file.name)} onLost={() => setLost(true)} />
      )}
    </button>
  );
}

/** Of the picture's shape, unless that is very long or thin; then its edges are cut. */
export function shownSize({ width = 1, height = 1 }: SentFile): { width: number; height: number } {
  const share = Math.min(1, WIDEST / width, TALLEST / height);
  const fit = (side: number) => Math.max(LEAST, Math.round(side * share));
  return { width: fit(width), height: fit(height) };
}

function Row({ file }: { file: SentFile }) {
  const client = useClient();
  const words = useFileWords();
  const link = useRef<HTMLAnchorElement>(null);
  return (
    <a
      ref={link}
      class="file-row"
      tabIndex={-1}
      href={addressOf(client, file.url)}
      target="_blank"
      rel="noopener noreferrer"
      download={file.name}
      aria-label={`${words.download(file.name)}, ${words.size(file.size)}`}
      onClick={event => {
        if (!isOver(file.url, Date.now())) return;
        // The page was open for long: with a link of now the same click once more.
        event.preventDefault();
        renewed(client, file.url).then(
          ({ url }) => {
            if (link.current === null) return;
            link.current.href = addressOf(client, url);
            file.url = url;
            link.current.click();
          },
          () => undefined,
        );
      }}
    >
      <span class="file-kind" aria-hidden="true">
        {ending(file.name) || <Icon name="file" />}
      </span>
      <span class="file-what">
        <span class="file-name clip">
          <bdi>{file.name}</bdi>
        </span>
        <span class="file-size">{words.size(file.size)}</span>
      </span>
    </a>
  );
}
