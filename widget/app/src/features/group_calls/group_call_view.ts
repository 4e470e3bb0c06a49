// The drawn state of a room's call, as one value.

import type { ConversationKey, Media } from '@kith/client';
import type { Problem } from '../calls/local_media.ts';
import type { PictureLimit, Told } from '../calls/peer_connection.ts';

/** Another object after each change. */
export interface GroupCallView {
  room: ConversationKey;
  media: Media;
  /** `asking`: the browser asks for the microphone. */
  stage: 'asking' | 'joining' | 'in' | 'over';
  /** One's own. */
  place: number;
  /** Unix milliseconds of when somebody began it. */
  since?: number;
  most: number;
  mic: boolean;
  camera: boolean;
  screen: boolean;
  /** One's own picture. */
  own?: MediaStreamTrack;
  /** The others do not learn one's address. */
  hidden: boolean;
  /** The others. */
  tiles: readonly Tile[];
  problem?: Problem;
  end?: GroupEnd;
}

/** One of the others. The same object while nothing of it changes. */
export interface Tile {
  user: string;
  place: number;
  /** `away`: they have lost the server. `apart`: one of the two has blocked the other. */
  state: 'connecting' | 'connected' | 'away' | 'unreachable' | 'apart';
  speaking: boolean;
  /** State of their camera and microphone. */
  theirs?: Told;
  voice?: MediaStream;
  picture?: MediaStream;
}

export function groupBegun(
  room: ConversationKey,
  media: Media,
  stage: GroupCallView['stage'],
  hidden: boolean,
): GroupCallView {
  const off = { mic: false, camera: false, screen: false };
  return { room, media, stage, place: 0, most: 0, ...off, hidden, tiles: [] };
}

/** Why one is not in it any more, or could not come. */
export type GroupEnd =
  | 'taken_out'
  | 'elsewhere'
  | 'left'
  | 'full'
  | 'tooLarge'
  | 'notAllowed'
  | 'noRelay'
  | 'inCall'
  | 'tooMany'
  | 'offline'
  | 'failed';

const REFUSED: Record<string, GroupEnd> = {
  call_full: 'full',
  room_too_large: 'tooLarge',
  not_allowed: 'notAllowed',
  not_a_member: 'notAllowed',
  muted: 'notAllowed',
  read_only: 'notAllowed',
  frozen: 'notAllowed',
  room_banned: 'notAllowed',
  site_read_only: 'notAllowed',
  no_such_conversation: 'notAllowed',
  in_call: 'inCall',
  rate_limited: 'tooMany',
  offline: 'offline',
};

export function groupEndOf(code: string | undefined): GroupEnd {
  return REFUSED[code ?? ''] ?? 'failed';
}

/** Size and rate of the picture for each of so many others. All together cost about as much as one picture in a call of two. */
export function picturesFor(others: number): PictureLimit {
  if (others <= 1) return { bits: 1_200_000, lines: 720 };
  if (others <= 3) return { bits: 500_000, lines: 360 };
  return { bits: 250_000, lines: 180 };
}

/** Columns for so many pictures, one's own among them. */
export function columnsFor(pictures: number, tall: boolean): number {
  if (pictures <= 1) return 1;
  if (pictures === 2) return tall ? 1 : 2;
  if (pictures <= 4 || tall) return 2;
  return 3;
}
