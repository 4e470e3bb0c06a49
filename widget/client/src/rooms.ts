// Requests to the server about rooms: the directory, creating and changing them, inviting, joining, leaving,
// and members. Loaded when first needed.

import { addressee } from './addressee.ts';
import {
  type ConversationKey,
  type Invitations,
  type Invited,
  type ListedRoom,
  type MemberTerms,
  RequestError,
  type RoomChange,
  room,
} from './client.ts';
import { keyOfRecord } from './conversations.ts';
import { roomView } from './message_view.ts';
import { page } from './page_request.ts';
import type { Replica } from './replica.ts';
import type { Ask } from './request.ts';
import type { Views } from './views.ts';
import type { Link, Member, MemberAction, RoomKind } from './wire.ts';

export interface RoomsHost {
  replica: Replica;
  views: Views;
  ask: Ask;
}

export class Rooms implements Invitations {
  constructor(private readonly host: RoomsHost) {}

  async list(query?: string, after?: string): Promise<{ rooms: ListedRoom[]; next?: string }> {
    const event = await this.host.ask({ t: 'rooms', ...page(query, after) });
    const rooms = event.rooms.map(one => {
      const key = keyOfRecord(one);
      return { key, face: this.host.views.face(key, one.room), room: roomView(one.room) };
    });
    return { rooms, ...(event.next !== undefined && { next: event.next }) };
  }

  async create(room: { name: string; kind: RoomKind; topic?: string }): Promise<ConversationKey> {
    const event = await this.host.ask({ t: 'create_room', ...room });
    return keyOfRecord(event.conversation);
  }

  async change(key: ConversationKey, { slowMs, maxMembers, ...change }: RoomChange): Promise<void> {
    const conversation = this.#idOf(key);
    const slow = slowMs === undefined ? {} : { slow_ms: slowMs };
    const most = maxMembers === undefined ? {} : { max_members: maxMembers };
    await this.host.ask({ t: 'change_room', conversation, ...change, ...slow, ...most });
  }

  async join(key: ConversationKey): Promise<void> {
    await this.host.ask({ t: 'join', to: addressee(key) });
  }

  async leave(key: ConversationKey, closes?: boolean): Promise<void> {
    await this.host.ask({ t: closes ? 'close_room' : 'leave', conversation: this.#idOf(key) });
  }

  async members(
    key: ConversationKey,
    query?: string,
    after?: string,
    sanctioned = false,
  ): Promise<{ members: Member[]; next?: string }> {
    const which = { ...page(query, after), ...(sanctioned && { sanctioned }) };
    const event = await this.host.ask({ t: 'members', conversation: this.#idOf(key), ...which });
    return { members: event.members, ...(event.next !== undefined && { next: event.next }) };
  }

  async changeMember(
    key: ConversationKey,
    user: string,
    action: MemberAction,
    terms?: MemberTerms,
  ): Promise<Member> {
    const conversation = this.#idOf(key);
    const event = await this.host.ask({ t: 'member', conversation, user, action, ...terms });
    return event.member;
  }

  async makeLink(key: ConversationKey, hours: number, uses?: number): Promise<Link> {
    const bounds = { hours, ...(uses !== undefined && { uses }) };
    const event = await this.host.ask({ t: 'make_link', conversation: this.#idOf(key), ...bounds });
    const { t: _, re: __, conversation: ___, ...link } = event;
    return link;
  }

  async links(key: ConversationKey): Promise<readonly Link[]> {
    return (await this.host.ask({ t: 'links', conversation: this.#idOf(key) })).links;
  }

  async takeBackLink(key: ConversationKey, code: string): Promise<readonly Link[]> {
    return (await this.host.ask({ t: 'take_back_link', conversation: this.#idOf(key), code })).links;
  }

  async openLink(code: string): Promise<Invited> {
    const event = await this.host.ask({ t: 'open_link', code });
    const { t: _, re: __, conversation, ...invited } = event;
    return { ...invited, ...(conversation !== undefined && { key: room(conversation) }) };
  }

  async joinLink(code: string): Promise<ConversationKey> {
    const event = await this.host.ask({ t: 'join_link', code });
    return keyOfRecord(event.conversation);
  }

  /** The id of a room. If no record of the room is known, the key contains it. */
  #idOf(key: ConversationKey): string {
    const id = this.host.replica.known(key).id ?? (key[0] === '#' ? key.slice(1) : undefined);
    if (id === undefined) throw new RequestError('no_such_conversation');
    return id;
  }
}
