// The window of one open chat above the bar.

import type { ConversationKey } from '@kith/client';
import { useMemo, useRef } from 'preact/hooks';
import { Chat } from '../../features/chat/chat.tsx';
import { bannerPart, useConnectionProblem } from '../../features/connection/connection_problem.ts';
import { CloseButton } from '../../ui/close_button/close_button.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { AppContext, useAppContext, useFace, useTopic } from '../../app_context.tsx';
import { Lazy } from '../../ui/lazy/lazy.tsx';
import { useWords } from '../../wording/late_words.ts';
import { type Below, useOverlays } from '../overlays.tsx';

interface Props {
  conversation: ConversationKey;
  /** The position counted from the corner; 0 is the nearest. */
  place: number;
  at: { seq: number } | undefined;
  /** Whether the member opened the chat on this page. */
  asked: boolean;
  onPutAway(): void;
  onClose(): void;
  onMoved(to: ConversationKey): void;
}

export function Window({ conversation: key, place, at, asked, onPutAway, onClose, onMoved }: Props) {
  const words = useWords('bar');
  const trouble = useConnectionProblem();
  const outer = useAppContext();
  const section = useRef<HTMLElement>(null);
  const wanted = useRef(asked);
  wanted.current ||= asked;
  const below = useMemo<Below>(
    () => ({
      ...outer,
      windowItems: () => [],
      takesFocus: () =>
        wanted.current || section.current?.contains(outer.root?.activeElement ?? null) === true,
    }),
    [outer],
  );
  const { context, covered, layer } = useOverlays(below, false);
  const face = useFace(useTopic(`conversation:${key}`, one => one.conversation(key)));

  const corner = (
    <>
      <button
        type="button"
        class="icon-button"
        aria-label={words.minimize}
        title={words.minimize}
        onClick={onPutAway}
      >
        <Icon name="minus" />
      </button>
      <CloseButton label={words.close} onClose={onClose} />
    </>
  );
  return (
    <AppContext.Provider value={context}>
      <section
        ref={section}
        class="panel window"
        part="window"
        data-chat={key}
        style={{ '--place': String(place) }}
        aria-label={face.name}
        tabIndex={-1}
        onKeyDown={event => {
          if (event.key !== 'Escape' || event.defaultPrevented) return;
          event.preventDefault();
          onClose();
        }}
      >
        <div class="pane pane-chat" inert={covered}>
          <Chat
            conversation={key}
            at={at}
            onBack={undefined}
            onMoved={onMoved}
            corner={corner}
            banner={trouble && <Lazy part={bannerPart} props={{ trouble }} onFailed={() => undefined} />}
          />
        </div>
        {layer}
      </section>
    </AppContext.Provider>
  );
}
