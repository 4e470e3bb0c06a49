// The texts for errors of room requests.

import type { Messages } from 'virtual:messages';
import { RequestError } from '@kith/client';
import type { Wording } from '../../wording/wording.ts';

export function failureOf(error: unknown, words: Wording & Messages['rooms']): string {
  switch (error instanceof RequestError ? error.code : undefined) {
    case 'room_full':
      return words.roomFull;
    case 'room_banned':
      return words.roomBanned;
    case 'last_owner':
      return words.lastOwner;
    case 'too_many_rooms':
      return words.tooManyRooms;
    case 'rate_limited':
      return words.slowDown;
    default:
      return words.somethingFailed;
  }
}
