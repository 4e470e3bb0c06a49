// Shows a picture in full over the whole window. The arrow keys show the other loaded pictures of the conversation.

import type { SentFile } from '@kith/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CloseButton } from '../../ui/close_button/close_button.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useClient, useWording } from '../../app_context.tsx';
import { addressOf } from './file_url.ts';
import { Picture } from './picture.tsx';
import { useZoom } from './use_zoom.ts';
import { useFileWords } from './words.ts';

interface Props {
  pictures: readonly SentFile[];
  /** The id of the picture that is shown first. */
  first: string;
  onClose(): void;
}

export function PictureViewer({ pictures, first, onClose }: Props) {
  const client = useClient();
  const wording = useWording();
  const words = useFileWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const [at, setAt] = useState(() =>
    Math.max(
      0,
      pictures.findIndex(one => one.id === first),
    ),
  );
  const [lost, setLost] = useState<string>();
  const file = pictures[at];
  const { place, zoom, dragged, larger, smaller, onKey } = useZoom(file?.id);
  useLayoutEffect(() => {
    const element = dialog.current;
    // The dialog is in the top layer. The browser keeps the focus inside and restores it afterwards.
    element?.showModal();
    return () => element?.close();
  }, []);
  if (file === undefined) return null;
  const go = (by: number) => {
    const next = at + by;
    if (pictures[next] !== undefined) setAt(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const forward = wording.direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight';
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (isPlain && onKey(event.key)) {
      // The zoom has handled the key.
    } else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') go(event.key === forward ? 1 : -1);
    else if (event.key === 'Escape') onClose();
    else {
      event.stopPropagation();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const several = pictures.length > 1;
  return (
    <dialog
      ref={dialog}
      class="viewer"
      dir={wording.direction}
      aria-label={words.picture(file.name)}
      onKeyDown={onKeyDown}
      onCancel={event => {
        event.preventDefault();
        onClose();
      }}
      onClick={event => {
        if (dragged.current) return;
        if (event.target === event.currentTarget || (event.target as HTMLElement).tagName === 'FIGURE')
          onClose();
      }}
    >
      <div class="viewer-bar">
        <span class="grow clip">
          <bdi>{file.name}</bdi>
          {several && (
            <span class="viewer-place">{words.pictureOf({ position: at + 1, count: pictures.length })}</span>
          )}
        </span>
        <button
          type="button"
          class="icon-button"
          aria-label={words.zoomOut}
          title={words.zoomOut}
          aria-disabled={zoom.scale === 1}
          onClick={smaller}
        >
          <Icon name="minus" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label={words.zoomIn}
          title={words.zoomIn}
          onClick={larger}
        >
          <Icon name="plus" />
        </button>
        <a
          class="icon-button"
          href={addressOf(client, file.url)}
          download={file.name}
          target="_blank"
          rel="noopener noreferrer"
          aria-label={words.download(file.name)}
          title={words.saveFile}
        >
          <Icon name="save" />
        </a>
        <CloseButton label={wording.close} onClose={onClose} />
      </div>
      <figure
        ref={place}
        class={zoom.scale > 1 ? 'viewer-picture is-zoomed' : 'viewer-picture'}
        style={{ '--zoom': `translate(${zoom.x}px, ${zoom.y}px) scale(${zoom.scale})` }}
      >
        {lost === file.id ? (
          <p>{words.pictureLost}</p>
        ) : (
          <Picture
            key={file.id}
            file={file}
            whole
            label={words.picture(file.name)}
            onLost={() => setLost(file.id)}
          />
        )}
      </figure>
      {several && (
        <>
          <Step name="previous" words={words.previous} off={at === 0} onGo={() => go(-1)} />
          <Step name="next" words={words.next} off={at === pictures.length - 1} onGo={() => go(1)} />
        </>
      )}
    </dialog>
  );
}

interface StepProps {
  name: 'previous' | 'next';
  words: string;
  off: boolean;
  onGo(): void;
}

function Step({ name, words, off, onGo }: StepProps) {
  return (
    <button
      type="button"
      class={`viewer-step viewer-${name}`}
      aria-label={words}
      title={words}
      aria-disabled={off}
      onClick={onGo}
    >
      <Icon name="back" />
    </button>
  );
}
