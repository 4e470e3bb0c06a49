// The picture of a room: an owner chooses, previews and uploads it; owners and moderators may remove it.

import type { Messages } from 'virtual:messages';
import type { Code, Conversation } from '@kith/client';
import { Upload } from '@kith/client/upload';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { useWords } from '../../wording/late_words.ts';
import type { Wording } from '../../wording/wording.ts';
import { smallPicture } from '../files/prepare_upload.ts';
import { uploadHost } from '../files/upload_host.ts';
import { failureOf } from './room_errors.ts';

/** Longest side of the uploaded picture in pixels. The server stores no larger one. */
const SIDE = 480;
const TYPES = 'image/jpeg,image/png,image/webp,image/gif';

interface Chosen {
  bytes: Blob;
  bitmap: ImageBitmap;
}

export function PictureField({
  conversation,
  mayChoose,
}: {
  conversation: Conversation;
  mayChoose: boolean;
}) {
  const { client, announce } = useAppContext();
  const words = useWords('rooms');
  const { key, with: face } = conversation;
  const takesFiles = useTopic('me', one => one.me())?.limits.file_bytes !== undefined;
  const [chosen, setChosen] = useState<Chosen>();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  const choose = useRef<HTMLButtonElement>(null);
  const upload = useRef<Upload | undefined>(undefined);
  const cancel = () => {
    upload.current?.cancel();
    upload.current = undefined;
    setBusy(false);
    setChosen(undefined);
    setFailed(undefined);
    choose.current?.focus();
  };
  useEffect(() => () => upload.current?.cancel(), []);

  const take = (file: File | undefined) => {
    if (file === undefined) return;
    setFailed(undefined);
    smallPicture(file, SIDE).then(setChosen, () => setFailed(words.pictureBad));
  };
  const change = (what: { picture: string } | { avatar: '' }) => {
    setBusy(true);
    setFailed(undefined);
    client.changeRoom(key, what).then(
      () => {
        upload.current = undefined;
        setBusy(false);
        setChosen(undefined);
        announce(words.saved);
        choose.current?.focus();
      },
      (error: unknown) => {
        setBusy(false);
        setFailed(failureOf(error, words));
      },
    );
  };
  const use = () => {
    if (chosen === undefined || busy) return;
    setBusy(true);
    setFailed(undefined);
    upload.current?.cancel();
    // No user sees this file name.
    const of = { to: key, name: 'picture', bytes: chosen.bytes };
    const made = new Upload(uploadHost(client), of, () => {
      if (upload.current !== made) return;
      const { state } = made;
      if (state.at === 'done') change({ picture: state.file.id });
      if (state.at !== 'failed') return;
      setBusy(false);
      setFailed(uploadFailure(state.code, words));
    });
    upload.current = made;
  };

  if (!takesFiles && face.avatar === undefined) return null;
  return (
    <fieldset class="room-picture">
      <legend>{words.picture}</legend>
      {chosen ? <Preview bitmap={chosen.bitmap} /> : <Avatar person={face} size="large" room />}
      <div class="room-picture-buttons">
        {chosen ? (
          <>
            <button type="button" class="button button-main" aria-disabled={busy} onClick={use}>
              {busy ? words.pictureUploading : words.usePicture}
            </button>
            <button type="button" class="button" onClick={cancel}>
              {words.cancel}
            </button>
          </>
        ) : (
          <>
            {mayChoose && takesFiles && (
              <button ref={choose} type="button" class="button" onClick={() => input.current?.click()}>
                {words.choosePicture}
              </button>
            )}
            {face.avatar !== undefined && (
              <button
                type="button"
                class="button button-plain"
                aria-disabled={busy}
                onClick={() => !busy && change({ avatar: '' })}
              >
                {words.removePicture}
              </button>
            )}
          </>
        )}
      </div>
      <input
        ref={input}
        type="file"
        accept={TYPES}
        hidden
        aria-label={words.choosePicture}
        onChange={event => {
          take(event.currentTarget.files?.[0]);
          // Lets the member choose this file again.
          event.currentTarget.value = '';
        }}
      />
      {failed && (
        <p class="room-failed" role="alert">
          {failed}
        </p>
      )}
    </fieldset>
  );
}

function uploadFailure(code: Code, words: Wording & Messages['rooms']): string {
  switch (code) {
    case 'bad_picture':
      return words.pictureBad;
    case 'no_room_for_file':
    case 'file_too_large':
      return words.pictureFull;
    case 'rate_limited':
      return words.slowDown;
    default:
      return words.somethingFailed;
  }
}

/** A preview of the result: the middle square, in the shape of a room's picture. */
function Preview({ bitmap }: { bitmap: ImageBitmap }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const { current } = canvas;
    const side = Math.min(bitmap.width, bitmap.height);
    if (current === null || side === 0) return;
    current.width = side;
    current.height = side;
    const [left, top] = [(bitmap.width - side) / 2, (bitmap.height - side) / 2];
    current.getContext('2d')?.drawImage(bitmap, left, top, side, side, 0, 0, side, side);
  }, [bitmap]);
  return (
    <span class="avatar avatar-large avatar-room">
      <canvas ref={canvas} class="avatar-image" />
    </span>
  );
}
