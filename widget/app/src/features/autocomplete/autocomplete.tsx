// Completes emoji shortcodes and member names in the composer. Emoji data and members are loaded on demand.

import type { Client, Conversation, KnownPerson } from '@kith/client';
import { isRoom } from '@kith/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useEffectEvent } from '../../ui/use_effect_event/use_effect_event.ts';
import css from './autocomplete.css?inline';
import { type AutocompleteHandle, SUGGESTIONS_ID } from './handle.ts';
import { type Trigger, triggerAt } from './trigger.ts';

interface Props {
  handle: { current: AutocompleteHandle | null };
  field: { current: HTMLTextAreaElement | null };
  text: string;
  conversation: Conversation;
  onInsert(piece: string, back: number): void;
  /** Receives the element id of the chosen suggestion, or undefined while the list is closed. */
  describe(id: string | undefined): void;
}

interface Suggestion {
  id: string;
  piece: string;
  text: string;
  hint: string;
  emoji?: string;
  person?: KnownPerson;
}

const MOST = 7;
/** Delay in milliseconds before members are requested: fast typing must not send a request per character. */
const ASK_DELAY = 120;

export function Autocomplete({ handle, field, text, conversation, onInsert, describe }: Props) {
  useStyles(css);
  const { client, wording: words, announce } = useAppContext();
  const [list, setList] = useState<{ trigger: Trigger; items: readonly Suggestion[] }>();
  const [chosen, setChosen] = useState(0);
  const dismissed = useRef<string>(undefined);

  const find = useEffectEvent((trigger: Trigger) =>
    // If the request fails, no suggestions are shown and the typed text stays unchanged.
    suggestions(client, conversation, trigger, words.everybody).catch(() => []),
  );
  const show = useEffectEvent((trigger: Trigger, items: readonly Suggestion[]) => {
    const [only] = items;
    if (trigger.kind === 'finished_emoji') {
      setList(undefined);
      if (only) onInsert(only.piece, trigger.length);
      return;
    }
    setList(items.length > 0 ? { trigger, items } : undefined);
    setChosen(0);
    if (items.length > 0) announce(words.suggestions(items.length));
  });
  // Search once per text: `find` and `show` are effect events and not dependencies.
  useEffect(() => {
    const trigger = triggerAt(text, field.current?.selectionStart ?? text.length);
    if (trigger === undefined || text === dismissed.current) return setList(undefined);
    let wanted = true;
    const ask = async () => {
      const items = await find(trigger);
      if (wanted) show(trigger, items);
    };
    const timer = setTimeout(ask, trigger.kind === 'mention' ? ASK_DELAY : 0);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [text, field]);
  const current = list?.items[chosen];
  useEffect(() => {
    describe(current && optionId(current));
    return () => describe(undefined);
  }, [current, describe]);

  const pick = (one: Suggestion | undefined) => {
    if (list === undefined || one === undefined) return;
    setList(undefined);
    // The list may belong to an older text. Replace the whole current word before the cursor.
    const trigger = field.current && triggerAt(field.current.value, field.current.selectionStart);
    if (trigger?.kind === list.trigger.kind) onInsert(one.piece, trigger.length);
  };
  handle.current = {
    onKey(event) {
      if (list === undefined) return false;
      const count = list.items.length;
      if (event.key === 'ArrowDown') setChosen((chosen + 1) % count);
      else if (event.key === 'ArrowUp') setChosen((chosen + count - 1) % count);
      else if (event.key === 'Escape') {
        dismissed.current = text;
        setList(undefined);
      } else if ((event.key === 'Enter' && !event.shiftKey) || (event.key === 'Tab' && !event.shiftKey))
        pick(current);
      else return false;
      return true;
    },
  };
  if (list === undefined) return null;
  return (
    <div
      class="suggestions"
      id={SUGGESTIONS_ID}
      role="listbox"
      aria-label={words.suggestions(list.items.length)}
    >
      {list.items.map((one, at) => (
        <button
          key={one.id}
          type="button"
          tabIndex={-1}
          id={optionId(one)}
          class="suggestion"
          role="option"
          aria-selected={at === chosen}
          // The text field keeps the focus.
          onPointerDown={event => event.preventDefault()}
          onClick={() => pick(one)}
        >
          {one.person && <Avatar person={one.person} size="small" />}
          {one.emoji !== undefined && <span class="suggestion-emoji">{one.emoji}</span>}
          <span class="clip">
            <bdi>{one.text}</bdi>
          </span>
          <span class="suggestion-hint clip">
            <bdi>{one.hint}</bdi>
          </span>
        </button>
      ))}
    </div>
  );
}

function optionId({ id }: Suggestion): string {
  return `suggestion-${id}`;
}

async function suggestions(
  client: Client,
  conversation: Conversation,
  { kind, query }: Trigger,
  everybody: string,
): Promise<readonly Suggestion[]> {
  if (kind === 'mention') return mentions(client, conversation, query, everybody);
  const { find, search, kept, toned } = await import('../emoji/emoji.ts');
  const { tone } = kept();
  const only = find(query);
  const found = kind === 'finished_emoji' ? (only ? [only] : []) : search(query, MOST);
  return found.map((one, at) => {
    const char = toned(one, tone);
    const code = one.codes.find(it => it.startsWith(query)) ?? one.codes[0] ?? '';
    return { id: String(at), piece: `${char} `, text: `:${code}:`, hint: '', emoji: char };
  });
}

async function mentions(
  client: Client,
  { key, room }: Conversation,
  query: string,
  everybody: string,
): Promise<readonly Suggestion[]> {
  if (!isRoom(key) || room?.role === undefined) return [];
  const me = client.me()?.user;
  const { members } = await client.members(key, query);
  const found = members
    .filter(one => one.user !== me)
    .slice(0, MOST)
    .map((one, at) => ({
      id: String(at),
      piece: `@${one.user} `,
      text: client.person(one.user).name,
      hint: one.name === one.user ? '' : `@${one.user}`,
      person: client.person(one.user),
    }));
  const mayNameAll = room.role === 'owner' || room.role === 'moderator';
  const all = { id: 'room', piece: '@room ', text: '@room', hint: everybody };
  return mayNameAll && 'room'.startsWith(query) ? [...found, all] : found;
}
