// Errors of rooms, as texts.

import { RequestError } from '@kith/client';
import type { Wording } from '../../wording/wording.ts';
import type { RoomWords } from './words.en.ts';

export function failureOf(error: unknown, words: Wording & RoomWords): string {
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
