// The emoji picker: search, recent emoji, groups, skin tones and stickers. It is loaded when it first opens.

import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { EmojiRequest } from '../../app_context.tsx';
import { placeIn } from '../../ui/menu/menu.tsx';
import { RequestView } from '../../ui/request/request.tsx';
import { SearchField } from '../../ui/search_field/search_field.tsx';
import { Segmented } from '../../ui/segmented/segmented.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { isRtl } from '../../wording/is_rtl.ts';
import { useWords } from '../../wording/late_words.ts';
import { Stickers, useStickers } from '../stickers/sticker_picker.tsx';
import { groups, keepTone, keepUsed, kept, search, TONES, toned } from './emoji.ts';
import css from './emoji_picker.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

const MOST_FOUND = 64;

export function Picker({
  request,
  phone,
  onClose,
}: {
  request: EmojiRequest;
  phone: boolean;
  onClose: () => void;
}) {
  useStyles(css);
  const words = useWords('emoji');
  const dialog = useRef<HTMLDivElement>(null);
  const picked = useRef<() => void>(undefined);
  const [place, setPlace] = useState<{ left: number; top: number }>();
  const [query, setQuery] = useState('');
  const [tone, setTone] = useState(() => kept().tone);
  const recent = useMemo(() => kept().recent, []);

  useLayoutEffect(() => {
    const element = dialog.current;
    if (element === null) return;
    const frame = element.parentElement?.getBoundingClientRect();
    const at = request.anchor.getBoundingClientRect();
    if (frame && !phone)
      setPlace(placeIn(frame, at, { width: element.offsetWidth, height: element.offsetHeight }));
    // On a phone the keyboard would cover the emoji.
    if (phone) element.focus({ preventScroll: true });
    else fieldOf(element)?.focus({ preventScroll: true });
    return () => {
      // The elements below were inert until now and could not take the focus.
      request.anchor.focus({ preventScroll: true });
      picked.current?.();
    };
  }, [request, phone]);

  const pick = (char: string) => {
    keepUsed(char);
    picked.current = () => request.onPick(char);
    onClose();
  };
  const { onSticker } = request;
  const stickers = useStickers(onSticker !== undefined);
  const [list, setList] = useState<'emoji' | 'stickers'>('emoji');
  // Without stickers the picker has no second list. After a failed load, that list shows the error.
  const hasStickers = stickers.failed || (stickers.data?.length ?? 0) > 0;
  const showsStickers = list === 'stickers' && hasStickers;
  const sections = useMemo(() => {
    if (query.trim() !== '')
      return [
        {
          id: 'found',
          title: words.searchEmoji,
          chars: search(query, MOST_FOUND).map(one => toned(one, tone)),
        },
      ];
    const grouped = groups.map(({ group, emoji }) => ({
      id: group as string,
      title: words.emojiGroups[group],
      chars: emoji.map(one => toned(one, tone)),
    }));
    return recent.length > 0
      ? [{ id: 'recent', title: words.recentEmoji, chars: recent }, ...grouped]
      : grouped;
  }, [query, tone, recent, words]);
  const first = sections[0]?.chars[0];

  const scroller = useRef<HTMLDivElement>(null);
  const [group, setGroup] = useState<string>();
  const sectionElements = () => Array.from(scroller.current?.querySelectorAll<HTMLElement>('section') ?? []);
  const showGroup = (at: number) => {
    const element = sectionElements()[at];
    if (element === undefined || scroller.current === null) return;
    scroller.current.scrollTop = element.offsetTop;
    setGroup(element.dataset.group);
  };
  const onScroll = () => {
    const top = scroller.current?.getBoundingClientRect().top ?? 0;
    const shown = sectionElements().findLast(one => one.getBoundingClientRect().top <= top + 1);
    setGroup(shown?.dataset.group);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const buttons = Array.from(dialog.current?.querySelectorAll<HTMLElement>('.picker-group') ?? []);
    const onGroup = buttons.indexOf(event.target as HTMLElement);
    const all = Array.from(dialog.current?.querySelectorAll<HTMLElement>('.emoji') ?? []);
    const at = all.indexOf(event.target as HTMLElement);
    if (event.key === 'Escape') onClose();
    else if (event.key === 'Tab') keepInside(event, dialog.current);
    else if (onGroup !== -1 && besideGroup(event, onGroup, buttons.length) !== undefined) {
      const next = besideGroup(event, onGroup, buttons.length) ?? 0;
      showGroup(next);
      buttons[next]?.focus();
    } else if (at === -1) {
      if (event.key === 'ArrowDown' && !isRadio(event.target)) all[0]?.focus();
      else if (event.key === 'Enter' && first !== undefined && query.trim() !== '') pick(first);
      else return;
    } else {
      const next = neighbour(all, at, event.key);
      if (next === undefined) return;
      if (next === -1) (fieldOf(dialog.current) ?? chosenList(dialog.current))?.focus();
      else all[next]?.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <>
      <div class={phone ? 'menu-veil picker-veil' : 'menu-veil'} onPointerDown={onClose} />
      <div
        ref={dialog}
        class={phone ? 'picker picker-sheet' : 'picker'}
        role="dialog"
        aria-modal="true"
        aria-label={words.emoji}
        tabIndex={-1}
        style={place && { left: `${place.left}px`, top: `${place.top}px` }}
        onKeyDown={onKeyDown}
      >
        {hasStickers && (
          <div class="picker-lists">
            <Segmented<'emoji' | 'stickers'>
              label={`${words.emoji}, ${words.stickers}`}
              look="chips"
              value={list}
              choices={[
                { value: 'emoji', text: words.emoji },
                { value: 'stickers', text: words.stickers },
              ]}
              onChange={setList}
            />
          </div>
        )}
        {showsStickers ? (
          <div class="picker-list">
            <RequestView request={stickers}>
              {all => (
                <Stickers
                  stickers={all}
                  onPick={sticker => {
                    picked.current = () => onSticker?.(sticker);
                    onClose();
                  }}
                />
              )}
            </RequestView>
          </div>
        ) : (
          <>
            <div class="picker-top">
              <SearchField label={words.searchEmoji} value={query} onChange={setQuery} />
              <button
                type="button"
                class="picker-tone"
                aria-label={words.skinTone}
                title={words.skinTone}
                onClick={() => {
                  const next = TONES[(TONES.indexOf(tone) + 1) % TONES.length] ?? '';
                  setTone(next);
                  keepTone(next);
                }}
              >
                {`✋${tone}`}
              </button>
            </div>
            {query.trim() === '' && (
              <div class="picker-groups" role="toolbar" aria-label={words.emojiCategories}>
                {sections.map(({ id, title, chars }, at) => (
                  <button
                    key={id}
                    type="button"
                    class="picker-group"
                    aria-label={title}
                    title={title}
                    aria-current={id === group}
                    tabIndex={(group ?? sections[0]?.id) === id ? 0 : -1}
                    onClick={() => showGroup(at)}
                  >
                    {id === 'recent' ? '🕘' : chars[0]}
                  </button>
                ))}
              </div>
            )}
            <div class="picker-list" ref={scroller} onScroll={onScroll}>
              {sections.map(({ id, title, chars }) => (
                <section key={id} aria-label={title} data-group={id}>
                  <h3 class="picker-title">{title}</h3>
                  {chars.length === 0 && <p class="picker-nothing">{words.noEmoji(query.trim())}</p>}
                  <div class="picker-grid">
                    {chars.map(char => (
                      <button
                        key={char}
                        type="button"
                        class="emoji"
                        tabIndex={char === first && id === sections[0]?.id ? 0 : -1}
                        onClick={() => pick(char)}
                      >
                        {char}
                      </button>
                    ))}
                  </div>
                </section>
              ))}
            </div>
          </>
        )}
      </div>
    </>
  );
}

function fieldOf(dialog: HTMLElement | null): HTMLInputElement | null | undefined {
  return dialog?.querySelector('input');
}

/** The emoji beside, above or below in the layout. -1: the search field above the first row. */
function neighbour(all: readonly HTMLElement[], at: number, key: string): number | undefined {
  const rtl = all[at] !== undefined && getComputedStyle(all[at]).direction === 'rtl';
  const ahead = rtl ? -1 : 1;
  const beside = { ArrowRight: at + ahead, ArrowLeft: at - ahead, Home: 0, End: all.length - 1 }[key];
  if (beside !== undefined) return Math.max(0, Math.min(all.length - 1, beside));
  if (key !== 'ArrowDown' && key !== 'ArrowUp') return undefined;
  const from = all[at]?.getBoundingClientRect();
  if (from === undefined) return undefined;
  const step = key === 'ArrowDown' ? 1 : -1;
  let row: number | undefined;
  let best: { index: number; away: number } | undefined;
  for (let index = at + step; index >= 0 && index < all.length; index += step) {
    const box = all[index]?.getBoundingClientRect();
    if (box === undefined || Math.abs(box.top - from.top) < 4) continue;
    row ??= box.top;
    if (Math.abs(box.top - row) > 4) break;
    const away = Math.abs(box.left - from.left);
    if (best === undefined || away < best.away) best = { index, away };
  }
  return best?.index ?? (step === -1 ? -1 : at);
}

function besideGroup(event: KeyboardEvent, at: number, count: number): number | undefined {
  const ahead = isRtl(event.target as HTMLElement) ? -1 : 1;
  const step = { ArrowRight: ahead, ArrowLeft: -ahead }[event.key];
  return step && (at + step + count) % count;
}

function chosenList(dialog: HTMLElement | null): HTMLElement | null | undefined {
  return dialog?.querySelector<HTMLElement>('[role=radio][aria-checked=true]');
}

/** The arrow keys of a radio button choose another list. */
function isRadio(target: EventTarget | null): boolean {
  return (target as HTMLElement | null)?.getAttribute('role') === 'radio';
}

function keepInside(event: KeyboardEvent, dialog: HTMLElement | null): void {
  const stops = Array.from(dialog?.querySelectorAll<HTMLElement>('input, button:not([tabindex="-1"])') ?? []);
  // An emoji that has the focus by arrow keys counts as the last tab stop.
  const at = stops.indexOf(event.target as HTMLElement);
  const from = at === -1 ? stops.length - 1 : at;
  stops[(from + (event.shiftKey ? -1 : 1) + stops.length) % stops.length]?.focus();
}
