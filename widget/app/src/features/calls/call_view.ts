// The view state of a call, as one value.

import type { CallOutcome, Media } from '@kith/client';
import type { Problem } from './local_media.ts';
import type { Quality } from './network_quality.ts';
import type { Told } from './peer_connection.ts';

/** Each change makes a new object. */
export interface CallView {
  user: string;
  media: Media;
  /** `asking`: the browser asks for the microphone. `back`: the call is being rejoined after a reload. */
  stage: 'asking' | 'calling' | 'ringing' | 'up' | 'back' | 'over';
  /** The peer connection is established. */
  connected: boolean;
  /** The other user has lost the connection to the server. */
  away: boolean;
  /** `held`: the other user holds the call. `holding`: this user does. */
  held: boolean;
  holding?: boolean;
  /** Unix milliseconds of the time at which the call was accepted. */
  since?: number;
  mic: boolean;
  camera: boolean;
  screen: boolean;
  /** State of the other side's camera and microphone. */
  theirs?: Told;
  quality?: Quality;
  /** The own video is off until the network is better. */
  weak: boolean;
  /** The other user does not learn the own IP address. */
  hidden: boolean;
  /** Accepting shows the own IP address to the caller: a stranger calls, and the server has no relay. */
  exposed: boolean;
  problem?: Problem;
  /** Audio and video of the other side. */
  voice?: MediaStream;
  picture?: MediaStream;
  /** The own video. */
  own?: MediaStreamTrack;
  end?: End;
  ms?: number;
}

export function begun(user: string, media: Media, stage: CallView['stage'], hidden: boolean): CallView {
  return {
    user,
    media,
    stage,
    connected: false,
    away: false,
    held: false,
    mic: false,
    camera: false,
    screen: false,
    weak: false,
    hidden,
    exposed: false,
  };
}

/** How the call ended, or why it did not start. */
export type End =
  | CallOutcome
  | 'elsewhere'
  | 'unreachable'
  | 'noRelay'
  | 'contactsOnly'
  | 'inCall'
  | 'tooMany'
  | 'offline'
  | 'failed';

const REFUSED: Record<string, End> = {
  not_allowed: 'contactsOnly',
  in_call: 'inCall',
  rate_limited: 'tooMany',
  offline: 'offline',
  no_such_call: 'lost',
};

/** The end that belongs to an error code. */
export function endOf(code: string): End {
  return REFUSED[code] ?? 'failed';
}

/** These ends close by themselves, because they are short to read and need no action. */
export function endsQuickly(end: End): boolean {
  return ['ended', 'declined', 'busy', 'missed', 'lost', 'elsewhere'].includes(end);
}
