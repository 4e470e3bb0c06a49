// The state of calls in rooms, shared by all views on this page.

import type { Client, ConversationKey, GroupCall, GroupCallEvent } from '@kith/client';
import { useEffect, useReducer, useState } from 'preact/hooks';
import { useClient, useTopic } from '../../app_context.tsx';
import { idOfRoom } from './room_id.ts';

export interface RoomCallStatus {
  /** Maximum number of participants. 0: rooms of this site have no calls. */
  most: number;
  now?: GroupCall;
}

export class RoomCallStatuses {
  /** Keyed by the ids of rooms. */
  #byRoom = new Map<string, RoomCallStatus>();
  #listeners = new Set<() => void>();

  constructor(private readonly client: Pick<Client, 'ask' | 'on'>) {
    client.on('group_call', event => this.#heard(event));
  }

  of(id: string | undefined): RoomCallStatus | undefined {
    return id === undefined ? undefined : this.#byRoom.get(id);
  }

  /** Requests the state from the server, which sends every change from then on. */
  look(id: string): void {
    // The response arrives as an event in all tabs, so its value is not used here.
    this.client.ask({ t: 'group_call', conversation: id, action: 'look' }).catch(() => undefined);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #heard(event: GroupCallEvent): void {
    if (event.news !== 'standing') return;
    const { most, now } = event;
    this.#byRoom.set(event.conversation, { most, ...(now && { now }) });
    for (const listener of Array.from(this.#listeners)) listener();
  }
}

const all = new WeakMap<object, RoomCallStatuses>();

export function roomCallStatusesOf(client: Pick<Client, 'ask' | 'on'>): RoomCallStatuses {
  const known = all.get(client) ?? new RoomCallStatuses(client);
  all.set(client, known);
  return known;
}

/** The state of the call in a room that is on the screen. */
export function useRoomCallStatus(room: ConversationKey): RoomCallStatus | undefined {
  const client = useClient();
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const online = useTopic('status', one => one.status()).state === 'online';
  const standings = roomCallStatusesOf(client);
  const [known, setKnown] = useState<{ room: ConversationKey; id: string }>();
  const id = known?.room === room ? known.id : undefined;
  useEffect(() => {
    idOfRoom(client, room).then(
      id => setKnown({ room, id }),
      () => undefined,
    );
  }, [client, room]);
  useEffect(() => standings.subscribe(() => redraw(undefined)), [standings]);
  useEffect(() => {
    if (online && id !== undefined) standings.look(id);
  }, [standings, id, online]);
  return standings.of(id);
}
