// The view state of a room's call, as one value.

import type { ConversationKey, Media } from '@kith/client';
import type { Problem } from '../calls/local_media.ts';
import type { PictureLimit, Told } from '../calls/peer_connection.ts';

/** Each change makes a new object. */
export interface GroupCallView {
  room: ConversationKey;
  media: Media;
  /** `asking`: the browser asks for the microphone. */
  stage: 'asking' | 'joining' | 'in' | 'over';
  /** The own place. */
  place: number;
  /** Unix milliseconds of the start of the call. */
  since?: number;
  most: number;
  mic: boolean;
  camera: boolean;
  screen: boolean;
  /** The own video. */
  own?: MediaStreamTrack;
  /** The other participants do not learn the own IP address. */
  hidden: boolean;
  /** The other participants. */
  tiles: readonly Tile[];
  problem?: Problem;
  end?: GroupEnd;
}

/** Another participant. The object stays the same while none of its fields changes. */
export interface Tile {
  user: string;
  place: number;
  /** `away`: the participant has lost the server. `apart`: one of the two users has blocked the other. */
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

/** Why the user is no longer in the call, or could not join. */
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

/**
 * Height and bit rate of the video for each of the other participants. All together cost about as much as
 * the video of a direct call.
 */
export function picturesFor(others: number): PictureLimit {
  if (others <= 1) return { bits: 1_200_000, lines: 720 };
  if (others <= 3) return { bits: 500_000, lines: 360 };
  return { bits: 250_000, lines: 180 };
}

/** Number of columns for so many pictures, including the own one. */
export function columnsFor(pictures: number, tall: boolean): number {
  if (pictures <= 1) return 1;
  if (pictures === 2) return tall ? 1 : 2;
  if (pictures <= 4 || tall) return 2;
  return 3;
}
