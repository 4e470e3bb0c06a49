// The form for a new room: name, topic and kind.

import type { ConversationKey, RoomKind } from '@kith/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { useWords } from '../../wording/late_words.ts';
import { failureOf } from './room_errors.ts';

const KINDS: readonly RoomKind[] = ['public', 'private', 'announcement'];
const ICONS = { public: 'rooms', private: 'lock', announcement: 'megaphone' } as const;

interface Props {
  onCancel(): void;
  onMade(key: ConversationKey): void;
}

export function CreateRoom({ onCancel, onMade }: Props) {
  const { client } = useAppContext();
  const words = useWords('rooms');
  const first = useRef<HTMLInputElement>(null);
  const [name, setName] = useState('');
  const [topic, setTopic] = useState('');
  const [kind, setKind] = useState<RoomKind>('public');
  const [failed, setFailed] = useState<string>();
  const [busy, setBusy] = useState(false);
  useLayoutEffect(() => first.current?.focus({ preventScroll: true }), []);
  const create = () => {
    if (busy || name.trim() === '') return;
    setBusy(true);
    const about = topic.trim();
    client
      .createRoom({ name: name.trim(), kind, ...(about !== '' && { topic: about }) })
      .then(onMade, (error: unknown) => {
        setBusy(false);
        setFailed(failureOf(error, words));
      });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (KINDS.indexOf(kind) + step + KINDS.length) % KINDS.length;
    setKind(KINDS[next] ?? 'public');
    (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=radio]')[next]?.focus();
  };
  return (
    <form
      class="room-form"
      aria-label={words.createRoom}
      onSubmit={event => {
        event.preventDefault();
        create();
      }}
      onKeyDown={event => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        onCancel();
      }}
    >
      <label>
        {words.roomName}
        <input
          ref={first}
          value={name}
          maxLength={100}
          required
          dir="auto"
          autocomplete="off"
          onInput={event => setName(event.currentTarget.value)}
        />
      </label>
      <label>
        {words.roomTopic}
        <textarea
          value={topic}
          maxLength={300}
          rows={2}
          dir="auto"
          onInput={event => setTopic(event.currentTarget.value)}
        />
      </label>
      <div class="choices" role="radiogroup" aria-label={words.roomKind} onKeyDown={onKeyDown}>
        {KINDS.map(one => (
          <button
            key={one}
            type="button"
            role="radio"
            class="choice"
            aria-checked={one === kind}
            tabIndex={one === kind ? 0 : -1}
            onClick={() => setKind(one)}
          >
            <span class="choice-mark" aria-hidden="true">
              <Icon name={ICONS[one]} />
            </span>
            <span class="grow">
              <span class="choice-name">{words.roomKinds[one]}</span>
              <span class="choice-hint">{words.roomKindHints[one]}</span>
            </span>
            {one === kind && <Icon name="check" />}
          </button>
        ))}
      </div>
      {failed && (
        <p class="room-failed" role="alert">
          {failed}
        </p>
      )}
      <div class="room-form-buttons">
        <button type="button" class="button" onClick={onCancel}>
          {words.cancel}
        </button>
        <button type="submit" class="button button-main" aria-disabled={busy || name.trim() === ''}>
          {words.create}
        </button>
      </div>
    </form>
  );
}
