// The files of a message: pictures in a grid, with a size that is known before they load, and other files as rows.

import type { Message, SentFile } from '@kith/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import type { MessageActions } from '../message/message_menu.ts';
import { addressOf, isOver, renewed } from './file_url.ts';
import css from './message_files.css?inline';
import { Picture } from './picture.tsx';
import { PictureViewer } from './picture_viewer.tsx';
import { VoiceMessage } from './voice_message.tsx';
import { ending, useFileWords } from './words.ts';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  message: Message;
  actions: MessageActions;
}

/** Limits of a picture's size in CSS pixels. Larger pictures are scaled down. */
const WIDEST = 240;
const TALLEST = 300;
const LEAST = 80;

export function MessageFiles({ message, actions }: Props) {
  useStyles(css);
  const files = message.files ?? [];
  const pictures = files.filter(isPicture);
  const [shown, setShown] = useState<string>();
  useRedraw(actions.veiled);
  const isVeiled = (one: Message) => actions.veiled && !one.mine && !unveiled.has(one.from);
  const veiled = isVeiled(message);
  const unveil = () => {
    unveiled.add(message.from);
    for (const redraw of veils) redraw();
  };
  return (
    <div class="files" dir="auto">
      {pictures.length > 0 && (
        <div class={pictures.length > 1 ? 'pictures is-many' : 'pictures'}>
          {pictures.map(file => (
            <Shot
              key={file.id}
              file={file}
              alone={pictures.length === 1}
              veiled={veiled}
              onShow={() => (veiled ? unveil() : setShown(file.id))}
            />
          ))}
        </div>
      )}
      {files
        .filter(file => !isPicture(file))
        .map(file =>
          file.voice ? <VoiceMessage key={file.id} file={file} /> : <Row key={file.id} file={file} />,
        )}
      {shown !== undefined && (
        <PictureViewer
          pictures={(actions.messages?.() ?? [message])
            .filter(one => !isVeiled(one))
            .flatMap(one => one.files?.filter(isPicture) ?? [])}
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

/** Strangers whose pictures the user has shown, until the page is closed. */
const unveiled = new Set<string>();
const veils = new Set<() => void>();

/** Re-renders when the user shows a blurred picture, because all pictures of that stranger are then shown. */
function useRedraw(wanted: boolean): void {
  const [, turn] = useState(0);
  useEffect(() => {
    if (!wanted) return;
    const redraw = () => turn(before => before + 1);
    veils.add(redraw);
    return () => void veils.delete(redraw);
  }, [wanted]);
}

interface ShotProps {
  file: SentFile;
  alone: boolean;
  /** The picture comes from a stranger and is shown only on request. */
  veiled: boolean;
  onShow(): void;
}

function Shot({ file, alone, veiled, onShow }: ShotProps) {
  const guarding = useWords('siteSettings');
  const words = useFileWords();
  const [lost, setLost] = useState(false);
  const { width, height } = shownSize(file);
  return (
    <button
      type="button"
      class={veiled ? 'shot is-veiled' : 'shot'}
      tabIndex={-1}
      aria-label={veiled ? guarding.unveil : words.showPicture(file.name)}
      style={alone ? { inlineSize: `${width}px`, aspectRatio: `${width} / ${height}` } : undefined}
      onClick={onShow}
    >
      {lost ? (
        <span class="shot-lost">
          <Icon name="alert" />
          {words.pictureLost}
        </span>
      ) : (
        <Picture file={file} veiled={veiled} label={words.picture(file.name)} onLost={() => setLost(true)} />
      )}
      {veiled && !lost && (
        <span class="shot-veil">
          <Icon name="lock" />
          {guarding.unveil}
        </span>
      )}
    </button>
  );
}

/** The size keeps the picture's shape, unless the shape is very long or thin. Then the edges are cut. */
export function shownSize({ width = 1, height = 1 }: SentFile): { width: number; height: number } {
  const share = Math.min(1, WIDEST / width, TALLEST / height);
  const fit = (side: number) => Math.max(LEAST, Math.round(side * share));
  return { width: fit(width), height: fit(height) };
}

function Row({ file }: { file: SentFile }) {
  const { client, announce, wording } = useAppContext();
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
        // The link has expired on a page that was open for long. Renew it and repeat the click.
        event.preventDefault();
        renewed(client, file.url).then(
          ({ url }) => {
            if (link.current === null) return;
            link.current.href = addressOf(client, url);
            file.url = url;
            link.current.click();
          },
          () => announce(wording.somethingFailed),
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
