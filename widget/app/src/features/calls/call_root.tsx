// Where calls are drawn: the card while it rings, the window while it lasts, and the check before it.

import { type Client, type ClientEvents, direct } from '@kith/client';
import { keptRoom } from '@kith/client/stored_group_call';
import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { useSurroundings, useTopic } from '../../app_context.tsx';
import { Late, late } from '../../ui/lazy/lazy.tsx';
import { useSheet } from '../../ui/styles/use_styles.ts';
import type { GroupWish } from '../group_calls/group_call_root.tsx';
import type { Line } from './call_dispatcher.ts';
import css from './call_root.css?inline';
import { Calling } from './call_session.ts';
import { tabStorage } from './call_storage.ts';
import '../../ui/icon/call_shapes.ts';
import { useWords } from '../../wording/late_words.ts';
import type { Shown } from './call_view.ts';
import { CallWindow } from './call_window.tsx';
import { RingCard, type RingDeeds } from './ring_card.tsx';
import { trouble } from './status_line.ts';
import { useRinging } from './use_ringing.ts';

export { lateWords as words } from '../../wording/late_words.ts';

const groupPart = late(() => import('../group_calls/group_call_root.tsx'), 'GroupPlace');
const checkPart = late(() => import('./call_check.tsx'), 'Check');

/** `beside`: the panel is open, and the card lies next to it. */
export function CallPlace({ line, beside }: { line: Line; beside: boolean }) {
  useSheet(css);
  const { client, openChat, announce, wording } = useSurroundings();
  const calling = useMemo(
    () => new Calling({ client, storage: tabStorage(), now: () => Date.now() }),
    [client],
  );
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const [checks, setChecks] = useState(false);
  const [wish, setWish] = useState<GroupWish>();
  useEffect(() => calling.subscribe(() => redraw(undefined)), [calling]);
  useEffect(() => {
    const leave = line.take(deed => {
      if (deed.do === 'check') setChecks(true);
      else if (deed.do === 'join') setWish({ room: deed.room, media: deed.media });
      else if (deed.do === 'rejoin' && keptRoom(tabStorage())) setWish('back');
      else calling.do(deed);
    });
    return () => {
      leave();
      calling.destroy();
    };
  }, [calling]);
  useEffect(() => client.on('message', message => knows(client, message)), [client]);

  const shown = calling.shown();
  const silence = useRinging(shown);
  const deeds: RingDeeds = {
    accept: media => void calling.accept(media),
    decline: () => calling.decline(),
    write() {
      const user = shown?.user;
      calling.decline();
      if (user) openChat(direct(user));
    },
    dismiss: () => calling.dismissProblem(),
    silence,
  };
  const check = () => setChecks(true);
  return (
    <div class={beside ? 'calls calls-beside' : 'calls'}>
      <Spoken shown={shown} />
      {shown &&
        (shown.stage === 'ringing' ? (
          <RingCard shown={shown} deeds={deeds} />
        ) : (
          <CallWindow key={shown.user} calling={calling} shown={shown} onCheck={check} />
        ))}
      {wish && (
        <Late
          part={groupPart}
          props={{ wish, onCheck: check }}
          onFailed={() => {
            setWish(undefined);
            announce(wording.loadFailed);
          }}
        />
      )}
      {checks && (
        <Late
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

/** A member who was in a call needs no notice about it. */
function knows(client: Client, { key, message }: ClientEvents['message']): void {
  const { outcome } = message.call ?? {};
  const known = outcome === 'ended' || outcome === 'lost' || outcome === 'declined';
  if (known && message.seq !== undefined && client.conversation(key).unread === 1)
    client.seen(key, message.seq);
}

/** Said to screen readers at once, whatever they are reading. */
function Spoken({ shown }: { shown: Shown | undefined }) {
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
