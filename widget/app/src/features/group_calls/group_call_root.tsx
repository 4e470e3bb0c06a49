// Renders the call of a room, and announces participants who join or leave.

import type { ConversationKey, Media } from '@kith/client';
import { useEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { useEffectEvent } from '../../ui/use_effect_event/use_effect_event.ts';
import { useWords } from '../../wording/late_words.ts';
import { tabStorage } from '../calls/call_storage.ts';
import { GroupCallSession } from './group_call_session.ts';
import type { Tile } from './group_call_view.ts';
import { GroupCallWindow } from './group_call_window.tsx';

export { lateWords as words } from '../../wording/late_words.ts';

/** Each request is a new object. `back`: rejoins the previous call after a reload. */
export type GroupCallWish = { room: ConversationKey; media: Media } | 'back';

export function GroupCallRoot({ wish, onCheck }: { wish: GroupCallWish; onCheck(): void }) {
  const { client, announce } = useAppContext();
  const words = useWords('groupCalls');
  const session = useMemo(
    () => new GroupCallSession({ client, storage: tabStorage(), now: () => Date.now() }),
    [client],
  );
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  useEffect(() => session.subscribe(() => redraw(undefined)), [session]);
  useEffect(() => () => session.destroy(), [session]);
  useEffect(() => {
    if (wish === 'back') void session.comeBack();
    else {
      // A new call replaces the text about the end of the last one.
      if (session.shown()?.stage === 'over') session.close();
      void session.join(wish.room, wish.media);
    }
  }, [session, wish]);

  const shown = session.shown();
  const stage = shown?.stage;
  const before = useRef<readonly Tile[] | undefined>(undefined);
  const tiles = shown?.tiles;
  const announceChanges = useEffectEvent((now: readonly Tile[]) => {
    const { came, went } = comings(before.current ?? now, now);
    before.current = now;
    const said = [
      ...came.map(user => words.cameIn(client.person(user).name)),
      ...went.map(user => words.wentOut(client.person(user).name)),
    ];
    if (said.length > 0) announce(said.join(' '));
  });
  useEffect(() => {
    if (stage === 'in') announceChanges(tiles ?? []);
    else before.current = undefined;
  }, [stage, tiles]);
  return shown ? (
    <GroupCallWindow key={shown.room} session={session} shown={shown} onCheck={onCheck} />
  ) : null;
}

/** Users who joined and left. A member who reconnects has neither left nor joined. */
export function comings(
  before: readonly Pick<Tile, 'user'>[],
  now: readonly Pick<Tile, 'user'>[],
): { came: string[]; went: string[] } {
  const missing = (from: readonly Pick<Tile, 'user'>[], all: readonly Pick<Tile, 'user'>[]) =>
    all.map(one => one.user).filter(user => !from.some(one => one.user === user));
  return { came: missing(before, now), went: missing(now, before) };
}
