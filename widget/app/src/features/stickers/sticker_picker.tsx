// The site's stickers: the second list of the emoji picker.

import type { Client, Sticker } from '@kith/client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useClient } from '../../app_context.tsx';
import { type Request, useRequest } from '../../ui/request/use_request.ts';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { Picture } from '../files/picture.tsx';
import css from './sticker.css?inline';
import { fileOf } from './sticker.tsx';

/** The stickers of the last response, shown until the server answers again. */
const known = new WeakMap<Client, readonly Sticker[]>();

/** Loads the stickers if `wanted`. If that fails, it returns those of the last response. */
export function useStickers(wanted: boolean): Request<readonly Sticker[]> {
  const client = useClient();
  const load = useCallback(async () => {
    const all = await (await client.rich()).stickers();
    known.set(client, all);
    return all;
  }, [client]);
  const request = useRequest(wanted ? load : undefined);
  const data = wanted ? (request.data ?? known.get(client)) : undefined;
  return { ...request, data, failed: request.failed && data === undefined };
}

export function Stickers({
  stickers,
  onPick,
}: {
  stickers: readonly Sticker[];
  onPick(sticker: Sticker): void;
}) {
  useStyles(css);
  const sets = [...new Set(stickers.map(one => one.set))];
  return (
    <>
      {sets.map(set => (
        <section key={set} aria-label={set}>
          <h3 class="picker-title" dir="auto">
            {set}
          </h3>
          <div class="sticker-grid">
            {stickers
              .filter(one => one.set === set)
              .map(sticker => (
                <Choice
                  key={sticker.id}
                  sticker={sticker}
                  first={sticker === stickers[0]}
                  onPick={() => onPick(sticker)}
                />
              ))}
          </div>
        </section>
      ))}
    </>
  );
}

/** Fetches the picture when the button is within 100 pixels of the visible area. */
function Choice({ sticker, first, onPick }: { sticker: Sticker; first: boolean; onPick(): void }) {
  const button = useRef<HTMLButtonElement>(null);
  const [near, setNear] = useState(false);
  useEffect(() => {
    if (button.current === null) return;
    const watching = new IntersectionObserver(
      seen => {
        if (seen.some(one => one.isIntersecting)) setNear(true);
      },
      { rootMargin: '100px' },
    );
    watching.observe(button.current);
    return () => watching.disconnect();
  }, []);
  return (
    <button
      ref={button}
      type="button"
      class="emoji sticker-choice"
      aria-label={sticker.words}
      title={sticker.words}
      tabIndex={first ? 0 : -1}
      onClick={onPick}
    >
      {near && <Picture file={fileOf(sticker)} label={sticker.words} onLost={() => setNear(false)} />}
    </button>
  );
}
