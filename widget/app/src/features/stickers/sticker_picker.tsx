// The site's stickers in the picker: the second of its two lists.

import type { Client, Sticker } from '@kith/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useClient } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { Picture } from '../files/picture.tsx';
import css from './sticker.css?inline';
import { fileOf } from './sticker.tsx';

/** Of last time, until the server has answered. */
const known = new WeakMap<Client, readonly Sticker[]>();

/** Empty where there are none, or none are wanted. */
export function useStickers(wanted: boolean): readonly Sticker[] {
  const client = useClient();
  const [stickers, setStickers] = useState(() => known.get(client) ?? []);
  useEffect(() => {
    if (!wanted) return;
    client
      .rich()
      .then(one => one.stickers())
      .then(
        all => {
          known.set(client, all);
          setStickers(all);
        },
        // Without a connection there are those of last time.
        () => undefined,
      );
  }, [client, wanted]);
  return wanted ? stickers : [];
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

/** Its picture is fetched when it comes near. */
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
