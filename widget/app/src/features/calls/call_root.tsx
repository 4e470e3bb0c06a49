// Renders calls: the card while a call rings, the window during the call, and the call check.

import { type Client, type ClientEvents, direct } from '@kith/client';
import { keptRoom } from '@kith/client/stored_group_call';
import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import type { GroupCallWish } from '../group_calls/group_call_root.tsx';
import type { CallDispatcher } from './call_dispatcher.ts';
import css from './call_root.css?inline';
import { CallSession } from './call_session.ts';
import { tabStorage } from './call_storage.ts';
import '../../ui/icon/call_shapes.ts';
import { useWords } from '../../wording/late_words.ts';
import type { CallView } from './call_view.ts';
import { CallWindow } from './call_window.tsx';
import { type RingActions, RingCard } from './ring_card.tsx';
import { trouble } from './status_line.ts';
import { useRinging } from './use_ringing.ts';

export { lateWords as words } from '../../wording/late_words.ts';

const groupPart = lazy(() => import('../group_calls/group_call_root.tsx'), 'GroupCallRoot');
const checkPart = lazy(() => import('./call_check.tsx'), 'CallCheck');

/** `beside`: the panel is open, and calls are shown next to it. */
export function CallRoot({ dispatcher, beside }: { dispatcher: CallDispatcher; beside: boolean }) {
  useStyles(css);
  const { client, openChat, announce, wording } = useAppContext();
  const session = useMemo(
    () => new CallSession({ client, storage: tabStorage(), now: () => Date.now() }),
    [client],
  );
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const [checks, setChecks] = useState(false);
  const [wish, setWish] = useState<GroupCallWish>();
  useEffect(() => session.subscribe(() => redraw(undefined)), [session]);
  useEffect(() => {
    const leave = dispatcher.take(request => {
      if (request.do === 'check') setChecks(true);
      else if (request.do === 'join') setWish({ room: request.room, media: request.media });
      else if (request.do === 'rejoin' && keptRoom(tabStorage())) setWish('back');
      else session.do(request);
    });
    return () => {
      leave();
      session.destroy();
    };
  }, [session, dispatcher]);
  useEffect(() => client.on('message', message => knows(client, message)), [client]);

  const shown = session.shown();
  const silence = useRinging(shown);
  const actions: RingActions = {
    accept: media => void session.accept(media),
    decline: () => session.decline(),
    write() {
      const user = shown?.user;
      session.decline();
      if (user) openChat(direct(user));
    },
    dismiss: () => session.dismissProblem(),
    silence,
  };
  const check = () => setChecks(true);
  return (
    <div class={beside ? 'calls calls-beside' : 'calls'}>
      <Spoken shown={shown} />
      {shown &&
        (shown.stage === 'ringing' ? (
          <RingCard shown={shown} actions={actions} />
        ) : (
          <CallWindow key={shown.user} session={session} shown={shown} onCheck={check} />
        ))}
      {wish && (
        <Lazy
          part={groupPart}
          props={{ wish, onCheck: check }}
          onFailed={() => {
            setWish(undefined);
            announce(wording.loadFailed);
          }}
        />
      )}
      {checks && (
        <Lazy
          part={checkPart}
          props={{ onClose: () => setChecks(false) }}
          onFailed={() => {
            setChecks(false);
            announce(wording.loadFailed);
          }}
        />
      )}
    </div>
  );
}

/** Marks the entry of a finished call as seen, because a member who was in the call needs no notification. */
function knows(client: Client, { key, message }: ClientEvents['message']): void {
  const { outcome } = message.call ?? {};
  const known = outcome === 'ended' || outcome === 'lost' || outcome === 'declined';
  if (known && message.seq !== undefined && client.conversation(key).unread === 1)
    client.seen(key, message.seq);
}

/** An assertive live region: screen readers announce it immediately. */
function Spoken({ shown }: { shown: CallView | undefined }) {
  const words = useWords('calls');
  const person = useTopic(`person:${shown?.user ?? ''}`, one => (shown ? one.person(shown.user) : undefined));
  const said = useRef('');
  const name = person?.name ?? '';
  if (shown === undefined) said.current = '';
  else if (shown.stage === 'ringing') said.current = words.isCalling[shown.media](name);
  else said.current = trouble(shown, name, words) ?? words.isInCall(name);
  return (
    <div class="hidden-text" role="alert" aria-live="assertive" aria-atomic="true" data-call-live>
      {said.current}
    </div>
  );
}
