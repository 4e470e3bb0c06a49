// The card of an incoming call: the caller, and the buttons for each answer.

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { focusables } from '../../shell/focus.ts';
import { PHONE } from '../../shell/open_shell.ts';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { useMedia } from '../../ui/use_media/use_media.ts';
import { useWords } from '../../wording/late_words.ts';
import type { CallView } from './call_view.ts';
import { DeviceError } from './device_error.tsx';

export interface RingActions {
  accept(media: CallView['media']): void;
  decline(): void;
  write(): void;
  /** Hides the error of the microphone or camera. */
  dismiss(): void;
  /** Stops the sound here. The call still rings elsewhere. */
  silence(): void;
}

export function RingCard({ shown, actions }: { shown: CallView; actions: RingActions }) {
  const { root } = useAppContext();
  const words = useWords('calls');
  const card = useRef<HTMLDivElement>(null);
  const person = useTopic(`person:${shown.user}`, one => one.person(shown.user));
  const phone = useMedia(PHONE);
  const isVideo = shown.media === 'video';
  useFocusKey(card, root);
  // A card in the corner must not take the focus from the composer. A card that covers the screen takes it.
  useLayoutEffect(() => {
    if (phone) card.current?.focus();
  }, [phone]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') actions.silence();
    else if (event.key === 'Tab' && phone && card.current) keepInside(event, card.current, root);
    else return;
    event.stopPropagation();
    if (event.key === 'Escape') event.preventDefault();
  };
  return (
    <div
      ref={card}
      class="call-card"
      part="call-card"
      role="dialog"
      aria-modal={phone}
      aria-label={words.isCalling[shown.media](person.name)}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <div class="call-caller">
        <span class="call-pulse">
          <Avatar person={person} size={phone ? 'large' : 'medium'} />
        </span>
        <div class="grow">
          <p class="call-name clip">
            <bdi>{person.name}</bdi>
          </p>
          <p class="call-kind">{words.incoming[shown.media]}</p>
        </div>
      </div>
      {shown.problem && (
        <DeviceError
          problem={shown.problem}
          onAgain={() => actions.accept(shown.problem?.of === 'camera' ? 'video' : 'audio')}
          onClose={actions.dismiss}
        />
      )}
      {shown.exposed && <p class="call-hint">{words.exposedTo(person.name)}</p>}
      <div class="call-answers">
        <button type="button" class="call-answer call-no" onClick={actions.decline}>
          <span class="call-round">
            <Icon name="hangUp" />
          </span>
          {words.declineCall}
        </button>
        <button
          type="button"
          class="call-answer"
          aria-label={words.declineAndWrite}
          title={words.declineAndWrite}
          onClick={actions.write}
        >
          <span class="call-round">
            <Icon name="chat" />
          </span>
          {words.writeInstead}
        </button>
        <button
          type="button"
          class={isVideo ? 'call-answer' : 'call-answer call-yes'}
          aria-label={words.acceptAudio}
          title={words.acceptAudio}
          onClick={() => actions.accept('audio')}
        >
          <span class="call-round">
            <Icon name="phone" />
          </span>
          {words.voice}
        </button>
        {isVideo && (
          <button
            type="button"
            class="call-answer call-yes"
            aria-label={words.acceptVideo}
            title={words.acceptVideo}
            onClick={() => actions.accept('video')}
          >
            <span class="call-round">
              <Icon name="camera" />
            </span>
            {words.video}
          </button>
        )}
      </div>
    </div>
  );
}

/** F6 or Alt+C moves the focus from anywhere to the first control of the element. */
export function useFocusKey(element: { current: HTMLElement | null }, root: ShadowRoot | undefined): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const altC = event.altKey && !event.ctrlKey && !event.metaKey && event.code === 'KeyC';
      if ((event.key !== 'F6' && !altC) || event.defaultPrevented) return;
      if (element.current === null || element.current.contains(root?.activeElement ?? null)) return;
      event.preventDefault();
      event.stopPropagation();
      (focusables(element.current)[0] ?? element.current).focus();
    };
    addEventListener('keydown', onKeyDown, { capture: true });
    return () => removeEventListener('keydown', onKeyDown, { capture: true });
  }, [root, element]);
}

/** Keeps Tab inside an element that covers the screen. */
export function keepInside(event: KeyboardEvent, element: HTMLElement, root: ShadowRoot | undefined): void {
  const all = focusables(element);
  const active = root?.activeElement ?? document.activeElement;
  const edge = event.shiftKey ? all[0] : all.at(-1);
  if (active !== edge && active !== element) return;
  event.preventDefault();
  (event.shiftKey ? all.at(-1) : all[0])?.focus();
}
