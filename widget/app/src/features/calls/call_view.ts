// The drawn state of a call, as one value.

import type { CallOutcome, Media } from '@kith/client';
import type { Problem } from './local_media.ts';
import type { Quality } from './network_quality.ts';
import type { Told } from './peer_connection.ts';

/** Another object after each change. */
export interface CallView {
  user: string;
  media: Media;
  /** `asking`: the browser asks for the microphone. `back`: after a reload, on the way into the call again. */
  stage: 'asking' | 'calling' | 'ringing' | 'up' | 'back' | 'over';
  /** Voices can flow. */
  connected: boolean;
  /** The other one has lost the server. */
  away: boolean;
  /** The other one does not listen; and: one does not listen oneself. */
  held: boolean;
  holding?: boolean;
  /** Unix milliseconds of when it was accepted. */
  since?: number;
  mic: boolean;
  camera: boolean;
  screen: boolean;
  /** State of the other side's camera and microphone. */
  theirs?: Told;
  quality?: Quality;
  /** One's own picture is off until the network is better. */
  weak: boolean;
  /** The other one does not learn one's address. */
  hidden: boolean;
  /** The one who rings will learn it: a stranger, and there is no relay. */
  exposed: boolean;
  problem?: Problem;
  /** The other one's. */
  voice?: MediaStream;
  picture?: MediaStream;
  /** One's own picture. */
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

/** How it ended, or why it did not begin. */
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

/** By the server, with this code. */
export function endOf(code: string): End {
  return REFUSED[code] ?? 'failed';
}

/** Ends that close by themselves, because they are short to read and need no action. */
export function endsQuickly(end: End): boolean {
  return ['ended', 'declined', 'busy', 'missed', 'lost', 'elsewhere'].includes(end);
}
