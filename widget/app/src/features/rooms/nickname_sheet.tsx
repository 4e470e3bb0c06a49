// The form for the member's own nickname in a room.

import { type Client, type Conversation, RequestError } from '@kith/client';
import { useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Sheet } from '../../ui/sheet/sheet.tsx';
import { useWords } from '../../wording/late_words.ts';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  /** The client with the names of the room. */
  client: Client;
  conversation: Conversation;
  /** The present nickname, or empty. */
  nickname: string;
  onClose(): void;
}

export function NicknameSheet({ client, conversation: { key }, nickname, onClose }: Props) {
  const { announce } = useAppContext();
  const words = useWords('rooms');
  const about = useWords('profile');
  const own = client.me()?.name ?? '';
  const [name, setName] = useState(nickname);
  const [failed, setFailed] = useState<string>();
  const save = async (wanted: string) => {
    try {
      const conversation = (await client.rich()).idOf(key);
      await client.ask({ t: 'nickname', conversation, ...(wanted && { nickname: wanted }) });
      announce(about.saved);
      onClose();
    } catch (error) {
      const code = error instanceof RequestError ? error.code : 'other';
      const texts: Record<string, string> = { ...about.profileFailed, ...words.nicknameFailed };
      setFailed(texts[code] ?? about.profileFailed.other);
    }
  };
  return (
    <Sheet title={words.nickname} onClose={onClose}>
      <form
        class="sheet-form"
        onSubmit={event => {
          event.preventDefault();
          void save(name.trim());
        }}
      >
        <label class="sheet-field">
          {words.nicknameLabel}
          <input
            type="text"
            dir="auto"
            autocomplete="off"
            placeholder={own}
            value={name}
            onInput={event => setName(event.currentTarget.value)}
          />
          <span class="sheet-hint">{words.nicknameHint(own)}</span>
        </label>
        {failed && (
          <p class="sheet-failed" role="alert">
            {failed}
          </p>
        )}
        <div class="sheet-buttons">
          {nickname !== '' && (
            <button type="button" class="button" onClick={() => void save('')}>
              {words.nicknameRemove}
            </button>
          )}
          <button type="submit" class="button button-main">
            {about.save}
          </button>
        </div>
      </form>
    </Sheet>
  );
}
